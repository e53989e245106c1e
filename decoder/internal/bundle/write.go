package bundle

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// The first member of a bundle, and the one for people.
const (
	listName = "bundle.json"
	infoName = "info.txt"
)

// formatVersion is the version of the form that is written.
const formatVersion = 1

// contents is the first member: what is opened, and the files.
type contents struct {
	Format  int             `json:"ptdecode_bundle"`
	Call    json.RawMessage `json:"call"`
	Entries []entry         `json:"files"`
}

// entry is a file or folder of the list.
type entry struct {
	Path   string      `json:"path"`
	Size   int64       `json:"size,omitempty"` // bytes
	Dir    bool        `json:"dir,omitempty"`
	Fault  string      `json:"fault,omitempty"`
	Member string      `json:"member,omitempty"` // of the archive; "": no byte is held
	Held   *[][2]int64 `json:"held,omitempty"`   // offset and length of what the member holds, in its order; absent: all
}

// member returns the name of the member of node i.
func (n *Node) member(i int) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, filepath.Base(n.Path))
	return fmt.Sprintf("files/%03d-%s", i, name[:min(len(name), 64)])
}

// bytes returns how many bytes of a node are held.
func (n *Node) bytes() (sum int64) {
	if n.Dir || n.Fault != "" {
		return 0
	}
	if n.Held == nil {
		return n.Size
	}
	for _, s := range n.Held {
		sum += s.Len
	}
	return sum
}

// Bytes returns how many bytes a tree holds.
func (t *Tree) Bytes() (sum int64) {
	for _, n := range t.Nodes() {
		sum += n.bytes()
	}
	return sum
}

// Write writes the bundle.
func (t *Tree) Write(w io.Writer) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	out := tar.NewWriter(z)
	if err := t.members(out); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return z.Close()
}

// members writes the members of the archive.
func (t *Tree) members(out *tar.Writer) error {
	nodes := t.Nodes()
	l := contents{Format: formatVersion, Call: t.Call}
	for i, n := range nodes {
		e := entry{Path: n.Path, Size: n.Size, Dir: n.Dir, Fault: n.Fault}
		if n.Held != nil {
			held := make([][2]int64, 0, len(n.Held))
			for _, s := range n.Held {
				held = append(held, [2]int64{s.Off, s.Len})
			}
			e.Held = &held
		}
		if n.bytes() > 0 {
			e.Member = n.member(i)
		}
		l.Entries = append(l.Entries, e)
	}
	head, err := json.MarshalIndent(&l, "", " ")
	if err != nil {
		return err
	}
	if err := addMember(out, listName, int64(len(head)), strings.NewReader(string(head))); err != nil {
		return err
	}
	if len(t.Info) > 0 {
		if err := addMember(out, infoName, int64(len(t.Info)), strings.NewReader(string(t.Info))); err != nil {
			return err
		}
	}
	for i, n := range nodes {
		if n.bytes() == 0 {
			continue
		}
		if err := addMember(out, n.member(i), n.bytes(), n.reader()); err != nil {
			return err
		}
	}
	return nil
}

// reader returns what is held of a node, one span behind the other.
func (n *Node) reader() io.Reader {
	if n.Held == nil {
		return io.NewSectionReader(n, 0, n.Size)
	}
	var parts []io.Reader
	for _, s := range n.Held {
		parts = append(parts, io.NewSectionReader(n, s.Off, s.Len))
	}
	return io.MultiReader(parts...)
}

// addMember writes a member of size bytes. It has no time and no owner, so that a bundle
// says nothing of where it was made, and the same recording gives the same bytes.
func addMember(out *tar.Writer, name string, size int64, from io.Reader) error {
	if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size, Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err := io.Copy(out, from)
	return err
}
