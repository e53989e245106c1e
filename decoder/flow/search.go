package flow

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// node is a piece of what a thread has emitted since the window opened, which is
// a path of them, shared with the threads that split off later.
type node struct {
	parent *node
	depth  int
	refs   int // threads and nodes that stand on it
	out    Batch
	stamp  uint32
	poke   int // the newest poke that was in question when it began
	seam   int // of the window's seams, the one behind which it begins; 0: none
	held   int // what it counts for Config.MaxRanges
}

// grow gives t a node of its own to write to.
func (t *thread) grow(w *Walker) {
	n := w.spare.node()
	n.parent = t.tail // which t held before
	st := w.out.batch.Stamps[w.out.stamp]
	if t.tail != nil {
		n.depth = t.tail.depth + 1
		st = t.tail.out.Stamps[t.tail.stamp]
	}
	n.out.Stamps = append(n.out.Stamps, st)
	w.hold(n, stampSize)
	t.tail = n
}

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
	before, t := w.fork(&w.t), w.fork(&w.t)
	defer w.drop(before)
	t.opens()
	w.window.open(t)
	w.threads = append(w.threads[:0], t)
	w.split(0)
	sure := 0 // pos from which on a lone thread is believed
	for {
		i := w.laggard()
		t := w.threads[i]
		if len(w.threads) > 1 {
			sure = 0
		} else if sure == 0 {
			sure = t.pos() + confirmEvents<<7
		} else if t.pos() >= sure {
			break
		}
		if w.full() || w.out.err != nil {
			w.giveUp()
			w.adopt(w.threads[0])
			return
		}
		switch st := w.step(t); st {
		case moved:
			w.convict(t)
			w.merge(slices.Index(w.threads, t))
		case forked:
			w.split(i)
		case ended:
			w.giveUp()
			w.threads[0].tear()
			w.adopt(w.threads[0])
			return
		default:
			if len(w.threads) == 1 {
				w.refute(t, before, st.reason())
				return
			}
			w.kill(i, st.reason())
		}
		w.release()
		w.bound()
	}
	w.adopt(w.threads[0])
}

// confirmEvents is how many events a thread must explain after it is alone
// before what refuted the others counts for it. The truth may have been none of
// them, where code changed without a record.
const confirmEvents = 32

// refute ends a search whose last thread contradicts the trace too: none of
// the ways on was right, so nothing since the window opened is more than a guess.
func (w *Walker) refute(t, before *thread, why event.Reason) {
	if why == event.Mismatch || why == event.BadInsn || why == event.Loop {
		for n := t.tail; n != nil; n = n.parent {
			for i := range n.out.Ranges {
				n.out.Ranges[i].Verdict = Ambiguous
			}
			for i := range n.out.Notes {
				if x := &n.out.Notes[i]; x.Kind == NoteTrap || x.Kind == NoteCut {
					x.Verdict = Ambiguous
				}
			}
		}
		t.forget(&before.evidence)
	}
	w.resync(t, why)
	w.adopt(t)
}

// laggard returns the thread that has used the least.
func (w *Walker) laggard() int {
	at := 0
	for i, t := range w.threads {
		if t.pos() < w.threads[at].pos() {
			at = i
		}
	}
	return at
}

// split replaces thread i by one for each of w.options.
func (w *Walker) split(i int) {
	w.sortOptions()
	t := w.threads[i]
	kids := append(w.kids[:0], t)
	for range w.options[1:] {
		kids = append(kids, w.fork(t))
	}
	w.kids = kids
	for j, o := range w.options {
		k := kids[j]
		k.grow(w)
		k.tail.poke = max(o.took, w.options[0].took, w.options[len(w.options)-1].took)
		w.choose(k, o)
		k.choice = Trace
		k.first = o.b
		k.usedAtSplit = k.used
	}
	w.threads = slices.Replace(w.threads, i, i+1, kids...)
}

// kill takes thread i out: it contradicts the trace, or its text is unknown.
func (w *Walker) kill(i int, why event.Reason) {
	t := w.threads[i]
	if why == event.NoText || why == event.NoCall || why == event.UndecidableFlow || t.doubt || w.atTrouble(t) {
		if !t.wasLost {
			t.wasLost, t.lostAtPos, t.penalty = true, t.pos(), t.penalty+(1<<40)
			if why == event.NoText {
				t.usedApart = t.used - t.usedAtSplit
			}
		}
		t.sawUnknown = t.sawUnknown || why == event.NoText
		w.resync(t, why)
		return
	}
	if t.sawUnknown && t.contradictions < maxStrikes {
		t.contradictions++
		w.resync(t, why)
		return
	}
	w.threads = slices.Delete(w.threads, i, i+1)
	if t.sawUnknown {
		// It may yet be what ran: nothing that it does not share is settled by its end.
		for _, k := range w.threads {
			w.ownNodes(k, t)
			k.gapBefore = w.doubt(k.tail, t.tail) || k.gapBefore || t.gapBefore
			k.weaken(t)
		}
	}
	w.drop(t)
}

// maxStrikes is how often a thread that came to unknown text may contradict the
// trace afterwards, before it is given up: where one change was not recorded, more
// may be.
const maxStrikes = 3

// How much is enough to refute a thread that came to unknown text: as many
// returns foretold by another, behind as many outcomes that both explained.
const (
	enoughReturns = 12 // returns foretold
	apartOutcomes = 2  // outcomes
)

// convict takes out the threads that came to unknown code, if t, which did not,
// explains far more than chance could. Unknown code may do anything, so nothing
// refutes such a thread by itself. But such a thread may have used outcomes of
// its own, on other code than t, before it was lost. If t then foretells one
// return after the other from calls made since the window opened, t would have
// to be right by accident about both.
func (w *Walker) convict(t *thread) {
	if t.wasLost || t.doubt || t.foretoldCount < enoughReturns {
		return
	}
	since := t.foretoldAt[t.foretoldCount%enoughReturns] // the oldest that counts
	for i := len(w.threads) - 1; i >= 0; i-- {
		if o := w.threads[i]; o.wasLost && o.usedApart >= apartOutcomes && o.lostAtPos < since {
			w.drop(o)
			w.threads = slices.Delete(w.threads, i, i+1)
		}
	}
}

// atTrouble reports whether t stands before a stretch that no flow can cross.
func (w *Walker) atTrouble(t *thread) bool {
	e := w.events.at(t.q)
	return e != nil && t.n == 0 && e.Kind == event.Trouble
}

// merge unites thread i with one that has come to the same state.
func (w *Walker) merge(i int) {
	a := w.threads[i]
	for j, b := range w.threads {
		if j == i || b.pos() != a.pos() || b.first != nil || !sameState(a, b) || w.trapAhead(a, b) {
			continue
		}
		keep, drop := a, b
		if b.penalty < a.penalty {
			keep, drop = b, a
		}
		w.ownNodes(keep, drop)
		keep.gapBefore = w.doubt(keep.tail, drop.tail) || keep.gapBefore || drop.gapBefore
		keep.weaken(drop)
		at := slices.Index(w.threads, drop)
		w.threads = slices.Delete(w.threads, at, at+1)
		w.drop(drop)
		return
	}
}

// ownNodes gives keep nodes of its own for what it emitted since it parted from
// drop, where a third thread stands on them. What is in doubt between these two
// is not in doubt if the third is true.
func (w *Walker) ownNodes(keep, drop *thread) {
	path, shared := w.align.path[:0], false
	n, end := keep.tail, w.align.common(keep.tail, drop.tail)
	for ; n != end; n = n.parent {
		path = append(path, n)
		shared = shared || n.refs > 1
	}
	w.align.path = path
	if !shared {
		return
	}
	if n != nil {
		n.refs++
	}
	for _, o := range slices.Backward(path) {
		c := w.spare.node()
		c.parent, c.depth, c.stamp, c.poke, c.seam = n, o.depth, o.stamp, o.poke, o.seam
		c.out.Ranges = append(c.out.Ranges, o.out.Ranges...)
		c.out.Notes = append(c.out.Notes, o.out.Notes...)
		c.out.Stamps = append(c.out.Stamps, o.out.Stamps...)
		w.hold(c, o.held)
		w.align.work += 1 + len(c.out.Ranges) + len(c.out.Notes)
		n = c
	}
	w.spare.unhold(keep.tail)
	keep.tail = n
}

// giveUp ends the search undecided: the likeliest thread stays, and what it
// does not share with the others is ambiguous.
func (w *Walker) giveUp() {
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

// likeliest returns the thread whose cuts lie nearest to the pokes' times.
func (w *Walker) likeliest() *thread {
	best := w.threads[0]
	for _, t := range w.threads[1:] {
		if t.penalty < best.penalty {
			best = t
		}
	}
	return best
}

// tear makes the last that t emitted Ambiguous where what comes next may not
// stand next to it, and is left to the next segment's walk.
func (t *thread) tear() {
	if t.gapBefore {
		t.tail.doubtLast()
		t.gapBefore = false
	}
}

// doubtLast makes the last range of the flow that ends at n Ambiguous.
func (n *node) doubtLast() {
	for ; n != nil; n = n.parent {
		if k := len(n.out.Ranges); k > 0 {
			n.out.Ranges[k-1].Verdict = Ambiguous
			return
		}
	}
}

// release drops the events that every thread has used.
func (w *Walker) release() {
	least := w.threads[0].q
	for _, t := range w.threads[1:] {
		least = min(least, t.q)
	}
	w.events.trim(least, 4*queueEvents)
}

// adopt makes t the walker's one flow and delivers what it emitted.
func (w *Walker) adopt(t *thread) {
	w.out.deliverTo(t.tail)
	w.spare.unhold(t.tail)
	t.tail, t.penalty, t.trial = nil, 0, trial{}
	w.t.become(t)
	w.drop(t)
	w.threads = w.threads[:0]
}

// emit records that the first n instructions of b were executed.
func (w *Walker) emit(t *thread, b *Block, n int) {
	if n == 0 {
		return
	}
	t.wrote = 0
	if t.choice != Certain && t.floor > t.lo {
		w.passed = w.code.text.Between(w.passed[:0], b.Addr, b.size(n), t.lo, t.floor)
		t.learnFromText(w.code.text, w.passed)
	}
	r := Range{Block: b, N: uint16(n), Verdict: t.choice, Either: t.either}
	if t.doubt || t.gapBefore || (t.vague && b.Space != 0) {
		r.Verdict, t.gapBefore = Ambiguous, false
	}
	if t.tail == nil {
		r.Stamp = w.out.stamp
		if w.out.batch.Ranges = append(w.out.batch.Ranges, r); len(w.out.batch.Ranges) >= batchRanges {
			w.out.flush()
		}
		return
	}
	if len(w.threads) > 1 && r.Verdict == Certain {
		r.Verdict = Trace
	}
	r.Stamp = t.tail.stamp
	t.tail.out.Ranges = append(t.tail.out.Ranges, r)
	w.hold(t.tail, 1+n)
}

// note records n in t's flow.
func (w *Walker) note(t *thread, n Note) {
	if t.tail == nil {
		w.out.addNote(n)
		if len(w.out.batch.Notes) >= batchRanges {
			w.out.flush()
		}
		return
	}
	n.At = len(t.tail.out.Ranges)
	t.tail.out.Notes = append(t.tail.out.Notes, n)
	w.hold(t.tail, n.size())
}

// stampFor starts a stamp for e in t's flow.
func (w *Walker) stampFor(t *thread, e *event.Event) {
	if t.tail == nil {
		w.out.mark(e)
		return
	}
	t.tail.stamp = uint32(len(t.tail.out.Stamps))
	t.tail.out.Stamps = append(t.tail.out.Stamps, Stamp{Off: e.Off, Time: e.Time})
	w.hold(t.tail, stampSize)
}
