package bundle

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/files"
)

// Watch is an fs.FS of the files of another tree that keeps in mind what is read of them.
type Watch struct {
	outer files.Tree
	whole func(path string) bool // files that are taken as wholes

	mu      sync.Mutex
	seen    map[string]*seen
	instead map[string][]byte // by name: what is read in its place
	close   []io.Closer

	naming sync.Mutex
	named  map[uint64]bool // addresses whose symbols were asked for
}

// seen is what was read of a file.
type seen struct {
	Node
	all   bool
	first [pageSize / grain]bool // grains of its first page
	pages map[int64]bool
	bulk  map[int64]bool // pages that only reads of whole pages came to
}

// What is kept of a file goes by pages. The first page of an ELF file has its headers and
// other things that nobody reads, so of that one grains are kept.
const (
	pageSize = 4096 // bytes
	grain    = 16   // bytes
)

// NewWatch returns a view of the files of outer. Those that whole names are taken as
// wholes.
func NewWatch(outer files.Tree, whole func(path string) bool) *Watch {
	return &Watch{outer: outer, whole: whole, seen: map[string]*seen{}, instead: map[string][]byte{}, named: map[uint64]bool{}}
}

// Instead has data read in place of the file at path.
func (w *Watch) Instead(path string, data []byte) { w.instead[filepath.Clean(path)] = data }

// Named keeps in mind that the symbol of an address was asked for.
func (w *Watch) Named(addr uint64) {
	w.naming.Lock()
	defer w.naming.Unlock()
	w.named[addr] = true
}

// Asked returns the addresses whose symbols were asked for, sorted.
func (w *Watch) Asked() []uint64 {
	w.naming.Lock()
	defer w.naming.Unlock()
	return slices.Sorted(maps.Keys(w.named))
}

// Place returns how the tree calls a file (files.Tree).
func (w *Watch) Place(name string) string { return filepath.Clean(name) }

// note keeps what is said of a name; nil where nothing lies there.
func (w *Watch) note(name string, st fs.FileInfo, err error) *seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.seen[name]
	if s == nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		s = &seen{Node: Node{Path: name}, pages: map[int64]bool{}, bulk: map[int64]bool{}}
		w.seen[name] = s
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		s.Fault = faultPermission
	case err != nil:
		s.Fault = "it could not be opened"
	case st != nil:
		s.Size, s.Dir = st.Size(), st.IsDir()
		if s.Dir {
			s.Size = 0
		}
	}
	return s
}

// Stat says what lies at a name (fs.StatFS).
func (w *Watch) Stat(name string) (fs.FileInfo, error) {
	if data, ok := w.instead[name]; ok {
		return stat{&Node{Path: name, Size: int64(len(data))}}, nil
	}
	st, err := w.outer.Stat(name)
	if err == nil {
		w.note(name, st, nil)
	}
	return st, err
}

// ReadDir lists a folder (fs.ReadDirFS). Only what is asked for in it is kept.
func (w *Watch) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := w.outer.ReadDir(name)
	if err == nil {
		w.note(name, dirInfo(name), nil)
	}
	return list, err
}

func dirInfo(name string) fs.FileInfo { return stat{&Node{Path: name, Dir: true}} }

// Open opens a file (fs.FS).
func (w *Watch) Open(name string) (fs.File, error) {
	if data, ok := w.instead[name]; ok {
		n := &Node{Path: name, Size: int64(len(data)), src: bytes.NewReader(data)}
		w.takeAll(w.note(name, stat{n}, nil))
		return &whole{opened{nil, n, io.NewSectionReader(n, 0, n.Size)}}, nil
	}
	f, err := w.outer.Open(name)
	if err != nil {
		w.note(name, nil, err)
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return f, nil //nolint:nilerr // whoever reads it is told
	}
	s := w.note(name, st, nil)
	if st.IsDir() || !st.Mode().IsRegular() {
		return f, nil
	}
	if w.takes(f, name) {
		w.takeAll(s)
		return f, nil
	}
	return &watched{f, w, s, st.Size()}, nil
}

// takeAll keeps in mind that all of a file is read.
func (w *Watch) takeAll(s *seen) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.all = true
}

// takes reports whether a file is taken as a whole: one that the call says, and one that
// is a perf.data, of which all is read.
func (w *Watch) takes(f files.File, name string) bool {
	var magic [8]byte
	n, _ := f.ReadAt(magic[:], 0)
	return string(magic[:n]) == "PERFILE2" || w.whole(name)
}

// watched is an open file whose reads are kept in mind.
type watched struct {
	files.File
	w    *Watch
	s    *seen
	size int64 // bytes, when it was opened
}

// mark keeps in mind that n bytes at off were read.
func (f *watched) mark(off, n int64) {
	if n = min(n, f.size-off); n <= 0 || off < 0 {
		return
	}
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	if f.s.all {
		return
	}
	in := f.s.pages
	if n >= pageSize {
		in = f.s.bulk
	}
	for ; n > 0 && off < pageSize; off, n = off+1, n-1 {
		f.s.first[off/grain] = true
	}
	for p := off / pageSize; n > 0 && p <= (off+n-1)/pageSize; p++ {
		in[p] = true
	}
}

// Bulk returns the pages, by number, of the file at path that came with others: who compares
// two files reads them so.
func (w *Watch) Bulk(path string) (list []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.seen[path]
	if s == nil || s.all {
		return nil
	}
	for p := range s.bulk {
		if !s.pages[p] {
			list = append(list, p)
		}
	}
	return list
}

// Drop leaves out pages of the file at path that came with others.
func (w *Watch) Drop(path string, pages []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range pages {
		delete(w.seen[path].bulk, p)
	}
}

// Paths returns the names of what was seen.
func (w *Watch) Paths() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.seen))
}

// ReadAt reads from off on.
func (f *watched) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.mark(off, int64(n))
	return n, err
}

// Read reads on: all of the file is taken then.
func (f *watched) Read(p []byte) (int, error) {
	f.w.takeAll(f.s)
	return f.File.Read(p)
}

// Held returns n, unless the file is a bundle's that lacks them, and keeps them in mind.
func (f *watched) Held(off, n int64) int64 {
	n = min(n, f.size-off)
	if s, ok := f.File.(files.Sparse); ok {
		n = s.Held(off, n)
	}
	if f.mark(off, n); off == 0 && n == f.size {
		f.w.takeAll(f.s)
	}
	return n
}

// Whole returns the file. Held says what is used of it.
func (f *watched) Whole() ([]byte, error) {
	if s, ok := f.File.(files.Sparse); ok {
		return s.Whole()
	}
	data := make([]byte, f.size)
	n, err := f.File.ReadAt(data, 0)
	if err == io.EOF {
		err = nil
	}
	return data[:n], err
}

// Nodes returns what was seen, with the bytes of what was read.
func (w *Watch) Nodes() (list []*Node, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.seen {
		n := &s.Node
		switch data, ok := w.instead[n.Path]; {
		case ok:
			n.Size, n.src = int64(len(data)), bytes.NewReader(data)
		case n.Dir || n.Fault != "":
		default:
			f, err := w.outer.Open(n.Path)
			if errors.Is(err, os.ErrPermission) { // it was only asked whether it is there
				n.Fault = faultPermission
				break
			}
			if err != nil {
				return nil, err
			}
			w.close = append(w.close, f)
			n.src = f
			if !s.all {
				n.Held = s.spans()
			}
		}
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *Node) int { return cmp.Compare(a.Path, b.Path) })
	return list, nil
}

// spans returns what was read, as spans.
func (s *seen) spans() []Span {
	list := []Span{}
	add := func(off, n int64) {
		n = min(n, s.Size-off)
		if k := len(list) - 1; k >= 0 && list[k].Off+list[k].Len == off {
			list[k].Len += n
		} else if n > 0 {
			list = append(list, Span{off, n})
		}
	}
	for i, used := range s.first {
		if used {
			add(int64(i)*grain, grain)
		}
	}
	all := maps.Clone(s.pages)
	maps.Copy(all, s.bulk)
	for _, p := range slices.Sorted(maps.Keys(all)) {
		add(p*pageSize, pageSize)
	}
	return list
}

// Close closes the files.
func (w *Watch) Close() (err error) {
	for _, c := range w.close {
		err = cmp.Or(err, c.Close())
	}
	w.close = nil
	return err
}
