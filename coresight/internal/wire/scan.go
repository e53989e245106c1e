package wire

import (
	"bytes"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Whole is a stream in one piece.
type Whole []byte

// Bytes returns n bytes from off on (event.Bytes).
func (b Whole) Bytes(off, n int64) []byte {
	return b[min(off, int64(len(b))):min(off+n, int64(len(b)))]
}

// How many bytes are searched for a sync point at once: at first, since most
// are near, and at most.
const (
	firstWindow = 4 << 10
	window      = 1 << 20
)

// NextASync is FindASync over a stream of size bytes, a window at a time.
func NextASync(src event.Bytes, from, size int64) (off int64, ok bool) {
	return NextSync(src, from, size, Zeros+1, FindASync)
}

// NextSync is find over a stream of size bytes, a window at a time. find returns
// the offset in buf of the first sync point at or after from; one has most bytes
// at most. Without a sync point off is size.
func NextSync(src event.Bytes, from, size, most int64, find func(buf []byte, from int) (int, bool)) (off int64, ok bool) {
	for n := int64(firstWindow); from < size; n = min(2*n, window) {
		b := src.Bytes(from, min(n, size-from))
		if at, ok := find(b, 0); ok {
			return from + int64(at), true
		}
		if int64(len(b)) < most || from+int64(len(b)) >= size { // the end, or what cannot be read
			break
		}
		from += int64(len(b)) - most + 1
	}
	return size, false
}

// FirstASync is NextASync from a stream's beginning. Where nothing but zeros
// stands before the A-sync at off, they belong to it, which has five or more:
// then it begins at first.
func FirstASync(src event.Bytes, size int64) (first, off int64, ok bool) {
	off, ok = NextASync(src, 0, size)
	if ok && off <= MaxZeros-Zeros && bytes.Count(src.Bytes(0, off), []byte{0}) == int(off) {
		return 0, off, true
	}
	return off, off, ok
}

// PlanUncut plans how a stream of size bytes is decoded: as one segment, from its first
// sync point to its end. The parameters are those of NextSync. Without a sync point
// first is size and there is no segment.
func PlanUncut(src event.Bytes, size int64, stream int, most int64, find func(buf []byte, from int) (int, bool)) (segs []event.Segment, first int64) {
	first, ok := NextSync(src, 0, size, most, find)
	if !ok {
		return nil, size
	}
	return []event.Segment{{Stream: stream, Off: first, End: size, Time: event.Always, Last: true}}, first
}
