package flow

// trial is what a thread knows of itself while a window is open, by which it is
// judged against the others.
type trial struct {
	openCalls      int                // calls made since the window opened that have not returned
	foretoldAt     [enoughReturns]int // pos after the newest returns whose target such a call foretold, a ring
	foretoldCount  int                // how many
	wasLost        bool               // it could not be followed since lostAtPos
	sawUnknown     bool               // it came to unknown code
	lostAtPos      int                // pos
	contradictions int                // how often it contradicted the trace since
	usedAtSplit    int                // cursor.used when it last split off
	usedApart      int                // wasLost: outcomes and targets used between the split and the loss
	seam           int                // the newest of the window's seams that it has passed
}

// opens makes t the one thread of a window that opens: nothing has been seen
// in it yet.
func (t *thread) opens() {
	t.openCalls, t.foretoldCount, t.usedAtSplit, t.usedApart, t.seam = 0, 0, t.used, 0, 0
	t.wasLost, t.sawUnknown, t.contradictions = false, false, 0
}
