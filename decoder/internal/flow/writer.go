package flow

import (
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// writer gathers flow into batches, and hands each over to the sink when it is full.
type writer struct {
	wait  unconfirmed
	batch Batch
	sure  extent  // of batch: what lies before is settled
	marks marks   // the targets that the trace stated in batch behind sure; each who appends a range marks it
	kept  extent  // of batch: what lies before was there already when it was handed over last
	full  int     // how many ranges batch has when it is to be handed over
	stamp uint32  // index of the newest stamp of batch
	path  []*node // scratch of deliverTo
	spare *spares // counts what nodes hold
	refer referred
	given handedOver // of what was in the batch before
	tells bool       // the sink asks for Batch.Walked
	late  bool       // a timestamp may stand before an address that tells of what was executed before the timestamp
}

// start begins a segment, whose flow goes to sink.
func (o *writer) start(sink Sink) {
	o.wait.start(sink)
	o.tells = AsksPaths(sink)
	o.refer.start(o, sink)
	if cap(o.batch.Ranges) == 0 && o.wait.spare != nil {
		b := o.wait.empty(&o.batch)
		b.Stream = o.batch.Stream
		o.batch = *b
	}
	o.batch.Reset()
	o.given = noneYet
	o.sure, o.marks.n = extent{}, 0
	o.keeps()
	o.mark(&event.Event{Time: event.Always})
}

// mark adds a stamp for e and returns its index; ranges emitted from now on
// carry it.
func (o *writer) mark(e *event.Event) uint32 {
	o.stamp = uint32(len(o.batch.Stamps))
	o.batch.Stamps = append(o.batch.Stamps, Stamp{Off: e.Off, Time: e.Time})
	return o.stamp
}

// since returns s as of what began after last, where that states a time.
func (s Stamp) since(last Stamp) Stamp {
	s.Time.Lo = min(s.Time.Lo, last.Time.Lo)
	return s
}

// Began returns the lower bound by which what s stands at is ordered, ns. What ran before its
// stream first states a time has none. It is ordered by when its segment begins, of the list
// that it is one of: that is the same whatever is decoded before.
func (s *Stamp) Began(segs []event.Segment) uint64 {
	if s.Time.Lo != 0 {
		return s.Time.Lo
	}
	if segs[0].Off > segs[len(segs)-1].Off { // to be read backwards
		k := sort.Search(len(segs), func(i int) bool { return segs[i].Off <= s.Off })
		return segs[min(k, len(segs)-1)].Time.Lo
	}
	k := sort.Search(len(segs), func(i int) bool { return segs[i].Off > s.Off }) - 1
	return segs[max(k, 0)].Time.Lo
}

// outlasts reports whether what is executed up to e may run later than the newest stamp says.
func (o *writer) outlasts(e *event.Event) bool { return o.last().Time.Hi < e.Time.Hi }

// until has ranges emitted from now on, up to e, carry a stamp by which they ran no later
// than e. They ran after the last event. It returns the stamp's index.
func (o *writer) until(e *event.Event) uint32 {
	if last := o.last(); last.Time.Hi < e.Time.Hi {
		o.addStamp(Stamp{Off: last.Off, Time: event.Time{Lo: last.Time.Lo, Hi: e.Time.Hi}})
	}
	return o.stamp
}

// markOutcomes is mark for outcomes. The range that spends the first of them began before:
// it carries the stamp with the index that it returns.
func (o *writer) markOutcomes(e *event.Event) (first uint32) {
	if last := o.last().Time.Lo; last < e.Time.Lo {
		o.addStamp(Stamp{Off: e.Off, Time: event.Time{Lo: last, Hi: e.Time.Hi}})
		first = o.stamp
		o.mark(e)
		return first
	}
	return o.mark(e)
}

// unspent takes back the newest stamp, of outcomes in hand, where the flow stops before the
// range that spends the first of them. That one is to carry the stamp with index first; t
// keeps the other.
func (o *writer) unspent(t *thread, first uint32) {
	if first != o.stamp {
		t.then, t.fresh = *o.last(), true
		o.batch.Stamps, o.stamp = o.batch.Stamps[:o.stamp], first
	}
}

// markLate is mark for an address that tells of the outcome before it, or of where the flow
// stands: it may have been sent when the flow had gone on.
func (o *writer) markLate(e *event.Event) uint32 {
	o.addStamp(Stamp{Off: e.Off, Time: e.Time}.since(*o.last()))
	return o.stamp
}

// flush hands the batch over. The end of it stays in batch if it is short and not settled.
func (o *writer) flush() {
	if len(o.batch.Ranges) == 0 && len(o.batch.Notes) == 0 {
		o.begin(*o.last(), o.batch.Stream)
		return
	}
	last, stream := *o.last(), o.batch.Stream
	o.given = o.given.with(&o.batch)
	if o.wait.give(&o.batch, o.sure, o.kept, &o.marks) {
		o.batch.Stream, o.stamp = stream, uint32(len(o.batch.Stamps)-1)
		o.sure = extent{}
		o.keeps()
		return
	}
	o.begin(last, stream)
}

// begin begins a batch in which nothing is. The sink may have left another in its place.
func (o *writer) begin(last Stamp, stream int) {
	o.batch.Reset()
	o.sure, o.marks.n = extent{}, 0
	o.keeps()
	o.batch.Stream, o.stamp = stream, 0
	o.batch.Stamps = append(o.batch.Stamps, last)
}

// keeps says that the batch holds what was there when it was handed over last.
func (o *writer) keeps() { o.kept, o.full = whole(&o.batch), len(o.batch.Ranges)+batchRanges }

// flushNotes hands the batch over if it has many notes.
func (o *writer) flushNotes() {
	if len(o.batch.Notes) >= o.kept.notes+batchRanges {
		o.flush()
	}
}

// unseen returns the ranges that were appended since the batch was handed over last.
func (o *writer) unseen() []Range { return o.batch.Ranges[o.kept.ranges:] }

// endSegment hands on all that there is of a segment.
func (o *writer) endSegment() {
	last, stream := *o.last(), o.batch.Stream
	o.wait.finish(&o.batch, o.sure, o.kept, &o.marks)
	o.begin(last, stream)
}

// confirm records that what t has executed did run.
func (o *writer) confirm(t *thread) {
	if t.tail == nil {
		o.confirmDelivered()
		return
	}
	t.tail.markSure()
}

// confirmDelivered records that all that was delivered did run.
func (o *writer) confirmDelivered() {
	o.wait.confirmHeld(&o.batch, o.sure)
	o.sure, o.marks.n = whole(&o.batch), 0
}

// counts marks range at of batch, all of b, if the trace stated where it went.
func (o *writer) counts(b *Block, at int) {
	if b.targetStated(o.wait.told) {
		o.marks.put(at)
	}
}

// addRange records r in t's flow.
func (o *writer) addRange(t *thread, r Range) {
	if t.tail == nil {
		o.appendRange(r)
		return
	}
	r.Stamp = t.tail.stamp
	t.tail.out.Ranges = append(t.tail.out.Ranges, r)
	o.spare.hold(t.tail, 1+int(r.N))
}

// appendRange appends r to the batch, with the newest stamp.
func (o *writer) appendRange(r Range) {
	r.Stamp = o.stamp
	if r.N == r.Block.N && r.flags&ahead == 0 {
		o.counts(r.Block, len(o.batch.Ranges))
	}
	if o.batch.Ranges = append(o.batch.Ranges, r); len(o.batch.Ranges) >= o.full {
		o.flush()
	}
}

// note records n in t's flow.
func (o *writer) note(t *thread, n Note) {
	n.Space = noted(t.space)
	if t.tail == nil {
		o.addNote(n)
		o.flushNotes()
		return
	}
	n.At = len(t.tail.out.Ranges)
	t.tail.out.Notes = append(t.tail.out.Notes, n)
	o.spare.hold(t.tail, n.size())
}

// noteOf notes e in t's flow.
func (o *writer) noteOf(t *thread, k NoteKind, e *event.Event, ip uint64) {
	if t.tail == nil {
		o.batch.addEvent(k, e, ip, noted(t.space))
		o.flushNotes()
		return
	}
	o.note(t, Note{Kind: k, Event: *e, IP: ip, Poke: -1})
}

// stampFor starts a stamp for e in t's flow, in which the flow goes on. By some rules e
// may have been sent late: what follows began after the event before it.
func (o *writer) stampFor(t *thread, e *event.Event) {
	s := Stamp{Off: e.Off, Time: e.Time}
	if o.late {
		s = s.since(o.lastOf(t))
	}
	o.stampOf(t, s)
}

// stampOf adds s to t's flow.
func (o *writer) stampOf(t *thread, s Stamp) {
	if t.tail == nil {
		o.addStamp(s)
		return
	}
	t.tail.stamp = uint32(len(t.tail.out.Stamps))
	t.tail.out.Stamps = append(t.tail.out.Stamps, s)
	o.spare.hold(t.tail, stampSize)
}

// stampUntil is until in t's flow.
func (o *writer) stampUntil(t *thread, e *event.Event) {
	if last := o.lastOf(t); last.Time.Hi < e.Time.Hi {
		o.stampOf(t, Stamp{Off: last.Off, Time: event.Time{Lo: last.Time.Lo, Hi: e.Time.Hi}})
	}
}

// stampOutcomes is markOutcomes in t's flow.
func (o *writer) stampOutcomes(t *thread, e *event.Event) {
	t.then = Stamp{Off: e.Off, Time: e.Time}
	first := t.then.since(o.lastOf(t))
	t.fresh = first != t.then
	o.stampOf(t, first)
}

// last returns the newest stamp.
func (o *writer) last() *Stamp { return &o.batch.Stamps[o.stamp] }

// lastOf returns the newest stamp of t's flow.
func (o *writer) lastOf(t *thread) Stamp {
	if t.tail == nil {
		return *o.last()
	}
	return t.tail.out.Stamps[t.tail.stamp]
}

// deliverTo gives the flow that ends at n to the batch.
func (o *writer) deliverTo(n *node) {
	path := o.path[:0]
	for ; n != nil; n = n.parent {
		path = append(path, n)
	}
	for _, n := range slices.Backward(path) {
		o.deliver(n)
	}
	o.path = path[:0]
}

// deliver appends what n holds to the batch, which is handed over
// whenever it is full.
func (o *writer) deliver(n *node) {
	stamps, notes := n.out.Stamps, n.out.Notes
	next := uint32(0) // the first of stamps that is not in the batch
	marks := n.marks
	settle := func(p extent) {
		for ; len(marks) > 0 && marks[0].extent == p; marks = marks[1:] {
			if marks[0].odd {
				o.wait.distrust(&o.batch, o.sure, marks[0].by)
			} else {
				o.confirmDelivered()
			}
		}
	}
	settle(extent{})
	for i, r := range n.out.Ranges {
		for ; next <= r.Stamp; next++ {
			o.addStamp(stamps[next])
		}
		for ; len(notes) > 0 && notes[0].At <= i; notes = notes[1:] {
			o.addNote(notes[0])
			settle(extent{i, len(n.out.Notes) - len(notes) + 1})
		}
		o.appendRange(r)
		settle(extent{i + 1, len(n.out.Notes) - len(notes)})
	}
	for _, s := range stamps[next:] {
		o.addStamp(s)
	}
	for i, x := range notes {
		o.addNote(x)
		settle(extent{len(n.out.Ranges), len(n.out.Notes) - len(notes) + i + 1})
	}
	o.flushNotes()
}

func (o *writer) addStamp(s Stamp) {
	o.stamp = uint32(len(o.batch.Stamps))
	o.batch.Stamps = append(o.batch.Stamps, s)
}

func (o *writer) addNote(n Note) {
	n.At = len(o.batch.Ranges)
	if n.doubts != noDoubt {
		o.wait.contradict(&o.batch, o.sure, &n.Gap, n.doubts)
		n.rough = o.wait.rough.on
	}
	o.batch.Notes = append(o.batch.Notes, n)
	if n.doubts != noDoubt {
		o.sure, o.marks.n = whole(&o.batch), 0
	}
}

// noted returns the address space that a note has of a flow in space.
func noted(space uint32) uint32 {
	if space == guestSpace {
		return 0
	}
	return space
}
