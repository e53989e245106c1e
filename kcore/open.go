package kcore

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// ImageOptions says how a file's bytes find their addresses. The zero value
// takes an ELF file by its program headers.
type ImageOptions struct {
	// Addr is the address of the first byte of a file that is not ELF, and
	// what is added to the addresses of one that is.
	Addr uint64
	// Kallsyms are the running kernel's symbols: a vmlinux is moved to where
	// they say it runs, and a module's calls find the kernel.
	Kallsyms *Kallsyms
	// Modules places a module's file (ET_REL); without it such a file is an error.
	Modules []Module
	// Module is the name by which Modules knows the file; "" takes it from the
	// file's name.
	Module string
	// NeedELF makes a file that is not ELF an error instead of raw bytes.
	NeedELF bool
	// Limit bounds what a compressed file may unpack to, bytes; 0 is 1 GiB.
	Limit int64
}

// Files up to this size are read whole; larger ones are read where needed.
const wholeFile = 64 << 20

const unpackLimit = 1 << 30

// OpenImage opens an image of text: an ELF core as /proc/kcore has it, a
// vmlinux, a user program, a module, or raw bytes; any of them may be packed
// by gzip or zstd. The kind is told by the first bytes, never by the name.
// A *FormatError says what is wrong with the file.
func OpenImage(path string, opt ImageOptions) (*Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	m, keep, err := openImage(f, path, opt)
	if err != nil || !keep {
		f.Close()
		return m, err
	}
	m.close = append(m.close, f)
	return m, nil
}

// openImage reads f; keep says that the image goes on reading from it.
func openImage(f *os.File, path string, opt ImageOptions) (m *Image, keep bool, err error) {
	st, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if st.IsDir() {
		return nil, false, &fs.PathError{Op: "read", Path: path, Err: errors.New("is a directory")}
	}
	var magic [4]byte
	n, err := f.ReadAt(magic[:], 0)
	if err != nil && err != io.EOF {
		return nil, false, err
	}
	packed := Packing(magic[:n])
	if packed == "" && st.Mode().IsRegular() {
		if b, ok := mapFile(f, st.Size()); ok {
			if m, err = readImage(bytes.NewReader(b), b, int64(len(b)), path, opt); err != nil {
				b.Close()
				return nil, false, err
			}
			m.close = append(m.close, b)
			return m, false, nil
		}
	}
	if packed != "" || st.Size() <= wholeFile && st.Mode().IsRegular() {
		data, err := readWhole(f, st, path, opt.Limit)
		if err != nil {
			return nil, false, err
		}
		m, err = readImage(bytes.NewReader(data), data, int64(len(data)), path, opt)
		return m, false, err
	}
	m, err = readImage(f, nil, st.Size(), path, opt)
	return m, err == nil, err
}

// readWhole reads a file from its start, unpacked.
func readWhole(f *os.File, st fs.FileInfo, path string, limit int64) ([]byte, error) {
	var magic [4]byte
	n, _ := f.ReadAt(magic[:], 0)
	if !st.Mode().IsRegular() || st.Size() == 0 { // files of /proc say 0
		return Unpack(f, path, limit)
	}
	if Packing(magic[:n]) != "" {
		return Unpack(io.NewSectionReader(f, 0, 1<<62), path, limit)
	}
	data := make([]byte, st.Size())
	got, err := f.ReadAt(data, 0)
	if err == io.EOF {
		err = nil // shorter than it said
	}
	return data[:got], err
}

// readImage reads an unpacked file of the given size from r; data holds it
// too if it is in memory.
func readImage(r io.ReaderAt, data []byte, size int64, name string, opt ImageOptions) (*Image, error) {
	var magic [4]byte
	if n, _ := r.ReadAt(magic[:], 0); n == 4 && string(magic[:]) == "\x7fELF" {
		return readELF(elfSource{r: r, data: data, size: size, name: name}, opt)
	}
	if size == 0 {
		return nil, &FormatError{File: name, What: "image: the file is empty"}
	}
	if opt.NeedELF {
		n, _ := r.ReadAt(magic[:], 0)
		return nil, &FormatError{File: name, What: fmt.Sprintf("image: magic %q, need %q: not a kcore and no vmlinux; raw bytes go with --text FILE@ADDR", magic[:n], "\x7fELF")}
	}
	m := &Image{}
	s := seg{Range: Range{opt.Addr, uint64(size)}, data: data, src: r}
	if err := m.add(s); err != nil {
		return nil, &FormatError{File: name, What: "image", Err: err}
	}
	return m, nil
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
			return nil, &FormatError{File: name, What: "gzip", Err: err}
		}
		in = z
	case "zstd":
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)))
		if err != nil {
			return nil, &FormatError{File: name, What: "zstd", Err: err}
		}
		defer z.Close()
		in = z
	}
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, &FormatError{File: name, Off: int64(len(data)), What: packing, Err: err}
	}
	if int64(len(data)) > limit {
		return nil, &FormatError{File: name, What: fmt.Sprintf("%s: unpacks to over %d bytes", packing, limit), Err: ErrTooLarge}
	}
	return data, nil
}

// TextArg is a source of text as the command line names it.
type TextArg struct {
	Path string
	Addr uint64 // see ImageOptions.Addr
}

// ParseTextArg reads FILE[@ADDR]; ADDR is hexadecimal, with or without 0x. What
// follows the last @ is an address only if it reads as one, so a file's name
// may hold an @.
func ParseTextArg(s string) (TextArg, error) {
	if s == "" {
		return TextArg{}, errors.New("text source: empty; want FILE or FILE@ADDR")
	}
	i := strings.LastIndexByte(s, '@')
	if i < 0 {
		return TextArg{Path: s}, nil
	}
	digits := strings.TrimPrefix(strings.TrimPrefix(s[i+1:], "0x"), "0X")
	addr, err := strconv.ParseUint(digits, 16, 64)
	switch {
	case err == nil && i == 0:
		return TextArg{}, fmt.Errorf("text source %q: no file before the @", s)
	case err == nil:
		return TextArg{Path: s[:i], Addr: addr}, nil
	case errors.Is(err, strconv.ErrRange) || digits == "":
		return TextArg{}, fmt.Errorf("text source %q: the address is not 1 to 16 hexadecimal digits", s)
	}
	return TextArg{Path: s}, nil
}
