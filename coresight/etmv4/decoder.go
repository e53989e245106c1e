package etmv4

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Decoder turns the packets of one segment into events, in stream order.
//
// It has three stages. Packets become elements (step), which state what packets
// leave out. Elements that may yet be cancelled wait until they are committed
// (speculation). Those that stand become events (shape): there an exception
// waits for its destination, which the trace states behind it, and an address
// for the context that says which instruction set it is in.
//
// What a trace unit sends most, atoms and addresses, goes past all of this where
// nothing waits (burst).
type Decoder struct {
	cfg     Config
	maxSpec uint32
	seg     event.Segment
	lx      Lexer
	pk      Packet
	phase   phase
	sync    syncState
	after   front // what the next segment begins with

	// What packets leave out.
	hist      history
	stamp     uint64 // ticks: the last timestamp
	threshold uint64 // cycles: what cycle counts leave out
	waits     elem   // an exception or a Q whose address packet is to come; kind elNone: none
	now       event.Time
	ahead     ahead

	// Speculation.
	pend   []elem // elements not committed, the oldest first
	first  int    // index of the first of them
	depth  uint64 // P0 elements among them
	unseen uint64 // P0 elements not committed that came before the segment

	// Events.
	queue   []event.Event
	head    int // index of the next event to hand out
	open    int // index of the event whose address may still change, or -1
	held    int // index of the first event that waits for something to be traced, or -1
	openIS  uint8
	on      bool // the flow's address has been stated since tracing was last off
	known   bool // so has the context
	sf      bool // AArch64
	restate bool // a Trace Info has cleared the return stack, and no event says so yet
	strange bool // what marker the next timestamp is of was not seen
}

type phase uint8

const (
	inBody phase = iota
	atEnd
	atRest
)

// syncState says how far a stream has been entered.
type syncState uint8

const (
	hunting syncState = iota // looks for an A-Sync
	entered                  // looks for the Trace Info behind it
	synced
)

// NewDecoder returns a Decoder of the segment.
func NewDecoder(c Config, seg event.Segment) *Decoder {
	d := &Decoder{cfg: c, maxSpec: c.Trace.V4.MaxSpec()}
	d.lx.dialect = newDialect(&c.Trace)
	d.Reset(seg)
	return d
}

// Reset makes d a Decoder of another segment of its stream, without allocating.
//
// A segment's Time that is all zero is taken as not known.
func (d *Decoder) Reset(seg event.Segment) {
	if seg.Time == (event.Time{}) {
		seg.Time = event.Always
	}
	n := min(max(seg.End-seg.Off, 0), int64(len(seg.Buf)))
	d.seg = seg
	d.lx.Reset(seg.Buf[:n], seg.Off)
	d.phase, d.sync = inBody, hunting
	d.after = front{}
	if !seg.Last && !seg.Ends && n < int64(len(seg.Buf)) {
		d.after = peek(d.lx.dialect, seg.Buf[n:])
	}
	d.waits.kind = elNone
	d.pend, d.first, d.depth, d.unseen = d.pend[:0], 0, 0, 0
	d.queue, d.head, d.open, d.held = d.queue[:0], 0, -1, -1
	d.on, d.known, d.sf, d.restate = false, false, false, false
	d.enter(0)
	d.ahead.reset(&d.lx, &d.cfg)
	d.now = d.ahead.time(&seg)
	e := d.push(&elem{off: seg.Off, end: seg.Off, time: d.now})
	e.Kind = event.Sync
	if f := peek(d.lx.dialect, d.lx.buf); f.ok && !f.gap && !seg.Fresh {
		d.on, d.known, d.sf = true, true, f.sf
		e.IP, e.Mode, e.Flags = f.addr.ip, uint8(d.mode(f.addr.is)), event.FlagIP|event.FlagMode
	}
	if d.strange = false; seg.Fresh {
		d.strange = d.marks()
		d.lost(seg.Off, seg.Off)
	}
}

// enter starts anew behind a Trace Info that says that unseen P0 elements
// before it are not committed. DDI0487, "Trace Info packet".
func (d *Decoder) enter(unseen uint64) {
	d.hist = history{}
	d.stamp, d.threshold = 0, 0
	d.unseen = unseen
}

// Next writes the next event to e, every field of it, and reports whether
// there was one.
func (d *Decoder) Next(e *event.Event) bool {
	for {
		if d.head < len(d.queue) && d.head != d.held {
			*e = d.queue[d.head]
			if d.head++; d.head == len(d.queue) {
				d.queue, d.head = d.queue[:0], 0
			} else if d.head >= shrinkFrom {
				d.shrink()
			}
			if e.Kind == event.KindNone {
				continue
			}
			return true
		}
		switch d.phase {
		case inBody:
			if !d.step() {
				d.phase = atEnd
			}
		case atEnd:
			d.phase = atRest
			d.finish()
		default:
			return false
		}
	}
}

// shrinkFrom is how many events are handed out before shrink looks at their
// places.
const shrinkFrom = 64

// shrink gives the places of events that were handed out to others, once they are
// half of the queue. Without it, a queue in which an event always waits would grow
// for as long as the segment lasts.
func (d *Decoder) shrink() {
	n := d.head
	if 2*n < len(d.queue) {
		return
	}
	d.queue = append(d.queue[:0], d.queue[n:]...)
	d.head = 0
	if d.open >= 0 {
		d.open -= n
	}
	if d.held >= 0 {
		d.held -= n
	}
}

// Fill writes the next events to q, every field of them, and returns how many:
// fewer than len(q) only at the segment's end. It gives what as many calls of
// Next would.
func (d *Decoder) Fill(q []event.Event) int {
	n := 0
	for n < len(q) {
		if d.plain() {
			if n += d.burst(q[n:]); n == len(q) {
				break
			}
		}
		if !d.Next(&q[n]) {
			break
		}
		n++
	}
	return n
}

// marks reports whether the trace unit says by markers what its timestamps are
// of.
func (d *Decoder) marks() bool {
	_, minor := d.cfg.Trace.Version()
	return d.cfg.Trace.Protocol == coresight.ETE && minor >= 1 && d.cfg.Trace.V4.TimestampMarkers()
}

// lost tells that what lies before end cannot be known to lead there.
func (d *Decoder) lost(off, end int64) {
	d.end()
	e := d.push(&elem{off: off, end: end, time: d.now})
	e.Kind, e.Detail = event.Off, event.DetailNoSync
	d.on, d.known, d.restate = false, false, false
}

// trouble tells that [off, end) could not be decoded, and drops what waits.
func (d *Decoder) trouble(r event.Reason, off, end int64) {
	d.discard()
	d.end()
	e := d.push(&elem{off: off, end: end, time: d.now})
	e.Kind, e.Reason = event.Trouble, r
	d.sync, d.strange = hunting, d.marks()
}

// finish tells how the segment ends.
func (d *Decoder) finish() {
	d.discard()
	end := d.lx.base + int64(len(d.lx.buf))
	x := elem{off: end, end: end, time: d.now}
	if a := &d.after; a.ok && !a.gap && d.on && d.sync == synced {
		// Where the next segment goes on is where this one has come to.
		x.end += int64(a.size)
		x.ip, x.is = a.addr.ip, a.addr.is
		d.sf, d.restate = a.sf, true
		d.target(&x)
		d.settle()
		return
	}
	if d.after.ok && d.sync == synced { // the next segment goes on with what waits
		d.drop()
		d.settle()
	}
	d.end()
	d.push(&x).Kind = event.End
}

// mode returns the instruction set at an address of IS is, as the context is
// now.
func (d *Decoder) mode(is uint8) isa.Mode {
	switch {
	case is != 0:
		return isa.ModeT32
	case d.sf:
		return isa.ModeA64
	}
	return isa.ModeA32
}
