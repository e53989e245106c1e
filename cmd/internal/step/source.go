package step

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sources reads lines of source files, where they lie on this machine under the names that
// the program's debug information has. It keeps the last file.
type sources struct {
	name  string
	lines []string
}

// maxSource is how much of a source file is read, bytes.
const maxSource = 8 << 20

// line returns a line of a file, counted from 1; "" where it cannot be read.
func (s *sources) line(name string, n int) string {
	if name != s.name {
		s.name, s.lines = name, nil
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() <= maxSource {
			s.read(name)
		}
	}
	if n < 1 || n > len(s.lines) {
		return ""
	}
	return s.lines[n-1]
}

// read reads a file.
func (s *sources) read(name string) {
	f, err := os.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	for r := bufio.NewScanner(f); r.Scan(); {
		s.lines = append(s.lines, printable(r.Text()))
	}
}

// printable returns a line of source as a screen can show it.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r == 0x7f:
			return '?'
		}
		return r
	}, strings.TrimSpace(s))
}

// source says which line of the source addr was made of, and what the line says.
func (c *cursor) source(space uint32, addr, time uint64) (at, says string) {
	frames := c.s.Lines(space, addr, time)
	if len(frames) == 0 || frames[0].File == "" {
		return "", ""
	}
	f := &frames[0]
	return fmt.Sprintf("%s:%d", f.File, f.Line), c.files.line(f.File, f.Line)
}

// beside returns the last part of a FILE:LINE, which stands beside code.
func beside(at string) string { return filepath.Base(at) }
