package bundle

import (
	"archive/tar"
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/files"
)

// ErrTooLarge is in the chain of the error for a bundle that needs more memory than it
// may take.
var ErrTooLarge = errors.New("more than --memory allows: give it more")

// Bounds of what a bundle may ask for, besides memory for its members.
const (
	maxList    = 16 << 20 // bytes of its first member
	maxEntries = 1 << 16
	maxDepth   = 64 // folders that a file lies in
	maxSpans   = 1 << 20
	maxWindow  = 64 << 20 // bytes that zstd looks back
	maxRest    = 16 << 20 // bytes of members that the list does not name
	maxHeader  = 8 << 10  // bytes that a member takes in the archive besides its own
)

// HeadSize is how many first bytes Begins needs.
const HeadSize = len(listName) + 1

// Begins reports whether what begins with head may be a bundle. Either it is packed by zstd, or it was
// unpacked, and the list's name comes first (POSIX, pax, "ustar Interchange Format").
func Begins(head []byte) bool {
	return files.Packing(head) == "zstd" || string(head[:min(HeadSize, len(head))]) == listName+"\x00"
}

// Is reports whether a file of tree is a bundle, packed by zstd or not: an archive whose first
// member is the list.
func Is(tree files.Tree, path string) bool {
	if st, err := tree.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false
	}
	f, err := tree.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [HeadSize]byte
	if n, _ := f.ReadAt(head[:], 0); !Begins(head[:n]) {
		return false
	}
	z, err := unpack(io.NewSectionReader(f, 0, math.MaxInt64))
	if err != nil {
		return false
	}
	defer z.Close()
	h, err := tar.NewReader(io.LimitReader(z, maxHeader)).Next()
	return err == nil && h.Name == listName
}

// unpack returns what r unpacks to: r itself, where that is not packed by zstd.
func unpack(r io.Reader) (io.ReadCloser, error) {
	in := bufio.NewReader(r)
	if head, _ := in.Peek(HeadSize); files.Packing(head) == "" && Begins(head) {
		return io.NopCloser(in), nil
	}
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecodeBuffersBelow(0)) // else what is in memory already is unpacked at once, whatever comes out
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// Read reads a bundle, whose members may take limit bytes in memory. The error is a
// *badfile.Error that calls it name.
func Read(r io.Reader, name string, limit int64) (*Tree, error) {
	t, err := read(r, limit)
	if err != nil {
		return nil, &badfile.Error{File: name, What: "bundle", Err: err}
	}
	return t, nil
}

func read(r io.Reader, limit int64) (*Tree, error) {
	z, err := unpack(r)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return readArchive(z, limit)
}

// readArchive is Read for what a bundle unpacks to.
func readArchive(r io.Reader, limit int64) (*Tree, error) {
	most := &bounded{r, 2 * maxList}
	in := tar.NewReader(most)
	h, err := in.Next()
	switch {
	case err != nil:
		return nil, cut(err)
	case h.Name != listName || h.Typeflag != tar.TypeReg:
		return nil, fmt.Errorf("first member %q, need %s", h.Name, listName)
	case h.Size > min(maxList, limit):
		return nil, fmt.Errorf("%s: %d bytes, at most %d", listName, h.Size, min(maxList, limit))
	}
	head, err := io.ReadAll(in)
	if err != nil {
		return nil, cut(err)
	}
	l, nodes, err := parseList(head)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", listName, err)
	}
	members := map[string]*Node{}
	left := limit - h.Size
	for i, n := range nodes {
		m := l.Entries[i].Member
		if m == "" {
			if n.Held = []Span{}; n.Size == 0 {
				n.Held = nil
			}
			n.src = bytes.NewReader(nil)
			continue
		}
		if members[m] != nil {
			return nil, fmt.Errorf("%s: member %q twice", listName, m)
		}
		members[m] = n
		if size := n.bytes(); size > left {
			return nil, fmt.Errorf("its files take over %d bytes: %w", limit, ErrTooLarge)
		} else {
			left -= size
		}
	}
	most.left = limit - left + maxRest + int64(len(nodes))*maxHeader
	t := NewTree(l.Call, nodes, left)
	if err := t.fill(in, members); err != nil {
		return nil, err
	}
	return t, nil
}

// fill reads the members behind the list.
func (t *Tree) fill(in *tar.Reader, members map[string]*Node) error {
	for {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return cut(err)
		}
		n := members[h.Name]
		if n == nil {
			continue // info.txt, and what later versions add
		}
		size := n.bytes()
		if h.Typeflag != tar.TypeReg || h.Size != size {
			return fmt.Errorf("member %q: type %q of %d bytes, the list says a file of %d", h.Name, h.Typeflag, h.Size, size)
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(in, data); err != nil {
			return cut(err)
		}
		n.src = bytes.NewReader(data)
		delete(members, h.Name)
	}
	for m := range members {
		return fmt.Errorf("member %q of the list is not there: the file is cut short", m)
	}
	return nil
}

// cut makes an error of reading an archive one that says what happened.
func cut(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return errors.New("the file is cut short: copy it again")
	}
	if !errors.Is(err, ErrTooLarge) {
		return fmt.Errorf("the file is damaged, copy it again: %w", err)
	}
	return err
}

// bounded is a reader of so many bytes. More are an error.
type bounded struct {
	r    io.Reader
	left int64
}

// Read reads on, up to the bound.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, ErrTooLarge
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// parseList reads the list.
func parseList(head []byte) (l *contents, nodes []*Node, err error) {
	l = &contents{}
	if err := json.Unmarshal(head, l); err != nil {
		return nil, nil, err
	}
	if l.Format != formatVersion {
		return nil, nil, fmt.Errorf("format %d, this ptdecode reads %d", l.Format, formatVersion)
	}
	if len(l.Entries) > maxEntries {
		return nil, nil, fmt.Errorf("%d files, at most %d", len(l.Entries), maxEntries)
	}
	names := map[string]bool{}
	spans := 0
	for i := range l.Entries {
		e := &l.Entries[i]
		n, err := e.node()
		if err != nil {
			return nil, nil, fmt.Errorf("file %d: %w", i, err)
		}
		if spans += len(n.Held); spans > maxSpans {
			return nil, nil, fmt.Errorf("over %d stretches of files", maxSpans)
		}
		if names[n.Path] {
			return nil, nil, fmt.Errorf("%q twice", n.Path)
		}
		names[n.Path] = true
		nodes = append(nodes, n)
	}
	return l, nodes, nil
}

// node checks an entry and makes a node of it.
func (e *entry) node() (*Node, error) {
	n := &Node{Path: e.Path, Size: e.Size, Dir: e.Dir, Fault: e.Fault}
	const most = 1 << 62
	switch {
	case e.Path == "" || filepath.Clean(e.Path) != e.Path || len(e.Path) > 4096:
		return nil, fmt.Errorf("path %q is no plain path", e.Path)
	case strings.Count(e.Path, string(filepath.Separator)) > maxDepth:
		return nil, fmt.Errorf("path %q lies in more than %d folders", e.Path, maxDepth)
	case e.Size < 0 || e.Size > most:
		return nil, fmt.Errorf("size %d, need 0 to %d", e.Size, int64(most))
	case e.Member != "" && (e.Dir || e.Fault != ""), e.Dir && e.Size > 0:
		return nil, fmt.Errorf("%q has bytes, and cannot have any", e.Path)
	}
	if e.Held == nil {
		return n, nil
	}
	n.Held = []Span{}
	at, end := int64(0), int64(0)
	for _, h := range *e.Held {
		if h[0] < end || h[1] <= 0 || h[1] > e.Size || h[0] > e.Size-h[1] {
			return nil, fmt.Errorf("%q: stretch of %d bytes at %d, behind one that ends at %d, in %d bytes", e.Path, h[1], h[0], end, e.Size)
		}
		n.Held = append(n.Held, Span{h[0], h[1]})
		n.at = append(n.at, at)
		at, end = at+h[1], h[0]+h[1]
	}
	return n, nil
}
