package stream

import (
	"io"
	"os"
)

// File is a stream read from a file where it is needed.
type File struct {
	r    io.ReaderAt
	size int64 // bytes
}

// NewFile returns the stream that r holds, size bytes.
func NewFile(r io.ReaderAt, size int64) *File { return &File{r, size} }

// Bytes returns n bytes from off on, fewer where the file ends or cannot be read.
func (s *File) Bytes(off, n int64) []byte { return s.Into(nil, off, n) }

// Into is Bytes into dst's memory, where it is large enough.
func (s *File) Into(dst []byte, off, n int64) []byte {
	if off < 0 || n <= 0 || off >= s.size {
		return nil
	}
	n = min(n, s.size-off)
	if int64(cap(dst)) < n {
		dst = make([]byte, n+n/4)
	}
	got, _ := s.r.ReadAt(dst[:n], off)
	return dst[:got]
}

// Map returns n bytes from off on, fewer at the file's end, which the system reads
// as they are looked at and may drop again; unmap ends that. ok is false where a
// system cannot do so.
func (s *File) Map(off, n int64) (b []byte, unmap func(), ok bool) {
	f, isFile := s.r.(*os.File)
	if !isFile || off < 0 || n <= 0 || off >= s.size {
		return nil, nil, false
	}
	n = min(n, s.size-off)
	if info, err := f.Stat(); err != nil || info.Size() < off+n {
		return nil, nil, false
	}
	before := off % int64(os.Getpagesize())
	b, unmap, ok = mapped(f, off-before, n+before)
	if !ok {
		return nil, nil, false
	}
	return b[before:], unmap, true
}
