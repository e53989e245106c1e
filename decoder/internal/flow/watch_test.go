package flow

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestWatch would catch code that a walk reads without saying so. All that it read from the text is in its
// cache, or kept by its reader. And with other code where it said that it read none, it must tell the
// same. Clocks are coarse, and every other trace is damaged, so cuts that are refuted read code, too.
func TestWatch(t *testing.T) {
	met, apart := 0, 0
	for seed := range testsize.Of(t, 32, 200, 10000) {
		m := newMachine(uint64(seed), 40+seed%600)
		for range 10 {
			m.run(10 + seed%40)
			m.poke()
		}
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		evs := m.evs
		if seed%2 == 1 {
			evs = spoil(r, m.evs, m.any)
		}
		wide := uint64(r.IntN(400))
		for i := range evs {
			evs[i].Time = event.Time{Lo: max(evs[i].Time.Lo, wide+1) - wide, Hi: evs[i].Time.Hi + wide}
		}
		var places []codeAt
		for range 32 {
			a := m.any()
			places = append(places, codeAt{a, a + 1 + uint64(r.IntN(3))})
		}
		for _, p := range m.text.pokes {
			if len(p.new) == 2 && p.new[0] == 0xeb { // code that a cut may come to, and no flow
				to := p.addr + 2 + uint64(int64(int8(p.new[1])))
				places = append(places, codeAt{to, to + 1})
			}
		}
		w := new(Watch)
		var x *Walker
		walk := func(text Text, w *Watch) (got claims) {
			cfg := Config{ISA: x86.Decoder{}, Rules: ptRules, Mode: isa.Mode64, Watch: w}
			x = NewWalker(text, NewCache(), cfg)
			x.paths.misses = pathAfter
			src := events(evs)
			var to Sink = &got
			if w != nil {
				to = w.Sink(to)
			}
			if err := x.Run(&src, to); err != nil {
				t.Fatal(err)
			}
			return got
		}
		want := walk(&m.text, w)
		read := w.Reads
		x.exec.code.each(func(b *Block) {
			if !read.Has(b.Addr, b.End) {
				t.Fatalf("seed %d: the block at %#x was read, and counts as not read", seed, b.Addr)
			}
			for _, p := range places {
				if p.addr < b.End && b.Addr < p.end && !read.Has(p.addr, p.end) {
					t.Fatalf("seed %d: the block at %#x was read, and %#x counts as not read", seed, b.Addr, p.addr)
				}
			}
		})
		w.Clear() // now all ways between blocks are known
		src := events(evs)
		if err := x.Run(&src, w.Sink(&claims{})); err != nil {
			t.Fatal(err)
		}
		for _, p := range places {
			x := &laidText{testText: &m.text, at: p.addr}
			for range p.end - p.addr {
				x.over = append(x.over, []byte{0x90, 0xc3, 0xcc, 0xeb, 0x74, 0xfe}[r.IntN(6)])
			}
			got := walk(x, nil)
			d := got.differs(&want)
			switch {
			case w.Has(p.addr, p.end):
				met++
			case d != "":
				t.Fatalf("seed %d: what is told depends on code at %#x, which no one read: %.2000s", seed, p.addr, d)
			default:
				apart++
			}
		}
	}
	if met < 100 || apart < 50 {
		t.Errorf("of the places, code was read at %d, not at %d", met, apart)
	}
}

// codeAt is code: the bytes of [addr, end).
type codeAt struct{ addr, end uint64 }

// each gives the blocks that c, and its cache, have read.
func (c *reader) each(to func(*Block)) {
	for i := range c.cache.shard {
		c.cache.shard[i].eachRoot(func(b *Block) { b.each(to) })
	}
	for _, b := range c.reads {
		to(b)
	}
}

// TestAsked would catch code that was executed, and counts as not read by who kept it, and other code that counts as read more
// often than by chance. It is asked for before all blocks are known, and again. Some blocks have a number that is another's.
func TestAsked(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 0xa5ced))
	var k Shelf
	var blocks []*Block
	for i := range 2000 {
		b := &Block{Addr: r.Uint64N(1 << 14), N: 1, Number: uint32(i % 1900)}
		b.End = b.Addr + 1 + r.Uint64N(200)
		blocks = append(blocks, b)
	}
	type asked struct {
		at uint64
		Asked
	}
	var all []*asked
	for range 200 {
		at := r.Uint64N(1 << 14)
		all = append(all, &asked{at, Ask([]uint64{at, at + 1, at + 1<<22})})
	}
	w := new(Watch)
	met, wrong := 0, 0
	for n := range 300 {
		w.Clear()
		b := &Batch{Stamps: []Stamp{{}}}
		for range r.IntN(40) {
			x := blocks[r.IntN(min(len(blocks), 20*(n+1)))]
			b.Ranges = append(b.Ranges, Range{Block: x, N: 1, flags: rangeFlags(r.IntN(40) / 39 * 0xff)})
		}
		k.Keep(b, math.MaxInt64, w)
		read := w.Read()
		for _, a := range all {
			was := slices.ContainsFunc(b.Ranges, func(x Range) bool {
				return x.Block.Addr <= a.at+1 && a.at < x.Block.End+mostInsn
			})
			if got := a.ReadBy(read); was && !got {
				t.Fatalf("batch %d: code at %#x was executed, and counts as not read", n, a.at)
			} else if was {
				met++
			} else if got {
				wrong++
			}
		}
	}
	if met < 5000 || wrong > met/3 {
		t.Errorf("asked for code %d times that was executed; %d times more it counts as read", met, wrong)
	}
}
