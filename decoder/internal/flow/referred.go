package flow

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// A Tally need not see the ranges of a phrase: the phrase counts how often it ran. But a
// contradiction makes ranges doubtful that were given already, a few stated targets back. So
// the last phrases of the walk wait here. Behind enough targets, or where the flow is
// confirmed, those before are counted. Where the walk leaves phrases, the others are unfolded
// into the batch, as if they had never waited. One at least is, so that the batch tells how
// the flow came to where it is.

// referred is the phrases that wait, in a ring.
type referred struct {
	tally   *Tally // nil: every phrase is unfolded at once
	wait    []mention
	from, n int
	stated  int   // stated targets of all that wait
	weight  int   // of all that wait, as Config.MaxUnconfirmed counts
	passed  bool  // some were counted: behind the last of them the stamp is
	stamp   Stamp // of what comes next

	turn   [2]event.Event // scratch: how tracing went off and on at the end of the phrase in hand
	spaces [2]uint32      // scratch: in which address spaces
}

const (
	waitMost   = 512     // phrases that may wait
	weightMost = 1 << 15 // what they may weigh
)

// mention is a phrase at a place in the trace.
type mention struct {
	p        *phrase
	off      int64 // in the stream, bytes
	at       event.Time
	stated   int  // targets that the trace stated
	confirms bool // what led up to its end did run
	spaces   [2]uint32
}

// noteCounted is a Note that only a Tally sees: what follows was counted, and begins at IP.
const noteCounted NoteKind = 0xff

// start begins a segment whose flow goes to sink.
func (x *referred) start(o *writer, sink Sink) {
	y, _ := sink.(*Tally)
	if o.wait.confirmed != nil || o.wait.whole || o.wait.probe != nil || o.wait.most < 1<<17 {
		y = nil // who asks for what is confirmed sees all of it
	}
	if y != nil && x.wait == nil {
		x.wait = make([]mention, waitMost)
	}
	x.tally, x.from, x.n, x.stated, x.weight, x.passed = y, 0, 0, 0, 0, false
}

// mention gives the flow of p to o, which was sent from offset off of the stream on, at a moment.
// confirms says that what led up to its end did run. There is a tally.
func (x *referred) mention(o *writer, p *phrase, off int64, at event.Time, confirms bool) {
	spaces := x.spaces
	if p.span.From != 0 || x.n == 0 && !x.may(o) { // newCodeRan asks for what is not of the first epoch
		x.unfoldAll(o)
		p.off.happens(off, at, &x.turn)
		x.spaces = spaces
		o.unfold(p, off, at, confirms)
		return
	}
	if x.n == waitMost || x.weight > weightMost {
		x.unfoldAll(o)
	}
	m := mention{p, off, at, int(p.marks), confirms, spaces}
	if p.off != nil && p.off.b.targetStated(o.wait.told) {
		m.stated++
	}
	x.wait[(x.from+x.n)%waitMost] = m
	x.n, x.stated, x.weight = x.n+1, x.stated+m.stated, x.weight+p.holds()
	for x.n > 1 && (x.wait[x.from].confirms || confirms || x.stated-x.wait[x.from].stated >= heldBack) {
		x.countOldest(o)
	}
}

// may reports whether what is not settled is so little that nothing of it waits too
// long, and the code is not another one throughout.
func (x *referred) may(o *writer) bool {
	return !o.wait.rough.on && o.wait.weightFrom(0)+len(o.batch.Ranges)+noteSize*len(o.batch.Notes) < o.wait.most/2
}

// countOldest counts the first phrase that waits. It is settled, and so is all before it.
func (x *referred) countOldest(o *writer) {
	m := &x.wait[x.from]
	if !x.passed {
		x.passed = true
		o.wait.handOn(len(o.wait.held))
		o.wait.done = false
		o.addNote(Note{Kind: noteCounted, IP: m.p.from.Addr, Poke: -1})
		o.sure, o.marks.n = whole(&o.batch), 0
	}
	if m.confirms {
		o.wait.cut = false
	}
	m.p.times++
	x.stamp = Stamp{Off: m.off, Time: m.at}
	if m.p.off != nil {
		x.stamp.Off += m.p.off.on.Off
	} else {
		x.stamp.Off += int64(m.p.at[m.p.stamps-1])
	}
	x.from, x.n = (x.from+1)%waitMost, x.n-1
	x.stated, x.weight = x.stated-m.stated, x.weight-m.p.holds()
}

// holds returns what p counts for Config.MaxUnconfirmed.
func (p *phrase) holds() int {
	if p.off != nil {
		return int(p.n) + 1 + 2*noteSize
	}
	return int(p.n)
}

// leave ends a walk over phrases of t, behind which the next event is e. Where that is sure
// to confirm the flow, it counts the phrases before the last.
func (x *referred) leave(w *Walker, t *thread, e *event.Event) {
	o := &w.exec.out
	if x.n > 1 && e != nil && e.Kind == event.Sync && e.HasIP() && t.hiEnd == math.MaxUint64 &&
		x.wait[(x.from+x.n-1)%waitMost].p.decides() && w.comesBy(t, e.IP) {
		for x.n > 1 {
			x.countOldest(o)
		}
	}
	x.unfoldAll(o)
}

// decides is writer.decided behind p.
func (p *phrase) decides() bool {
	yes, known := (&Batch{Ranges: p.ranges()}).decision()
	return yes && known && p.off == nil
}

// silentMost is how many blocks are looked at to see whether a flow reaches an address.
const silentMost = 16

// comesBy reports whether t is sure to reach ip before an outcome or a target is spent.
func (w *Walker) comesBy(t *thread, ip uint64) bool {
	at := t.ip
	for range silentMost {
		b := w.exec.code.block(t.space, at, t.mode, t.lo, t.hi)
		if b == nil || b.N == 0 {
			return false
		}
		if b.Addr <= ip && ip < b.End {
			_, ok := b.Boundary(ip)
			return ok
		}
		switch b.lead {
		case toTarget, toTarget | calls:
			at = b.Target
		case toNext:
			at = b.End
		default:
			return false
		}
	}
	return false
}

// unfoldAll gives the flow of all phrases that wait.
func (x *referred) unfoldAll(o *writer) {
	if x.passed {
		o.addStamp(x.stamp)
		x.passed = false
	}
	for ; x.n > 0; x.n-- {
		m := &x.wait[x.from]
		m.p.off.happens(m.off, m.at, &x.turn)
		x.spaces = m.spaces
		o.unfold(m.p, m.off, m.at, m.confirms)
		x.from = (x.from + 1) % waitMost
	}
	x.stated, x.weight = 0, 0
}

// unfold gives the flow of one phrase: as mention, but at once. If it ends with tracing off and
// on, refer.turn says how, and refer.spaces where.
func (o *writer) unfold(p *phrase, off int64, at event.Time, confirms bool) {
	o.retell(p, off, at)
	o.endPhrase(p, confirms)
}

// endPhrase gives what p has behind what retell gives.
func (o *writer) endPhrase(p *phrase, confirms bool) {
	if p.end == nil {
		o.wentOff(p.off.b, &o.refer.turn[0], o.refer.spaces[0])
		if confirms {
			o.confirmDelivered()
		}
		o.cameOn(&o.refer.turn[1], o.refer.spaces[1])
	}
	if len(o.batch.Ranges) >= o.full {
		o.flush()
	}
}

// happens makes turn the events of i, if there is one: off is where its phrase was sent.
func (i *interlude) happens(off int64, at event.Time, turn *[2]event.Event) {
	if i == nil {
		return
	}
	turn[0] = i.off // not both in one statement, which copies them twice
	turn[0].Off, turn[0].End, turn[0].Time = i.off.Off+off, i.off.End+off, at
	turn[1] = i.on
	turn[1].Off, turn[1].End, turn[1].Time = i.on.Off+off, i.on.End+off, at
}

// wentOff gives b, whose last instruction ended tracing as e says, of a flow in an address space.
func (o *writer) wentOff(b *Block, e *event.Event, space uint32) {
	o.counts(b, len(o.batch.Ranges))
	o.batch.Ranges = append(o.batch.Ranges, Range{Block: b, N: b.N, Stamp: o.stamp})
	o.batch.addEvent(NoteTrackOff, e, b.LastIP(), noted(space))
	o.flushNotes()
}

// cameOn notes that tracing went on as e says, in an address space.
func (o *writer) cameOn(e *event.Event, space uint32) {
	o.mark(e)
	o.batch.addEvent(NoteTrackOn, e, e.IP, noted(space))
	o.flushNotes()
}
