package stm

import "github.com/ptdecode/ptdecode/decoder/event"

// Bytes gives n bytes of a stream from off on, fewer at its end. They are not
// changed, and need not stay after the next call.
type Bytes interface {
	Bytes(off, n int64) []byte
}

// window is how many bytes are searched for a sync point at once.
const window = 1 << 16

// Plan plans how a stream of size bytes is decoded: as one segment, from its
// first Async to its end. The bytes before first come before it and cannot be
// decoded; without an Async first is size and there is no segment. The segment
// has no Buf: it is to be read when it is decoded.
//
// It is not cut at later Asyncs: one may start in the middle of a byte, and
// where an STM does not restate all of a timestamp behind it, the bits before
// go on to hold.
func Plan(src Bytes, size int64, stream int) (segs []event.Segment, first int64) {
	const overlap = asyncLen/2 + 1 // an Async touches so many bytes at most
	for from := int64(0); from < size; from += window {
		b := src.Bytes(from, window+overlap)
		if at, ok := FindSync(b, 0); ok {
			first = from + int64(at)
			return []event.Segment{{Stream: stream, Off: first, End: size, Time: event.Always, Last: true}}, first
		}
	}
	return nil, size
}

// wholeBytes is a stream in one piece.
type wholeBytes []byte

// Bytes returns n bytes from off on.
func (b wholeBytes) Bytes(off, n int64) []byte {
	return b[min(off, int64(len(b))):min(off+n, int64(len(b)))]
}

// Segments is Plan over a stream that lies in one piece; the segment has its
// Buf.
func Segments(buf []byte, stream int) (segs []event.Segment, first int) {
	segs, f := Plan(wholeBytes(buf), int64(len(buf)), stream)
	for i := range segs {
		segs[i].Buf = buf[segs[i].Off:]
	}
	return segs, int(f)
}
