package flow

import "testing"

// TestTrialConvicts would catch a thread with unknown code that is refuted by too
// little: by fewer returns, or by returns from before it was lost. Something must
// also have set the two apart. And it would catch one that nothing refutes.
func TestTrialConvicts(t *testing.T) {
	for _, c := range []struct {
		what          string
		before, after int // returns foretold before and after the other was lost
		missed        int // returns that were not foretold
		apart         int // outcomes that the other used by itself
		unknown, want bool
		byStack       bool // the trace does not state the returns' targets, only where the flow came out
		places        int  // to which the returns lead
	}{
		{"enough", 0, enoughReturns, 0, apartOutcomes, true, true, false, 2 * enoughReturns},
		{"one too few", 0, enoughReturns - 1, 0, apartOutcomes, true, false, false, 2 * enoughReturns},
		{"some of them before", 5, enoughReturns - 1, 0, apartOutcomes, true, false, false, 2 * enoughReturns},
		{"enough behind others", 5, enoughReturns, 0, apartOutcomes, true, true, false, 2 * enoughReturns},
		{"not foretold", 0, 0, enoughReturns, apartOutcomes, true, false, false, 2 * enoughReturns},
		{"nothing that sets it apart", 0, enoughReturns, 0, apartOutcomes - 1, true, false, false, 2 * enoughReturns},
		{"lost on known code", 0, enoughReturns, 0, apartOutcomes, false, false, false, 2 * enoughReturns},
		{"enough by the stack", 0, enoughReturns, 0, apartOutcomes, true, true, true, 2 * enoughReturns},
		{"in a loop", 0, 10 * enoughReturns, 0, apartOutcomes, true, false, false, enoughReturns - 1},
		{"in a loop, by the stack", 0, 10 * enoughReturns, 0, apartOutcomes, true, false, true, enoughReturns - 1},
		{"in a long loop", 0, 10 * enoughReturns, 0, apartOutcomes, true, true, false, enoughReturns},
		{"one too few by the stack", 0, enoughReturns - 1, 0, apartOutcomes, true, false, true, 2 * enoughReturns},
	} {
		var tr, o trial
		pos := 1
		tr.begins(100)
		o.begins(100)
		returns := func(n int, foretold bool) {
			for range n {
				tr.called()
				if ip := uint64(pos % c.places); c.byStack {
					tr.returnedByStack(ip)
				} else {
					tr.returned(ip, foretold, pos)
				}
				pos++
			}
			if c.byStack && n > 0 && tr.convicts(&o) {
				t.Errorf("%s: before anything says where the flow is", c.what)
			}
			tr.placed(pos - 1)
		}
		returns(c.before, true)
		o.loses(pos, 100+c.apart, c.unknown)
		pos++
		returns(c.after, true)
		returns(c.missed, false)
		if got := tr.convicts(&o); got != c.want {
			t.Errorf("%s: convicts: %v, want %v", c.what, got, c.want)
		}
		if o.convicts(&tr) {
			t.Errorf("%s: the one that was lost convicts the other", c.what)
		}
	}
}

// TestTrialKin would catch a thread that is taken up behind unknown code and, split by
// how many outcomes it has in hand, is no longer known to have been lost. It would also
// catch one that is refuted by returns that it foretells itself.
func TestTrialKin(t *testing.T) {
	for _, c := range []struct {
		what  string
		lost  bool
		knows int // of the returns, those that both foretell
		want  bool
	}{
		{"lost before it was split", true, 0, true},
		{"never lost", false, 0, false},
		{"it foretells one of them too", true, 1, false},
		{"it foretells all of them too", true, enoughReturns, false},
	} {
		w := &testWalker(code(nil)).exec.window
		w.out.start(nil)
		o := &thread{tail: oneRange(w, nil, 'r')}
		o.held, o.resumed = 1, true
		if c.lost {
			o.loses(1, apartOutcomes, true)
		}
		w.threads = append(w.threads, o)
		w.splitHeld(0)
		kid := w.threads[1]
		var tr trial
		for i := range enoughReturns {
			tr.called()
			tr.returned(uint64(i), true, 2+i)
			if i < c.knows {
				kid.called()
				kid.returned(uint64(i), true, 2+i)
			}
		}
		if got := tr.convicts(&kid.trial); got != c.want {
			t.Errorf("%s: convicts: %v, want %v", c.what, got, c.want)
		}
	}
}

// TestTrialReturns would catch returns that count as foretold although their calls
// were made before the window opened, or where the thread was not.
func TestTrialReturns(t *testing.T) {
	var tr trial
	tr.begins(0)
	tr.returned(1, true, 1)
	if tr.shown.n != 0 {
		t.Error("a return from a call before the window counts")
	}
	tr.called()
	tr.called()
	tr.returned(1, true, 2)
	tr.restart()
	if tr.returned(1, true, 3); tr.shown.n != 0 || tr.openCalls != 0 {
		t.Errorf("behind a restart: %d foretold, %d open", tr.shown.n, tr.openCalls)
	}
}

// TestTrialStrikes would catch a contradiction that is forgiven on known code, or
// without end, and a second loss that moves the place of the first.
func TestTrialStrikes(t *testing.T) {
	var tr trial
	if tr.begins(7); tr.strikes() {
		t.Error("a contradiction on known code is forgiven")
	}
	if !tr.loses(10, 9, true) || tr.loses(20, 30, true) || tr.lostAtPos != 10 || tr.usedApart != 2 {
		t.Errorf("lost twice: %+v", tr)
	}
	for i := range maxStrikes {
		if !tr.strikes() {
			t.Errorf("contradiction %d is not forgiven", i+1)
		}
	}
	if tr.strikes() {
		t.Errorf("contradiction %d is forgiven", maxStrikes+1)
	}
	if tr.begins(0); tr.wasLost || tr.sawUnknown || tr.contradictions > 0 {
		t.Errorf("what was seen in one window counts in the next: %+v", tr)
	}
}
