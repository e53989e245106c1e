// Package source reads lines of source files, where they lie on this machine under the names
// that a program's debug information has.
package source

import (
	"bufio"
	"os"
	"strings"
)

// Files reads lines. It keeps the last file. Its zero value is ready.
type Files struct {
	name  string
	lines []string
}

// largest is how much of a source file is read, bytes.
const largest = 8 << 20

// Line returns a line of a file, counted from 1, without the spaces around it, as a screen can
// show it. It is "" where the line cannot be read.
func (f *Files) Line(name string, n int) string {
	if name != f.name {
		f.name, f.lines = name, nil
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() <= largest {
			f.read(name)
		}
	}
	if n < 1 || n > len(f.lines) {
		return ""
	}
	return f.lines[n-1]
}

// read reads a file.
func (f *Files) read(name string) {
	file, err := os.Open(name)
	if err != nil {
		return
	}
	defer file.Close()
	for r := bufio.NewScanner(file); r.Scan(); {
		f.lines = append(f.lines, printable(r.Text()))
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
