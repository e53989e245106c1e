package flow

import "slices"

// trial is what a thread knows of itself while a window is open, by which it is
// judged against the others.
type trial struct {
	openCalls      int         // calls made since the window opened that have not returned
	shown          returnsSeen // the newest returns whose target such a call foretold
	byStack        returnsSeen // returns to such a call's address, not stated, since the trace last stated one
	wasLost        bool        // it could not be followed since lostAtPos
	sawUnknown     bool        // it came to unknown code
	lostAtPos      int         // pos
	contradictions int         // how often it contradicted the trace since
	usedAtSplit    int         // cursor.used when it last split off
	usedApart      int         // wasLost: outcomes and targets used between the split and the loss
	seam           int         // the newest of the window's seams that it has passed

	resumed bool   // how many outcomes it has in hand is all that ever split it off
	kin     uint64 // names the threads that were one but for that; 0: there were none
}

// How much is enough to refute a thread that came to unknown text: as many
// returns foretold by another, behind as many outcomes that both explained.
const (
	enoughReturns = 12 // returns foretold, to as many addresses
	apartOutcomes = 2  // outcomes
)

// maxStrikes is how often a thread that came to unknown text may contradict the
// trace afterwards, before it is given up: where one change was not recorded, more
// may be.
const maxStrikes = 3

// begins is for the one thread of a window that opens, which has used so many
// outcomes and targets: nothing has been seen in it yet.
func (tr *trial) begins(used int) { *tr = trial{usedAtSplit: used} }

// called counts a call.
func (tr *trial) called() { tr.openCalls++ }

// returnsSeen is returns to different addresses, the newest last. A loop goes on in the
// same way where a flow has gone round once too often: its returns say little.
type returnsSeen struct {
	n    int
	ip   [keptReturns]uint64
	past [keptReturns]int // pos after each
}

// keptReturns is how many returns are kept, those to the addresses met last.
const keptReturns = 2 * enoughReturns

// has reports whether a return to ip is among s.
func (s *returnsSeen) has(ip uint64) bool { return slices.Contains(s.ip[:s.n], ip) }

// comesTo adds a return to ip, behind which the thread is at pos.
func (s *returnsSeen) comesTo(ip uint64, pos int) {
	i := slices.Index(s.ip[:s.n], ip)
	switch {
	case i >= 0:
	case s.n < len(s.ip):
		i = s.n
		s.n++
	default:
		i = 0
	}
	copy(s.ip[i:s.n], s.ip[i+1:s.n])
	copy(s.past[i:s.n], s.past[i+1:s.n])
	s.ip[s.n-1], s.past[s.n-1] = ip, pos
}

// returned counts a return to ip. It is foretold if ip is the return address of the
// newest open call, and the trace states it; pos is where the thread is then.
func (tr *trial) returned(ip uint64, foretold bool, pos int) {
	if tr.openCalls == 0 {
		return
	}
	tr.openCalls--
	if foretold {
		tr.shown.comesTo(ip, pos)
	}
}

// returnedByStack counts a return to ip, which is not stated.
func (tr *trial) returnedByStack(ip uint64) {
	if tr.openCalls > 0 {
		tr.openCalls--
		tr.byStack.comesTo(ip, 0)
	}
}

// placed counts that the thread, at pos, is where the trace says that the flow is.
// What took it there, the returns that were not stated, was foretold too.
func (tr *trial) placed(pos int) {
	for _, ip := range tr.byStack.ip[:tr.byStack.n] {
		tr.shown.comesTo(ip, pos)
	}
	tr.byStack.n = 0
}

// restart forgets the calls: they were made where the thread was not.
func (tr *trial) restart() { tr.openCalls, tr.shown.n, tr.byStack.n = 0, 0, 0 }

// loses records that the thread, at pos, cannot be followed. It has used so many
// outcomes and targets, and came to unknown code or not. first says that this is the
// first time.
func (tr *trial) loses(pos, used int, unknown bool) (first bool) {
	tr.sawUnknown = tr.sawUnknown || unknown
	if tr.wasLost {
		return false
	}
	tr.wasLost, tr.lostAtPos = true, pos
	if unknown {
		tr.usedApart = used - tr.usedAtSplit
	}
	return true
}

// strikes counts a contradiction, and reports whether that is not enough to refute
// the thread.
func (tr *trial) strikes() bool {
	if !tr.sawUnknown || tr.contradictions >= maxStrikes {
		return false
	}
	tr.contradictions++
	return true
}

// convicts reports whether a thread that came to unknown code is refuted by this
// one, which did not and explains far more than chance could.
//
// Unknown code may do anything, so nothing refutes such a thread by itself. But it
// may have used outcomes of its own, on other code than this one, before it was
// lost. If this one then foretells one return after the other from calls made since
// the window opened, it would have to be right by accident about both.
//
// A thread that goes on at a target, with some number of outcomes in hand, may be
// where this one is. From there on both foretell the same, which says nothing of who
// was right before.
func (tr *trial) convicts(o *trial) bool {
	if tr.wasLost || tr.shown.n < enoughReturns || !o.wasLost || o.usedApart < apartOutcomes {
		return false
	}
	more := 0
	for i, ip := range tr.shown.ip[:tr.shown.n] {
		if tr.shown.past[i] > o.lostAtPos && !(o.resumed && (o.shown.has(ip) || o.byStack.has(ip))) {
			more++
		}
	}
	return more >= enoughReturns
}
