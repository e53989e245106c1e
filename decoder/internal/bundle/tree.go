package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ptdecode/ptdecode/decoder/files"
)

// Tree is the files of a bundle, by the names that a recording's readers give them.
type Tree struct {
	Call json.RawMessage // what is opened: the recording's flags
	Info []byte          // what the recording said of itself, for people

	// Of what the call names itself, by names that begin with these, the files lie in Outer.
	Outer files.Tree
	Given []string

	nodes map[string]*Node
	below map[string][]string // by folder: names in it
	room  atomic.Int64        // bytes that files that lack parts may still take as a whole
}

// Node is a file or a folder of a Tree.
type Node struct {
	Path  string // as readers call it
	Size  int64  // bytes, with what is not there
	Dir   bool
	Fault string // why it cannot be opened: "permission"; "": it can
	Held  []Span // what is there, by offset; nil: all

	src io.ReaderAt // of the bytes held
	at  []int64     // by span: where it begins in src; nil: as in the file
}

// Span is a stretch of a file.
type Span struct {
	Off, Len int64 // bytes
}

// faultPermission is the fault of files that may not be read.
const faultPermission = "permission"

// NewTree returns a tree of nodes, in which files that lack parts may take so many bytes
// as wholes.
func NewTree(call json.RawMessage, nodes []*Node, room int64) *Tree {
	t := &Tree{Call: call, nodes: map[string]*Node{}, below: map[string][]string{}}
	t.room.Store(room)
	for _, n := range nodes {
		known := t.nodes[n.Path] != nil
		if t.nodes[n.Path] = n; !known {
			t.within(n.Path)
		}
	}
	return t
}

// within makes the folders that a path lies in.
func (t *Tree) within(path string) {
	for {
		dir := filepath.Dir(path)
		if dir == path {
			return
		}
		t.below[dir] = append(t.below[dir], filepath.Base(path))
		if t.nodes[dir] != nil {
			return
		}
		t.nodes[dir] = &Node{Path: dir, Dir: true}
		path = dir
	}
}

// Nodes returns the files, by name, and the folders that nothing lies in.
func (t *Tree) Nodes() (list []*Node) {
	for path, n := range t.nodes {
		if !n.Dir || len(t.below[path]) == 0 {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b *Node) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// Place returns how the tree calls a file (files.Tree).
func (t *Tree) Place(name string) string { return filepath.Clean(name) }

// outer reports whether a name is one that the call gave.
func (t *Tree) outer(name string) bool {
	return slices.ContainsFunc(t.Given, func(g string) bool {
		g = filepath.Clean(g)
		return name == g || strings.HasPrefix(name, strings.TrimSuffix(g, string(filepath.Separator))+string(filepath.Separator))
	})
}

// find returns the node of a name.
func (t *Tree) find(op, name string) (*Node, error) {
	n := t.nodes[name]
	switch {
	case n == nil:
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	case n.Fault == faultPermission && op == "open":
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
	case n.Fault != "" && op == "open":
		return nil, &fs.PathError{Op: op, Path: name, Err: errors.New(n.Fault)}
	}
	return n, nil
}

// Give says that a file lies in Outer, before any is opened.
func (t *Tree) Give(name string) { t.Given = append(t.Given, name) }

// Open opens a file (fs.FS).
func (t *Tree) Open(name string) (fs.File, error) {
	if t.outer(name) {
		return t.Outer.Open(name)
	}
	n, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	f := opened{t, n, io.NewSectionReader(n, 0, n.Size)}
	if n.Held == nil {
		return &whole{f}, nil
	}
	return &sparse{f}, nil
}

// Stat says what lies at a name (fs.StatFS).
func (t *Tree) Stat(name string) (fs.FileInfo, error) {
	if t.outer(name) {
		return t.Outer.Stat(name)
	}
	n, err := t.find("stat", name)
	if err != nil {
		return nil, err
	}
	return stat{n}, nil
}

// ReadDir lists a folder (fs.ReadDirFS).
func (t *Tree) ReadDir(name string) (list []fs.DirEntry, err error) {
	if t.outer(name) {
		return t.Outer.ReadDir(name)
	}
	n, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	if !n.Dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a directory")}
	}
	names := slices.Clone(t.below[name])
	slices.Sort(names)
	for _, x := range names {
		list = append(list, fs.FileInfoToDirEntry(stat{t.nodes[filepath.Join(name, x)]}))
	}
	return list, nil
}

// ReadAt reads what is there from off on. It ends where the node lacks a byte.
func (n *Node) ReadAt(p []byte, off int64) (int, error) {
	want := int64(len(p))
	if off < 0 || off >= n.Size {
		return 0, io.EOF
	}
	end := io.ErrUnexpectedEOF
	if want > n.Size-off {
		want, end = n.Size-off, io.EOF
	}
	got := n.has(off, want)
	i := n.span(off)
	at := off
	if i < len(n.Held) && n.at != nil {
		at = n.at[i] + off - n.Held[i].Off
	}
	if got == 0 && want > 0 {
		return 0, io.ErrUnexpectedEOF
	}
	k, err := n.src.ReadAt(p[:got], at)
	switch {
	case k < int(got):
		return k, cmp.Or(err, io.ErrUnexpectedEOF)
	case k < len(p):
		return k, end
	}
	return k, nil
}

// span returns the first span that ends behind off.
func (n *Node) span(off int64) int {
	i, _ := slices.BinarySearchFunc(n.Held, off, func(s Span, o int64) int {
		if s.Off+s.Len <= o {
			return -1
		}
		return 1
	})
	return i
}

// has returns how many of the k bytes at off are there, from off on.
func (n *Node) has(off, k int64) int64 {
	k = max(0, min(k, n.Size-off))
	if n.Held == nil {
		return k
	}
	i := n.span(off)
	if i == len(n.Held) || n.Held[i].Off > off {
		return 0
	}
	return min(k, n.Held[i].Off+n.Held[i].Len-off)
}

// opened is an open file or folder of a tree.
type opened struct {
	tree *Tree
	*Node
	*io.SectionReader
}

// Stat says what is open.
func (f *opened) Stat() (fs.FileInfo, error) { return stat{f.Node}, nil }

// ReadAt reads from off on, up to what is missing.
func (f *opened) ReadAt(p []byte, off int64) (int, error) { return f.Node.ReadAt(p, off) }

// Close does nothing.
func (f *opened) Close() error { return nil }

// Read reads on.
func (f *opened) Read(p []byte) (int, error) {
	if f.Dir {
		return 0, &fs.PathError{Op: "read", Path: f.Path, Err: errors.New("is a directory")}
	}
	return f.SectionReader.Read(p)
}

// whole is an open file of which nothing is missing.
type whole struct{ opened }

// sparse is an open file that may lack parts (files.Sparse).
type sparse struct{ opened }

// Held returns how many of the n bytes at off are there.
func (f *sparse) Held(off, n int64) int64 { return f.has(off, n) }

// Whole returns the file with zeros for what it lacks.
func (f *sparse) Whole() ([]byte, error) {
	if f.tree.room.Add(-f.Node.Size) < 0 {
		f.tree.room.Add(f.Node.Size)
		return nil, fmt.Errorf("%s: %d bytes with what the bundle leaves out: %w", f.Path, f.Node.Size, ErrTooLarge)
	}
	data := make([]byte, f.Node.Size)
	for _, s := range f.Node.Held {
		if _, err := f.Node.ReadAt(data[s.Off:s.Off+s.Len], s.Off); err != nil && err != io.EOF {
			return nil, err
		}
	}
	return data, nil
}

// stat is what fs.FileInfo says of a node.
type stat struct{ n *Node }

// Name returns the name in its folder.
func (s stat) Name() string { return filepath.Base(s.n.Path) }

// Size returns the bytes of it, with what is not there.
func (s stat) Size() int64 { return s.n.Size }

// Mode tells files from folders.
func (s stat) Mode() fs.FileMode {
	if s.n.Dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// ModTime is not known.
func (s stat) ModTime() time.Time { return time.Time{} }

// IsDir reports whether it is a folder.
func (s stat) IsDir() bool { return s.n.Dir }

// Sys is nothing.
func (s stat) Sys() any { return nil }

// Replace gives a node other contents.
func (n *Node) Replace(data []byte) {
	n.Size, n.Held, n.at, n.src = int64(len(data)), nil, nil, bytes.NewReader(data)
}

// Source returns the file that a node of a Watch was made of; nil: there is none.
func (n *Node) Source() io.ReaderAt { return n.src }

// HeldIn returns how many bytes of parts are there.
func (n *Node) HeldIn(parts []Span) (sum int64) {
	held := n.Held
	if held == nil {
		held = []Span{{0, n.Size}}
	}
	for _, p := range parts {
		for _, h := range held {
			sum += max(0, min(p.Off+p.Len, h.Off+h.Len)-max(p.Off, h.Off))
		}
	}
	return sum
}

// Blank leaves parts, sorted and apart, out of a node of a Watch: they read as zeros. Of a
// file that lacks pages, pages that lie in one part are gone, too.
func (n *Node) Blank(parts []Span) {
	n.src = &blanked{n.src, parts}
	for _, p := range parts {
		from, to := (p.Off+pageSize-1)/pageSize*pageSize, (p.Off+p.Len)/pageSize*pageSize
		if n.Held == nil || from >= to {
			continue
		}
		rest := make([]Span, 0, len(n.Held)+1)
		for _, h := range n.Held {
			end := h.Off + h.Len
			if k := min(end, from) - h.Off; k > 0 {
				rest = append(rest, Span{h.Off, k})
			}
			if k := end - max(h.Off, to); k > 0 {
				rest = append(rest, Span{end - k, k})
			}
		}
		n.Held = rest
	}
}

// blanked is a file with zeros in some parts.
type blanked struct {
	file  io.ReaderAt
	parts []Span
}

// ReadAt reads from off on.
func (b *blanked) ReadAt(p []byte, off int64) (int, error) {
	n, err := b.file.ReadAt(p, off)
	for _, s := range b.parts {
		if from, to := max(s.Off, off), min(s.Off+s.Len, off+int64(n)); from < to {
			clear(p[from-off : to-off])
		}
	}
	return n, err
}
