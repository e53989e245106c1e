package flow

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// lastOf is e, outcomes of which the last packet has n.
func lastOf(n uint8, e event.Event) event.Event {
	e.Last = n
	return e
}

// TestParting would catch a flow that is claimed behind a target with the wrong
// outcomes in hand. It would also catch one that stays in doubt although the packets
// leave one number of them.
func TestParting(t *testing.T) {
	text := code(map[int]string{
		0x00: "\xff\xe0",         // jmp *rax
		0x10: "\x74\x0e\xff\xe0", // je 0x20; jmp *rax
		0x20: "\x74\x0e\xff\xe0", // je 0x30; jmp *rax
		0x30: "\x90\xff\xe0",     // nop; jmp *rax
		0x40: "\x74\xfe\xff\xe0", // je 0x40; jmp *rax
	})
	lost := []event.Event{syncAt(0x1000), to(0x2000)} // where there is no code
	for _, c := range []struct {
		name, want string
		threads    int // at most
		evs        []event.Event
	}{
		{"both outcomes are left: none and one contradict what comes", "0 gap:no-text 10t 12t 30 31 10", 0,
			append(lost[:2:2], bits("nt"), to(0x1010), to(0x1030), to(0x1010), syncAt(0x1020))},
		{"one may be left, until the flows meet", "0 gap:no-text 10t 12? 30", 0,
			append(lost[:2:2], bits("t"), to(0x1010), bits("n"), to(0x1030), syncAt(0x1031))},
		{"any number may be left", "0 gap:no-text 40? 40 42 30 31 10 12 30", 0,
			append(lost[:2:2], bits("tt"), to(0x1040), bits("tn"), to(0x1030), to(0x1010), bits("n"), to(0x1030), syncAt(0x1031))},
		{"something else was sent between the outcomes and the target", "0 gap:no-text 30 31 10", 0,
			append(lost[:2:2], bits("t"), event.Event{Kind: event.Context}, to(0x1030), to(0x1010), bits("t"), syncAt(0x1020))},
		{"the flow before had used all outcomes", "40 42 gap:no-text 30 31 30", 0,
			[]event.Event{syncAt(0x1040), bits("n"), to(0x2000), to(0x1030), to(0x1030), syncAt(0x1031)}},
		{"it had one in hand", "40 42 gap:no-text 20t 22 30", 0,
			[]event.Event{syncAt(0x1040), bits("nn"), to(0x2000), to(0x1020), to(0x1030), syncAt(0x1031)}},
		{"only what the last packet holds may be left", "0 gap:no-text 20t 22 30 31 30", 0,
			append(lost[:2:2], lastOf(1, bits("tn")), to(0x1020), to(0x1030), to(0x1030), syncAt(0x1031))},
		{"the next place has no code either", "0 gap:no-text gap:no-text 20t 22 30", 0,
			append(lost[:2:2], bits("n"), to(0x2010), to(0x1020), to(0x1030), syncAt(0x1031))},
		{"an interrupt there used what was left", "0 gap:no-text 20 22 30", 0,
			append(lost[:2:2], bits("n"), to(0x2010), async(0x2010, 0x1020), bits("n"), to(0x1030), syncAt(0x1031))},
		{"more cuts than may be followed: a guess until a target with none before it", "0 gap:no-text 10? 12? 30 31 10", 2,
			append(lost[:2:2], bits("tt"), to(0x1010), bits("n"), event.Event{Kind: event.Context}, to(0x1030), to(0x1010), bits("t"), syncAt(0x1020))},
		{"a flow that is a guess, up to a target with none before it", "0? 10? 20? 30? 31? 0 30", 0,
			[]event.Event{syncAt(0x1000), bits("tt"), to(0x1010), {Kind: event.Context}, to(0x1000), to(0x1030), syncAt(0x1031)}},
		{"behind a contradiction code is not trusted to refute a number", "gap:mismatch 10? 12? 30? 31? 10", 0,
			[]event.Event{syncAt(0x1000), bits("nt"), bits("n"), to(0x1010), bits("n"), to(0x1030), {Kind: event.Context}, to(0x1010), bits("t"), syncAt(0x1020)}},
	} {
		w := testWalker(text)
		if c.threads > 0 {
			w.exec.cfg.MaxThreads = c.threads
		}
		src, got := events(append(c.evs, end())), prints{}
		if err := w.Run(&src, &got); err != nil {
			t.Fatal(err)
		}
		if s := got.String(); s != c.want+" " {
			t.Errorf("%s:\n got %s\nwant %s", c.name, s, c.want)
		}
	}
}

// TestKin would catch a thread that came to unknown code and is forgiven a
// contradiction although another stands for it. It would catch one whose end then
// costs the others what it does not share. It would also catch one that has no other and is not forgiven.
func TestKin(t *testing.T) {
	for _, c := range []struct {
		kin  uint64 // of the other
		want string
	}{{7, "rtat"}, {0, "rta?"}, {8, "rta?"}} {
		w := &testWalker(code(nil)).exec.window
		w.events.drained = true
		root := oneRange(w, nil, 'r')
		a := &thread{tail: oneRange(w, root, 'a'), trial: trial{kin: c.kin}}
		b := &thread{tail: oneRange(w, root, 'b'), trial: trial{kin: 7, sawUnknown: true}}
		w.threads = []*thread{a, b}
		if got := w.outlives(b, event.Mismatch); got != (c.kin != 7) {
			t.Errorf("kin %d: it goes on: %v", c.kin, got)
		}
		w.takeOut(1)
		if got := spelt(a.tail); got != c.want {
			t.Errorf("kin %d: what stays: %s, want %s", c.kin, got, c.want)
		}
	}
}

// TestStackTold would catch two flows that are kept apart by return addresses that
// neither needs, or that become one although they need them.
func TestStackTold(t *testing.T) {
	for _, told := range []bool{false, true} {
		a := ReturnStack{depth: 4, told: told}
		b := a
		if a.Push(0x1000, nil); a.Equal(&b) != told {
			t.Errorf("told %v: equal: %v", told, !told)
		}
	}
}
