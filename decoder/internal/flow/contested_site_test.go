package flow

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestFirstContested would catch contested code in a block that is taken for
// plain, and plain code that is not walked because something behind it is open.
func TestFirstContested(t *testing.T) {
	x := code(map[int]string{0: "\x90\x90\x0f\x1f\x44\x00\x00\x90\x90\xff\xe0"})
	x.pokes = []testPoke{
		{addr: 0x1005, old: "\x00", new: "\x01", time: 100}, // inside the third instruction
		{addr: 0x1007, old: "\x90", new: "\xcc", time: 200},
	}
	s := &testWalker(x).exec.site
	for _, c := range []struct {
		floor, hi event.Epoch
		from      uint64
		want      uint64
	}{{0, 2, 0x1000, 0x1002}, {0, 1, 0x1000, 0x1002}, {1, 2, 0x1000, 0x1007}, {1, 2, 0x1007, 0x1007}, {0, 2, 0x1008, 0x100b}, {0, 0, 0x1000, 0x100b}} {
		th := &thread{mode: isa.Mode64, evidence: evidence{floor: c.floor, hi: c.hi}}
		if got := s.firstContested(th, 0, c.from, isa.Mode64); got != c.want {
			t.Errorf("epochs %d to %d, from %#x: %#x, want %#x", c.floor, c.hi, c.from, got, c.want)
		}
	}
}

// TestEstimate would catch a likeliest moment outside what the clock allows, or one
// that does not move with the place in the trace.
func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		lo, hi   uint64
		progress func(int64) float64
		want     uint64
	}{
		{100, 200, nil, 150},
		{100, 200, func(int64) float64 { return 0.75 }, 175},
		{100, event.Always.Hi, func(int64) float64 { return 0.75 }, 100},
		{200, 100, nil, 200},
	} {
		src := events{at(c.lo, c.hi, bits("t")), at(1, 2, bits("t"))}
		s := site{events: &queue{src: &src}, progress: c.progress}
		if got := s.estimate(new(thread)); got != c.want {
			t.Errorf("%d to %d: %d, want %d", c.lo, c.hi, got, c.want)
		}
		if got := s.estimate(&thread{cursor: cursor{q: 1, n: 1}}); got != c.want {
			t.Errorf("%d to %d, its outcome in hand: %d, want %d", c.lo, c.hi, got, c.want)
		}
	}
}

// guarded is a testText whose pokes are guarded, or not.
type guarded struct {
	*testText
	is bool
}

func (x *guarded) Poke(i int) Poke {
	p := x.testText.Poke(i)
	p.Guarded = x.is
	return p
}

// TestSettle would catch a version that is kept although the packets rule it out,
// one dropped that they allow, and versions that do the same told apart.
func TestSettle(t *testing.T) {
	const nop, jmp, longNop = "\x0f\x1f\x44\x00\x00", "\xe9\x0c\x00\x00\x00", "\x66\x66\x66\x66\x90"
	for _, c := range []struct {
		what, new string
		next      event.Event
		guarded   bool
		st        status
		choice    Verdict
	}{
		{"both fit", jmp, bits("t"), true, forked, Certain},
		{"a trap cannot go on", "\xcc\x1f\x44\x00\x00", bits("t"), true, moved, Trace},
		{"both do nothing, but later code may tell", longNop, bits("t"), true, forked, Certain},
		{"both do nothing", longNop, bits("t"), false, moved, Ambiguous},
		{"an indirect jump has no outcome", "\xff\xe0\x44\x00\x00", bits("t"), true, moved, Trace},
		{"an indirect jump may have a target", "\xff\xe0\x44\x00\x00", to(0x1030), true, forked, Certain},
	} {
		x := code(map[int]string{0: nop + "\x74\xf9\xff\xe0", 0x11: "\x75\xed\xff\xe0"})
		x.pokes = []testPoke{{addr: 0x1000, old: nop, new: c.new, time: 100}}
		w := testWalker(&guarded{x, c.guarded})
		src := events{at(10, 150, c.next)}
		w.exec.events.start(&src, false)
		w.exec.out.start(nil)
		th := &thread{ip: 0x1000, mode: isa.Mode64, evidence: evidence{hi: 1}}
		b, st := w.exec.site.contested(th)
		if st != c.st || th.choice != c.choice || (b == nil) != (st == forked) {
			t.Errorf("%s: %d, %v, block %v", c.what, st, th.choice, b)
		}
		if st == forked && len(w.exec.site.options) != 2 || st == moved && th.knows(0) {
			t.Errorf("%s: %d options; poke seen: %v", c.what, len(w.exec.site.options), th.knows(0))
		}
	}
}
