package flow

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
)

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
	doubt doubted

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
	Stretch []Doubted // all since the flow was last confirmed, in order
	From    int       // the first of its ranges that may be wrong
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
		u.handAll()
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
	u.keepWithin()
}

// hand hands b on.
func (u *unconfirmed) hand(b *Batch) {
	if err := u.sink.Flow(b); err != nil && u.err == nil {
		u.err = err
	}
}

// handAll hands on all that is held.
func (u *unconfirmed) handAll() {
	for i, h := range u.held {
		u.hand(h.Batch)
		u.keep(h.Batch)
		u.held[i] = waiting{}
	}
	u.held, u.done = u.held[:0], false
}

// keepWithin hands on the oldest, unconfirmed, where more is held than may be.
func (u *unconfirmed) keepWithin() {
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
		h.downgrade(h.settled, whole(h.Batch), Unconfirmed)
		u.hand(h.Batch)
		u.keep(h.Batch)
	}
	if n > 0 {
		k := copy(u.held, u.held[n:])
		clear(u.held[k:])
		u.held = u.held[:k]
	}
}

// downgrade gives a verdict to what lies from one place of b to another and has a better
// one.
func (b *Batch) downgrade(from, to extent, v Verdict) {
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

// settleAll settles all that is held and b up to its end, where the flow is confirmed or
// over. Ranges from index wrong on, of those that are not settled, may not have run.
func (u *unconfirmed) settleAll(b *Batch, settled extent, wrong int) {
	all := u.base
	u.each(b, settled, func(_ *Batch, from, to extent) { all += weigh(from, to) })
	at := u.base
	u.each(b, settled, func(b *Batch, from, to extent) {
		mid := from
		if far := all - u.most - at; far > 0 {
			mid = b.walk(from, to, far)
			b.downgrade(from, mid, Unconfirmed)
		}
		at += weigh(from, to)
		n := to.ranges - from.ranges
		if wrong < n {
			bad := mid
			if first := from.ranges + max(wrong, 0); first > bad.ranges {
				bad.ranges = first
				for bad.notes < to.notes && b.Notes[bad.notes].At < first {
					bad.notes++
				}
			}
			b.downgrade(bad, to, Ambiguous)
		}
		wrong -= n
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

// confirmHeld settles what ran up to b's end: it did run.
func (u *unconfirmed) confirmHeld(b *Batch, settled extent) {
	if u.confirmed != nil {
		u.each(b, settled, func(b *Batch, from, to extent) {
			if from.ranges < to.ranges {
				u.confirmed(b.Ranges[from.ranges:to.ranges], b.Stamps)
			}
		})
	}
	u.settleAll(b, settled, math.MaxInt)
}

// contradict settles what ran up to b's end, where there is a gap: the last of it may not
// have run.
func (u *unconfirmed) contradict(b *Batch, settled extent, g *event.Gap) {
	d := &u.doubt
	d.pieces = d.pieces[:0]
	u.each(b, settled, func(b *Batch, from, to extent) { d.pieces = append(d.pieces, stretch{b, from, to}) })
	wrong := d.start()
	if u.contradicted != nil {
		c := Contradiction{Gap: *g, From: wrong, Cut: u.base > 0}
		for _, p := range d.pieces {
			if p.from.ranges < p.to.ranges {
				c.Stretch = append(c.Stretch, Doubted{p.Ranges[p.from.ranges:p.to.ranges], p.Stamps})
			}
		}
		u.contradicted(&c)
	}
	u.settleAll(b, settled, wrong)
}

// finish hands on all of a segment that is over: nothing contradicts it.
func (u *unconfirmed) finish(b *Batch) {
	u.settleAll(b, whole(b), math.MaxInt)
	u.handAll()
}
