package flow

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// several reports whether more than one cut is followed.
func (w *window) several() bool { return len(w.threads) > 1 }

// laggard returns the thread that has used the least.
func (w *window) laggard() int {
	at := 0
	for i, t := range w.threads {
		if t.pos() < w.threads[at].pos() {
			at = i
		}
	}
	return at
}

// fork returns a copy of t that goes on by itself.
func (w *window) fork(t *thread) *thread {
	c := w.spare.thread()
	c.become(t)
	if c.tail != nil {
		c.tail.refs++
	}
	return c
}

// drop takes t, which is not used again.
func (w *window) drop(t *thread) {
	w.spare.unhold(t.tail)
	t.tail = nil
	w.spare.threads = append(w.spare.threads, t)
}

// multiply replaces thread i by n threads that go on from where it stands, each with a
// node of its own.
func (w *window) multiply(i, n int) []*thread {
	t := w.threads[i]
	w.kids = append(w.kids[:0], t)
	for range n - 1 {
		w.kids = append(w.kids, w.fork(t))
	}
	for _, k := range w.kids {
		w.grow(k)
	}
	w.threads = slices.Replace(w.threads, i, i+1, w.kids...)
	return w.kids
}

// grow gives t a node of its own to write to.
func (w *window) grow(t *thread) {
	n := w.spare.node()
	n.parent = t.tail // which t held before
	st := *w.out.last()
	if t.tail != nil {
		st = t.tail.out.Stamps[t.tail.stamp]
	}
	n.out.Stamps = append(n.out.Stamps, st)
	w.spare.hold(n, stampSize)
	t.tail = n
}

// outlives reports whether t, which could not be followed for that reason, goes on
// from the next event that states an address: nothing has refuted it. It becomes the
// unlikeliest: its penalty grows by 2^40 ns, which is longer than cuts lie apart.
func (w *window) outlives(t *thread, why event.Reason) bool {
	if why == event.NoText || why == event.NoCall || why == event.UndecidableFlow || t.doubt || w.atTrouble(t) {
		if t.loses(t.pos(), t.used, why == event.NoText) {
			t.penalty += 1 << 40
		}
		return true
	}
	return !w.hasKin(t) && t.strikes()
}

// takeOut takes out thread i, which contradicts the trace.
func (w *window) takeOut(i int) {
	t := w.threads[i]
	w.threads = slices.Delete(w.threads, i, i+1)
	if t.sawUnknown && !w.hasKin(t) {
		// It may yet be what ran: nothing that it does not share is settled by its end.
		for _, k := range w.threads {
			w.unite(k, t)
		}
	}
	w.drop(t)
}

// convict takes out the threads that t refutes, though they came to unknown code.
func (w *window) convict(t *thread) {
	if t.unsure() {
		return
	}
	for i := len(w.threads) - 1; i >= 0; i-- {
		if o := w.threads[i]; t.convicts(&o.trial) {
			w.drop(o)
			w.threads = slices.Delete(w.threads, i, i+1)
		}
	}
}

// atTrouble reports whether t stands before a stretch that no flow can cross.
func (w *window) atTrouble(t *thread) bool {
	e := w.events.at(t.q)
	return e != nil && t.n == 0 && e.Kind == event.Trouble
}

// merge unites thread i with one that has come to the same state.
func (w *window) merge(i int) {
	a := w.threads[i]
	for j, b := range w.threads {
		if j == i || b.pos() != a.pos() || b.first != nil || !sameState(a, b) || w.ahead.trapAhead(a, b) {
			continue
		}
		keep, drop := likelier(a, b)
		w.unite(keep, drop)
		if keep.kin == 0 {
			keep.kin = drop.kin
		}
		w.remove(drop)
		return
	}
}

// giveUp ends the search undecided: the likeliest thread stays, and what it
// does not share with the others is ambiguous.
func (w *window) giveUp() {
	best := w.likeliest()
	for _, t := range w.threads {
		if t != best {
			best.gapBefore = w.doubt(best.tail, t.tail) || best.gapBefore || t.gapBefore
			best.weaken(t)
			w.drop(t)
		}
	}
	w.threads = append(w.threads[:0], best)
}

// abandon ends the search where the walk ends with an error: nothing of what the threads hold is wanted.
func (w *window) abandon() {
	for _, t := range w.threads {
		w.drop(t)
	}
	w.threads = w.threads[:0]
}

// likeliest returns the thread whose cuts lie nearest to the pokes' times.
func (w *window) likeliest() *thread {
	best := w.threads[0]
	for _, t := range w.threads[1:] {
		if t.penalty < best.penalty {
			best = t
		}
	}
	return best
}

// release drops the events that every thread has used.
func (w *window) release() {
	w.events.trim(w.least(), 4*queueEvents)
}

// adopt makes t the one flow, and delivers what it emitted.
func (w *window) adopt(t, flow *thread) {
	w.out.deliverTo(t.tail)
	w.spare.unhold(t.tail)
	t.tail, t.penalty, t.trial = nil, 0, trial{}
	flow.become(t)
	w.drop(t)
	w.threads = w.threads[:0]
}
