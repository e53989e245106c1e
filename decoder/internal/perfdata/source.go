package perfdata

import (
	"cmp"
	"errors"
	"fmt"
	"github.com/ptdecode/ptdecode/decoder/files"
	"io"
	"os"
)

// source is one file's bytes: mapped where the system allows, else read.
type source struct {
	name   string
	data   []byte
	unmap  func() error
	mapped bool // data is a file's pages, not memory
}

// openSource maps the file of tree at path under the given name.
func openSource(tree files.Tree, path, name string) (*source, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return mapFile(f, name)
}

// mapFile makes a source of an open file, which the caller may close after.
// What cannot be mapped (an empty file, a system without mappings) is read.
func mapFile(f files.File, name string) (*source, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if b := files.Mapped(nil); b.Map(f, st.Size()) {
		return &source{name: name, data: b, unmap: b.Close, mapped: true}, nil
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, st.Size()))
	if err != nil {
		return nil, err
	}
	return &source{name: name, data: b}, nil
}

func (s *source) close() error {
	if s.unmap == nil {
		return nil
	}
	unmap := s.unmap
	s.unmap, s.data = nil, nil
	return unmap()
}

// spoolMemory is how many bytes a spool keeps in memory before it goes to a
// temporary file.
const spoolMemory = 64 << 20

// spool collects bytes of unknown number: in memory while they are few, then
// in a temporary file that is mapped at the end.
//
// The file has no name from its first byte on, so that it goes with the process, however that
// ends. Windows does not take the name of an open file: there drop and the source's close do,
// and a process that is killed leaves it.
type spool struct {
	max  int // bytes kept in memory; 0: spoolMemory
	mem  []byte
	file *os.File
	name string // of file; "": it has none any more
	n    int64
}

// Write appends p.
func (s *spool) Write(p []byte) (int, error) {
	room := cmp.Or(s.max, spoolMemory)
	if s.file == nil && len(s.mem)+len(p) <= room {
		s.mem = append(s.mem, p...)
		s.n += int64(len(p))
		return len(p), nil
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "ptdecode-*.spool")
		if err != nil {
			return 0, fmt.Errorf("room for more than %d bytes: %w", room, err)
		}
		s.file = f
		if os.Remove(f.Name()) != nil {
			s.name = f.Name()
		}
		if _, err := f.Write(s.mem); err != nil {
			return 0, err
		}
		s.mem = nil
	}
	n, err := s.file.Write(p)
	s.n += int64(n)
	return n, err
}

// source ends the spool and gives its bytes.
func (s *spool) source(name string) (*source, error) {
	if s.file == nil {
		return &source{name: name, data: s.mem}, nil
	}
	f := *s
	s.file = nil
	src, err := mapFile(f.file, name)
	if err != nil {
		return nil, errors.Join(err, f.drop())
	}
	unmap := src.unmap
	src.unmap = func() error {
		var e error
		if unmap != nil {
			e = unmap()
		}
		return errors.Join(e, f.drop())
	}
	return src, nil
}

// drop throws the spool away.
func (s *spool) drop() (err error) {
	s.mem = nil
	if s.file != nil {
		err = s.file.Close()
		if s.name != "" {
			err = errors.Join(err, os.Remove(s.name))
		}
		s.file = nil
	}
	return err
}
