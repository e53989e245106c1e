package snapshot

import (
	"errors"
	"fmt"
	"github.com/ptdecode/ptdecode/decoder/files"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
)

// tree is where a snapshot's files are.
type tree interface {
	size(name string) (int64, error)
	read(name string, off, n int64) ([]byte, error) // exactly n bytes
	open(name string) (File, error)
	names(dir string) []string // of the files in a folder
}

// folder is a tree in a folder of files.
type folder struct {
	tree files.Tree
	dir  string
}

// errOutside: a name leads out of the snapshot's directory. A snapshot that came
// from elsewhere must not choose which other files are read.
var errOutside = errors.New("the name leads out of the snapshot's directory")

// place is where a name leads: names are relative to the snapshot's directory,
// with slashes, or backslashes where Windows wrote them.
func (t folder) place(name string) (string, error) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return "", errOutside
	}
	p := filepath.Join(t.dir, local)
	if _, err := t.tree.Stat(p); err != nil && strings.Contains(name, `\`) {
		return t.place(strings.ReplaceAll(name, `\`, "/"))
	}
	return p, nil
}

func (t folder) size(name string) (int64, error) {
	p, err := t.place(name)
	if err != nil {
		return 0, err
	}
	fi, err := t.tree.Stat(p)
	switch {
	case err != nil:
		return 0, err
	case !fi.Mode().IsRegular():
		return 0, fmt.Errorf("no regular file (%v)", fi.Mode())
	}
	return fi.Size(), nil
}

func (t folder) read(name string, off, n int64) ([]byte, error) {
	p, err := t.place(name)
	if err != nil {
		return nil, err
	}
	f, err := t.tree.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, n)
	if _, err := f.ReadAt(b, off); err != nil && !(errors.Is(err, io.EOF) && n == 0) {
		return nil, err
	}
	return b, nil
}

func (t folder) open(name string) (File, error) {
	p, err := t.place(name)
	if err != nil {
		return nil, err
	}
	f, err := t.tree.Open(p)
	if err != nil {
		return nil, err // and no File that holds a nil
	}
	return f, nil
}

func (t folder) names(dir string) []string {
	p, err := t.place(dir)
	if err != nil {
		return nil
	}
	entries, _ := t.tree.ReadDir(p)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// missing says why a file cannot be read, and hints at one whose name differs
// in case only.
func missing(t tree, name string, err error) (what, hint string) {
	if errors.Is(err, errOutside) {
		return fmt.Sprintf("%s is not read: %v", quote(name), err), "copy the file into the directory, and name it as it lies there; memory may also be given with --text FILE@ADDR"
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("%s cannot be read: %v", quote(name), cause(err)), "make it readable, or take it out of the snapshot"
	}
	dir, base := ".", name
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		dir, base = name[:i], name[i+1:]
	}
	for _, n := range t.names(dir) {
		if n != base && strings.EqualFold(n, base) {
			return fmt.Sprintf("there is no file %s", quote(name)), fmt.Sprintf("there is %s: case matters", quote(n))
		}
	}
	return fmt.Sprintf("there is no file %s", quote(name)), "copy it into the snapshot's directory; names are relative to that"
}

// cause is an error without the path that it repeats.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// maxIni is the greatest size of an ini file, bytes.
const maxIni = 16 << 20

// ini reads and parses an ini file; nil: it cannot be read, for which why is a
// text and a hint.
func (s *Snapshot) ini(name string) (f *iniFile, why, hint string) {
	n, err := s.files.size(name)
	if err == nil && n > maxIni {
		return nil, fmt.Sprintf("%s has %d bytes, at most %d are read", quote(name), n, maxIni), "is it an ini file?"
	}
	var text []byte
	if err == nil {
		text, err = s.files.read(name, 0, n)
	}
	if err != nil {
		why, hint = missing(s.files, name, err)
		return nil, why, hint
	}
	if line := notText(text); line > 0 {
		return nil, fmt.Sprintf("%s is no text from line %d on", quote(name), line), "is it an ini file? save it as text, in UTF-8"
	}
	return s.parseIni(name, text), "", ""
}

// notText returns the first line of an ini file that no text has; 0: none. A
// control character or two, such as the end mark of old editors, are let pass.
func notText(text []byte) (line int) {
	const few = 2
	n, odd := 1, 0
	for _, c := range text {
		switch {
		case c == '\n':
			n++
		case c < ' ' && c != '\t' && c != '\r' && c != '\f':
			if odd++; line == 0 {
				line = n
			}
		}
	}
	if odd <= few {
		return 0
	}
	return line
}
