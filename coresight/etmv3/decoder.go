package etmv3

import (
	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Decoder turns the packets of one segment into events, in stream order. It
// holds what packets leave out: the address told last, by which the next is
// compressed, the instruction set, the context, the time; and what may still
// be cancelled.
//
// A segment with event.Segment.Starts begins with a Sync without an address and an Off of
// DetailNoSync. Tracing goes on with an Off of DetailTraceOn, whose Value is the
// I-sync's reason, and an Enable. Every other segment begins with a Sync at its
// I-sync's address. The segment before tells what lies between the A-sync and the
// I-sync, and ends in a Sync at the same address.
//
// Every instruction has an outcome: whether it passed its condition. The newest one waits
// for the next packet, which may cancel it. A branch packet is a Target; one that enters an
// exception is an Async from where the flow stands.
//
// An event's Time is bounded by the timestamps before and behind it. But the packet behind a
// timestamp may tell of instructions before it. Cycles in which no instruction ran are
// told, by P-headers without atoms and by cycle count packets. Data packets make no events.
type Decoder struct {
	cfg   Config
	form  Format
	seg   event.Segment
	lx    Lexer // over the segment's own bytes and those behind that close it
	pk    Packet
	phase phase

	flow   v3.Flow
	newest bool // the last packet held the newest outcome: it may be cancelled
	flowed bool // a packet of the flow has come behind the last timestamp

	// What a packet has told that the next may cancel or replace.
	returned bool        // an exception return, with the newest outcome on A and R cores
	target   event.Event // a Target, if its Kind is not KindNone
	retOff   int64       // of the exception return
	retEnd   int64

	ahead Lexer // behind which the next timestamp is looked for
}

type phase uint8

const (
	atStart phase = iota
	inBody
	atRest
)

// NewDecoder returns a Decoder of the segment. c is not checked: see
// coresight.Config.Validate.
func NewDecoder(c Config, seg event.Segment) *Decoder {
	d := &Decoder{cfg: c, form: c.Format()}
	var find func() (v3.Timestamp, bool)
	if c.Ahead {
		find = d.nextTimestamp
	}
	d.flow.Clock = v3.NewClock(&c.Trace, c.TimeConv, find)
	d.lx.setForm(d.form)
	d.Reset(seg)
	return d
}

// Reset makes d a Decoder of another segment of a stream traced under the same
// Config, without allocating.
//
// A segment's Time that is all zero is taken as not known.
func (d *Decoder) Reset(seg event.Segment) {
	d.seg = seg.Timed()
	d.lx.Reset(seg.Buf, seg.Off)
	d.ahead = d.lx
	d.phase, d.newest = atStart, false
	d.returned, d.target.Kind = false, event.KindNone
	d.flow.Reset(d.seg.Time)
	if seg.Starts {
		d.flow.Lo = 0 // the bound is that of the I-sync; what comes before it is told too
	}
}

// Next writes the next event to e, every field of it, and reports whether
// there was one.
func (d *Decoder) Next(e *event.Event) bool {
	for !d.flow.Next(e) {
		if !d.step() {
			return false
		}
	}
	return true
}

// step begins or ends the segment, or reads one packet, which may make no event. It returns
// false where nothing is left.
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
	if d.seg.Starts {
		d.flow.Push(d.seg.Off, d.seg.Off).Kind = event.Sync
		d.flow.Lose(d.seg.Off, d.seg.Off)
		return
	}
	p := &d.pk
	for d.lx.Next(p) && p.Kind != ISync && p.Kind != ISyncCycles {
		if p.Kind == Bad || p.Kind == ASync && p.Off != d.seg.Off || p.Off >= d.seg.End {
			// No segment of Plan's: the sync point is told to say nothing.
			d.flow.Push(d.seg.Off, d.seg.Off).Kind = event.Sync
			d.lx.SeekTo(d.seg.Off)
			d.flow.Stamp.Reset()
			return
		}
		if p.Kind == Timestamp { // told by the segment before
			d.flow.Known(v3.Timestamp{Value: p.Value, N: p.N})
		}
	}
	e := d.flow.Push(d.seg.Off, d.lx.Off())
	e.Kind = event.Sync
	if p.Kind != ISync && p.Kind != ISyncCycles {
		return
	}
	d.flow.Synced = true
	d.takeSync(p)
	d.flow.Here(e)
	d.flow.TellContext(d.seg.Off, d.lx.Off())
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
	d.flow.Flush()
	if p != nil && (p.Kind == ISync || p.Kind == ISyncCycles) && p.Reason() == v3.ReasonPeriodic {
		d.takeSync(p)
		d.restate(p)
		return
	}
	end := d.lx.Off()
	if p != nil {
		end = p.Off
	}
	d.flow.Push(end, end).Kind = event.End
}

// settle tells what can no longer be cancelled or replaced: all that waits.
func (d *Decoder) settle() {
	d.newest = false
	if d.returned {
		d.flow.Flush()
		d.returned = false
		e := d.flow.Push(d.retOff, d.retEnd)
		e.Kind, e.Detail = event.Payload, event.DetailExceptionRet
	}
	if d.target.Kind != event.KindNone {
		d.flow.Flush()
		*d.flow.Push(d.target.Off, d.target.End) = d.target
		d.target.Kind = event.KindNone
	}
	if d.flowed {
		d.flow.Passed()
	}
}

// cancel drops the newest instruction traced, which did not complete, if the
// last packet told it; and what followed it.
func (d *Decoder) cancel() {
	if d.newest && d.flow.N > 0 {
		d.flow.N--
		d.flow.Bits &^= 1 << (63 - d.flow.N)
	}
	d.newest, d.returned = false, false
}

// nextTimestamp returns the next timestamp packet in front of the Decoder.
func (d *Decoder) nextTimestamp() (t v3.Timestamp, ok bool) {
	var p Packet
	for d.ahead.Next(&p) {
		if p.Kind == Timestamp {
			return v3.Timestamp{Value: p.Value, N: p.N, Off: p.Off}, true
		}
	}
	return t, false
}
