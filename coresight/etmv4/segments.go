package etmv4

import (
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Margin is how many bytes behind a segment's end its Buf should hold, so that
// what the next one begins with can be read.
const Margin = 256

// front is what a segment begins with.
type front struct {
	ok   bool // a decoder that starts here misses nothing
	gap  bool // tracing was off before it
	sf   bool // AArch64
	addr address
	size int // bytes up to the packet that traces something
}

// peek reads the front of buf, which begins with an A-Sync. It can be entered there
// if its Trace Info says that everything before it is committed, and if it states
// address and context before anything is traced. Trace units put a Trace Info
// between any two packets.
func peek(x dialect, buf []byte) (f front) {
	l := Lexer{cursor: cursor{Buf: buf[:min(len(buf), Margin)]}, dialect: x}
	var p Packet
	var h history
	var info, addr, ctx bool
	for l.Next(&p) {
		switch p.Kind {
		case ASync:
			if p.Off != 0 {
				return f
			}
		case TraceInfo:
			if info || p.Value2>>32 != 0 {
				return f
			}
			info = true
		case Event, Ignore, Timestamp, TSMarker, ITE, CycleF1, CycleF2, CycleF3, ContextSame:
		case TraceOn:
			f.gap, addr = true, false
		case AddrMatch, AddrShort, Addr32, Addr64:
			f.addr, addr = h.of(&p), true
		case AddrCtxt32, AddrCtxt64:
			f.addr, addr = h.of(&p), true
			f.sf, ctx = p.Extra&InfoSF != 0, true
		case Context:
			f.sf, ctx = p.Extra&InfoSF != 0, true
		case Bad:
			return f
		default:
			f.ok = info && addr && ctx
			f.size = int(p.Off)
			return f
		}
		if p.Kind != ASync && p.Kind != Event && p.Kind != Ignore && !info {
			return f
		}
	}
	return f
}

// Points finds the sync points of a stretch of a stream at which segments begin:
// what is traced behind one needs nothing from before. It keeps nothing of what
// it has read, so it can be asked for any part, in any order. A Points is used by
// one goroutine.
type Points struct {
	src     event.Bytes
	size    int64 // bytes
	first   int64 // offset of the first sync point, bytes
	dialect dialect
}

// NewPoints returns the Points of a stretch of size bytes. It searches for the
// first sync point.
func NewPoints(src event.Bytes, size int64, c Config) *Points {
	first, _ := streamSync(src, 0, size)
	return &Points{src: src, size: size, first: first, dialect: newDialect(&c.Trace)}
}

// First returns where the first sync point lies, bytes: what comes before it
// cannot be decoded. It is the stretch's size if there is none.
func (p *Points) First() int64 { return p.first }

// Next returns the first sync point in [from, until) at which a segment begins;
// ok is false if there is none. A sync point states no time.
func (p *Points) Next(from, until int64) (s event.SyncPoint, ok bool) {
	// A sync point that begins before until ends within reach.
	reach := min(until+int64(len(async))-1, p.size)
	for from = max(from, p.first); ; from = s.Off + int64(len(async)) {
		if s.Off, ok = streamSync(p.src, from, reach); !ok {
			return event.SyncPoint{}, false
		}
		if s.First = s.Off == p.first; s.First || peek(p.dialect, p.src.Bytes(s.Off, Margin)).ok {
			return s, true
		}
	}
}

// Plan plans how a stretch of a stream, of size bytes, is decoded: from sync
// point to sync point. The bytes before first come before the first sync point
// and cannot be decoded; without a sync point first is size. No segment has its
// Buf: it is to be read when it is decoded, up to Margin behind its end.
func Plan(src event.Bytes, size int64, stream int, c Config) (segs []event.Segment, first int64) {
	return plan(src, size, stream, c, 0)
}

// plan is Plan with segments of at least least bytes.
func plan(src event.Bytes, size int64, stream int, c Config, least int64) (segs []event.Segment, first int64) {
	points := NewPoints(src, size, c)
	s, ok := points.Next(0, size)
	for ok {
		g := event.Segment{Stream: stream, Index: len(segs), Off: s.Off, Time: event.Always, Starts: s.First}
		if s, ok = points.Next(s.Off+max(least, int64(len(async))), size); !ok {
			s.Off = size
		}
		g.End, g.Last, g.Ends = s.Off, !ok, !ok
		segs = append(segs, g)
	}
	return segs, points.first
}

// streamSync is findSync over a stream of size bytes.
func streamSync(src event.Bytes, from, size int64) (off int64, ok bool) {
	return wire.NextSync(src, from, size, int64(len(async)), findSync)
}

// Segments is Plan over a stream that lies in one piece; every segment has its
// Buf.
func Segments(buf []byte, stream int, c Config) (segs []event.Segment, first int) {
	return segments(buf, stream, c, 0)
}

// segments is Segments with segments of at least least bytes.
func segments(buf []byte, stream int, c Config, least int64) (segs []event.Segment, first int) {
	segs, f := plan(wire.Whole(buf), int64(len(buf)), stream, c, least)
	for i := range segs {
		segs[i].Buf = buf[segs[i].Off:]
	}
	return segs, int(f)
}
