package flow

// A window is open while several cuts are followed. What it holds is bounded:
//
//  1. When it has come half-way to one of its bounds, a seam is laid: from there
//     on each thread writes to nodes of its own.
//  2. At the bound, what lies before the seam is handed out: what the likeliest
//     thread executed there, ambiguous wherever another thread did not execute the
//     same. What all threads share is as it is.
//  3. The threads go on, and hold only what they emitted behind the seam. So all
//     that is lost is that later contradictions settle nothing before it.
//
// Three things are bounded: events, what the threads hold, and the work that
// merging them takes.
type window struct {
	cfg    *Config  // its bounds
	spare  *spares  // what threads hold
	events *queue   // what every thread has used is dropped
	out    *writer  // what is settled is delivered
	ahead  *lookout // what merge must not lose sight of

	threads []*thread // those followed
	before  *thread   // as the flow was when it opened
	kids    []*thread // scratch of multiply
	align   aligner
	bounds
}

// bounds is how far the window has come to its bounds. Events are given by their index.
type bounds struct {
	from   int  // the event at which what is held begins
	seams  int  // seams laid so far
	laid   bool // the newest seam was laid, and the window has not come to its bound since
	passed bool // all threads are behind that seam
	pos    int  // a thread is behind that seam from this cursor.pos on
	event  int  // that seam lies at this event
	steps  int  // steps of all threads
	charge int  // work of the aligner that was taken into work
	work   int  // work of merges, less what the events since have paid for
	paid   int  // events have paid up to this one
	began  int  // work of the aligner when the segment began
	looks  int  // looks for meetings (meeting.go)
}

// eventWork is what each event pays of Config.MaxWork, in steps.
const eventWork = 1 << 10

// open begins the window of t.
func (w *window) open(t *thread) {
	w.bounds = bounds{from: t.q, paid: t.q, charge: w.charge, began: w.began, looks: w.looks}
	w.threads = append(w.threads[:0], t)
}

// beginSegment starts counting events, and what comparing costs. Nothing counts that was before.
func (w *window) beginSegment() {
	w.bounds = bounds{began: w.align.work, charge: w.align.work, looks: w.looks}
}

// doubt is aligner.doubtUnshared, and counts what its notes hold.
func (w *window) doubt(keep, other *node) (torn bool) {
	torn = w.align.doubtUnshared(keep, other)
	w.counted()
	w.align.touched = 0 // nothing of keep is met again
	return torn
}

// counted takes into account what the notes hold that were added.
func (w *window) counted() {
	w.spare.held += w.align.held
	w.align.held = 0
}

// full reports whether the window is to be given up: too many threads, or a
// thread that lags so far behind that a seam does not help.
func (w *window) full() bool {
	return len(w.threads) > w.cfg.MaxThreads || w.spare.held > 2*w.cfg.MaxRanges || len(w.events.buf) > w.maxLag() && w.lag() > w.maxLag()
}

// maxLag is how many events a thread may lag behind another. Of these and those that are looked at
// ahead, at most twice as many are held (queue.trim).
func (w *window) maxLag() int { return w.cfg.MaxEvents/2 + maxLook }

// lag returns how many events the threads are apart. It hangs on the trace alone; how many events
// are held does not.
func (w *window) lag() int {
	newest := 0
	for _, t := range w.threads {
		newest = max(newest, t.q)
	}
	return newest - w.least()
}

// least returns the index of the first event that some thread has not used.
func (w *window) least() int {
	least := w.threads[0].q
	for _, t := range w.threads[1:] {
		least = min(least, t.q)
	}
	return least
}

// roomFor reports whether t, which skips events, may skip more of them: they
// are held for the threads that lag behind.
func (w *window) roomFor(t *thread) bool {
	if t.tail == nil { // no window is open
		if t.q-w.events.base > maxLook {
			w.events.trim(t.q, queueEvents)
		}
		return true
	}
	if t.q-w.events.base <= w.maxLag() {
		return true
	}
	w.release()
	return w.lag() <= w.maxLag()
}

// boundEvery is how many steps of threads are taken before bounds are looked at.
const boundEvery = 32

// bound keeps the window within its bounds.
func (w *window) bound() {
	x := &w.bounds
	if x.steps++; x.steps%boundEvery != 0 && (!x.laid || x.passed) {
		return
	}
	least := w.threads[w.laggard()].q
	x.work += w.align.work - x.charge
	x.charge = w.align.work
	x.work = max(x.work-eventWork*(least-x.paid), 0)
	x.paid = least
	over := func(part int) bool {
		return part*(least-x.from) >= w.cfg.MaxEvents || part*w.spare.held >= w.cfg.MaxRanges || part*x.work >= w.cfg.MaxWork
	}
	switch {
	case !x.laid && over(2):
		w.laySeam()
	case x.laid:
		x.passed = true
		for _, t := range w.threads {
			x.passed = w.passes(t) && x.passed
		}
		if x.passed && over(1) && least >= x.event+min(confirmEvents, w.cfg.MaxEvents/4) {
			w.cutAtSeam()
		}
	}
}

// laySeam lays a seam a little ahead of the thread that has used the least, so
// that threads that are in step pass it at the same place. One that skipped
// events and is ahead has passed it.
func (w *window) laySeam() {
	x := &w.bounds
	t := w.threads[w.laggard()]
	x.laid, x.passed = true, false
	x.seams++
	x.pos, x.event = t.pos()+2<<7, t.q+2
	for _, t := range w.threads {
		w.passes(t)
	}
}

// passes reports whether t has passed the seam, behind which it gets a node of
// its own.
func (w *window) passes(t *thread) bool {
	x := &w.bounds
	if t.seam == x.seams || t.pos() < x.pos {
		return t.seam == x.seams
	}
	poke := t.tail.poke
	w.grow(t)
	t.tail.poke = poke
	t.tail.seam, t.seam = x.seams, x.seams
	return true
}

// cutAtSeam hands out what lies before the seam.
func (w *window) cutAtSeam() {
	x := &w.bounds
	start := func(t *thread) *node { // the node with which t begins behind the seam
		n := t.tail
		for n.seam != x.seams {
			n = n.parent
		}
		return n
	}
	best := start(w.likeliest()).parent
	torn := false
	for _, t := range w.threads {
		if o := start(t).parent; o != best {
			torn = w.doubt(best, o) || torn
		}
	}
	if torn {
		best.doubtLast()
	}
	w.out.deliverTo(best)
	for _, t := range w.threads {
		n := start(t)
		w.spare.unhold(n.parent)
		n.parent = nil
	}
	x.from, x.laid, x.work = x.event, false, 0
	x.charge = w.align.work
}
