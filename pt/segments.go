package pt

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Segments plans how the stream buf is decoded: from sync point to sync point,
// each segment at least c.SegmentBytes long. Buf[:first] comes before the first
// sync point and cannot be decoded; without a sync point first is len(buf).
//
// A segment's Time is bounded by the TSC packets of the PSB+ at its front and
// of the one at its end; where they hold none, by those before and after.
//
// A sync point right behind an OVF starts no segment: what resolves the
// overflow comes after it. Intel SDM, table "Compound Packet Event Summary".
func Segments(buf []byte, stream int, c Config) (segs []event.Segment, first int) {
	off, ok := FindSync(buf, 0)
	if !ok {
		return nil, len(buf)
	}
	first = off
	k := NewClock(c)
	er := c.Errata()
	lo := uint64(0)
	open := 0 // segments from here on have no upper bound yet
	for ok {
		next := off
		next, ok = nextSync(buf, off, c.SegmentBytes)
		var l Lexer
		l.Reset(buf[off:], int64(off))
		k.Reset()
		if s := readPSB(&l, &k, &er); s.hasTSC {
			lo = s.time.Lo
			for ; open < len(segs); open++ {
				segs[open].Time.Hi = s.time.Hi
			}
		}
		segs = append(segs, event.Segment{
			Stream: stream, Index: len(segs), Off: int64(off), End: int64(next), Buf: buf[off:],
			Time: event.Time{Lo: lo, Hi: unknown}, Last: !ok,
		})
		off = next
	}
	return segs, first
}

// nextSync returns where the segment that starts at off ends, and whether
// another starts there.
func nextSync(buf []byte, off, size int) (int, bool) {
	for from := max(off+len(psb), off+size); ; {
		next, ok := FindSync(buf, from)
		if !ok {
			return len(buf), false
		}
		if !overflowBefore(buf[off:next]) {
			return next, true
		}
		from = next + len(psb)
	}
}

// overflowBefore reports whether b ends in an OVF, or an OVF and packets about
// time. It may err where b's packets only look so; a segment is longer then.
func overflowBefore(b []byte) bool {
	const reach = 40 // bytes: an OVF, TSC, TMA, CBR, MTC and a few CYCs
	for i := len(b) - 2; i >= max(0, len(b)-reach); i-- {
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
