package etmv3

import (
	"math"

	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Decoder turns the packets of one segment into events, in stream order. It
// holds what packets leave out: the address told last, by which the next is
// compressed, the instruction set, the context, the time; and what may still
// be cancelled.
//
// A segment that begins anew starts with a Sync without an address and an Off
// of DetailNoSync; tracing goes on with an Off of DetailTraceOn, whose Value is
// the I-sync's reason, and an Enable. Every other segment begins with a Sync
// at its I-sync's address: what lies between the A-sync and the I-sync is told
// by the segment before, which ends in a Sync at the same address.
//
// An outcome is told for every instruction: whether it passed its condition.
// The newest waits for the next packet, which may cancel it. A branch packet
// is a Target; one that enters an exception is an Async from where the flow
// stands.
//
// An event's Time is bounded by the timestamps before and behind it; the packet
// behind one may tell of instructions before it. Cycles are told where no
// instruction ran in them: by P-headers without atoms and by cycle count
// packets. Data packets say nothing here.
type Decoder struct {
	cfg   Config
	form  Format
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
	newest   bool  // the last packet held the newest of them: it may be cancelled

	// What a packet has told that the next may cancel or replace.
	returned bool        // an exception return, with the newest outcome on A and R cores
	target   event.Event // a Target, if its Kind is not KindNone
	retOff   int64       // of the exception return
	retEnd   int64

	synced bool   // an I-sync has been read since the bytes could not be
	addr   uint64 // told last
	set    set    // told last
	ctx    context

	stamp wire.Stamp
	lo    uint64 // ns: what is told next was not before
	hi    uint64 // ns: the segment's upper bound
	ahead ahead

	isLate bool   // late is to be lo behind the next packet of the flow
	flowed bool   // which has come
	late   uint64 // ns
}

// context is a context as far as it has been told.
type context struct {
	flags    uint64 // Value2 of a Context of DetailPE
	id, vmid uint32
}

// queueSize is how many events a packet makes at most, what waited before it
// included.
const queueSize = 12

type phase uint8

const (
	atStart phase = iota
	inBody
	atRest
)

// NewDecoder returns a Decoder of the segment. c is taken as it is.
func NewDecoder(c Config, seg event.Segment) *Decoder {
	d := &Decoder{cfg: c, form: c.Format(), stamp: c.stamp()}
	d.lx.setForm(d.form)
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
	d.bits, d.n, d.newest = 0, 0, false
	d.returned, d.target.Kind = false, event.KindNone
	d.synced, d.addr, d.set, d.ctx = false, 0, setARM, context{}
	d.stamp.Reset()
	d.lo, d.hi, d.isLate = seg.Time.Lo, seg.Time.Hi, false
	if seg.Anew {
		d.lo = 0 // the bound is that of the I-sync; what comes before it is told too
	}
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

// step reads a packet, or false at the end.
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
	for d.lx.Next(p) && p.Kind != ISync && p.Kind != ISyncCycles {
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
	if p.Kind != ISync && p.Kind != ISyncCycles {
		return
	}
	d.synced = true
	d.take(p)
	d.here(e)
	d.context(d.seg.Off, d.lx.Off())
}

// closes reports whether p, which begins behind the segment's end, is told by
// the next segment: all from its first I-sync on, or from what cannot be read.
func (d *Decoder) closes(p *Packet) bool {
	switch p.Kind {
	case ISync, ISyncCycles, Bad:
		return true
	case ASync:
		return p.Off != d.seg.End
	}
	return false
}

// finish tells how the segment ends: with p, or where its bytes do.
func (d *Decoder) finish(p *Packet) {
	d.phase = atRest
	d.settle()
	d.flush()
	if p != nil && (p.Kind == ISync || p.Kind == ISyncCycles) && p.Reason() == ReasonPeriodic {
		d.take(p)
		d.restate(p)
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

// outcomes appends n outcomes, the oldest in bit n-1 of v, told by the packet
// [off, end). The newest stays to be told later.
func (d *Decoder) outcomes(v uint64, n uint8, off, end int64) {
	if d.n+n > 64 {
		d.flush()
	}
	if d.n == 0 {
		d.off = off
	}
	d.bits |= v << (64 - n) >> d.n
	d.n += n
	d.end = end
	d.newest = true
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

// settle tells what can no longer be cancelled or replaced: all that waits.
func (d *Decoder) settle() {
	d.newest = false
	if d.returned {
		d.flush()
		d.returned = false
		e := d.push(d.retOff, d.retEnd)
		e.Kind, e.Detail = event.Payload, event.DetailExceptionRet
	}
	if d.target.Kind != event.KindNone {
		d.flush()
		*d.push(d.target.Off, d.target.End) = d.target
		d.target.Kind = event.KindNone
	}
	if d.isLate && d.flowed {
		d.flush()
		d.lo, d.isLate = d.late, false
	}
}

// cancel drops the newest instruction traced, which did not complete, if the
// last packet told it; and what followed it.
func (d *Decoder) cancel() {
	if d.newest && d.n > 0 {
		d.n--
		d.bits &^= 1 << (63 - d.n)
	}
	d.newest, d.returned = false, false
}

// lose tells that nothing is known up to the next I-sync.
func (d *Decoder) lose(off, end int64) {
	d.synced = false
	e := d.push(off, end)
	e.Kind, e.Detail = event.Off, event.DetailNoSync
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
