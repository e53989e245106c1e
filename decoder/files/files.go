// Package files opens files of the operating system or of an fs.FS, by the same
// names, and unpacks those that are packed by gzip (RFC 1952) or zstd (RFC 8878).
//
// A Tree without an fs.FS stands for the operating system's files. In one with an fs.FS,
// names have slashes, as in package path, and a slash in front or behind means nothing.
//
// It knows nothing of what files hold. Start reading in this file; unpack.go has the
// compression, and mapped.go maps files into memory.
package files

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// File is an open file, which can be read from any place.
type File interface {
	fs.File
	io.ReaderAt
}

// Sparse is a File that may lack parts of what its size says: a bundle has only what was
// needed of each file. Reading at a place that it lacks ends there.
type Sparse interface {
	File
	// Held returns how many of the n bytes at off are there, counted from off on. A caller
	// that has read the file by Whole asks it before using bytes, to tell those that are
	// there from zeros.
	Held(off, n int64) int64
	// Whole returns all bytes of the file, with zeros for those that it lacks. It returns an
	// error where they would take too much memory.
	Whole() ([]byte, error)
}

// Tree is where files are looked for. If FS has a method Place(name string) string, as that
// of a bundle has, it is asked by that which of its files a name means.
type Tree struct {
	FS fs.FS // nil: the operating system's files
}

// in is where the tree's fs.FS has a file that callers call name.
func (t Tree) in(name string) string {
	if p, ok := t.FS.(interface{ Place(name string) string }); ok {
		return p.Place(name)
	}
	return place(name)
}

// place is where an fs.FS has a file that callers call name.
func place(name string) string {
	name = strings.Trim(path.Clean(filepath.ToSlash(name)), "/")
	if name == "" {
		return "."
	}
	return name
}

// Open opens a file. One of the operating system is an *os.File. A file of an fs.FS that is
// no io.ReaderAt is read whole. An error is that of the operating system or of FS.
func (t Tree) Open(name string) (File, error) {
	if t.FS == nil {
		f, err := os.Open(name)
		if err != nil {
			return nil, err // and no File that holds a nil
		}
		return f, nil
	}
	f, err := t.FS.Open(t.in(name))
	if err != nil {
		return nil, err
	}
	if file, ok := f.(File); ok {
		return file, nil
	}
	var data []byte
	st, err := f.Stat()
	if err == nil && !st.IsDir() {
		data, err = io.ReadAll(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &held{f, bytes.NewReader(data)}, nil
}

// held is a file whose bytes are in memory.
type held struct {
	fs.File
	data *bytes.Reader
}

// Read reads on.
func (h *held) Read(p []byte) (int, error) { return h.data.Read(p) }

// ReadAt reads from off on, bytes.
func (h *held) ReadAt(p []byte, off int64) (int, error) { return h.data.ReadAt(p, off) }

// Stat says what lies at a name.
func (t Tree) Stat(name string) (fs.FileInfo, error) {
	if t.FS == nil {
		return os.Stat(name)
	}
	return fs.Stat(t.FS, t.in(name))
}

// ReadDir lists a folder, by name.
func (t Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	if t.FS == nil {
		return os.ReadDir(name)
	}
	return fs.ReadDir(t.FS, t.in(name))
}
