package flow

import (
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// evidence is what is known of the moment at which a thread stands: by the clock,
// and by what it has executed and met.
type evidence struct {
	lo, hi       event.Epoch   // what the clock allows
	loEnd, hiEnd uint64        // ns: until when lo and hi stay
	floor        event.Epoch   // every poke below is in effect here: by the clock or by evidence
	known        []event.Epoch // pokes at or above floor that are in effect here, ascending
	ran          []event.Epoch // of the pokes that may not be complete: those whose new code it has executed, ascending
	date         uint64        // ns: by the new code that it ran, it is no earlier than this
	synced       uint64        // ns: it synchronised then or later, by the rules' Syncs; 0: not seen
	trap         bool          // floor or known were raised by an exception, not by a cut alone
}

// notBefore moves the lower bound of the clock: what e states has happened.
func (w *Walker) notBefore(t *thread, e *event.Event) {
	if e.Time.Lo >= t.loEnd {
		w.clock(t, e)
	}
}

// notAfter moves the upper bound of the clock: what e states has not happened yet.
func (w *Walker) notAfter(t *thread, e *event.Event) {
	if e.Time.Hi >= t.hiEnd && t.hiEnd != math.MaxUint64 {
		_, hi := w.code.text.Epochs(e.Time)
		t.hi = max(t.hi, hi, t.floor)
		_, t.hiEnd = w.code.text.Edges(t.lo, t.hi)
	}
}

// clock is notBefore where the epoch moves.
func (w *Walker) clock(t *thread, e *event.Event) {
	lo, _ := w.code.text.Epochs(e.Time)
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
	t.loEnd, t.hiEnd = w.code.text.Edges(t.lo, t.hi)
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
	if f := w.code.text.Floor(i); f > t.floor {
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

// executes records that t runs the text that poke i left: there is no
// breakpoint of i any more.
func (t *thread) executes(i int) {
	e := event.Epoch(i)
	if at, have := slices.BinarySearch(t.ran, e); !have && !t.doubt {
		t.ran = slices.Insert(t.ran, at, e)
	}
}

// learnFromText takes as evidence that t executes the first n instructions of
// b. What b's code is, t knows not by the clock but by evidence from other
// sites. The pokes that left this code have no breakpoint any more, and their
// time has come.
func (w *Walker) learnFromText(t *thread, b *Block, n int) {
	size := 0
	for _, l := range b.Lens[:n] {
		size += int(l)
	}
	w.passed = w.code.text.Between(w.passed[:0], b.Addr, size, t.lo, t.floor)
	for _, i := range w.passed {
		if !w.code.text.Poke(i).Free {
			t.executes(i)
		}
		w.dated(t, i)
	}
}

// dated takes what poke i's new text says of the time when t executes it: the
// poke's moment has come, and what had ended by then has taken effect.
func (w *Walker) dated(t *thread, i int) {
	if t.doubt {
		return
	}
	begin := w.code.text.Poke(i).Begin
	t.date = max(t.date, begin)
	lo, _ := w.code.text.Epochs(event.Time{Lo: begin, Hi: math.MaxUint64})
	if lo > t.floor {
		t.floor = lo
		t.prune()
		t.hi = max(t.hi, t.floor)
		t.hiEnd = 0
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

// behind returns how many pokes of the chain pk, up to the last that is known,
// are in effect.
func (w *Walker) behind(t *thread, pk []int) (n int) {
	for j, i := range pk {
		if t.knows(i) || w.caughtUp(t, i) {
			n = j + 1
		}
	}
	return n
}

// caughtUp reports whether t has synchronised since poke i, which stopped
// nobody, was stored: then no fetch sees the old text any more.
func (w *Walker) caughtUp(t *thread, i int) bool {
	if t.synced == 0 {
		return false
	}
	p := w.code.text.Poke(i)
	return (p.Free || p.Unsafe) && p.Time <= t.synced
}

// sync records that t synchronises; e states it, or holds its outcome. Where
// the flow is a guess nothing is learnt.
func (w *Walker) sync(t *thread, e *event.Event) {
	if w.cfg.Rules.Syncs != 0 && e != nil && !t.doubt {
		t.synced = max(t.synced, e.Time.Lo)
	}
}
