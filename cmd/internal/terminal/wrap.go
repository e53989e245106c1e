package terminal

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Wrap appends a line to dst as lines that take width columns at most, where blanks allow it.
// All but the first are indented, as far as the line is at least. With width 0 it stays as it is.
func Wrap(dst []byte, line string, width, indent int) []byte {
	if width == 0 || utf8.RuneCountInString(line) <= width {
		return append(dst, line...)
	}
	indent = min(max(indent, len(line)-len(strings.TrimLeft(line, " "))), width/2)
	col, some := 0, false // columns that the line at hand has, and whether there is a word in it
	for line != "" {
		word := strings.TrimLeft(line, " ")
		blanks := len(line) - len(word)
		end := strings.IndexByte(word, ' ')
		if end < 0 {
			end = len(word)
		}
		n := utf8.RuneCountInString(word[:end])
		if some && end > 0 && col+blanks+n > width && col+blanks > indent {
			dst = append(dst, '\n')
			dst = append(dst, strings.Repeat(" ", indent)...)
			col, blanks = indent, 0
		}
		dst = append(append(dst, strings.Repeat(" ", blanks)...), word[:end]...)
		col, some = col+blanks+n, true
		line = word[end:]
	}
	return dst
}

// Wrapped returns a writer that wraps the lines that are written to w. What follows the last
// line's end waits for the rest of it.
func Wrapped(w io.Writer, width, indent int) io.Writer {
	if width == 0 {
		return w
	}
	return &wrapped{to: w, width: width, indent: indent}
}

// wrapped wraps lines.
type wrapped struct {
	to            io.Writer
	width, indent int
	begun         []byte // of a line
}

// Write writes the lines that end in b.
func (w *wrapped) Write(b []byte) (int, error) {
	w.begun = append(w.begun, b...)
	end := bytes.LastIndexByte(w.begun, '\n') + 1
	var out []byte
	for line := range bytes.Lines(w.begun[:end]) {
		out = append(Wrap(out, string(line[:len(line)-1]), w.width, w.indent), '\n')
	}
	w.begun = append(w.begun[:0], w.begun[end:]...)
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
