package stm

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// Decoder turns the packets of a segment into events, in stream order. The
// first is an Off of DetailNoSync; software's messages are Payloads of
// DetailSoftware, each with its master and channel, followed by a Payload of
// DetailTimestamp where it has one. Nothing says what ran.
//
// Times are not bounded: nothing relates an STM's clock to the recording's.
type Decoder struct {
	lx     Lexer
	pk     Packet
	course wire.Course

	master, channel uint16
	known           bool // a Version or an M8 has said what they are

	coding uint8  // of timestamps: 0 not known, else a Version's Value
	ticks  uint64 // the timestamp, plain
	bits   uint8  // how many of its low bits are known, 64: all

	stamp bool        // next holds the timestamp of the event told last
	next  event.Event //
}

// Codings of timestamps: the Value of a Version.
const (
	codingPlain = 3
	codingGray  = 4
)

// NewDecoder returns a Decoder of the segment. Nothing of an STM's
// configuration decides what its packets mean.
func NewDecoder(_ coresight.Config, seg event.Segment) *Decoder {
	d := new(Decoder)
	d.Reset(seg)
	return d
}

// Reset makes d a Decoder of another segment, without allocating.
func (d *Decoder) Reset(seg event.Segment) {
	*d = Decoder{course: wire.Course{Segment: seg}}
	d.lx.Reset(seg.Own(), seg.Off)
}

// Next writes the next event to e, every field of it, and reports whether
// there was one.
func (d *Decoder) Next(e *event.Event) bool {
	if d.stamp {
		*e, d.stamp = d.next, false
		return true
	}
	return d.course.Next(e, d.front, d.body, d.end)
}

// front goes to the first packet and returns where it lies, bytes.
func (d *Decoder) front() int64 {
	d.lx.SeekSync()
	off, _ := d.lx.Off()
	return off
}

// body reads packets until one says something.
func (d *Decoder) body(e *event.Event) bool {
	for d.lx.Next(&d.pk) {
		if d.packet(e) {
			return true
		}
	}
	return false
}

func (d *Decoder) end() int64 { return d.lx.base + int64(len(d.lx.buf)) }

// packet writes to e what the packet says and reports whether it says
// anything by itself.
func (d *Decoder) packet(e *event.Event) bool {
	p := &d.pk
	*e = event.Event{Kind: event.Payload, Off: p.Off, End: p.End(), Time: event.Always}
	switch p.Kind {
	case Bad:
		d.takeBad(e)
		return true
	case M8:
		d.master, d.channel, d.known = uint16(p.Value), 0, true
	case C8:
		d.channel = d.channel&0xff00 | uint16(p.Value)
	case C16:
		d.channel = uint16(p.Value)
	case Version:
		d.master, d.channel, d.known = 0, 0, true
		d.coding = uint8(p.Value)
		e.Detail, e.Value = event.DetailSTPSync, p.Value
		return true
	case MERR, GERR:
		d.channel = 0
		if p.Kind == GERR {
			d.master = 0
		}
		d.payload(e, event.DetailStreamError, 8, 0)
		return true
	case Null, Async:
	default:
		d.message(e)
		return true
	}
	return false
}

// flags are what the kind of a message says besides its data and its timestamp.
var flags = [NumKinds]uint64{
	D4M: event.SWMarker, D8M: event.SWMarker, D16M: event.SWMarker, D32M: event.SWMarker, D64M: event.SWMarker,
	D4MTS: event.SWMarker, D8MTS: event.SWMarker, D16MTS: event.SWMarker, D32MTS: event.SWMarker, D64MTS: event.SWMarker,
	Flag: event.SWFlag, FlagTS: event.SWFlag, Trig: event.SWTrigger, TrigTS: event.SWTrigger, Freq: event.SWFrequency,
}

// message tells what is said of a message. That of a NullTS is a timestamp of nothing.
func (d *Decoder) message(e *event.Event) {
	c := &codes[d.pk.Kind]
	d.payload(e, event.DetailSoftware, 4*c.data, flags[d.pk.Kind])
	if c.stamp && d.coding != 0 {
		d.timestamp(e)
	}
}

// payload makes e a payload of size bits with the present master and channel.
func (d *Decoder) payload(e *event.Event, k event.Detail, size uint8, flags uint64) {
	if !d.known {
		flags |= event.SWNoID
	}
	e.Detail, e.Value = k, d.pk.Value
	e.Value2 = flags | uint64(d.channel)<<event.SWChannelShift | uint64(d.master)<<event.SWMasterShift |
		uint64(size)<<event.SWSizeShift
}

// timestamp replaces low bits of the timestamp by those of the packet, and
// keeps the event that tells it behind e.
func (d *Decoder) timestamp(e *event.Event) {
	n := 4 * d.pk.TSLen
	mask := uint64(1)<<n - 1 // of 64: all ones
	if d.coding == codingGray {
		d.ticks = wire.Binary(wire.Code(d.ticks)&^mask | d.pk.TS)
	} else {
		d.ticks = d.ticks&^mask | d.pk.TS
	}
	d.bits = max(d.bits, n)
	e.Value2 |= event.SWTimestamped
	d.next = event.Event{
		Kind: event.Payload, Detail: event.DetailTimestamp, Value: d.ticks, Value2: uint64(64-d.bits) << 8,
		Off: e.Off, End: e.End, Time: event.Always,
	}
	d.stamp = true
}

// takeBad tells of bytes that are no packet. Behind them nothing of the master,
// the channel and the timestamp is known.
func (d *Decoder) takeBad(e *event.Event) {
	e.Kind, e.Reason = event.Trouble, event.BadPacket
	if d.pk.Why == packettext.BadCut {
		e.Reason = event.Truncated
	}
	d.master, d.channel, d.known = 0, 0, false
	d.coding, d.ticks, d.bits = 0, 0, 0
}
