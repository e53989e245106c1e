package flow

import "github.com/ptdecode/ptdecode/decoder/event"

// unconfirmed holds back the flow of a segment until an event confirms it. Where the
// trace contradicts the code, all since the flow was last confirmed is ambiguous: the
// code may have been wrong from there on. confirm.go says what confirms a flow, and
// what contradicts it.
//
// What it holds is bounded by Config.MaxUnconfirmed. What lies further back than that
// when the flow is confirmed, contradicted or over is Unconfirmed. That depends on the
// flow alone, and not on how it is cut into batches.
type unconfirmed struct {
	sink  Sink
	err   error // the sink's
	most  int   // Config.MaxUnconfirmed
	held  []waiting
	spare []*Batch
	base  int  // what was handed on unconfirmed since the flow was last settled, as MaxUnconfirmed counts
	done  bool // all that is held is settled

	contradicted func(*Contradiction)
	confirmed    func([]Range, []Stamp)
}

// waiting is a batch that is held.
type waiting struct {
	*Batch
	settled extent // what lies before was settled when it came
}

// extent is how much of a batch lies before a place in it.
type extent struct{ ranges, notes int }

// Contradiction is where trace and code contradict each other.
type Contradiction struct {
	Gap     event.Gap
	Stretch []Doubted // what may be wrong: all since the flow was last confirmed, in order
	Cut     bool      // there was more, beyond Config.MaxUnconfirmed
}

// Doubted is ranges in a row, and the stamps that they have. They are lent.
type Doubted struct {
	Ranges []Range
	Stamps []Stamp
}

// maxSpareBatches is how many batches are kept to be used again.
const maxSpareBatches = 8

// start begins a segment, whose flow goes to sink.
func (u *unconfirmed) start(sink Sink) {
	u.sink, u.err, u.base, u.done = sink, nil, 0, false
	for _, h := range u.held { // of a walk that an error ended
		u.keep(h.Batch)
	}
	u.held = u.held[:0]
}

// keep keeps b to be used again.
func (u *unconfirmed) keep(b *Batch) {
	if len(u.spare) < maxSpareBatches {
		b.Reset()
		u.spare = append(u.spare, b)
	}
}

// weigh returns what the stretch of b from one place to another counts for
// Config.MaxUnconfirmed.
func weigh(from, to extent) int {
	return to.ranges - from.ranges + noteSize*(to.notes-from.notes)
}

// whole returns the place at b's end.
func whole(b *Batch) extent { return extent{len(b.Ranges), len(b.Notes)} }

// give takes b, of which what lies before settled is settled.
func (u *unconfirmed) give(b *Batch, settled extent) {
	if u.done {
		u.release()
	}
	if len(u.held) == 0 && settled == whole(b) {
		u.hand(b)
		return
	}
	x := new(Batch)
	if k := len(u.spare); k > 0 {
		x, u.spare = u.spare[k-1], u.spare[:k-1]
	}
	*x, *b = *b, *x
	u.held = append(u.held, waiting{x, settled})
	u.bound()
}

// hand hands b on.
func (u *unconfirmed) hand(b *Batch) {
	if err := u.sink.Flow(b); err != nil && u.err == nil {
		u.err = err
	}
}

// release hands on all that is held.
func (u *unconfirmed) release() {
	for i, h := range u.held {
		u.hand(h.Batch)
		u.keep(h.Batch)
		u.held[i] = waiting{}
	}
	u.held, u.done = u.held[:0], false
}

// bound hands on the oldest, unconfirmed, where more is held than may be.
func (u *unconfirmed) bound() {
	all := 0
	for _, h := range u.held {
		all += weigh(h.settled, whole(h.Batch))
	}
	n := 0
	for ; n < len(u.held); n++ {
		h := u.held[n]
		own := weigh(h.settled, whole(h.Batch))
		if all-own < u.most {
			break
		}
		all -= own
		u.base += own
		h.mark(h.settled, whole(h.Batch), Unconfirmed)
		u.hand(h.Batch)
		u.keep(h.Batch)
	}
	if n > 0 {
		k := copy(u.held, u.held[n:])
		clear(u.held[k:])
		u.held = u.held[:k]
	}
}

// mark gives a verdict to what lies from one place of b to another and has a better
// one.
func (b *Batch) mark(from, to extent, v Verdict) {
	for i := from.ranges; i < to.ranges; i++ {
		if r := &b.Ranges[i]; r.Verdict < v {
			r.Verdict = v
		}
	}
	for i := from.notes; i < to.notes; i++ {
		if n := &b.Notes[i]; (n.Kind == NoteTrap || n.Kind == NoteCut) && n.Verdict < v {
			n.Verdict = v
		}
	}
}

// each calls do for each batch with what of it is not settled: those that are held, and
// b, of which what lies before settled is.
func (u *unconfirmed) each(b *Batch, settled extent, do func(b *Batch, from, to extent)) {
	if !u.done {
		for _, h := range u.held {
			do(h.Batch, h.settled, whole(h.Batch))
		}
	}
	do(b, settled, whole(b))
}

// settle settles all that is held and b up to its end, where the flow is confirmed, or
// v is Ambiguous, or it is over.
func (u *unconfirmed) settle(b *Batch, settled extent, v Verdict) {
	all := u.base
	u.each(b, settled, func(_ *Batch, from, to extent) { all += weigh(from, to) })
	at := u.base
	u.each(b, settled, func(b *Batch, from, to extent) {
		own := weigh(from, to)
		mid := from
		if far := all - u.most - at; far > 0 {
			mid = b.walk(from, to, far)
			b.mark(from, mid, Unconfirmed)
		}
		if v != Certain {
			b.mark(mid, to, v)
		}
		at += own
	})
	u.base, u.done = 0, true
}

// walk returns the place so far behind from, but not behind to.
func (b *Batch) walk(from, to extent, far int) extent {
	if far >= weigh(from, to) {
		return to
	}
	for p := from; ; {
		switch next := p; {
		case p.notes < to.notes && b.Notes[p.notes].At <= p.ranges:
			next.notes++
			fallthrough
		default:
			if next == p {
				next.ranges++
			}
			if far -= weigh(p, next); far < 0 {
				return p
			}
			p = next
		}
	}
}

// confirm settles what ran up to b's end: it did run.
func (u *unconfirmed) confirm(b *Batch, settled extent) {
	if u.confirmed != nil {
		u.each(b, settled, func(b *Batch, from, to extent) {
			if from.ranges < to.ranges {
				u.confirmed(b.Ranges[from.ranges:to.ranges], b.Stamps)
			}
		})
	}
	u.settle(b, settled, Certain)
}

// contradict settles what ran up to b's end: it may not have run, by the gap there.
func (u *unconfirmed) contradict(b *Batch, settled extent, g *event.Gap) {
	if u.contradicted != nil {
		c := Contradiction{Gap: *g, Cut: u.base > 0}
		u.each(b, settled, func(b *Batch, from, to extent) {
			if from.ranges < to.ranges {
				c.Stretch = append(c.Stretch, Doubted{b.Ranges[from.ranges:to.ranges], b.Stamps})
			}
		})
		u.contradicted(&c)
	}
	u.settle(b, settled, Ambiguous)
}

// finish hands on all of a segment that is over: nothing contradicts it.
func (u *unconfirmed) finish(b *Batch) {
	u.settle(b, whole(b), Certain)
	u.release()
}
