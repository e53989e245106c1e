package stm

import (
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Plan plans how a stream of size bytes is decoded: as one segment, from its
// first Async to its end. The bytes before first come before it and cannot be
// decoded; without an Async first is size and there is no segment. The segment
// has no Buf: it is to be read when it is decoded.
//
// It is not cut at later Asyncs: one may start in the middle of a byte. Where an
// STM does not restate all of a timestamp behind it, the bits before go on to hold.
func Plan(src event.Bytes, size int64, stream int) (segs []event.Segment, first int64) {
	const most = asyncLen/2 + 1 // bytes that an Async touches
	return wire.PlanUncut(src, size, stream, most, findSync)
}
