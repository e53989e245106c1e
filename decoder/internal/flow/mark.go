package flow

import "slices"

// Mark is a walk at an event of its segment: what another walk goes on from, as if it had come there by
// itself. That is so if it would have read the same code up to there. Events are counted from the segment's begin.
type Mark struct {
	Off   int64 // of the event, bytes
	Reads Reads // code that was read up to it
	Next  int   // the first event that a walk from here on asks its source for

	t       thread
	older   dropped
	out     writer
	bounds  bounds
	compare int // aligner.work
}

// Marks has a walk of one segment leave marks. The walk has a Watch, and is brief (Config.Brief).
type Marks struct {
	Every       int64         // bytes from one mark to the next
	From, Until int64         // there are marks between these offsets only
	Left        func(m *Mark) // is given each
	// Wanted reports whether a mark may be of use before which some code was read. Where it is not, none is if more was
	// read, too. nil: each is.
	Wanted func(r *Reads) bool
}

// leave leaves a mark where w is, if one is due. No window is open.
func (w *Walker) leave(k *Marks) {
	off := w.exec.out.last().Off
	if off < k.From || off >= k.Until || w.t.tail != nil || w.exec.events.bytes != nil {
		return
	}
	k.From = off + k.Every
	if k.Wanted != nil && !k.Wanted(&w.exec.cfg.Watch.Reads) {
		k.Until = 0
		return
	}
	reads := w.exec.cfg.Watch.Reads
	for _, h := range w.exec.out.wait.held {
		reads.noteAll(h.Batch)
	}
	reads.noteAll(&w.exec.out.batch)
	if k.Wanted != nil && !k.Wanted(&reads) {
		return
	}
	m := &Mark{Off: off, Reads: reads, bounds: w.exec.window.bounds, compare: w.exec.window.align.work}
	m.t.become(&w.t)
	m.older, m.Next = w.exec.events.older, w.exec.events.base
	goOn(&m.out, &w.exec.out)
	k.Left(m)
}

// At returns the offset that the walk has come to, bytes.
func (w *Walker) At() int64 { return w.exec.out.last().Off }

// noteAll notes that what b executed was read.
func (r *Reads) noteAll(b *Batch) {
	for i := range b.Ranges {
		x := b.Ranges[i].Block
		r.note(x.Addr, x.End+mostInsn)
	}
}

// Resume walks what is left of a segment behind a mark: all that src gives. The mark stays as it is.
func (w *Walker) Resume(m *Mark, src Source, out Sink) error {
	w.begin(src, out)
	w.t.become(&m.t)
	w.exec.events.older, w.exec.events.base = m.older, m.Next
	goOn(&w.exec.out, &m.out)
	w.exec.window.align.work, w.exec.window.bounds = m.compare, m.bounds
	return w.run()
}

// Renew has w know nothing of code that it read, of which some may be other code now. Its last walk may have ended with an
// error.
func (w *Walker) Renew() {
	x := &w.exec
	clear(x.code.reads)
	*x.code.table = [1 << tableBits]*Block{}
	x.window.threads, x.window.align.held, x.window.align.touched = x.window.threads[:0], 0, 0
	x.window.align.text.known = [len(x.window.align.text.known)]comparison{}
	x.spare.held = 0
	w.again = false
	if w.paths.n > 0 {
		w.paths.forgetAll()
	}
	w.paths.misses = 0
}

// goOn has o be where p is, with a sink of its own.
func goOn(o, p *writer) {
	o.batch.Copy(&p.batch)
	o.sure, o.marks, o.kept, o.full, o.stamp, o.given = p.sure, p.marks, p.kept, p.full, p.stamp, p.given
	u, from := &o.wait, &p.wait
	u.held = u.held[:0]
	for _, h := range from.held {
		if was := h.Batch; u.spare == nil { // o is a mark's
			h.Batch = was.clone()
		} else {
			h.Batch = u.empty(was)
			h.Batch.Copy(was)
		}
		u.held = append(u.held, h)
	}
	u.done, u.cut, u.rough = from.done, from.cut, from.rough
}

// clone returns a batch that is what b is.
func (b *Batch) clone() *Batch {
	return &Batch{Stream: b.Stream, Ranges: slices.Clone(b.Ranges), Stamps: slices.Clone(b.Stamps), Notes: slices.Clone(b.Notes)}
}
