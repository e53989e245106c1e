package ptm

import (
	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// Decoder turns the packets of one segment into events, in stream order. It
// holds what packets leave out: the address told last, by which the next is
// compressed, the instruction set, the context, the time.
//
// A segment with event.Segment.Starts begins with a Sync without an address and an Off of
// DetailNoSync. Tracing goes on with an Off of DetailTraceOn, whose Value is the
// I-sync's reason, and an Enable. Every other segment begins with a Sync at its
// I-sync's address. The segment before tells what lies between the A-sync and the
// I-sync, and ends in a Sync at the same address.
//
// Outcomes of Atom packets side by side come as one event. A branch packet is an
// outcome, E, and a Target. One that enters an exception is an Async from where the
// flow stands; a waypoint update, a Reach, has told that before.
//
// An event's Time is bounded by the timestamps before and behind it. Cycle
// counts are not told.
type Decoder struct {
	cfg   Config
	seg   event.Segment
	lx    Lexer // over the segment's own bytes and those behind that close it
	pk    Packet
	phase phase

	flow  v3.Flow
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
	d := &Decoder{cfg: c}
	var find func() (v3.Timestamp, bool)
	if c.Ahead {
		find = d.nextTimestamp
	}
	d.flow.Clock = v3.NewClock(&c.Trace, c.TimeConv, find)
	d.lx.form = c.Format()
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
	d.phase = atStart
	d.flow.Reset(d.seg.Time)
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
	for d.lx.Next(p) && p.Kind != ISync {
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
	if p.Kind != ISync {
		return
	}
	d.flow.Synced = true
	d.takeSync(p)
	d.flow.Here(e)
	e = d.flow.TellContext(d.seg.Off, d.lx.Off())
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
	d.flow.Flush()
	if p != nil && p.Kind == ISync && p.Reason() == v3.ReasonPeriodic {
		d.takeSync(p)
		d.flow.Restate(p.Off, p.End())
		return
	}
	end := d.lx.Off()
	if p != nil {
		end = p.Off
	}
	d.flow.Push(end, end).Kind = event.End
}

// packet reads one packet.
func (d *Decoder) packet(p *Packet) {
	if p.Kind == Atom {
		if d.flow.Synced {
			d.flow.Outcomes(p.Value, p.N, p.Off, p.End())
			d.flow.Passed()
		}
		return
	}
	if !d.flow.Synced && p.Kind != ISync && p.Kind != Bad {
		return // OpenCSD waits for an I-sync too
	}
	switch p.Kind {
	case Bad:
		// The stream may end inside of a packet.
		d.flow.Bad(p.Off, p.End(), p.Info == packettext.BadCut && d.seg.Last, Kind(p.Exc) == ASync)
	case ISync:
		d.isync(p)
	case Branch:
		d.takeBranch(p)
		d.flow.Passed()
	case Waypoint:
		d.flow.Flush()
		d.target(p)
		e := d.flow.Push(p.Off, p.End())
		e.Kind = event.Reach
		d.flow.Here(e)
		d.flow.Passed()
	case ContextID, VMID:
		d.newContext(p)
	case Timestamp:
		d.flow.Timestamp(v3.Timestamp{Value: p.Value, N: p.N, Off: p.Off}, p.End(), p.Info&1 != 0, d.cfg.stampsLate())
	case Trigger:
		d.flow.Flush()
		d.flow.Payload(p.Off, p.End(), event.DetailTrigger)
	case ExceptionRet:
		d.flow.Flush()
		d.flow.Payload(p.Off, p.End(), event.DetailExceptionRet)
	}
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
