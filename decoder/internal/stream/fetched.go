package stream

import "github.com/ptdecode/ptdecode/decoder/event"

// Fetched is bytes of a stream's segments, where they are read from a file. Its memory is used again.
type Fetched struct {
	buf []byte
	off int64 // of buf
}

// largeSegment is how many bytes of a file are mapped and not read: what is mapped
// the system may drop and read again.
const largeSegment = 8 << 20

// Fetch reads the bytes of a segment of st; those of a file with others, of which so many bytes begin at an offset.
// What it returns is to be called when they are no longer needed.
func (f *Fetched) Fetch(st *Stream, seg *event.Segment, first, bytes int64) (done func()) {
	done = func() {}
	n := st.Length(seg)
	switch data := st.Data.(type) {
	case *File:
		if n >= largeSegment {
			if b, unmap, ok := data.Map(seg.Off, n); ok {
				seg.Buf = b
				return unmap
			}
		}
		if seg.Off < f.off || seg.Off+n > f.off+int64(len(f.buf)) {
			f.off = first
			f.buf = data.Into(f.buf, f.off, bytes+st.Protocol.Margin)
		}
		have := int64(len(f.buf))
		at := min(seg.Off-f.off, have)
		seg.Buf = f.buf[at:min(at+n, have)]
	case lender:
		seg.Buf = data.Into(&f.buf, seg.Off, n)
		if cap(f.buf) >= largeSegment {
			return func() { f.buf = nil }
		}
	default:
		seg.Buf = data.Bytes(seg.Off, n)
	}
	return done
}

// lender gives the bytes of a stream as a whole where they lie so, else read
// into buf.
type lender interface {
	Into(buf *[]byte, off, n int64) []byte
}
