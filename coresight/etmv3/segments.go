package etmv3

import (
	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Margin is how many bytes behind a segment's end its Buf should hold, so that
// the I-sync behind the A-sync there can be read.
const Margin = v3.Margin

// Plan plans how a stream of size bytes is decoded: in segments that begin with
// an A-sync. The bytes before first come before the first one and cannot be
// decoded; without an A-sync first is size. No segment has its Buf: it is to
// be read when it is decoded, up to Margin behind its end.
//
// But for the first, only an A-sync that a periodic I-sync follows begins a
// segment: that I-sync states anew what runs. What comes before the I-sync still
// belongs to the segment before. Nor does one begin where the first timestamp
// behind the I-sync only replaces bits of one before.
//
// A segment's Time is bounded by whole timestamps: from below by the last known
// to stand before it, from above by the first behind the next segment's I-sync.
func Plan(src event.Bytes, size int64, stream int, c Config) (segs []event.Segment, first int64) {
	return v3.Plan(src, size, stream, v3.MinSegment, newEntry(c))
}

// entry reads what follows an A-sync.
type entry struct {
	lx *Lexer
	v3.Whole
}

func newEntry(c Config) v3.Entry {
	return &entry{NewLexer(c.Format(), nil, 0), v3.Whole{Conv: c.TimeConv, Stamp: v3.NewStamp(&c.Trace)}}
}

// After is v3.Entry's: the timestamp read last stands before the I-sync, or behind the
// one before it.
func (s *entry) After() uint64 { return s.Last }

// Read is v3.Entry's. It ends at the first timestamp behind the I-sync, which must be
// whole.
func (s *entry) Read(buf []byte, off int64) (periodic bool) {
	var p Packet
	s.Forget()
	s.lx.Reset(buf, off)
	for synced := false; s.lx.Next(&p); {
		switch p.Kind {
		case Bad:
			return periodic
		case ASync:
			if p.Off != off {
				return periodic
			}
		case ISync, ISyncCycles:
			if !synced {
				synced, periodic = true, p.Reason() == v3.ReasonPeriodic
			}
		case Timestamp:
			if synced {
				return s.Take(p.Value, p.N) && periodic
			}
			if t := s.Stamp.Update(p.Value, p.N); s.Stamp.Known() {
				s.Last = s.Conv.Lo(t)
			}
		}
	}
	return periodic
}
