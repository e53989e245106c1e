package flow

import (
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// oneRange is a node behind parent with a range of one instruction at ip.
func oneRange(w *window, parent *node, ip uint64) *node {
	n := w.spare.node()
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
			s = string(rune(r.Block.Addr)) + []string{"", "t", "x", "u", "?"}[r.Verdict] + s
		}
	}
	return s
}

// TestMergeShared would catch that what two threads do not share is marked in
// nodes that a third stands on, which has it for sure if it is the true one.
func TestMergeShared(t *testing.T) {
	w := &testWalker(code(nil)).exec.window
	w.events.drained = true
	root := oneRange(w, nil, 'r')
	both := oneRange(w, root, 'a') // of keep and third
	keep := &thread{on: true, ip: 0x1000, tail: oneRange(w, both, 'b')}
	third := &thread{on: true, ip: 0x1008, tail: oneRange(w, both, 'c')}
	drop := &thread{on: true, ip: 0x1000, tail: oneRange(w, root, 'd'), penalty: 1}
	w.threads = []*thread{keep, third, drop}
	w.merge(0)
	if got := spelt(keep.tail); len(w.threads) != 2 || got != "rta?b?" {
		t.Errorf("what stays of the two: %s, %d threads", got, len(w.threads))
	}
	if got := spelt(third.tail); got != "rtatct" {
		t.Errorf("the third: %s", got)
	}
	// What nobody stands on any more is free again, all of it.
	w.drop(third)
	w.drop(keep)
	w.spare.unhold(both)
	if w.spare.unhold(root); len(w.spare.nodes) != 7 {
		t.Errorf("%d nodes are free", len(w.spare.nodes))
	}
}

// TestKill would catch a thread that contradicts the trace and is followed all
// the same. It would catch one that came to unknown code and is not followed:
// only that may hold more that is not known. It would also catch that the end
// of such a thread settles what it does not share with the threads that stay. They
// may not mark that in each other's nodes. And it would catch that its end takes
// from the thread that stays the return stack, or lets contradictions refute it no
// longer.
func TestKill(t *testing.T) {
	for _, c := range []struct {
		first event.Reason
		stays int    // how often it may contradict the trace then
		other string // what is left of the one that stays
	}{
		{event.Mismatch, 0, "rtat"}, {event.NoCall, 1, "rtat"}, {event.UndecidableFlow, 1, "rtat"}, {event.NoText, 1 + maxStrikes, "rta?"},
	} {
		walker := testWalker(code(nil))
		w := &walker.exec.window
		w.events.buf, w.events.drained = []event.Event{syncAt(0x1000)}, true
		root := oneRange(w, nil, 'r')
		both := oneRange(w, root, 'a') // of the first and the third
		both.refs++
		drop := &thread{on: true, tail: oneRange(w, root, 'b')}
		w.threads = []*thread{{on: true, tail: both}, drop, {on: true, ip: 0x1008, tail: both}}
		for _, t := range w.threads {
			t.stack.depth = 4
			t.stack.Push(0x1004, nil)
		}
		n := 0
		for walker.kill(1, c.first); len(w.threads) == 3 && n < 10; walker.kill(1, event.Mismatch) {
			n++
		}
		if k := w.threads[0]; k.stack.n != 1 || k.doubt {
			t.Errorf("behind %v: %d return addresses stay, doubt: %v", c.first, k.stack.n, k.doubt)
		} else if unsure := c.first == event.NoText; k.stack.guessed() != unsure || k.shadow != unsure {
			t.Errorf("behind %v: the return address is a guess: %v, the flow may be another: %v", c.first, k.stack.guessed(), k.shadow)
		}
		if n != c.stays {
			t.Errorf("behind %v: taken out after %d, want %d", c.first, n, c.stays)
		}
		for i, k := range w.threads {
			if got := spelt(k.tail); got != c.other {
				t.Errorf("behind %v: %s stays of thread %d, want %s", c.first, got, i, c.other)
			}
		}
		if c.first == event.NoText && w.threads[0].tail == w.threads[1].tail {
			t.Error("two threads wrote into one node")
		}
	}
}

// TestMultiply would catch threads that share what only one of them may write to,
// and another thread than the split one that is moved. It would also catch a thread
// counted for more than it has used.
func TestMultiply(t *testing.T) {
	w := &testWalker(code(nil)).exec.window
	w.out.start(nil)
	root := oneRange(w, nil, 'r')
	root.refs++
	one := &thread{cursor: cursor{q: 4}, tail: oneRange(w, root, 'a'), evidence: evidence{known: []event.Epoch{7}}}
	other := &thread{cursor: cursor{q: 3, n: 2}, tail: oneRange(w, root, 'b')}
	w.threads = []*thread{one, other}
	kids := slices.Clone(w.multiply(0, 3))
	if len(w.threads) != 4 || !slices.Equal(w.threads[:3], kids) || kids[0] != one || w.threads[3] != other || w.laggard() != 3 {
		t.Fatalf("%d threads, laggard %d", len(w.threads), w.laggard())
	}
	for i, k := range kids {
		k.known[0] = event.Epoch(10 + i)
		k.tail.out.Ranges = append(k.tail.out.Ranges, Range{Block: &Block{Addr: uint64('x' + i), N: 1}, N: 1})
	}
	for i, k := range kids {
		if got, want := spelt(k.tail), "rtat"+string(rune('x'+i)); got != want || k.known[0] != event.Epoch(10+i) {
			t.Errorf("thread %d: %s, want %s; it knows %v", i, got, want, k.known)
		}
	}
}
