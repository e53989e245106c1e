package ptm

import (
	"math"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Margin is how many bytes behind a segment's end its Buf should hold, so that
// the I-sync behind the A-sync there can be read.
const Margin = 4096

// minSegment is the least length of a segment, bytes. Trace units repeat the
// A-sync every kilobyte, and beginning anew costs more than that is worth.
const minSegment = 4096

// unknown is the upper bound of a moment that has none, ns.
const unknown = math.MaxUint64

// Plan plans how a stream of size bytes is decoded: in segments that begin with
// an A-sync. The bytes before first come before the first one and cannot be
// decoded; without an A-sync first is size. No segment has its Buf: it is to
// be read when it is decoded, up to Margin behind its end.
//
// But for the first, only an A-sync that a periodic I-sync follows begins a
// segment: that I-sync states anew what runs. What comes before the I-sync still
// belongs to the segment before.
//
// A segment's Time is bounded by the whole timestamps behind its I-sync and
// behind that of the next segment. Of PFT 1.0 the first bounds only what comes
// later; there the one of the segment before is taken.
func Plan(src event.Bytes, size int64, stream int, c Config) (segs []event.Segment, first int64) {
	return plan(src, size, stream, c, minSegment)
}

// plan is Plan with segments of at least least bytes.
func plan(src event.Bytes, size int64, stream int, c Config, least int64) (segs []event.Segment, first int64) {
	first, off, ok := wire.FirstASync(src, size)
	if !ok {
		return nil, size
	}
	begin := first
	s := entry{lx: NewLexer(c.Format(), nil, 0), conv: c.TimeConv, stamp: v3.NewStamp(&c.Trace)}
	s.read(src.Bytes(off, Margin), off)
	lo := s.before(&c)
	for more := true; more; {
		var next int64
		for from := off + max(least, wire.Zeros+1); ; from = next + wire.Zeros + 1 {
			if next, more = wire.NextASync(src, from, size); !more || s.read(src.Bytes(next, Margin), next) {
				break
			}
		}
		t := event.Time{Lo: lo, Hi: unknown}
		if more && s.timed {
			lo, t.Hi = max(lo, s.before(&c)), s.hi
		}
		segs = append(segs, event.Segment{Stream: stream, Index: len(segs), Off: begin, End: next, Time: t, Last: !more, Starts: len(segs) == 0})
		off, begin = next, next
	}
	return boundAbove(segs), first
}

// boundAbove gives each segment that has no upper bound that of the next.
func boundAbove(segs []event.Segment) []event.Segment {
	for i := len(segs) - 2; i >= 0; i-- {
		if segs[i].Time.Hi == unknown {
			segs[i].Time.Hi = segs[i+1].Time.Hi
		}
	}
	return segs
}

// Segments is Plan over a stream that lies in one piece; every segment has its
// Buf.
func Segments(buf []byte, stream int, c Config) (segs []event.Segment, first int) {
	return segments(buf, stream, c, minSegment)
}

// segments is Segments with segments of at least least bytes.
func segments(buf []byte, stream int, c Config, least int64) (segs []event.Segment, first int) {
	segs, f := plan(wire.Whole(buf), int64(len(buf)), stream, c, least)
	for i := range segs {
		segs[i].Buf = buf[segs[i].Off:]
	}
	return segs, int(f)
}

// entry reads what follows an A-sync.
type entry struct {
	lx     *Lexer
	conv   coresight.TimeConv
	stamp  wire.Stamp
	timed  bool   // a whole timestamp stands behind the I-sync
	lo, hi uint64 // ns: that timestamp
	last   uint64 // ns: the one found before
}

// before returns the lower bound of what comes behind the I-sync, ns.
func (s *entry) before(c *Config) uint64 {
	if !s.timed || c.stampsLate() {
		return s.last
	}
	return s.lo
}

// read reports whether buf, which begins with an A-sync at off, has a periodic
// I-sync behind it before another A-sync.
func (s *entry) read(buf []byte, off int64) (periodic bool) {
	var p Packet
	if s.timed {
		s.last = s.lo
	}
	s.timed = false
	s.stamp.Reset()
	s.lx.Reset(buf, off)
	for synced := false; s.lx.Next(&p); {
		switch p.Kind {
		case Bad:
			return periodic
		case ASync:
			if p.Off != off {
				return periodic
			}
		case ISync:
			if synced {
				return periodic
			}
			synced, periodic = true, p.Reason() == v3.ReasonPeriodic
		case Timestamp:
			t := s.stamp.Update(p.Value, p.N)
			switch {
			case !synced:
			case !s.stamp.Known():
				return false // it needs the one before
			default:
				s.timed, s.lo, s.hi = true, s.conv.Lo(t), s.conv.Hi(t)
				return periodic
			}
		case Atom, Branch, Waypoint:
			if synced {
				return periodic
			}
		}
	}
	return periodic
}
