package flow

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// ring places a loop of n jumps at 0x1000, which spends no outcome; behind it
// lies an indirect jump.
func ring(n int) *testText {
	return code(map[int]string{0: strings.Repeat("\xeb\x00", n-1) + "\xeb" + string([]byte{byte(-2 * n)}) + "\xff\xe0"})
}

// TestLoop would catch a loop without an outcome that is told only after its
// rounds are printed. It would also catch one that is taken for endless
// although an event stops the flow in it.
func TestLoop(t *testing.T) {
	const blocks = 60
	text := ring(blocks)
	for name, next := range map[string]event.Event{"a target": to(0x1000 + 2*blocks), "outcomes": bits("t"), "a sync point outside": syncAt(0x1000 + 2*blocks)} {
		got := strings.Fields(walk(t, text, syncAt(0x1000), next, syncAt(0x1000+2*blocks), end()))
		at := slices.Index(got, "gap:loop")
		if at < 0 || at > 2*loopBlocks+2 {
			t.Errorf("before %s: told behind %d instructions: %s", name, at, got)
		}
	}
	for name, next := range map[string]event.Event{"a sync point": syncAt(0x1000 + 2*55), "an interrupt": async(0x1000+2*55, 0x1000+2*blocks)} {
		got := strings.Fields(walk(t, text, syncAt(0x1000), next, end()))
		if len(got) != 55 || got[54] != "6c" {
			t.Errorf("to %s in the loop: %s", name, got)
		}
	}
}

// oneRange is a node behind parent with a range of one instruction at ip.
func oneRange(w *Walker, parent *node, ip uint64) *node {
	n := w.exec.window.spare.node()
	if n.parent = parent; parent != nil {
		parent.refs++
	}
	n.out.Stamps = append(n.out.Stamps, Stamp{})
	n.out.Ranges = append(n.out.Ranges, Range{Block: &Block{Addr: ip, End: ip + 1, N: 1, Lens: []uint8{1}, Mode: isa.Mode64, Span: event.EveryEpoch}, N: 1, Verdict: Trace})
	return n
}

// spelt returns the addresses and verdicts of the flow that ends at n.
func spelt(n *node) (s string) {
	for ; n != nil; n = n.parent {
		for _, r := range slices.Backward(n.out.Ranges) {
			s = string(rune(r.Block.Addr)) + []string{"", "t", "x", "?"}[r.Verdict] + s
		}
	}
	return s
}

// TestMergeShared would catch that what two threads do not share is marked in
// nodes that a third stands on, which has it for sure if it is the true one.
func TestMergeShared(t *testing.T) {
	w := testWalker(code(nil))
	w.exec.events.buf, w.exec.events.drained = w.exec.events.buf[:0], true
	root := oneRange(w, nil, 'r')
	both := oneRange(w, root, 'a') // of keep and third
	keep := &thread{on: true, ip: 0x1000, tail: oneRange(w, both, 'b')}
	third := &thread{on: true, ip: 0x1008, tail: oneRange(w, both, 'c')}
	drop := &thread{on: true, ip: 0x1000, tail: oneRange(w, root, 'd'), penalty: 1}
	w.exec.window.threads = []*thread{keep, third, drop}
	w.exec.window.merge(0)
	if got := spelt(keep.tail); len(w.exec.window.threads) != 2 || got != "rta?b?" {
		t.Errorf("what stays of the two: %s, %d threads", got, len(w.exec.window.threads))
	}
	if got := spelt(third.tail); got != "rtatct" {
		t.Errorf("the third: %s", got)
	}
	// What nobody stands on any more is free again, all of it.
	w.exec.window.drop(third)
	w.exec.window.drop(keep)
	w.exec.window.spare.unhold(both)
	if w.exec.window.spare.unhold(root); len(w.exec.window.spare.nodes) != 7 {
		t.Errorf("%d nodes are free", len(w.exec.window.spare.nodes))
	}
}

// TestTrapAhead would catch two cuts that become one although a breakpoint
// ahead tells which of them it was. A CPU that has run a poke's new code cannot
// meet its breakpoint any more. A breakpoint elsewhere tells nothing.
func TestTrapAhead(t *testing.T) {
	const nop, jmp, longNop = "\x0f\x1f\x44\x00\x00", "\xe9\x0c\x00\x00\x00", "\x66\x66\x66\x66\x90"
	mk := func(new string) *testText {
		text := code(map[int]string{
			0x00: nop, 0x05: "\x74\xf9\xff\xe0", // nop; je 0; jmp *rax
			0x11: "\x75\xed\xff\xe0", // jne 0; jmp *rax
			0x30: "\x90\xff\xe0", 0x80: "\x48\xcf",
		})
		text.pokes = []testPoke{{addr: 0x1000, old: nop, new: new, time: 100}}
		return text
	}
	// Both texts explain what is stated up to 0x1030, where the clock says that
	// the poke is made.
	start := []event.Event{at(10, 10, syncAt(0x1000)), at(10, 200, bits("n")), at(110, 200, to(0x1030))}
	for _, c := range []struct {
		name, new, want string
		evs             []event.Event
	}{
		{"a trap at the poke's site: the old text ran", jmp, "0t 5t 7t 30t 31t trap:0/0 80 0 11 13 30", []event.Event{
			at(110, 200, to(0x1000)), at(115, 200, async(0x1000, 0x1080)), at(120, 200, to(0x1000)), at(120, 200, bits("n")), at(120, 200, to(0x1030)), at(200, 200, syncAt(0x1031))}},
		{"the same where both texts do nothing", longNop, "0t 5t 7t 30t 31t trap:0/0 80 5 7 30", []event.Event{
			at(110, 200, to(0x1000)), at(115, 200, async(0x1000, 0x1080)), at(120, 200, to(0x1005)), at(120, 200, bits("n")), at(120, 200, to(0x1030)), at(200, 200, syncAt(0x1031))}},
		{"one elsewhere", jmp, "0? 11? 13? 30 trap:31/-1 80 0", []event.Event{
			at(115, 200, async(0x1031, 0x1080)), at(120, 200, to(0x1000)), at(200, 200, syncAt(0x1011))}},
	} {
		if got := walk(t, mk(c.new), append(start[:3:3], c.evs...)...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestKill would catch a thread that contradicts the trace and is followed all
// the same. It would catch one that came to unknown code and is not followed:
// only that may hold more that is not known. It would also catch that the end
// of such a thread settles what it does not share with the thread that stays.
func TestKill(t *testing.T) {
	for _, c := range []struct {
		first event.Reason
		stays int    // how often it may contradict the trace then
		other string // what is left of the one that stays
	}{
		{event.Mismatch, 0, "rtat"}, {event.NoCall, 1, "rtat"}, {event.UndecidableFlow, 1, "rtat"}, {event.NoText, 1 + maxStrikes, "rta?"},
	} {
		w := testWalker(code(nil))
		w.exec.events.buf, w.exec.events.drained = []event.Event{syncAt(0x1000)}, true
		root := oneRange(w, nil, 'r')
		root.refs++
		w.exec.window.threads = []*thread{{on: true, tail: oneRange(w, root, 'a')}, {on: true, tail: oneRange(w, root, 'b')}}
		n := 0
		for w.kill(1, c.first); len(w.exec.window.threads) == 2 && n < 10; w.kill(1, event.Mismatch) {
			n++
		}
		if n != c.stays {
			t.Errorf("behind %v: taken out after %d, want %d", c.first, n, c.stays)
		}
		if got := spelt(w.exec.window.threads[0].tail); got != c.other {
			t.Errorf("behind %v: %s stays, want %s", c.first, got, c.other)
		}
	}
}

// markedText is a testText whose poke mark is where records were lost.
type markedText struct {
	*testText
	mark int
}

func (t *markedText) Poke(i int) Poke {
	p := t.testText.Poke(i)
	p.Mark, p.Guarded = i == t.mark, true
	return p
}

func (t *markedText) Floor(i int) event.Epoch { return event.Epoch(i) }

// TestTrappedMark would catch lost records that count as a change whose
// breakpoint is known to be gone: the breakpoint met may be that of a lost one.
func TestTrappedMark(t *testing.T) {
	for _, mark := range []int{-1, 0} {
		x := code(map[int]string{0: "\x90\x90"})
		x.pokes = []testPoke{{addr: 0x1000, old: "\x90", new: "\x91", time: 100}, {addr: 0x1001, old: "\x90", new: "\x91", time: 200}}
		w := testWalker(&markedText{x, mark})
		w.exec.traps.pokes = []int{0}
		if got, want := w.exec.traps.trapped(&thread{mode: isa.Mode64, evidence: evidence{floor: 2, hi: 2}}, 0x1000, 300), mark >= 0; got != want {
			t.Errorf("mark %d: may have been met: %v, want %v", mark, got, want)
		}
	}
}

// TestExecuted would catch a breakpoint taken to be gone because of code that
// its site ran. That code is not the poke's, or may not have run, or ran
// without that part.
func TestExecuted(t *testing.T) {
	block := func(space uint32) *Block {
		return &Block{Addr: 0x1000, End: 0x1006, N: 3, Lens: []uint8{2, 2, 2}, Span: event.Span{From: 5, Until: 9}, Space: space}
	}
	b, user := block(0), block(1)
	for _, c := range []struct {
		what string
		r    Range
		ip   uint64
		at   event.Epoch
		want bool
	}{
		{"its text", Range{Block: b, N: 3}, 0x1002, 4, true},
		{"by the trace", Range{Block: b, N: 3, Verdict: Trace}, 0x1000, 4, true},
		{"one of several", Range{Block: b, N: 3, Verdict: Ambiguous}, 0x1002, 4, false},
		{"one of several that do the same", Range{Block: b, N: 3, Verdict: Trace, Either: true}, 0x1002, 4, false},
		{"broken off before it", Range{Block: b, N: 1}, 0x1002, 4, false},
		{"text of before", Range{Block: b, N: 3}, 0x1002, 5, false},
		{"inside an instruction", Range{Block: b, N: 3}, 0x1003, 4, false},
		{"elsewhere", Range{Block: b, N: 3}, 0x1006, 4, false},
		{"user text", Range{Block: user, N: 3}, 0x1002, 4, false},
	} {
		if got := executed([]Range{c.r}, c.ip, c.at); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
