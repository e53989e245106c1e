package etmv4

import (
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Bytes gives n bytes of a stream from off on, fewer at its end. They are not
// changed, and need not stay after the next call.
type Bytes = wire.Bytes

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

// peek reads the front of buf, which begins with an A-Sync: it can be entered
// there if its Trace Info says that everything before it is committed, and if
// it states address and context before anything is traced. Trace units put a
// Trace Info between any two packets.
func peek(x dialect, buf []byte) (f front) {
	l := Lexer{buf: buf[:min(len(buf), Margin)], dialect: x}
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
			f.addr, addr = h.next(&p), true
		case AddrCtxt32, AddrCtxt64:
			f.addr, addr = h.next(&p), true
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

// Plan plans how a stretch of a stream, of size bytes, is decoded: from sync
// point to sync point, where what is traced behind one needs nothing from
// before. The bytes before first come before the first sync point and cannot
// be decoded; without a sync point first is size. No segment has its Buf: it is
// to be read when it is decoded, up to Margin behind its end.
func Plan(src Bytes, size int64, stream int, c Config) (segs []event.Segment, first int64) {
	return plan(src, size, stream, c, 0)
}

// plan is Plan with segments of at least least bytes.
func plan(src Bytes, size int64, stream int, c Config, least int64) (segs []event.Segment, first int64) {
	x := newDialect(&c.Trace)
	off, ok := findSync(src, 0, size)
	if !ok {
		return nil, size
	}
	first = off
	for ok {
		var next int64
		from := max(off+int64(len(async)), off+least)
		for {
			if next, ok = findSync(src, from, size); !ok || peek(x, src.Bytes(next, Margin)).ok {
				break
			}
			from = next + int64(len(async))
		}
		segs = append(segs, event.Segment{
			Stream: stream, Index: len(segs), Off: off, End: next, Time: event.Always,
			Last: !ok, Fresh: len(segs) == 0, Ends: !ok,
		})
		off = next
	}
	return segs, first
}

// findSync is FindSync over a stream of size bytes.
func findSync(src Bytes, from, size int64) (off int64, ok bool) {
	return wire.NextSync(src, from, size, int64(len(async)), FindSync)
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
