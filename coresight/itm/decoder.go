package itm

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// Decoder turns the packets of a segment into events, in stream order. The first is
// an Off of DetailNoSync. What was written to stimulus ports are Payloads of
// DetailSoftware, what the DWT saw of DetailHardware, local timestamps of
// DetailLocalTimestamp and global ones of DetailTimestamp. Nothing says what ran.
//
// Ports above 31 are in pages that an Ext names; until one does it is page 0.
// Times are not bounded: nothing relates an ITM's clocks to the recording's.
type Decoder struct {
	prescale uint64 // of local timestamps
	lx       Lexer
	pk       Packet
	course   wire.Course

	page     uint16 // of stimulus ports
	lost     bool   // packets were lost before the next event
	local    uint64 // ticks since the start or the last loss
	global   uint64 // the global timestamp, ticks
	wantHigh bool   // its upper bits are not known until the next GTS2
	hasLow   bool   // its low bits are known
	clkch    bool   // its clock's rate has changed since it was last told
}

// NewDecoder returns a Decoder of the segment.
func NewDecoder(c coresight.Config, seg event.Segment) *Decoder {
	d := &Decoder{prescale: uint64(c.ITM.TimestampPrescale())}
	d.Reset(seg)
	return d
}

// Reset makes d a Decoder of another segment of a stream traced under the same
// Config, without allocating.
func (d *Decoder) Reset(seg event.Segment) {
	*d = Decoder{course: wire.Course{Segment: seg}, prescale: d.prescale, wantHigh: true}
	d.lx.Reset(seg.Own(), seg.Off)
}

// Next writes the next event to e, every field of it, and reports whether
// there was one.
func (d *Decoder) Next(e *event.Event) bool {
	return d.course.Next(e, d.front, d.body, d.end)
}

// front goes to the first packet and returns where it lies, bytes.
func (d *Decoder) front() int64 {
	d.lx.SeekSync()
	return d.lx.Off()
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

func (d *Decoder) end() int64 { return d.lx.Off() }

// packet writes to e what the packet says and reports whether it says
// anything by itself.
func (d *Decoder) packet(e *event.Event) bool {
	p := &d.pk
	*e = event.Event{Kind: event.Payload, Value: p.Value, Off: p.Off, End: p.End(), Time: event.Always}
	switch p.Kind {
	case Bad:
		return d.takeBad(e)
	case Overflow:
		d.lost, d.local = true, 0
		return false
	case SWIT:
		e.Detail = event.DetailSoftware
		e.Value2 = uint64(d.page<<5|uint16(p.Arg))<<event.SWChannelShift | 8*uint64(p.N)<<event.SWSizeShift
	case DWT:
		e.Detail = event.DetailHardware
		e.Value2 = uint64(p.Arg)<<event.SWChannelShift | 8*uint64(p.N)<<event.SWSizeShift
	case LTS1, LTS2:
		ticks := p.Value * d.prescale
		d.local += ticks
		e.Detail, e.Value, e.Value2 = event.DetailLocalTimestamp, d.local, ticks&event.LTTicks
		if p.Arg&ltsDelayed != 0 {
			e.Value2 |= event.LTDelayed
		}
		if p.Arg&ltsPacketDelayed != 0 {
			e.Value2 |= event.LTPacketDelayed
		}
	case GTS1, GTS2:
		if !d.stamp(e) {
			return false
		}
	case Ext:
		if p.N == 0 && p.Arg&extHardware == 0 {
			d.page = uint16(p.Arg)
		}
		return false
	default: // Sync
		return false
	}
	if d.lost {
		e.Value2 |= event.SWOverflow
		d.lost = false
	}
	return true
}

// stamp takes over bits of the global timestamp, tells it in e and reports
// whether all of it is known.
func (d *Decoder) stamp(e *event.Event) bool {
	const low = 1<<26 - 1 // the bits that a GTS1 holds
	p := &d.pk
	if p.Kind == GTS1 {
		mask := min(uint64(1)<<(7*p.N)-1, low)
		d.global = d.global&^mask | p.Value
		d.wantHigh = d.wantHigh || p.Arg&gtsWrap != 0
		d.clkch = d.clkch || p.Arg&gtsClkCh != 0
		d.hasLow = d.hasLow || p.N == 4
	} else {
		d.global = d.global&low | p.Value<<26
		d.wantHigh = false
	}
	if d.wantHigh || !d.hasLow {
		return false
	}
	e.Detail, e.Value = event.DetailTimestamp, d.global
	if d.clkch {
		e.Value2 |= 1
	}
	d.clkch = false
	return true
}

// takeBad tells of bytes that are no packet. Behind them nothing of page and times
// is known. Zeros at the end are what a buffer holds that was not filled.
func (d *Decoder) takeBad(e *event.Event) bool {
	if d.pk.Of == Sync && d.pk.Arg == packettext.BadCut {
		return false
	}
	e.Kind, e.Value, e.Reason = event.Trouble, 0, event.BadPacket
	if d.pk.Arg == packettext.BadCut {
		e.Reason = event.Truncated
	}
	d.page, d.lost, d.local = 0, true, 0
	d.global, d.wantHigh, d.hasLow, d.clkch = 0, true, false, false
	return true
}
