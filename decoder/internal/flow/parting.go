package flow

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Where a flow that was lost is taken up at a target, the target says where the CPU
// was, and not which outcomes had been used by then. The trace unit may hold targets
// back while outcomes gather: the packet with the outcomes goes out first, and behind
// it all targets that waited. It does so once the packet is full, or another packet
// forces both out (Intel SDM, volume 3C, section "Deferred TIPs"). So:
//
//  1. Only the last outcomes of the packet directly before the targets may belong
//     behind the target. All that was sent before is older. The targets come right behind it, so
//     behind one that a timing packet keeps from it none is left.
//  2. The flow before the gap, where it was sure, had some of these in hand: no more
//     than those are left.
//  3. A flow that an interrupt, a sync point, or any other place stated in full leads
//     to has none left: such packets force out what waits.
//  4. The section speaks of any TIP. So one of SYSCALL or IRET may have waited too.
//
// How many are left is open, but it is one of few numbers. Each is followed as a cut
// of its own, like the places where a poke may have taken effect, until the packets
// have refuted all but one. Nothing that is claimed rests on which is likely.
//
// Packets refute a number by the code. That is not done where the flow was lost since
// code and packets contradict each other. Then the flow is a guess, until a place is
// stated behind which no outcomes can be left.

// maxWaiting is how many outcomes one packet holds at most (Intel SDM, volume 3C,
// section "Taken/Not-taken (TNT) Packet").
const maxWaiting = 47

// shortFull is how many outcomes a short packet holds at most, of the same section.
const shortFull = 6

// takesUp is for t, which lost its way for the reason why, had event from before it then,
// and goes on at e. It had inHand outcomes in hand, -1 if that was a guess. It finds
// what is open about the outcomes that t has in hand at e.
func (x *executor) takesUp(t *thread, why event.Reason, e *event.Event, from, inHand int) {
	t.doubt = false
	switch {
	case e == nil || x.cfg.Rules.Waypoints.Has(isa.JumpInd) || x.cfg.Rules.NoOutcomes:
		return // where each branch spends an outcome, a target belongs to the one before it
	case e.Kind != event.Target:
		t.doubt = !states(e) && e.Kind != event.End && e.Kind != event.Sync // t was left off before an address was stated
		return
	}
	o, n, known := x.events.waiting(t.q, from, inHand)
	if t.doubt = !known; n == 0 {
		return
	}
	if why != event.NoText && why != event.NoCall || max(len(x.window.threads), 1)+n > x.cfg.MaxThreads {
		t.doubt = true
		return
	}
	t.bits, t.held = o.Value<<(int(o.N)-n), n
}

// waiting returns how many outcomes may be left behind target i, and the event that
// holds them. Before event from the flow had inHand, if that is not negative. known is
// false where the event is dropped.
func (q *queue) waiting(i, from, inHand int) (o *event.Event, n int, known bool) {
	at, o, known := q.waitedBehind(i)
	if o == nil {
		return nil, 0, known
	}
	n = int(o.N)
	if o.Last != 0 {
		n = int(o.Last)
	}
	n = min(n, maxWaiting)
	if at < from && inHand >= 0 {
		n = min(n, inHand)
	}
	return o, n, true
}

// tooMany reports whether a flow that has n outcomes in hand at target i is not what ran. By the
// first of the rules above it is not if they are more than the packet before the target holds. Nor is it
// if a timing packet lies between, which ends the time of what comes before.
func (q *queue) tooMany(i, n int) bool {
	_, o, _ := q.waitedBehind(i)
	if o == nil {
		return false
	}
	e := q.at(i)
	return o.Last > 0 && n > int(o.Last) || e != nil && o.Time.Hi < e.Time.Hi
}

// endsDoubt ends the doubt about t, which the target at t.q leads on, if it says where
// the CPU was and no outcomes are left: however t came there. A unit that held none back so
// far does not where the packet with the outcomes is not full. One target at which some were left is enough to ask for
// more: the doubt may have begun there, though the code was right.
func (x *executor) endsDoubt(t *thread) {
	if _, n, known := x.events.waiting(t.q, t.q, -1); known && n == 0 || t.left == 0 && t.seldomLeft(neverYet) && t.tooEarly(&x.events) {
		t.n = 0
		t.confirmed()
	}
}

// partsNow reports whether t, of which it is open how many outcomes it has in hand, is
// to be split. It is not where there is no code to be followed.
func (c *reader) partsNow(t *thread) bool {
	b := c.block(t.space, t.ip, t.mode, t.lo, t.hi)
	return b == nil || b.N > 0
}

// splitHeld replaces thread i by one for each number of outcomes that it may have in
// hand.
func (w *window) splitHeld(i int) {
	t := *w.threads[i]
	kids := w.multiply(i, t.held+1)
	kin := w.spare.ids // of the newest node: none has it but these
	for n, k := range kids {
		k.tail.poke = -1
		k.bits, k.n, k.held = t.bits<<(t.held-n), n, 0
		k.penalty += uint64(n) // more units send a target at once than late
		if t.resumed {
			k.trial = trial{resumed: true, seam: t.seam, wasLost: t.wasLost, lostAtPos: t.lostAtPos, usedApart: t.usedApart, shown: t.shown}
		}
		k.usedAtSplit, k.kin = k.used, kin
	}
}

// hasKin reports whether another thread stands for what t was before it was split by
// how many outcomes it had in hand.
func (w *window) hasKin(t *thread) bool {
	return t.kin != 0 && slices.ContainsFunc(w.threads, func(o *thread) bool { return o != t && o.kin == t.kin })
}

// remove takes t out of the window.
func (w *window) remove(t *thread) {
	at := slices.Index(w.threads, t)
	w.threads = slices.Delete(w.threads, at, at+1)
	w.drop(t)
}
