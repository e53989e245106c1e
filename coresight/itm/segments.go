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
	return wire.PlanUncut(src, size, stream, int64(len(syncPattern)), findSync)
}
