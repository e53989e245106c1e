package flow

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// laidText is code with other bytes over it, at every moment.
type laidText struct {
	*testText
	at   uint64
	over []byte
}

func (t *laidText) Fetch(dst []byte, space uint32, addr uint64, at event.Epoch) (int, event.Span) {
	n, span := t.testText.Fetch(dst, space, addr, at)
	for i, b := range t.over {
		if k := t.at + uint64(i) - addr; k < uint64(n) {
			dst[k] = b
		}
	}
	return n, span
}

func (t *laidText) overlap(addr, end uint64) bool {
	return t.at < end && addr < t.at+uint64(len(t.over))
}

// TestLaid would catch a cache that leads to code which is not there any more, or not yet. Other code
// is laid over, lifted, and changed for good. A cache that knows nothing is
// the slow twin. Every third program is traced by the rules of ETMv4.
func TestLaid(t *testing.T) {
	for seed := range testsize.Of(t, 24, 200, 6000) {
		m := newMachine(uint64(seed), 8+seed%120)
		cfg := Config{ISA: x86.Decoder{}, Rules: ptRules, Mode: isa.Mode64, Brief: seed%2 == 0}
		if seed%3 == 2 {
			cfg.Rules, m.armed, m.depth = armRules, true, 1+m.r.IntN(15)
		}
		m.run(400 + seed%2000)
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		c := NewCache()
		base := NewWalker(&m.text, c, cfg)
		same := func(what string, text Text, ws ...*Walker) {
			t.Helper()
			evs := spoil(r, m.evs, m.any) // so that flows come by other places, too
			want := walked(t, NewWalker(text, NewCache(), cfg), evs)
			for _, w := range ws {
				w.paths.misses = pathAfter
				got := walked(t, w, evs)
				if d := got.differs(&want); d != "" {
					t.Fatalf("seed %d, %s: %.3000s", seed, what, d)
				}
			}
		}
		if seed%4 > 0 {
			same("at first", &m.text, base, base)
		}
		for round := range 6 {
			x := &laidText{testText: &m.text, at: m.any()}
			for range 1 + r.IntN(3) {
				x.over = append(x.over, []byte{0x90, 0xc3, 0xcc, 0xeb, 0x74, 0xfe}[r.IntN(6)])
			}
			if round == 3 {
				m.text.bytes = slices.Clone(m.text.bytes)
				copy(m.text.bytes[x.at-m.text.addr:], x.over)
				c.Drop(x.overlap)
				base = NewWalker(&m.text, c, cfg)
				same("changed", &m.text, base)
				continue
			}
			c.Lay(x.at-uint64(r.IntN(3)), x.at+uint64(len(x.over)+r.IntN(3)), x.overlap)
			w := NewWalker(x, c, cfg)
			same("laid over", x, w, w)
			c.Lift()
			same("lifted", &m.text, base, NewWalker(&m.text, c, cfg))
		}
	}
}
