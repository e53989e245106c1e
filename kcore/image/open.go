package image

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Options says how a file's bytes find their addresses. The zero value
// takes an ELF file by its program headers.
type Options struct {
	// Addr is the address of the first byte of a file that is not ELF, and
	// what is added to the addresses of one that is.
	Addr uint64
	// Kallsyms are the running kernel's symbols: a vmlinux is moved to where
	// they say it runs, and a module's calls find the kernel.
	Kallsyms *symbols.Kallsyms
	// Modules places a module's file (ET_REL); without it such a file is an error.
	Modules []symbols.Module
	// Module is the name by which Modules knows the file; "" takes it from the
	// file's name.
	Module string
	// NeedELF makes a file that is not ELF an error instead of raw bytes.
	NeedELF bool
	// Limit bounds what a compressed file may unpack to, bytes; 0 is 1 GiB.
	Limit int64
	// FS is what Open looks in for the file; nil: the operating system's files.
	FS fs.FS
}

// Files up to this size are read whole; larger ones are read where needed.
const wholeFile = 64 << 20

// Open opens an image of code: an ELF core as /proc/kcore has it, a vmlinux, a
// user program, a module, or raw bytes. Any of them may be packed by gzip or
// zstd. The kind is told by the first bytes, never by the name. A *badfile.Error
// says what is wrong with the file.
func Open(path string, opt Options) (*Image, error) {
	f, err := files.Tree{FS: opt.FS}.Open(path)
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

// Read is Open for what r reads, of the given size, bytes. The image goes on
// reading from r unless it is packed; name is for errors.
func Read(r io.ReaderAt, size int64, name string, opt Options) (*Image, error) {
	var magic [4]byte
	n, err := r.ReadAt(magic[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if files.Packing(magic[:n]) == "" {
		return readImage(r, nil, size, name, opt)
	}
	data, err := files.Unpack(io.NewSectionReader(r, 0, size), name, opt.Limit)
	if err != nil {
		return nil, err
	}
	return readImage(bytes.NewReader(data), data, int64(len(data)), name, opt)
}

// openImage reads f; keep says that the image goes on reading from it.
func openImage(f files.File, path string, opt Options) (m *Image, keep bool, err error) {
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
	packing := files.Packing(magic[:n])
	if packing == "" && st.Mode().IsRegular() {
		if b := files.Mapped(nil); b.Map(f, st.Size()) {
			if m, err = readImage(bytes.NewReader(b), b, int64(len(b)), path, opt); err != nil {
				b.Close()
				return nil, false, err
			}
			m.close = append(m.close, b)
			return m, false, nil
		}
	}
	_, sparse := f.(files.Sparse)
	if packing != "" || !sparse && st.Size() <= wholeFile && st.Mode().IsRegular() {
		data, err := files.Whole(f, st, path, opt.Limit)
		if err != nil {
			return nil, false, err
		}
		m, err = readImage(bytes.NewReader(data), data, int64(len(data)), path, opt)
		return m, false, err
	}
	m, err = readImage(f, nil, st.Size(), path, opt)
	return m, err == nil, err
}

// readImage reads an unpacked file of the given size from r; data holds it
// too if it is in memory.
func readImage(r io.ReaderAt, data []byte, size int64, name string, opt Options) (*Image, error) {
	var magic [4]byte
	if n, _ := r.ReadAt(magic[:], 0); n == 4 && string(magic[:]) == "\x7fELF" {
		return readELF(elfSource{r: r, data: data, size: size, name: name}, opt)
	}
	if size == 0 {
		return nil, &badfile.Error{File: name, What: "image: the file is empty"}
	}
	if opt.NeedELF {
		n, _ := r.ReadAt(magic[:], 0)
		return nil, &badfile.Error{File: name, What: fmt.Sprintf("image: magic %q, need %q: not a kcore and no vmlinux; raw bytes go with --text FILE@ADDR", magic[:n], "\x7fELF")}
	}
	m := &Image{}
	s := seg{Range: Range{opt.Addr, uint64(size)}, data: data, src: r}
	if err := m.add(s); err != nil {
		return nil, &badfile.Error{File: name, What: "image", Err: err}
	}
	return m, nil
}
