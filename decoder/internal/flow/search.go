package flow

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// search follows every way on from the contested site at which w.t stands,
// until one is left:
//
//  1. The thread is split, one for each version of the code at the site.
//  2. The thread that has used the least takes a step.
//  3. If it moved, it is united with a thread in the same state. If it met a
//     contested site, it is split. If it contradicts the trace, it is taken out.
//  4. Events that every thread has used are dropped, and the window is kept
//     within its bounds.
//  5. A thread that is alone long enough is delivered. Where the window is full
//     or the segment ends, the likeliest is, ambiguous where the others differ.
func (w *Walker) search() {
	win := &w.exec.window
	before, t := win.fork(&w.t), win.fork(&w.t)
	win.before = before
	defer win.drop(before)
	t.begins(t.used)
	t.resumed = t.held > 0
	if e := w.exec.events.at(t.q); e != nil && t.date > e.Time.Hi {
		t.date = 0 // it contradicts all cuts alike, and would refute those that have no outcomes in hand
	}
	win.open(t)
	w.split(0)
	sure := 0 // pos from which on a lone thread is believed
	for {
		i := win.laggard()
		t := win.threads[i]
		if win.several() {
			sure = 0
		} else if t.leftAlone(); sure == 0 {
			sure = t.pos() + confirmEvents<<7
		} else if t.pos() >= sure {
			break
		}
		if w.exec.out.wait.err != nil {
			win.abandon()
			return
		}
		if win.full() {
			win.giveUp()
			win.adopt(win.threads[0], &w.t)
			return
		}
		switch st := w.exec.step(t); st {
		case moved:
			win.convict(t)
			win.merge(slices.Index(win.threads, t))
		case forked:
			w.split(i)
		case ended:
			win.giveUp()
			win.threads[0].tear()
			win.adopt(win.threads[0], &w.t)
			return
		default:
			if len(win.threads) == 1 {
				w.refute(t, st.reason())
				return
			}
			w.kill(i, st.reason())
		}
		win.release()
		win.bound()
	}
	win.adopt(win.threads[0], &w.t)
}

// confirmEvents is how many events a thread must explain after it is alone
// before what refuted the others counts for it. The truth may have been none of
// them, where code changed without a record.
const confirmEvents = 32

// refute ends a search whose last thread contradicts the trace too: none of
// the ways on was right, so nothing since the window opened is more than a guess.
func (w *Walker) refute(t *thread, why event.Reason) {
	if refutes(why) {
		w.exec.window.nothingSure(t)
	}
	w.exec.resync(t, why)
	w.exec.window.adopt(t, &w.t)
}

// nothingSure makes a guess of all that t, the last thread, has executed since the window
// opened, and of what it learned from that. All ways on were wrong, so what led to the window may be
// as well: doubt goes back from there, and targets met since do not count (doubt.go). They do where each
// branch spends an outcome, since none can be left at a target then.
func (w *window) nothingSure(t *thread) {
	for n := t.tail; n != nil; n = n.parent {
		for i := range n.out.Ranges {
			n.out.Ranges[i].Verdict = Ambiguous
			if !w.cfg.Rules.Waypoints.Has(isa.JumpInd) {
				n.out.Ranges[i].flags |= ahead
			}
		}
		for i := range n.out.Notes {
			if x := &n.out.Notes[i]; x.Kind == NoteTrap || x.Kind == NoteCut {
				x.Verdict = Ambiguous
			}
		}
	}
	t.forget(&w.before.evidence)
}

// split replaces thread i by one for each version of the code where it stands, or for
// each number of outcomes that it may have in hand.
func (w *Walker) split(i int) {
	if w.exec.window.threads[i].held > 0 {
		w.exec.window.splitHeld(i)
		return
	}
	w.exec.site.sortOptions()
	kids := w.exec.window.multiply(i, len(w.exec.site.options))
	for j, o := range w.exec.site.options {
		k := kids[j]
		k.tail.poke = max(o.took, w.exec.site.options[0].took, w.exec.site.options[len(w.exec.site.options)-1].took)
		w.exec.site.choose(k, o)
		k.choice = Trace
		k.first = o.b
		k.usedAtSplit, k.resumed = k.used, false
	}
}

// kill takes thread i out: it contradicts the trace, or its text is unknown. It goes
// on behind a gap if that refutes nothing.
func (w *Walker) kill(i int, why event.Reason) {
	if t := w.exec.window.threads[i]; w.exec.window.outlives(t, why) {
		w.exec.resync(t, why)
		return
	}
	w.exec.window.takeOut(i)
}
