package itm

import (
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Plan plans how a stream of size bytes is decoded: as one segment, from its
// first Sync to its end. The bytes before first come before it and cannot be
// decoded; without a Sync first is size and there is no segment. The segment
// has no Buf: it is to be read when it is decoded.
//
// It is not cut at later Syncs, since an ITM restates nothing behind one: the
// page of ports, local and global time go on to hold.
func Plan(src event.Bytes, size int64, stream int) (segs []event.Segment, first int64) {
	first, ok := wire.NextSync(src, 0, size, int64(len(syncPattern)), FindSync)
	if !ok {
		return nil, size
	}
	return []event.Segment{{Stream: stream, Off: first, End: size, Time: event.Always, Last: true}}, first
}

// Segments is Plan over a stream that lies in one piece; the segment has its
// Buf.
func Segments(buf []byte, stream int) (segs []event.Segment, first int) {
	segs, f := Plan(wire.Whole(buf), int64(len(buf)), stream)
	for i := range segs {
		segs[i].Buf = buf[segs[i].Off:]
	}
	return segs, int(f)
}
