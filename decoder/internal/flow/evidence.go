package flow

import (
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
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
	doubt        bool          // where the thread is has been guessed: what it meets is no evidence
	shadow       bool          // it may be another flow, which was given up, that ran: what it meets is no evidence
	trap         bool          // floor or known were raised by an exception, not by a cut alone
}

// unsure reports whether the flow may not be what ran.
func (v *evidence) unsure() bool { return v.doubt || v.shadow }

// notBefore moves the lower bound of the clock: what e states has happened.
func (v *evidence) notBefore(text Text, e *event.Event) {
	if e.Time.Lo >= v.loEnd {
		v.lower(text, e)
	}
}

// notAfter moves the upper bound of the clock: what e states has not happened yet.
func (v *evidence) notAfter(text Text, e *event.Event) {
	if e.Time.Hi >= v.hiEnd && v.hiEnd != math.MaxUint64 {
		v.upper(text, e)
	}
}

// upper is notAfter where the epoch may move.
func (v *evidence) upper(text Text, e *event.Event) {
	_, hi := text.Epochs(e.Time)
	v.hi = max(v.hi, hi, v.floor)
	_, v.hiEnd = text.Edges(v.lo, v.hi)
}

// lower is notBefore where the epoch may move.
func (v *evidence) lower(text Text, e *event.Event) {
	lo, _ := text.Epochs(e.Time)
	if lo > v.lo {
		v.lo = lo
		if lo > v.floor {
			v.floor = lo
			v.prune()
		}
		v.hi = max(v.hi, v.floor)
		// A breakpoint may stand after its poke's record is made, until the batch
		// is complete.
		v.ran = slices.DeleteFunc(v.ran, func(e event.Epoch) bool { return e < v.lo && over(text, int(e), v.lo, 0) })
	}
	v.loEnd, v.hiEnd = text.Edges(v.lo, v.hi)
}

// prune drops what floor has made plain from known.
func (v *evidence) prune() {
	i := 0
	for i < len(v.known) && v.known[i] < v.floor {
		i++
	}
	for i < len(v.known) && v.known[i] == v.floor {
		v.floor++
		i++
	}
	v.known = slices.Delete(v.known, 0, i)
	if len(v.known) == 0 && v.floor <= v.lo {
		v.trap = false
	}
}

// saw records that poke i is in effect on this CPU, and with it every poke
// that had completed before it began.
func (v *evidence) saw(text Text, i int) {
	if v.unsure() {
		return
	}
	if f := text.Floor(i); f > v.floor {
		v.floor = f
	}
	e := event.Epoch(i)
	if e >= v.floor {
		at, have := slices.BinarySearch(v.known, e)
		if !have {
			v.known = slices.Insert(v.known, at, e)
		}
	}
	v.prune()
	if hi := max(v.floor, e+1); hi > v.hi {
		v.hi = hi
		v.hiEnd = 0
	}
}

// knows reports whether poke i is in effect on this CPU.
func (v *evidence) knows(i int) bool {
	return event.Epoch(i) < v.floor || slices.Contains(v.known, event.Epoch(i))
}

// executes records that the flow runs the text that poke i left: there is no
// breakpoint of i any more.
func (v *evidence) executes(i int) {
	e := event.Epoch(i)
	if at, have := slices.BinarySearch(v.ran, e); !have && !v.unsure() {
		v.ran = slices.Insert(v.ran, at, e)
	}
}

// learnFromText takes as evidence that code is executed of which not the clock but
// evidence from other sites says what it is. The pokes that left this code have no
// breakpoint any more, and their time has come.
func (v *evidence) learnFromText(text Text, pokes []int) {
	for _, i := range pokes {
		if !text.Poke(i).Free {
			v.executes(i)
		}
		v.dated(text, i)
	}
}

// dated takes what poke i's new text says of the time when t executes it: the
// poke's moment has come, and what had ended by then has taken effect.
func (v *evidence) dated(text Text, i int) {
	if v.unsure() {
		return
	}
	begin := text.Poke(i).Begin
	v.date = max(v.date, begin)
	lo, _ := text.Epochs(event.Time{Lo: begin, Hi: math.MaxUint64})
	if lo > v.floor {
		v.floor = lo
		v.prune()
		v.hi = max(v.hi, v.floor)
		v.hiEnd = 0
	}
}

// keepShared takes from v what o, which may be the true flow instead, does not
// know as well.
func (v *evidence) keepShared(o *evidence) {
	// What one knows one by one and the other by its floor, both know.
	v.known = slices.DeleteFunc(v.known, func(e event.Epoch) bool { return !o.knows(int(e)) })
	for _, e := range o.known {
		if at, have := slices.BinarySearch(v.known, e); !have && e < v.floor {
			v.known = slices.Insert(v.known, at, e)
		}
	}
	v.floor = max(min(v.floor, o.floor), v.lo)
	v.prune()
	v.ran = slices.DeleteFunc(v.ran, func(e event.Epoch) bool { return !slices.Contains(o.ran, e) })
	v.date, v.synced = min(v.date, o.date), min(v.synced, o.synced)
	v.hi = max(v.hi, o.hi)
	v.hiEnd = 0
}

// forget takes from v all that was learnt since it was like before: only the clock
// has not been refuted.
func (v *evidence) forget(before *evidence) {
	v.known, v.ran = append(v.known[:0], before.known...), append(v.ran[:0], before.ran...)
	v.date = before.date
	v.trap = before.trap
	v.floor = max(before.floor, v.lo)
	v.synced = before.synced
	v.prune()
	v.hi, v.hiEnd = max(v.hi, v.floor), 0
}

// behind returns how many pokes of the chain pk, up to the last that is known,
// are in effect.
func (v *evidence) behind(text Text, pk []int) (n int) {
	for j, i := range pk {
		if v.knows(i) || v.caughtUp(text, i) {
			n = j + 1
		}
	}
	return n
}

// caughtUp reports whether the flow has synchronised since poke i, which stopped
// nobody, was stored: then no fetch sees the old text any more.
func (v *evidence) caughtUp(text Text, i int) bool {
	if v.synced == 0 {
		return false
	}
	p := text.Poke(i)
	return (p.Free || p.Unsafe) && p.Time <= v.synced
}

// sync records that the flow synchronises; e states it, or holds its outcome. Where
// the flow is a guess nothing is learnt.
func (v *evidence) sync(r *isa.Rules, e *event.Event) {
	if r.Syncs != 0 && e != nil && !v.unsure() {
		v.synced = max(v.synced, e.Time.Lo)
	}
}

// batchComplete reports whether no CPU can meet poke i's breakpoint any more here.
// Either the flow has run the new code, or a poke from since on had to wait for poke
// i and is in effect.
func (v *evidence) batchComplete(text Text, i int, since event.Epoch) bool {
	return slices.Contains(v.ran, event.Epoch(i)) || over(text, i, v.floor, since)
}

// over reports whether poke i is complete where every poke below floor is in
// effect: one of those from since on had to wait for it.
func over(text Text, i int, floor, since event.Epoch) bool {
	for r := int(floor) - 1; r > i && event.Epoch(r) >= since; r-- {
		if text.Poke(r).Guarded {
			return text.Floor(r) > event.Epoch(i)
		}
	}
	return false
}
