package flow

import (
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestPrune would catch evidence that is kept one by one although the floor covers
// it, and a floor that stops short of evidence that lies right above it.
func TestPrune(t *testing.T) {
	for _, c := range []struct {
		floor, want event.Epoch
		known, left []event.Epoch
	}{
		{3, 3, []event.Epoch{1, 2}, nil},
		{3, 5, []event.Epoch{2, 3, 4, 7}, []event.Epoch{7}},
		{0, 0, []event.Epoch{1, 2}, []event.Epoch{1, 2}},
	} {
		x := thread{evidence: evidence{floor: c.floor, known: slices.Clone(c.known)}}
		if x.prune(); x.floor != c.want || !slices.Equal(x.known, c.left) {
			t.Errorf("floor %d, %v: floor %d, %v", c.floor, c.known, x.floor, x.known)
		}
	}
}

// TestWeaken would catch knowledge that a flow keeps although the other one, which
// may be the true one, does not have it, and knowledge that both have and one loses.
func TestWeaken(t *testing.T) {
	a := thread{evidence: evidence{floor: 5, known: []event.Epoch{7, 9}, ran: []event.Epoch{4, 7}, date: 50, synced: 30}}
	b := thread{evidence: evidence{floor: 2, known: []event.Epoch{3, 7}, ran: []event.Epoch{7}, date: 40, synced: 60, hi: 12}}
	a.weaken(&b)
	if a.floor != 2 || !slices.Equal(a.known, []event.Epoch{3, 7}) || !slices.Equal(a.ran, []event.Epoch{7}) || a.date != 40 || a.synced != 30 || a.hi != 12 {
		t.Errorf("%+v", a.evidence)
	}
	for i := range 12 {
		if a.knows(i) != b.knows(i) {
			t.Errorf("poke %d: %v, the other %v", i, a.knows(i), b.knows(i))
		}
	}
}

// TestClock would catch an epoch that time has settled and the clock has not, and
// one that the clock settles although time leaves it open.
func TestClock(t *testing.T) {
	x := toggles(10)
	var v evidence
	for _, c := range []struct {
		lo, hi         uint64
		wantLo, wantHi event.Epoch
	}{{0, 50, 0, 0}, {50, 250, 0, 2}, {150, 250, 1, 2}, {310, 320, 3, 3}, {310, 450, 3, 4}, {2000, 2000, 10, 10}} {
		e := at(c.lo, c.hi, bits("t"))
		v.notAfter(x, &e)
		v.notBefore(x, &e)
		if v.lo != c.wantLo || v.hi != c.wantHi || v.floor != c.wantLo {
			t.Errorf("%d to %d ns: epochs %d to %d, floor %d; want %d to %d", c.lo, c.hi, v.lo, v.hi, v.floor, c.wantLo, c.wantHi)
		}
	}
}

// TestSaw would catch evidence that is not carried to what had to come before it,
// that the next event's time takes back, or that is drawn from a guess.
func TestSaw(t *testing.T) {
	x := toggles(10) // poke i began when all before it were complete
	v := evidence{hi: 2}
	if v.saw(x, 4); v.floor != 5 || v.hi != 5 || !v.knows(0) || !v.knows(4) || v.knows(5) {
		t.Errorf("poke 4 seen: floor %d, hi %d", v.floor, v.hi)
	}
	e := at(50, 250, bits("t"))
	v.notAfter(x, &e)
	if v.notBefore(x, &e); v.floor != 5 || v.hi != 5 {
		t.Errorf("behind the next event: floor %d, hi %d", v.floor, v.hi)
	}
	v.dated(x, 7)
	if v.date != 800 || v.floor != 8 {
		t.Errorf("the code of poke 7 ran: date %d, floor %d", v.date, v.floor)
	}
	guess := evidence{doubt: true}
	guess.saw(x, 4)
	guess.executes(4)
	guess.dated(x, 4)
	guess.sync(&liveRules, &e)
	if guess.floor != 0 || guess.date != 0 || guess.synced != 0 || len(guess.ran)+len(guess.known) > 0 {
		t.Errorf("a guess taught %+v", guess)
	}
}

// TestRefutedEvidence would catch evidence that outlives the flow that taught it. A breakpoint shows that
// both pokes are in effect. The trace contradicts the code then, so some of it is wrong, and the clock
// leaves both open.
func TestRefutedEvidence(t *testing.T) {
	const nop, longNop = "\x0f\x1f\x44\x00\x00", "\x66\x66\x66\x66\x90"
	text := code(map[int]string{
		0x00: nop, 0x05: nop, 0x0a: "\xff\xe0", // jmp *rax
		0x20: "\xff\xe0", 0x30: "\x90\xff\xe0", 0x80: "\x48\xcf",
	})
	text.pokes = []testPoke{
		{addr: 0x1000, old: nop, new: longNop, time: 100},
		{addr: 0x1005, old: nop, new: "\xe9\x16\x00\x00\x00", time: 150, batch: 1},
	}
	inside := func(e event.Event) event.Event { return at(10, 300, e) }
	start := []event.Event{at(10, 10, syncAt(0x1005)), inside(async(0x1005, 0x1080)), inside(to(0x1020))}
	last := []event.Event{inside(to(0x1000)), inside(to(0x1030)), at(300, 300, syncAt(0x1031))}
	for _, c := range []struct {
		name, want string
		between    event.Event
	}{
		{"no contradiction", "trap:5/1 80 20 30 31 0x 5x 20 30", inside(to(0x1030))},
		{"a contradiction", "trap:5/1 80? gap:mismatch 30 31 0? 5? 20? 30t", inside(impossible(0x1030))},
	} {
		if got := walk(t, text, slices.Concat(start, []event.Event{c.between}, last)...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
