package flow

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// toggled is the text of code() of which one site is poked n times, between
// two forms in turn: poke i at 100*(i+1) ns. An answer costs the same, whatever n
// is.
type toggled struct {
	testText
	site  uint64
	forms [2]string
	n     int
}

func (x *toggled) Fetch(dst []byte, space uint32, addr uint64, at event.Epoch) (int, event.Span) {
	n := 0
	if addr >= x.addr && addr < x.addr+uint64(len(x.bytes)) {
		n = copy(dst, x.bytes[addr-x.addr:])
	}
	f := x.forms[at&1]
	if addr >= x.site+uint64(len(f)) || x.site >= addr+uint64(n) {
		return n, event.EveryEpoch
	}
	for i := range n {
		if a := addr + uint64(i); a >= x.site && a < x.site+uint64(len(f)) {
			dst[i] = f[a-x.site]
		}
	}
	if int(at) >= x.n {
		return n, event.Span{From: at, Until: event.MaxEpoch}
	}
	return n, event.Span{From: at, Until: at + 1}
}

func (x *toggled) Epochs(m event.Time) (lo, hi event.Epoch) {
	return event.Epoch(min(m.Lo/100, uint64(x.n))), event.Epoch(min(m.Hi/100, uint64(x.n)))
}

func (x *toggled) Edges(lo, hi event.Epoch) (loEnd, hiEnd uint64) {
	edge := func(e event.Epoch) uint64 {
		if int(e) >= x.n {
			return math.MaxUint64
		}
		return 100 * (uint64(e) + 1)
	}
	return edge(lo), edge(hi)
}

func (x *toggled) Between(dst []int, addr uint64, n int, lo, hi event.Epoch) []int {
	if addr < x.site+uint64(len(x.forms[0])) && x.site < addr+uint64(n) {
		for i := int(lo); i < min(int(hi), x.n); i++ {
			dst = append(dst, i)
		}
	}
	return dst
}

func (x *toggled) Poke(i int) Poke {
	t := 100 * (uint64(i) + 1)
	return Poke{Addr: x.site, Len: len(x.forms[0]), Time: t, Begin: t, Until: math.MaxUint64, Trap: true, Window: true, Guarded: true}
}

func (x *toggled) Floor(i int) event.Epoch { return event.Epoch(i) }

// toggles returns code that goes round with each outcome that is taken, by one
// way or the other, and its site with n pokes.
func toggles(n int) *toggled {
	nop, jmp := "\x0f\x1f\x44\x00\x00", "\xe9\x0c\x00\x00\x00"
	x := code(map[int]string{
		0x00: nop + "\x74\xf9\xff\xe0", // nop or jmp 0x11; je 0; jmp *rax
		0x11: "\x75\xed\xff\xe0",       // jne 0; jmp *rax
		0x30: "\x75\xce",               // jne 0
	})
	return &toggled{testText: *x, site: 0x1000, forms: [2]string{nop, jmp}, n: n}
}

// verdicts is a Sink that counts ranges by verdict.
type verdicts [numVerdicts]int

func (v *verdicts) Flow(b *Batch) error {
	for _, r := range b.Ranges {
		v[r.Verdict]++
	}
	return nil
}

// meter is a Source that finds how much a walker holds at most when it asks for
// more.
type meter struct {
	w            *Walker
	n            int                     // events
	next         func(i int) event.Event // event i
	i            int                     // given so far
	held, queued int
}

func (m *meter) Next(e *event.Event) bool {
	m.held, m.queued = max(m.held, m.w.exec.window.spare.held), max(m.queued, len(m.w.exec.events.buf))
	if m.i >= m.n {
		return false
	}
	*e = m.next(m.i)
	m.i++
	return true
}
