package etmv4

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// ahead runs over the packets in front of the Decoder to find the timestamps to
// come: what happens before one is stated happened before it.
//
// A timestamp states the moment of the newest P0 element, event or instrumentation before
// it. Where the trace unit sends timestamp markers, it is the newest one before the newest
// marker. Then a timestamp with no marker before it in these packets belongs to something
// that lies before them, and bounds nothing of what is to come. DDI0487, "Timestamp element".
type ahead struct {
	lx     Lexer // in front of the Decoder
	conv   event.TimeConv
	marks  bool   // the trace unit sends timestamp markers
	on     bool   // there are packets to look at
	stamp  uint64 // ticks: the last timestamp read
	lo, hi uint64 // ns: bounds of what the Decoder tells next
}

// reset starts at l's place.
func (a *ahead) reset(l *Lexer, c *Config) {
	*a = ahead{conv: c.TimeConv, marks: c.Trace.V4.TimestampMarkers(), hi: math.MaxUint64}
	if a.on = c.Ahead; a.on {
		a.lx = *l
		a.find()
	}
}

// find makes hi the moment that the next timestamp gives.
func (a *ahead) find() {
	if !a.on {
		return
	}
	var p Packet
	marked := !a.marks
	for a.lx.Next(&p) {
		switch p.Kind {
		case TraceInfo:
			a.stamp = 0
		case TSMarker:
			marked = true
		case Timestamp:
			if a.stamp = merge(a.stamp, &p); a.stamp != 0 && marked {
				a.hi = a.conv.Hi(a.stamp)
				return
			}
		}
	}
	a.hi, a.on = math.MaxUint64, false
}

// time returns when what the next packets state happened, in a segment whose
// time is known.
func (a *ahead) time(seg *event.Segment) event.Time {
	t := event.Time{Lo: max(a.lo, seg.Time.Lo), Hi: min(a.hi, seg.Time.Hi)}
	if t.Lo > t.Hi { // the trace's time was set back
		t.Lo, t.Hi = t.Hi, t.Lo
	}
	return t
}

// merge returns the timestamp that p states behind last: it replaces the low
// bits, 7 a byte, the ninth byte all. DDI0487, "Timestamp packet".
func merge(last uint64, p *Packet) uint64 {
	if p.N >= 9 {
		return p.Value
	}
	mask := uint64(1)<<(7*p.N) - 1
	return last&^mask | p.Value
}

// stamped takes p, a Timestamp at the decoder's place.
func (d *Decoder) stamped(p *Packet) {
	d.stamp = merge(d.stamp, p)
	a := &d.ahead
	if d.stamp == 0 { // not known
		return
	}
	a.lo = a.conv.Lo(d.stamp)
	if !a.marks {
		a.find()
	}
	d.now = a.time(&d.seg)
}

// marked takes a timestamp marker: what follows it is not before its timestamp
// in time.
func (d *Decoder) marked() {
	if d.ahead.marks {
		d.ahead.find()
		d.now = d.ahead.time(&d.seg)
	}
}

// Stamps returns what the first and the last timestamp of buf say, ns; buf begins
// with an A-Sync. What was traced before buf happened by first, what is traced
// after it not before last. 0: nothing says. Only first is looked for unless all is
// set. Where timestamps are those of markers, first is of one in buf.
func (c *Config) Stamps(buf []byte, all bool) (first, last uint64) {
	var lx Lexer
	lx.dialect = newDialect(&c.Trace)
	lx.Reset(buf, 0)
	var p Packet
	stamp, marked := uint64(0), !c.Trace.V4.TimestampMarkers()
	for (first == 0 || all) && lx.Next(&p) {
		switch p.Kind {
		case TraceInfo:
			stamp = 0
		case TSMarker:
			marked = true
		case Timestamp:
			if stamp = merge(stamp, &p); stamp == 0 {
				continue
			}
			if first == 0 && marked {
				first = c.TimeConv.Hi(stamp)
			}
			last = c.TimeConv.Lo(stamp)
		}
	}
	return first, last
}
