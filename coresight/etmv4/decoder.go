package etmv4

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Decoder turns the packets of one segment into events, in stream order.
//
// It has three stages. Packets become elements (elements.go), which state what
// packets leave out. Elements that may yet be cancelled wait until they are
// committed (speculation). Those that stand become events (emitter). There an
// exception waits for its destination, which the trace states behind it, and an address
// for the context that says its instruction set.
//
// What a trace unit sends most, atoms and addresses, becomes events at once where nothing
// waits (fastEvents).
//
// Bytes that are no packet, and packets that contradict each other, are an event.Trouble.
// What follows them is read from the next A-Sync and Trace Info on.
type Decoder struct {
	cfg   Config
	seg   event.Segment
	lx    Lexer
	pk    Packet
	phase phase
	sync  syncState
	after front // what the next segment begins with

	// What packets leave out.
	hist      history
	stamp     uint64 // ticks: the last timestamp
	threshold uint64 // cycles: what cycle counts leave out
	waits     elem   // an exception or a Q whose address packet is to come; kind elNone: none
	now       event.Time
	ahead     ahead

	spec        speculation
	out         emitter
	awaitMarker bool // no timestamp marker seen yet: what the next timestamp belongs to is unknown
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

// NewDecoder returns a Decoder of the segment. c is not checked: see
// coresight.Config.Validate.
func NewDecoder(c Config, seg event.Segment) *Decoder {
	d := &Decoder{cfg: c, spec: speculation{max: c.Trace.V4.MaxSpec()}, out: emitter{mProfile: c.Trace.Arch.Profile == 'M'}}
	d.lx.dialect = newDialect(&c.Trace)
	d.Reset(seg)
	return d
}

// Reset makes d a Decoder of another segment of its stream, without allocating.
//
// A segment's Time that is all zero is taken as not known.
func (d *Decoder) Reset(seg event.Segment) {
	seg = seg.Timed()
	d.seg = seg
	own := seg.Own()
	d.lx.Reset(own, seg.Off)
	d.phase, d.sync = inBody, hunting
	d.after = front{}
	if !seg.Last && !seg.Ends && len(own) < len(seg.Buf) {
		d.after = peek(d.lx.dialect, seg.Buf[len(own):])
	}
	d.waits.kind = elNone
	d.out.clear()
	d.spec.forget(0)
	d.enter(0)
	d.ahead.reset(&d.lx, &d.cfg)
	d.now = d.ahead.time(&seg)
	e := d.out.push(&elem{off: seg.Off, end: seg.Off, time: d.now})
	e.Kind = event.Sync
	if f := peek(d.lx.dialect, d.lx.Buf); f.ok && !f.gap && !seg.Starts {
		d.out.on, d.out.known, d.out.sf = true, true, f.sf
		e.IP, e.Mode, e.Flags = f.addr.ip, uint8(d.out.mode(f.addr.is)), event.FlagIP|event.FlagMode
	}
	if d.awaitMarker = false; seg.Starts {
		d.awaitMarker = d.marks()
		d.lost(seg.Off, seg.Off)
	}
}

// enter starts anew behind a Trace Info that says that unseen P0 elements
// before it are not committed. DDI0487, "Trace Info packet".
func (d *Decoder) enter(unseen uint64) {
	d.hist = history{}
	d.stamp, d.threshold = 0, 0
	d.spec.unseen = unseen
}

// Next writes the next event to e, every field of it, and reports whether
// there was one.
func (d *Decoder) Next(e *event.Event) bool {
	for {
		if d.out.handOut(e) {
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

// Fill writes the next events to q, every field of them, and returns how many:
// fewer than len(q) only at the segment's end. It gives what as many calls of
// Next would.
func (d *Decoder) Fill(q []event.Event) int { return wire.Fill(q, d.fastEvents, d.Next) }

// marks reports whether the trace unit says by markers what its timestamps are
// of.
func (d *Decoder) marks() bool {
	_, minor := d.cfg.Trace.Version()
	return d.cfg.Trace.Protocol == coresight.ETE && minor >= 1 && d.cfg.Trace.V4.TimestampMarkers()
}

// lost tells that nothing is known of how the flow came to what lies behind end.
func (d *Decoder) lost(off, end int64) {
	d.out.flush()
	e := d.out.push(&elem{off: off, end: end, time: d.now})
	e.Kind, e.Detail = event.Off, event.DetailNoSync
	d.out.on, d.out.known, d.out.restate = false, false, false
}

// dropWaiting drops what is not committed, and what waits for its address.
func (d *Decoder) dropWaiting() {
	d.waits.kind = elNone
	d.spec.discard(&d.out)
}

// takeElem takes the next element.
func (d *Decoder) takeElem(x *elem) {
	if !d.spec.add(x, &d.out) {
		d.trouble(event.BadPacket, x.off, x.end)
		d.lost(x.end, x.end)
	}
}

// trouble tells that [off, end) could not be decoded, and drops what waits. It
// returns what tells it.
func (d *Decoder) trouble(r event.Reason, off, end int64) *event.Event {
	d.dropWaiting()
	d.out.flush()
	e := d.out.push(&elem{off: off, end: end, time: d.now})
	e.Kind, e.Reason = event.Trouble, r
	d.sync, d.awaitMarker = hunting, d.marks()
	return e
}

// finish tells how the segment ends.
func (d *Decoder) finish() {
	end := d.lx.Base + int64(len(d.lx.Buf))
	if d.after.ok && d.sync == synced && d.spec.waiting() > 0 { // the Trace Info there says that everything is committed
		d.trouble(event.BadPacket, end, end)
	}
	d.dropWaiting()
	x := elem{off: end, end: end, time: d.now}
	if a := &d.after; a.ok && !a.gap && d.out.on && d.sync == synced {
		// Where the next segment goes on is where this one has come to.
		x.end += int64(a.size)
		x.ip, x.is = a.addr.ip, a.addr.is
		d.out.sf, d.out.restate = a.sf, true
		d.out.target(&x)
		d.out.commitOpen()
		return
	}
	if d.after.ok && d.sync == synced { // the next segment goes on with what waits
		d.out.retractEnable()
		d.out.commitOpen()
	}
	d.out.flush()
	d.out.push(&x).Kind = event.End
}
