package flow

import (
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// thread is one flow over the events: where it is, what it holds, and which
// pokes it has seen. The walker has one; while a window is open, one for each
// cut that the trace still allows.
type thread struct {
	ip    uint64
	bits  uint64 // outcomes in hand, the oldest in bit 63
	n     int    // how many
	q     int    // index of the next event
	idle  int    // blocks since an outcome or event was used
	mark  uint64 // an address it had since, to find loops
	whose uint64 // what was stated last of whose user text is, see Config.Space
	space uint32
	mode  isa.Mode
	on    bool // tracing is on and ip is known
	doubt bool // ip was stated behind dropped outcomes: some may belong after it
	vague bool // which program user text is of is not sure
	guest bool // in a virtual machine
	lost  bool // ip is unknown until the next event that states one

	lo, hi       event.Epoch   // what the clock allows
	loEnd, hiEnd uint64        // ns: until when lo and hi stay
	floor        event.Epoch   // every poke below is in effect here: by the clock or by evidence
	known        []event.Epoch // pokes at or above floor that are in effect here, ascending
	ran          []event.Epoch // of the pokes that may not be complete: those whose new text it has executed, ascending
	date         uint64        // ns: by the new text that it ran, it is no earlier than this
	synced       uint64        // ns: it synchronised then or later, by the rules' Syncs; 0: not seen
	trap         bool          // floor or known were raised by an exception, not by a cut alone

	stack ReturnStack
	wrote uint64 // address of a PTWRITE that was told and is executed next; 0: none

	// Only while a window is open:
	first   *Block             // the version chosen for the instruction at ip, to be executed next
	tail    *node              // what this thread emitted since the window opened
	own     int                // calls made since the window opened that have not returned
	proofs  [enoughReturns]int // pos after the newest returns whose target such a call foretold, a ring
	proof   int                // how many
	torn    bool               // what it emits next may not have come after what it emitted last
	blind   bool               // it could not be followed since lostAt
	dark    bool               // it came to unknown text
	lostAt  int                // pos
	strikes int                // how often it contradicted the trace since
	spent   int                // outcomes and targets used since the window opened
	born    int                // spent when it last split off
	alone   int                // blind: outcomes and targets used between the split and the loss
	seam    int                // the newest of the window's seams that it has passed
	penalty uint64             // how far its cuts lie from the pokes' times, ns
	choice  Verdict            // how the text being executed was settled
	either  bool               // it is one of several that do the same
}

// reset makes t the flow at a segment's start.
func (t *thread) reset(m isa.Mode) {
	t.ip, t.bits, t.n, t.q, t.idle = 0, 0, 0, 0, 0
	t.first = nil
	t.whose, t.space, t.mode, t.guest = 0, 0, m, false
	t.on, t.lost, t.trap, t.doubt = false, false, false, false
	t.vague = false
	t.lo, t.hi, t.floor, t.known = 0, 0, 0, t.known[:0]
	t.ran = t.ran[:0]
	t.synced, t.date = 0, 0
	t.loEnd, t.hiEnd = 0, 0 // unknown: the first event asks
	t.stack.Clear()
	t.tail, t.penalty, t.torn, t.choice, t.wrote = nil, 0, false, Certain, 0
}

// since moves the lower bound of the clock: what e states has happened.
func (w *Walker) since(t *thread, e *event.Event) {
	if e.Time.Lo >= t.loEnd {
		w.clock(t, e)
	}
}

// until moves the upper bound of the clock: what e states has not happened yet.
func (w *Walker) until(t *thread, e *event.Event) {
	if e.Time.Hi >= t.hiEnd && t.hiEnd != math.MaxUint64 {
		_, hi := w.text.Epochs(e.Time)
		t.hi = max(t.hi, hi, t.floor)
		_, t.hiEnd = w.text.Edges(t.lo, t.hi)
	}
}

// clock is since where the epoch moves.
func (w *Walker) clock(t *thread, e *event.Event) {
	lo, _ := w.text.Epochs(e.Time)
	if lo > t.lo {
		t.lo = lo
		if lo > t.floor {
			t.floor = lo
			t.prune()
		}
		t.hi = max(t.hi, t.floor)
		// A breakpoint may stand after its poke's record is made, until the batch
		// is complete.
		t.ran = slices.DeleteFunc(t.ran, func(e event.Epoch) bool { return e < t.lo && w.over(int(e), t.lo, 0) })
	}
	t.loEnd, t.hiEnd = w.text.Edges(t.lo, t.hi)
}

// prune drops what floor has made plain from known.
func (t *thread) prune() {
	i := 0
	for i < len(t.known) && t.known[i] < t.floor {
		i++
	}
	for i < len(t.known) && t.known[i] == t.floor {
		t.floor++
		i++
	}
	t.known = slices.Delete(t.known, 0, i)
	if len(t.known) == 0 && t.floor <= t.lo {
		t.trap = false
	}
}

// saw records that poke i is in effect on this CPU, and with it every poke
// that had completed before it began.
func (w *Walker) saw(t *thread, i int) {
	if t.doubt {
		return
	}
	if f := w.text.Floor(i); f > t.floor {
		t.floor = f
	}
	e := event.Epoch(i)
	if e >= t.floor {
		at, have := slices.BinarySearch(t.known, e)
		if !have {
			t.known = slices.Insert(t.known, at, e)
		}
	}
	t.prune()
	if hi := max(t.floor, e+1); hi > t.hi {
		t.hi = hi
		t.hiEnd = 0
	}
}

// knows reports whether poke i is in effect on this CPU.
func (t *thread) knows(i int) bool {
	return event.Epoch(i) < t.floor || slices.Contains(t.known, event.Epoch(i))
}

// pos orders threads by the outcomes and events they have used: threads with
// equal pos have used the same ones.
func (t *thread) pos() int { return t.q<<7 - t.n }

// executes records that t runs the text that poke i left: there is no
// breakpoint of i any more.
func (t *thread) executes(i int) {
	e := event.Epoch(i)
	if at, have := slices.BinarySearch(t.ran, e); !have && !t.doubt {
		t.ran = slices.Insert(t.ran, at, e)
	}
}

// tells takes as evidence that t executes the first n instructions of b, whose
// text it knows not by the clock but by evidence from other sites: the pokes that
// left this text have no breakpoint any more, and their time has come.
func (w *Walker) tells(t *thread, b *Block, n int) {
	size := 0
	for _, l := range b.Lens[:n] {
		size += int(l)
	}
	w.passed = w.text.Between(w.passed[:0], b.Addr, size, t.lo, t.floor)
	for _, i := range w.passed {
		if !w.text.Poke(i).Free {
			t.executes(i)
		}
		w.dated(t, i)
	}
}

// become makes t a copy of o that shares no memory with it.
func (t *thread) become(o *thread) {
	known, ran := append(t.known[:0], o.known...), append(t.ran[:0], o.ran...)
	*t = *o
	t.known, t.ran = known, ran
}

// fork returns a copy of t that goes on by itself.
func (w *Walker) fork(t *thread) *thread {
	c := w.spare.thread()
	c.become(t)
	if c.tail != nil {
		c.tail.refs++
	}
	return c
}

// drop takes t, which is not used again.
func (w *Walker) drop(t *thread) {
	w.spare.unhold(t.tail)
	t.tail = nil
	w.spare.threads = append(w.spare.threads, t)
}

// maxSpare bounds what is kept to be used again: nodes, and ranges, stamps or
// notes of each.
const maxSpare = 1 << 11

// spares is threads and nodes that were used and can be again.
type spares struct {
	threads []*thread
	nodes   []*node
	held    int // by nodes that are in use, as Config.MaxRanges counts
}

func (s *spares) thread() *thread {
	n := len(s.threads)
	if n == 0 {
		return new(thread)
	}
	t := s.threads[n-1]
	s.threads = s.threads[:n-1]
	return t
}

// node returns an empty node that its caller holds.
func (s *spares) node() *node {
	k := len(s.nodes)
	if k == 0 {
		return &node{refs: 1}
	}
	n := s.nodes[k-1]
	s.nodes = s.nodes[:k-1]
	return n
}

// unhold lets go of n, and of those before it that nothing else stands on.
func (s *spares) unhold(n *node) {
	for n != nil {
		if n.refs--; n.refs > 0 {
			return
		}
		p, out := n.parent, n.out
		s.held -= n.held
		if cap(out.Ranges) > maxSpare || cap(out.Stamps) > maxSpare || cap(out.Notes) > maxSpare {
			out = Batch{} // few nodes grow so long
		}
		clear(out.Notes) // of what they refer to
		out.Reset()
		*n = node{refs: 1, out: out}
		if len(s.nodes) < maxSpare {
			s.nodes = append(s.nodes, n)
		}
		n = p
	}
}

// same reports whether a and b, at equal pos, will do the same from now on.
func same(a, b *thread) bool {
	return a.ip == b.ip && a.doubt == b.doubt && a.on == b.on && a.lost == b.lost && a.q == b.q && a.n == b.n &&
		a.mode == b.mode && a.space == b.space && a.guest == b.guest && a.floor == b.floor &&
		slices.Equal(a.known, b.known) && a.stack.Equal(&b.stack)
}

// confirmed ends doubt about where t is. What it has on its return stack comes
// from the guess, unless the stack says itself what that is worth.
func (t *thread) confirmed() {
	if t.doubt {
		t.doubt = false
		if !t.stack.vague {
			t.stack.Forget()
		}
		t.own, t.proof = 0, 0
	}
}

// weaken takes from t what o, which may be the true flow instead, does not
// know as well.
func (t *thread) weaken(o *thread) {
	// What one knows one by one and the other by its floor, both know.
	t.known = slices.DeleteFunc(t.known, func(e event.Epoch) bool { return !o.knows(int(e)) })
	for _, e := range o.known {
		if at, have := slices.BinarySearch(t.known, e); !have && e < t.floor {
			t.known = slices.Insert(t.known, at, e)
		}
	}
	t.floor = max(min(t.floor, o.floor), t.lo)
	t.prune()
	t.ran = slices.DeleteFunc(t.ran, func(e event.Epoch) bool { return !slices.Contains(o.ran, e) })
	t.date, t.synced = min(t.date, o.date), min(t.synced, o.synced)
	t.hi = max(t.hi, o.hi)
	t.hiEnd = 0
	if !t.stack.Equal(&o.stack) {
		t.stack.Forget()
	}
	t.doubt = t.doubt || o.doubt || t.ip != o.ip || t.first != o.first || t.on != o.on || t.lost != o.lost || t.mode != o.mode || t.pos() != o.pos()
}

// setSpace moves t to an address space.
func (t *thread) setSpace(space uint32, sure bool) { t.space, t.vague = space, !sure }

// forget takes from t all that it has learnt since it was like before: only
// the clock has not been refuted.
func (t *thread) forget(before *thread) {
	t.known, t.ran = append(t.known[:0], before.known...), append(t.ran[:0], before.ran...)
	t.date = before.date
	t.trap = before.trap
	t.floor = max(before.floor, t.lo)
	t.synced = before.synced
	t.prune()
	t.hi, t.hiEnd = max(t.hi, t.floor), 0
}

// opens makes t the one thread of a window that opens: nothing has been seen
// in it yet.
func (t *thread) opens() {
	t.own, t.proof, t.spent, t.born, t.alone, t.seam = 0, 0, 0, 0, 0, 0
	t.blind, t.dark, t.strikes = false, false, 0
}
