package flow

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// writer gathers flow into batches, and hands each over to the sink when it is full.
type writer struct {
	wait  unconfirmed
	batch Batch
	sure  extent // of batch: what lies before is settled
	// How many targets the trace stated in batch behind sure. Each who appends a range
	// counts.
	stated int
	stamp  uint32  // index of the newest stamp of batch
	path   []*node // scratch of deliverTo
	spare  *spares // counts what nodes hold
}

// start begins a segment, whose flow goes to sink.
func (o *writer) start(sink Sink) {
	o.wait.start(sink)
	o.batch.Reset()
	o.sure, o.stated = extent{}, 0
	o.mark(&event.Event{Time: event.Always})
}

// mark adds a stamp for e and returns its index; ranges emitted from now on
// carry it.
func (o *writer) mark(e *event.Event) uint32 {
	o.stamp = uint32(len(o.batch.Stamps))
	o.batch.Stamps = append(o.batch.Stamps, Stamp{Off: e.Off, Time: e.Time})
	return o.stamp
}

// flush hands the batch over.
func (o *writer) flush() {
	last, stream := *o.last(), o.batch.Stream
	if len(o.batch.Ranges) > 0 || len(o.batch.Notes) > 0 {
		o.wait.give(&o.batch, o.sure, o.stated)
	}
	o.batch.Reset()
	o.sure, o.stated = extent{}, 0
	o.batch.Stream, o.stamp = stream, 0 // the sink may have left another batch in its place
	o.batch.Stamps = append(o.batch.Stamps, last)
}

// endSegment hands on all that there is of a segment.
func (o *writer) endSegment() {
	o.flush()
	o.wait.finish(&o.batch)
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
	o.sure, o.stated = whole(&o.batch), 0
}

// counts counts b, of which a range was appended to batch.
func (o *writer) counts(b *Block) {
	if b.targetStated(o.wait.told) {
		o.stated++
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
	if r.N == r.Block.N {
		o.counts(r.Block)
	}
	if o.batch.Ranges = append(o.batch.Ranges, r); len(o.batch.Ranges) >= batchRanges {
		o.flush()
	}
}

// note records n in t's flow.
func (o *writer) note(t *thread, n Note) {
	if t.tail == nil {
		o.addNote(n)
		if len(o.batch.Notes) >= batchRanges {
			o.flush()
		}
		return
	}
	n.At = len(t.tail.out.Ranges)
	t.tail.out.Notes = append(t.tail.out.Notes, n)
	o.spare.hold(t.tail, n.size())
}

// stampFor starts a stamp for e in t's flow.
func (o *writer) stampFor(t *thread, e *event.Event) {
	if t.tail == nil {
		o.mark(e)
		return
	}
	t.tail.stamp = uint32(len(t.tail.out.Stamps))
	t.tail.out.Stamps = append(t.tail.out.Stamps, Stamp{Off: e.Off, Time: e.Time})
	o.spare.hold(t.tail, stampSize)
}

// last returns the newest stamp.
func (o *writer) last() *Stamp { return &o.batch.Stamps[o.stamp] }

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
	sure := n.sure
	settle := func(p extent) {
		for ; len(sure) > 0 && sure[0] == p; sure = sure[1:] {
			o.confirmDelivered()
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
	if len(o.batch.Notes) >= batchRanges {
		o.flush()
	}
}

func (o *writer) addStamp(s Stamp) {
	o.stamp = uint32(len(o.batch.Stamps))
	o.batch.Stamps = append(o.batch.Stamps, s)
}

func (o *writer) addNote(n Note) {
	n.At = len(o.batch.Ranges)
	if n.doubts {
		o.wait.contradict(&o.batch, o.sure, &n.Gap)
	}
	o.batch.Notes = append(o.batch.Notes, n)
	if n.doubts {
		o.sure, o.stated = whole(&o.batch), 0
	}
}

// tracked notes e, in place: a note is large.
func (o *writer) tracked(k NoteKind, e *event.Event, ip uint64) {
	at := len(o.batch.Notes)
	if at == cap(o.batch.Notes) {
		o.batch.Notes = slices.Grow(o.batch.Notes, 1)
	}
	o.batch.Notes = o.batch.Notes[:at+1]
	n := &o.batch.Notes[at]
	n.At, n.Kind, n.Verdict, n.Poke, n.IP = len(o.batch.Ranges), k, Certain, -1, ip
	n.Event, n.Gap = *e, event.Gap{}
	if at+1 >= batchRanges {
		o.flush()
	}
}
