package files

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/ptdecode/ptdecode/decoder/badfile"
)

// ErrTooLarge is in the chain of the error for a compressed file that unpacks
// to more than the limit.
var ErrTooLarge = errors.New("more than the limit")

const unpackLimit = 1 << 30

// Read reads a whole file and unpacks it if it is packed by gzip or zstd.
func (t Tree) Read(path string) ([]byte, error) {
	f, err := t.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return Whole(f, st, path, 0)
}

// ReadText is Read for what stays text: the bytes are held once.
func (t Tree) ReadText(path string) (string, error) {
	f, err := t.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var magic [4]byte
	n, _ := f.ReadAt(magic[:], 0)
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	if _, sparse := f.(Sparse); sparse || Packing(magic[:n]) != "" || !st.Mode().IsRegular() || st.Size() == 0 {
		b, err := Whole(f, st, path, 0)
		return string(b), err
	}
	var b strings.Builder
	b.Grow(int(st.Size()))
	_, err = io.Copy(&b, f)
	return b.String(), err
}

// Whole reads a file from its start and unpacks it. limit is that of Unpack. A Sparse
// file that lacks a part is an error.
func Whole(f File, st fs.FileInfo, path string, limit int64) ([]byte, error) {
	var magic [4]byte
	n, _ := f.ReadAt(magic[:], 0)
	if !st.Mode().IsRegular() || st.Size() == 0 { // files of /proc say 0
		return Unpack(f, path, limit)
	}
	if Packing(magic[:n]) != "" {
		return Unpack(io.NewSectionReader(f, 0, 1<<62), path, limit)
	}
	if s, ok := f.(Sparse); ok {
		data, err := s.Whole()
		if n := s.Held(0, st.Size()); err == nil && n < st.Size() {
			err = &badfile.Error{File: path, Off: n, What: fmt.Sprintf("the bundle does not have this part of its %d bytes", st.Size())}
		}
		return data, err
	}
	data := make([]byte, st.Size())
	got, err := f.ReadAt(data, 0)
	if err == io.EOF {
		err = nil // shorter than it said
	}
	return data[:got], err
}

// Packing names the compression that a file begins with: "gzip", "zstd" or "".
func Packing(magic []byte) string {
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return "gzip" // RFC 1952, section 2.3.1 "Member header and trailer"
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd" // RFC 8878, section 3.1.1 "Zstandard Frames"
	}
	return ""
}

// Unpack reads all of r, through gzip or zstd if it begins so. More than
// limit bytes (0: 1 GiB) out of a packed file are an error.
func Unpack(r io.Reader, name string, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = unpackLimit
	}
	head := make([]byte, 4)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	head = head[:n]
	in := io.MultiReader(bytes.NewReader(head), r)
	packing := Packing(head)
	switch packing {
	case "":
		return io.ReadAll(in)
	case "gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, &badfile.Error{File: name, What: "gzip", Err: err}
		}
		in = z
	case "zstd":
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)))
		if err != nil {
			return nil, &badfile.Error{File: name, What: "zstd", Err: err}
		}
		defer z.Close()
		in = z
	}
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, &badfile.Error{File: name, Off: int64(len(data)), What: packing, Err: err}
	}
	if int64(len(data)) > limit {
		return nil, &badfile.Error{File: name, What: fmt.Sprintf("%s: unpacks to over %d bytes", packing, limit), Err: ErrTooLarge}
	}
	return data, nil
}
