package ptm

import (
	"math"

	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// Decoder turns the packets of one segment into events, in stream order. It
// holds what packets leave out: the address told last, by which the next is
// compressed, the instruction set, the context, the time.
//
// A segment that begins anew starts with a Sync without an address and an Off
// of DetailNoSync; tracing goes on with an Off of DetailTraceOn, whose Value is
// the I-sync's reason, and an Enable. Every other segment begins with a Sync
// at its I-sync's address: what lies between the A-sync and the I-sync is told
// by the segment before, which ends in a Sync at the same address.
//
// Outcomes of Atom packets side by side come as one event. A branch packet is
// an outcome, E, and a Target; one that enters an exception is an Async from
// where the flow stands, which a waypoint update, a Reach, has told before.
//
// An event's Time is bounded by the timestamps before and behind it. Cycle
// counts are not told.
type Decoder struct {
	cfg   Config
	seg   event.Segment
	lx    Lexer // over the segment's own bytes and those behind that close it
	pk    Packet
	phase phase

	queue [queueSize]event.Event
	head  int // index of the next event to hand out
	tail  int // index after the last event

	// Outcomes not yet told.
	bits     uint64 // the oldest in bit 63
	n        uint8
	off, end int64 // of their packets

	synced bool   // an I-sync has been read since the bytes could not be
	addr   uint64 // told last
	set    set    // told last
	ctx    context

	stamp wire.Stamp
	lo    uint64 // ns: what is told next was not before

	isLate bool   // late is to be lo behind the next packet of the flow
	late   uint64 // ns

	hi    uint64 // ns: the segment's upper bound
	ahead ahead
}

// context is a context as far as it has been told.
type context struct {
	flags    uint64 // Value2 of a Context of DetailPE
	id, vmid uint32
}

// queueSize is how many events a packet makes at most, the outcomes before it
// among them.
const queueSize = 8

type phase uint8

const (
	atStart phase = iota
	inBody
	atRest
)

// NewDecoder returns a Decoder of the segment. c is taken as it is.
func NewDecoder(c Config, seg event.Segment) *Decoder {
	d := &Decoder{cfg: c, stamp: c.stamp()}
	d.lx.form = c.Format()
	d.Reset(seg)
	return d
}

// Reset makes d a Decoder of another segment of a stream traced under the same
// Config, without allocating.
//
// A segment's Time that is all zero is taken as not known.
func (d *Decoder) Reset(seg event.Segment) {
	if seg.Time == (event.Time{}) {
		seg.Time = event.Always
	}
	d.seg = seg
	d.lx.Reset(seg.Buf, seg.Off)
	d.phase, d.head, d.tail = atStart, 0, 0
	d.bits, d.n = 0, 0
	d.synced, d.addr, d.set, d.ctx = false, 0, setARM, context{}
	d.stamp.Reset()
	d.lo, d.hi, d.isLate = seg.Time.Lo, seg.Time.Hi, false
	d.ahead.reset(d)
}

// Next writes the next event to e, every field of it, and reports whether
// there was one.
func (d *Decoder) Next(e *event.Event) bool {
	for d.head == d.tail {
		d.head, d.tail = 0, 0
		if !d.step() {
			return false
		}
	}
	*e = d.queue[d.head]
	d.head++
	return true
}

// step reads packets until there is an event, or false at the end.
func (d *Decoder) step() bool {
	switch d.phase {
	case atRest:
		return false
	case atStart:
		d.phase = inBody
		d.start()
		return true
	}
	p := &d.pk
	switch {
	case !d.lx.Next(p):
		d.finish(nil)
	case p.Off >= d.seg.End && d.closes(p):
		d.finish(p)
	default:
		d.packet(p)
	}
	return true
}

// start begins the segment: in one that begins anew nothing is known.
func (d *Decoder) start() {
	if d.seg.Anew {
		d.push(d.seg.Off, d.seg.Off).Kind = event.Sync
		d.lose(d.seg.Off, d.seg.Off)
		return
	}
	p := &d.pk
	for d.lx.Next(p) && p.Kind != ISync {
		if p.Kind == Bad || p.Kind == ASync && p.Off != d.seg.Off || p.Off >= d.seg.End {
			// No segment of Plan's: the sync point is told to say nothing.
			d.push(d.seg.Off, d.seg.Off).Kind = event.Sync
			d.lx.SeekTo(d.seg.Off)
			d.stamp.Reset()
			return
		}
		if p.Kind == Timestamp { // told by the segment before
			if t := d.stamp.Update(p.Value, p.N); d.stamp.Known() {
				d.lo = d.cfg.TimeConv.Lo(t)
			}
		}
	}
	e := d.push(d.seg.Off, d.lx.Off())
	e.Kind = event.Sync
	if p.Kind != ISync {
		return
	}
	d.synced = true
	d.take(p)
	d.here(e)
	e = d.context(d.seg.Off, d.lx.Off())
	e.Flags = event.FlagRestated
}

// closes reports whether p, which begins behind the segment's end, is told by
// the next segment: all from its first I-sync on, or from what cannot be read.
func (d *Decoder) closes(p *Packet) bool {
	switch p.Kind {
	case ISync, Bad:
		return true
	case ASync:
		return p.Off != d.seg.End
	}
	return false
}

// finish tells how the segment ends: with p, or where its bytes do.
func (d *Decoder) finish(p *Packet) {
	d.phase = atRest
	d.flush()
	if p != nil && p.Kind == ISync && p.Reason() == ReasonPeriodic {
		d.take(p)
		e := d.push(p.Off, p.End())
		e.Kind, e.Flags = event.Sync, event.FlagRestated
		d.here(e)
		return
	}
	end := d.lx.Off()
	if p != nil {
		end = p.Off
	}
	d.push(end, end).Kind = event.End
}

// push appends an event for the packets [off, end) to the queue and returns
// it. Everything but its place and Time is zero.
func (d *Decoder) push(off, end int64) *event.Event {
	e := &d.queue[d.tail]
	d.tail++
	*e = event.Event{Off: off, End: end, Time: d.when(end)}
	return e
}

// when returns the time of what was sent before offset end.
func (d *Decoder) when(end int64) event.Time {
	lo, hi := d.lo, d.hi
	if d.cfg.Ahead {
		hi = d.ahead.next(d, end)
	}
	if lo > hi {
		lo, hi = hi, lo // the trace's clock was set back
	}
	return event.Time{Lo: lo, Hi: hi}
}

// here states the address and the instruction set told last in e.
func (d *Decoder) here(e *event.Event) {
	e.IP = d.addr
	e.Mode = uint8(d.set.mode())
	e.Flags |= event.FlagIP | event.FlagMode
}

// outcome appends an outcome, 1 for E, told by the packet [off, end).
func (d *Decoder) outcome(v uint64, n uint8, off, end int64) {
	if d.n+n > 64 {
		d.flush()
	}
	if d.n == 0 {
		d.off = off
	}
	d.bits |= v << (64 - n) >> d.n
	d.n += n
	d.end = end
}

// flush tells the outcomes gathered.
func (d *Decoder) flush() {
	if d.n == 0 {
		return
	}
	e := d.push(d.off, d.end)
	e.Kind, e.Value, e.N = event.Outcomes, d.bits, d.n
	d.bits, d.n = 0, 0
}

// lose tells that nothing is known up to the next I-sync.
func (d *Decoder) lose(off, end int64) {
	d.synced = false
	e := d.push(off, end)
	e.Kind, e.Detail = event.Off, event.DetailNoSync
}

// packet reads one packet.
func (d *Decoder) packet(p *Packet) {
	if p.Kind == Atom {
		if d.synced {
			d.outcome(p.Value, p.N, p.Off, p.End())
			d.passed()
		}
		return
	}
	if !d.synced && p.Kind != ISync && p.Kind != Bad {
		return // OpenCSD waits for an I-sync too
	}
	switch p.Kind {
	case Bad:
		d.bad(p)
	case ISync:
		d.isync(p)
	case Branch:
		d.branch(p)
		d.passed()
	case Waypoint:
		d.flush()
		d.target(p)
		e := d.push(p.Off, p.End())
		e.Kind = event.Reach
		d.here(e)
		d.passed()
	case ContextID, VMID:
		d.newContext(p)
	case Timestamp:
		d.flush()
		d.timestamp(p)
	case Trigger:
		d.flush()
		d.payload(p, event.DetailTrigger)
	case ExceptionRet:
		d.flush()
		d.payload(p, event.DetailExceptionRet)
	}
}

// timestamp reads a timestamp, which bounds what comes next; where it may be of
// a moment after part of what the next packet tells, what comes behind that.
func (d *Decoder) timestamp(p *Packet) {
	t := d.stamp.Update(p.Value, p.N)
	lo := d.lo
	if d.stamp.Known() {
		d.lo = d.cfg.TimeConv.Lo(t)
	}
	e := d.payload(p, event.DetailTimestamp)
	e.Value, e.Value2 = t, uint64(p.Info&1)
	if d.stamp.Known() && d.cfg.stampsLate() {
		d.lo, d.late, d.isLate = lo, d.lo, true
	}
}

// passed notes that a packet of the flow has been told, which a timestamp
// before it does not bound.
func (d *Decoder) passed() {
	if d.isLate {
		d.flush()
		d.lo, d.isLate = d.late, false
	}
}

// payload tells a packet that says nothing of the flow.
func (d *Decoder) payload(p *Packet, k event.Detail) *event.Event {
	e := d.push(p.Off, p.End())
	e.Kind, e.Detail = event.Payload, k
	return e
}

// bad tells of bytes that are no packet; nothing is known up to the next
// I-sync behind them. Zeros at the end may be an A-sync cut short: they take
// nothing away.
func (d *Decoder) bad(p *Packet) {
	d.flush()
	cut := p.Info == packettext.BadCut && d.seg.Last
	if cut && Kind(p.Exc) == ASync {
		return
	}
	e := d.push(p.Off, p.End())
	e.Kind, e.Reason = event.Trouble, event.BadPacket
	if cut {
		e.Reason = event.Truncated
		return // the end of the stream
	}
	d.lose(p.Off, p.End())
}

// ahead looks for the timestamp behind the Decoder's place.
type ahead struct {
	lx    Lexer
	stamp wire.Stamp
	off   int64  // offset of the timestamp found
	hi    uint64 // ns
}

func (a *ahead) reset(d *Decoder) {
	a.lx = d.lx
	a.stamp = d.stamp
	a.off = -1
	if !d.cfg.Trace.V3.Timestamps() {
		a.off, a.hi = math.MaxInt64, d.hi
	}
}

// next returns the upper bound of what was sent before offset end, ns.
func (a *ahead) next(d *Decoder, end int64) uint64 {
	var p Packet
	for a.off < end {
		if !a.lx.Next(&p) {
			a.off, a.hi = math.MaxInt64, d.hi
			break
		}
		if p.Kind == Timestamp {
			if t := a.stamp.Update(p.Value, p.N); a.stamp.Known() {
				a.off, a.hi = p.Off, min(d.cfg.TimeConv.Hi(t), d.hi)
			}
		}
	}
	return a.hi
}
