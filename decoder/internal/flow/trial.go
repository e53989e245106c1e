package flow

// trial is what a thread knows of itself while a window is open, by which it is
// judged against the others.
type trial struct {
	openCalls      int                // calls made since the window opened that have not returned
	foretoldAt     [enoughReturns]int // pos after the newest returns whose target such a call foretold, a ring
	foretoldCount  int                // how many
	byStack        int                // returns to such a call's address, not stated, since the trace last stated one
	wasLost        bool               // it could not be followed since lostAtPos
	sawUnknown     bool               // it came to unknown code
	lostAtPos      int                // pos
	contradictions int                // how often it contradicted the trace since
	usedAtSplit    int                // cursor.used when it last split off
	usedApart      int                // wasLost: outcomes and targets used between the split and the loss
	seam           int                // the newest of the window's seams that it has passed
}

// How much is enough to refute a thread that came to unknown text: as many
// returns foretold by another, behind as many outcomes that both explained.
const (
	enoughReturns = 12 // returns foretold
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

// returned counts a return. Its target is foretold if it is the return address of
// the newest open call, and the trace states it; pos is where the thread is then.
func (tr *trial) returned(foretold bool, pos int) {
	if tr.openCalls == 0 {
		return
	}
	tr.openCalls--
	if foretold {
		tr.foretoldAt[tr.foretoldCount%enoughReturns] = pos
		tr.foretoldCount++
	}
}

// returnedByStack counts a return whose target is not stated.
func (tr *trial) returnedByStack() {
	if tr.openCalls > 0 {
		tr.openCalls--
		tr.byStack++
	}
}

// placed counts that the thread, at pos, is where the trace says that the flow is.
// What took it there, the returns that were not stated, was foretold too.
func (tr *trial) placed(pos int) {
	for ; tr.byStack > 0; tr.byStack-- {
		tr.foretoldAt[tr.foretoldCount%enoughReturns] = pos
		tr.foretoldCount++
	}
}

// restart forgets the calls: they were made where the thread was not.
func (tr *trial) restart() { tr.openCalls, tr.foretoldCount, tr.byStack = 0, 0, 0 }

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
func (tr *trial) convicts(o *trial) bool {
	if tr.wasLost || tr.foretoldCount < enoughReturns {
		return false
	}
	since := tr.foretoldAt[tr.foretoldCount%enoughReturns] // the oldest that counts
	return o.wasLost && o.usedApart >= apartOutcomes && o.lostAtPos < since
}
