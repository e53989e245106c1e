package pt

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Bytes gives n bytes of a stream from off on, fewer at its end. They are not
// changed, and need not stay after the next call.
type Bytes interface {
	Bytes(off, n int64) []byte
}

// Margin is how many bytes behind a segment's end its Buf should hold, so that
// the PSB+ that closes it can be read.
const Margin = 4096

// How many bytes are searched for a sync point at once: at first, since most
// are near, and at most.
const (
	firstPiece = 4 << 10
	maxPiece   = 1 << 20
)

// Plan plans how a stream of size bytes is decoded: from sync point to sync
// point. The bytes before first come
// before the first sync point and cannot be decoded; without a sync point
// first is size. No segment has its Buf: it is to be read when it is decoded,
// up to Margin behind its end.
//
// A segment's Time is bounded by the TSC packets of the PSB+ at its front and
// of the one at its end; where they hold none, by those before and after.
//
// A sync point right behind an OVF starts no segment: what resolves the
// overflow comes after it. Intel SDM, table "Compound Packet Event Summary".
func Plan(src Bytes, size int64, stream int, c Config) (segs []event.Segment, first int64) {
	return plan(src, size, stream, c, 0)
}

// plan is Plan with segments of at least least bytes.
func plan(src Bytes, size int64, stream int, c Config, least int64) (segs []event.Segment, first int64) {
	off, ok := findSync(src, 0, size)
	if !ok {
		return nil, size
	}
	first = off
	k := newClock(c)
	er := c.errata()
	lo := uint64(0)
	open := 0 // segments from here on have no upper bound yet
	for ok {
		var l Lexer
		l.Reset(src.Bytes(off, Margin), off)
		k.Reset()
		s := readPSB(&l, &k, &er)
		if s.hasTSC {
			lo = s.time.Lo
			for ; open < len(segs); open++ {
				segs[open].Time.Hi = s.time.Hi
			}
		}
		var next int64
		next, ok = nextSync(src, off, size, least)
		segs = append(segs, event.Segment{
			Stream: stream, Index: len(segs), Off: off, End: next,
			Time: event.Time{Lo: lo, Hi: unknown}, Last: !ok, Host: s.hasCR3 && s.nr == 0,
		})
		off = next
	}
	return segs, first
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

// findSync is FindSync over a stream, a piece at a time.
func findSync(src Bytes, from, size int64) (int64, bool) {
	for n := int64(firstPiece); from < size; {
		b := src.Bytes(from, n)
		off, ok := FindSync(b, 0)
		at := from + int64(off)
		switch whole := from+int64(len(b)) >= size; {
		case ok && (whole || off+2*len(psb) <= len(b)):
			return at, true
		case ok: // the run that it lies in may go on
			from, n = at, n+maxPiece
		case whole, len(b) < len(psb): // the end, or what cannot be read
			return size, false
		default:
			from, n = from+int64(len(b))-int64(len(psb))+1, min(2*n, maxPiece)
		}
	}
	return size, false
}

// nextSync returns where the segment that starts at off ends, and whether
// another starts there.
func nextSync(src Bytes, off, size, least int64) (int64, bool) {
	for from := max(off+int64(len(psb)), off+least); ; {
		next, ok := findSync(src, from, size)
		if !ok {
			return size, false
		}
		back := max(off, next-overflowReach)
		if !overflowBefore(src.Bytes(back, next-back)) {
			return next, true
		}
		from = next + int64(len(psb))
	}
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
