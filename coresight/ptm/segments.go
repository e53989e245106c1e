package ptm

import (
	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Margin is how many bytes behind a segment's end its Buf should hold, so that
// the I-sync behind the A-sync there can be read.
const Margin = v3.Margin

// entry reads what follows an A-sync.
type entry struct {
	v3.Whole
	lx   *Lexer
	late bool // a timestamp bounds only what comes later
}

func newEntry(c Config) v3.Entry {
	return &entry{v3.Whole{Conv: c.TimeConv, Stamp: v3.NewStamp(&c.Trace)}, NewLexer(c.Format(), nil, 0), c.stampsLate()}
}

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
	return v3.Plan(src, size, stream, v3.MinSegment, newEntry(c))
}

// After is v3.Entry's.
func (s *entry) After() uint64 {
	if !s.Known || s.late {
		return s.Last
	}
	return s.Lo
}

// Read is v3.Entry's. It ends at the first timestamp behind the I-sync, or where the
// flow goes on.
func (s *entry) Read(buf []byte, off int64) (periodic bool) {
	s.Forget()
	s.lx.Reset(buf, off)
	synced := false
	for p := (Packet{}); s.lx.Next(&p); {
		switch p.Kind {
		case ISync:
			if synced {
				return periodic
			}
			synced, periodic = true, p.Reason() == v3.ReasonPeriodic
		case Timestamp:
			if synced { // it needs to be whole
				return s.Take(p.Value, p.N) && periodic
			}
			s.Stamp.Update(p.Value, p.N)
		case Atom, Branch, Waypoint:
			if synced {
				return periodic
			}
		case Bad:
			return periodic
		case ASync:
			if p.Off != off {
				return periodic
			}
		}
	}
	return periodic
}
