package flow

import (
	"math/rand/v2"
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
