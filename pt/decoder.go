package pt

import (
	"bytes"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Decoder turns the packets of one segment into events, in stream order. An event may rest
// on several packets: compound.go.
//
// Time: what an event states happened within its Time. The lower bound must allow for what
// the trace unit holds back. It gathers outcomes before it sends them, and the targets of
// indirect branches wait behind them (Intel SDM, section "Deferred TIPs"). MTC and CYC go
// out at once. So outcomes may be as old as the flow packet before theirs, and targets as
// old as the outcomes that they waited for. FUP, TIP.PGE, OVF and PSB flush what is held:
// nothing that follows them is older than they are. A CYC directly before a packet tells
// when its first branch was. The upper bound is the first timing packet after the event
// with Config.Ahead, else the segment's.
type Decoder struct {
	teller
	cfg   Config
	er    errata
	seg   event.Segment
	lx    Lexer // over the segment's own bytes
	pk    Packet
	last  lastIP
	state power
	phase phase

	times moments
	open  psbPlus // what the PSB+ at the segment's begin says
	close psbPlus // what the PSB+ at the segment's end says
	psbs  psbAgain

	queue  [queueSize]event.Event
	head   int // index of the next event to hand out
	tail   int // index after the last event
	direct bool

	comp compound
}

// queueSize is how many events may wait for a FUP or TIP that completes one
// before them.
const queueSize = 48

// power says whether tracing is on.
type power uint8

const (
	powerUnknown power = iota
	powerOff
	powerOn
)

type phase uint8

const (
	atStart phase = iota // the PSB+ at the front is to be read
	inBody
	atEnd // the PSB+ that closes the segment, or the stream's end, is to be told
	atRest
)

// NewDecoder returns a Decoder of the segment. c is not checked: a value that no trace
// unit can have makes times unbounded, and nothing worse.
func NewDecoder(c Config, seg event.Segment) *Decoder {
	d := &Decoder{cfg: c, er: c.errata()}
	d.times.clk = newClock(c)
	d.times.ahead.clk, d.times.ahead.er, d.psbs.fresh = d.times.clk, d.er, d.times.clk
	d.Reset(seg)
	return d
}

// Reset makes d a Decoder of another segment of a stream traced under the same
// Config, without allocating.
//
// A segment's Time that is all zero is taken as not known.
func (d *Decoder) Reset(seg event.Segment) {
	seg = seg.Timed()
	d.seg = seg
	own := seg.Own()
	d.lx.Reset(own, seg.Off)
	d.last, d.state, d.phase = 0, powerUnknown, atStart
	d.times.clk.Reset()
	d.head, d.tail = 0, 0
	d.comp.clear()
	d.times.cycAt, d.times.stated = -1, false
	d.times.now = seg.Time.Lo
	d.times.flow, d.times.tip, d.times.tipNow = d.times.now, d.times.now, d.times.now

	d.close.ok, d.close.on, d.close.hasTSC, d.close.broken = false, false, false, false
	if len(own) < len(seg.Buf) {
		var l Lexer
		l.Reset(seg.Buf[len(own):], seg.Off+int64(len(own)))
		d.psbs.read(&d.close, &l, nil, &d.er)
	}
	hi := seg.Time.Hi
	d.times.clk.until = after(&d.times.clk.conv, hi)
	if d.close.hasTSC {
		d.times.clk.until = min(d.times.clk.until, d.close.tsc)
		hi = min(hi, d.close.time.Hi)
	}
	if d.times.clk.num != 0 && bytes.Contains(own, []byte(ovf)) {
		d.times.clk.whole = !d.times.clk.turns(d.lx, &d.er)
	}
	d.times.ahead.reset(&d.lx, &d.times.clk, hi, d.cfg.Ahead)
}

// Next writes the next event to e, every field of it, and reports whether
// there was one. Bytes that are no packet do not end it: they are an event of
// event.Trouble.
func (d *Decoder) Next(e *event.Event) bool {
	for {
		if d.head < d.tail && !d.comp.open() {
			*e = d.queue[d.head]
			d.head++
			if d.head == d.tail {
				d.head, d.tail = 0, 0
			}
			return true
		}
		switch d.phase {
		case atStart:
			begin(d)
		case inBody:
			d.direct = false
			if d.quick(e) || d.step(e) {
				if d.direct {
					return true
				}
				continue
			}
			d.phase = atEnd
		case atEnd:
			d.phase = atRest
			d.finish()
		default:
			return false
		}
	}
}

// begin reads the PSB+ at the segment's front.
func begin(d *Decoder) {
	d.phase = inBody
	d.psbs.read(&d.open, &d.lx, &d.times.clk, &d.er)
	d.sync(&d.open, 0)
	d.comp.fresh = true
}

// slot returns the event to fill for the packets [off, end), of what happened
// not before lo: e itself where nothing waits to be handed out before it.
// Everything but Time is zero.
func (d *Decoder) slot(e *event.Event, lo uint64, off, end int64) *event.Event {
	if d.tail == 0 {
		d.direct = true
		d.times.only(e, lo, off, end)
		return e
	}
	e = d.push(off, end)
	e.Time = d.times.when(lo, end)
	return e
}

// push appends an event for the packets [off, end) to the queue and returns
// it. Everything but Time is zero. step sees to it that there is room.
func (d *Decoder) push(off, end int64) *event.Event {
	e := &d.queue[d.tail]
	d.tail++
	t := d.times.when(d.times.now, end)
	*e = event.Event{}
	e.Off, e.End, e.Time = off, end, t
	return e
}

// room is how many events one packet adds at most.
const room = 12

// sync tells what s, a PSB+ just read, states.
func (d *Decoder) sync(s *psbPlus, flags event.Flags) {
	d.times.tick()
	d.times.flush()
	d.times.stated = true
	d.last = s.last
	switch {
	case s.on:
		d.state = powerOn
	case s.ok:
		d.state = powerOff
	default:
		d.state = powerUnknown
	}
	e := d.push(s.off, s.end)
	s.fill(e)
	e.Flags |= flags
	d.note(s)
	if s.bad {
		d.trouble(event.BadPacket, s.off, s.end)
	}
}

// note tells the state of a PSB+ that no Sync holds.
func (d *Decoder) note(s *psbPlus) {
	if s.hasTSX {
		e := d.push(s.off, s.end)
		e.Kind, e.Detail, e.Value = event.Context, event.DetailTxState, uint64(s.tsx&1)
	}
	if s.hasVMCS {
		e := d.push(s.off, s.end)
		e.Kind, e.Detail, e.Value = event.Context, event.DetailVMCS, s.vmcs
	}
	if s.hasCBR {
		e := d.push(s.off, s.end)
		e.Kind, e.Detail, e.Value = event.Payload, event.DetailCBR, uint64(s.cbr)
	}
}

// finish tells how the segment ends.
func (d *Decoder) finish() {
	if !d.close.ok {
		d.giveUp() // the stream may end anywhere
	}
	d.drop(d.seg.End)
	if d.close.ok {
		e := d.push(d.close.off, d.close.end)
		d.close.fill(e)
		e.Flags |= event.FlagRestated
		if !d.close.hasTSC {
			e.Time.Hi = unknown
		}
		return
	}
	end := d.lx.base + int64(len(d.lx.buf))
	e := d.push(end, end)
	if e.Kind = event.End; d.close.broken {
		e.Flags = event.FlagNoPacket
	}
}

// trouble tells that [off, end) could not be decoded, and returns what tells it.
func (d *Decoder) trouble(r event.Reason, off, end int64) *event.Event {
	e := d.push(off, end)
	e.Kind, e.Reason = event.Trouble, r
	d.state = powerUnknown
	return e
}
