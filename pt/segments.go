package pt

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Margin is how many bytes behind a segment's end its Buf should hold, so that
// the PSB+ that closes it can be read.
const Margin = 4096

// How many bytes are searched for a sync point at once: at first, since most
// are near, and at most.
const (
	firstPiece = 4 << 10
	maxPiece   = 256 << 10
)

// Points finds the sync points of a stream at which segments begin. It keeps
// nothing of what it has read, so it can be asked for any part of the stream, in
// any order. A Points is used by one goroutine.
//
// A sync point right behind an OVF begins no segment: what resolves the overflow
// comes after it. Intel SDM, table "Compound Packet Event Summary". But the
// first sync point of the stream always begins one.
type Points struct {
	src   event.Bytes
	size  int64 // bytes
	first int64 // offset of the stream's first sync point, bytes
	clk   clock
	er    errata
}

// NewPoints returns the Points of a stream of size bytes. It searches for the
// first sync point.
func NewPoints(src event.Bytes, size int64, c Config) *Points {
	first, _ := findSync(src, 0, size, size)
	return &Points{src: src, size: size, first: first, clk: newClock(c), er: c.errata()}
}

// First returns where the stream's first sync point lies, bytes: what comes
// before it cannot be decoded. It is the stream's size if there is none.
func (p *Points) First() int64 { return p.first }

// Next returns the first sync point in [from, until) at which a segment begins;
// ok is false if there is none.
func (p *Points) Next(from, until int64) (s event.SyncPoint, ok bool) {
	for from = max(from, p.first); ; from = s.Off + int64(len(psb)) {
		if s.Off, ok = findSync(p.src, from, min(until, p.size), p.size); !ok {
			return event.SyncPoint{}, false
		}
		back := max(p.first, s.Off-overflowReach)
		if s.First = s.Off == p.first; s.First || !overflowBefore(p.src.Bytes(back, s.Off-back)) {
			break
		}
	}
	var l Lexer
	l.Reset(p.src.Bytes(s.Off, Margin), s.Off)
	p.clk.Reset()
	x := readPSB(&l, &p.clk, &p.er)
	s.Time, s.Timed, s.Host = x.time, x.hasTSC, x.hasCR3 && x.nr == 0
	return s, true
}

// Plan plans how a stream of size bytes is decoded: from sync point to sync
// point. The bytes before first come before the first sync point and cannot be
// decoded; without a sync point first is size. No segment has its Buf: it is to
// be read when it is decoded, up to Margin behind its end.
//
// The TSC packets of the PSB+ at its front and of the one at its end bound a
// segment's Time. Where they hold none, those before and after do.
func Plan(src event.Bytes, size int64, stream int, c Config) (segs []event.Segment, first int64) {
	return plan(src, size, stream, c, 0)
}

// plan is Plan with segments of at least least bytes.
func plan(src event.Bytes, size int64, stream int, c Config, least int64) (segs []event.Segment, first int64) {
	points := NewPoints(src, size, c)
	lo := uint64(0)
	open := 0 // segments from here on have no upper bound yet
	s, ok := points.Next(0, size)
	for ok {
		if s.Timed {
			lo = s.Time.Lo
			for ; open < len(segs); open++ {
				segs[open].Time.Hi = s.Time.Hi
			}
		}
		g := event.Segment{Stream: stream, Index: len(segs), Off: s.Off, Time: event.Time{Lo: lo, Hi: unknown}, Host: s.Host}
		if s, ok = points.Next(s.Off+max(least, int64(len(psb))), size); !ok {
			s.Off = size
		}
		g.End, g.Last = s.Off, !ok
		segs = append(segs, g)
	}
	return segs, points.first
}

// wholeBytes is a stream in one piece.
type wholeBytes []byte

// Bytes returns n bytes from off on.
func (b wholeBytes) Bytes(off, n int64) []byte {
	return b[min(off, int64(len(b))):min(off+n, int64(len(b)))]
}

// Segments is Plan over a stream that lies in one piece; every segment has its
// Buf.
func Segments(buf []byte, stream int, c Config) (segs []event.Segment, first int) {
	return segments(buf, stream, c, 0)
}

// segments is Segments with segments of at least least bytes.
func segments(buf []byte, stream int, c Config, least int64) (segs []event.Segment, first int) {
	segs, f := plan(wholeBytes(buf), int64(len(buf)), stream, c, least)
	for i := range segs {
		segs[i].Buf = buf[segs[i].Off:]
	}
	return segs, int(f)
}

// findSync is FindSync over a stream of size bytes, a piece at a time. It finds
// a PSB that begins before until.
func findSync(src event.Bytes, from, until, size int64) (int64, bool) {
	for n := int64(firstPiece); from < until; {
		// What begins before until, and the end of the run that it lies in, is within reach.
		want := min(n, until-from+2*int64(len(psb)), size-from)
		b := src.Bytes(from, want)
		off, ok := FindSync(b, 0)
		at := from + int64(off)
		switch whole := from+int64(len(b)) >= size || int64(len(b)) < want; {
		case ok && at >= until:
			return until, false
		case ok && (whole || off+2*len(psb) <= len(b)):
			return at, true
		case ok: // the run that it lies in may go on
			from, n = at, n+maxPiece
		case whole: // the end, or what cannot be read
			return until, false
		default:
			from, n = from+int64(len(b))-int64(len(psb))+1, min(2*n, maxPiece)
		}
	}
	return until, false
}

// overflowReach is how far before a sync point an OVF that it belongs to may
// begin, bytes: an OVF, TSC, TMA, CBR, MTC and a few CYCs.
const overflowReach = 40

// overflowBefore reports whether b ends in an OVF, or an OVF and packets about
// time. It may err where b's packets only look so; a segment is longer then.
func overflowBefore(b []byte) bool {
	for i := len(b) - 2; i >= max(0, len(b)-overflowReach); i-- {
		if b[i] == 0x02 && b[i+1] == 0xf3 && quiet(b[i+2:]) {
			return true
		}
	}
	return false
}

// quiet reports whether b holds packets about time only, all of them whole.
func quiet(b []byte) bool {
	var l Lexer
	var p Packet
	for l.Reset(b, 0); l.Next(&p); {
		switch p.Kind {
		case PAD, TSC, TMA, MTC, CYC, CBR:
		default:
			return false
		}
	}
	return true
}

// LastMode returns the exec mode that buf, which begins with a packet, states
// last; isa.ModeUnknown if it states none.
func LastMode(buf []byte) isa.Mode {
	m := isa.ModeUnknown
	var p Packet
	for l := NewLexer(buf, 0); l.Next(&p); {
		if p.Kind == ModeExec {
			m = execMode(p.Value)
		}
	}
	return m
}
