package output

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Look is how lines look for a reader. The zero value is that of lines for programs.
type Look struct {
	Colour bool
	Width  int  // columns that lines shall fit; their fields are aligned. 0: any, with one blank between fields
	Bounds bool // say how far off times may be, where that is more than sure
}

// sure is how far off a time may be without its being said, ns.
const sure = 1000

// Colours, as SGR sequences (ECMA-48, 8.3.117).
const (
	plain   = "\x1b[0m"
	bold    = "\x1b[1m"
	red     = "\x1b[31m"
	yellow  = "\x1b[33m"
	magenta = "\x1b[35m"
	cyan    = "\x1b[36m"
)

// paint appends what add appends, in a colour; "" is none.
func (l *Look) paint(dst []byte, colour string, add func([]byte) []byte) []byte {
	if !l.Colour || colour == "" {
		return add(dst)
	}
	at := len(dst)
	dst = append(dst, colour...)
	n := len(dst)
	if dst = add(dst); len(dst) == n {
		return dst[:at]
	}
	return append(dst, plain...)
}

// colourOf returns the colour of a field of r, "" for none.
func colourOf(r *rows.Row, f Field) string {
	switch {
	case f == Sym && r.Kind == rows.KindCall:
		return bold
	case f == Sym:
		return cyan
	case f == Flags && r.Kind == rows.KindTrap:
		return magenta
	case f == mark && r.Verdict == decoder.Ambiguous:
		return red
	case f == mark:
		return yellow
	}
	return ""
}

// width returns in how many columns a field that others follow is printed, and the most that
// it may have; 0: as it comes.
func (l *Look) width(f Field, fields []Field) (least, most int) {
	if l.Width == 0 {
		return 0, 0
	}
	switch f {
	case CPU:
		return 2, 0
	case TID:
		return 5, 0
	case Comm:
		return 15, 0
	case Time:
		return 11, 0
	case Flags:
		return 13, 0
	case Insn:
		return 8, 0
	case Sym:
		n := (max(l.Width, 60) - taken(fields)) / 2
		return n, n
	case Verdict:
		return 11, 0
	}
	return 0, 0
}

// taken returns how many columns fields take without the names of functions, and what
// stands between these.
func taken(fields []Field) (n int) {
	l := Look{Width: 80}
	for _, f := range fields {
		switch f {
		case Sym, Off, mark:
		case IP:
			n += 17
		case Addr:
			n += 4
		default:
			least, _ := l.width(f, nil)
			n += least + 1
		}
	}
	return n + 1
}

// column pads what was appended to dst since at to a field's width, or shortens it.
func (l *Look) column(dst []byte, at, least, most int) []byte {
	n := utf8.RuneCount(dst[at:])
	if most > 0 && n > most {
		dst = shorten(dst, at, most)
	}
	for ; n < least; n++ {
		dst = append(dst, ' ')
	}
	return dst
}

// shorten shortens a name with its offset to n columns: it takes out the end of the name.
func shorten(dst []byte, at, n int) []byte {
	s := string(dst[at:])
	off := len(s)
	for i := len(s) - 1; i > 0; i-- {
		if s[i] == '+' {
			off = i
			break
		}
	}
	tail := s[off:]
	keep := max(n-len(tail)-1, 1)
	return append(append(append(dst[:at], s[:min(keep, off)]...), "…"...), tail...)
}

// uncertain appends how far off a time may be, where that is to be said.
func (l *Look) uncertain(dst []byte, t event.Time) []byte {
	if !l.Bounds || t.Lo == 0 || t.Hi-t.Lo <= sure {
		return dst
	}
	return append(append(dst, "  # "...), Uncertain(t)...)
}

// Uncertain renders how far from t.Lo the moment t may be, as ±27.2us; "" where it is
// no more than 1 us, or not known.
func Uncertain(t event.Time) string {
	d := t.Hi - t.Lo
	switch {
	case t.Lo == 0 || t.Hi < t.Lo || d <= sure:
		return ""
	case t.Hi == event.Always.Hi:
		return "±?"
	case d < 1_000_000:
		return "±" + strconv.FormatFloat(float64(d)/1e3, 'f', 1, 64) + "us"
	case d < 1_000_000_000:
		return "±" + strconv.FormatFloat(float64(d)/1e6, 'f', 1, 64) + "ms"
	}
	return "±" + strconv.FormatFloat(float64(d)/1e9, 'f', 1, 64) + "s"
}

// fit makes the line that dst has from at on fit the width. A comment goes to lines of its
// own, and what is still too long is cut.
func (l *Look) fit(dst []byte, at int) []byte {
	if l.Width == 0 || visible(dst[at:]) <= l.Width {
		return dst
	}
	s := string(dst[at:])
	dst = dst[:at]
	code, comment, _ := strings.Cut(s, "  # ")
	return l.below(l.cut(dst, code), l.Width, comment)
}

// fitComment is fit of a line that is a comment: what has no room goes to lines of its own.
func (l *Look) fitComment(dst []byte, at int) []byte {
	if l.Width == 0 || visible(dst[at:]) <= l.Width {
		return dst
	}
	s, comment, _ := strings.Cut(string(dst[at:]), "  # ")
	first, rest, _ := strings.Cut(s, " ")
	dst = l.below(append(dst[:at], first...), visible([]byte(first)), rest)
	return l.below(dst, l.Width, comment)
}

// below appends the words of a comment to a line that has n columns, and then to lines below it.
func (l *Look) below(dst []byte, n int, comment string) []byte {
	const lead = "     #"
	for _, w := range strings.Fields(comment) {
		if n+1+visible([]byte(w)) > l.Width {
			dst, n = append(append(dst, '\n'), lead...), len(lead)
		}
		dst = append(append(dst, ' '), w...)
		n += 1 + visible([]byte(w))
	}
	return dst
}

// cut appends s, or what of it fits the width.
func (l *Look) cut(dst []byte, s string) []byte {
	if visible([]byte(s)) <= l.Width {
		return append(dst, s...)
	}
	n, escape := 0, false
	for _, r := range s {
		if escape = escape || r == '\x1b'; !escape {
			if n++; n == l.Width {
				break
			}
		}
		dst = utf8.AppendRune(dst, r)
		escape = escape && r != 'm'
	}
	if dst = append(dst, "…"...); l.Colour {
		dst = append(dst, plain...)
	}
	return dst
}

// visible returns how many columns s takes.
func visible(s []byte) (n int) {
	escape := false
	for _, r := range string(s) {
		if escape = escape || r == '\x1b'; !escape {
			n++
		}
		escape = escape && r != 'm'
	}
	return n
}
