package hot

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
)

// screen is how many columns lines have that can be broken, if nothing says how many there are.
const screen = 80

// leastInsn is how many columns an instruction gets. If there are fewer, what does not fit stands
// below, from the middle of the screen on.
const leastInsn = 24

// columns returns how many columns lines shall fit.
func (l *list) columns() int {
	if l.o.width > 0 {
		return l.o.width
	}
	return screen
}

// sourceOf prints the source line that e and what follows were made of, as far as it fits.
func (l *list) sourceOf(e *entry) {
	const col = 24
	line, room := []rune(terminal.Plain(fmt.Sprintf("%s:%d  %s", filepath.Base(e.File), e.Line, e.Source))), max(l.columns()-col, leastInsn)
	if len(line) > room {
		line = append(line[:room-3], []rune("...")...)
	}
	fmt.Fprintf(l.w, "%*s%s\n", col, "", strings.TrimRight(string(line), " "))
}

// part is a piece of a line that is never broken.
type part struct {
	gap  string // before it, if the line is not broken there
	text string
}

// fold prints an instruction behind at, which ends at the column col. What would go beyond
// the screen stands below it.
func (l *list) fold(w io.Writer, at string, col int, insn, what string) {
	indent := col
	if l.o.width > 0 && l.o.width-col < leastInsn {
		if indent = l.o.width / 2; col+utf8.RuneCountInString(insn) > l.o.width {
			at, col = strings.TrimRight(at, " ")+"\n"+strings.Repeat(" ", indent), indent
		}
	}
	fmt.Fprintln(w, at+l.laid(appendVersions(l.parts(insn, col), what), col, indent))
}

// appendVersions appends what versions says.
func appendVersions(all []part, what string) []part {
	gap := "  "
	for _, s := range strings.SplitAfter(what, ", ") {
		all, gap = append(all, part{gap, strings.TrimSuffix(s, " ")}), " "
	}
	return all
}

// laid returns parts in a row from a column on, as lines that fit the screen. All but the first are indented.
func (l *list) laid(parts []part, col, indent int) string {
	var b strings.Builder
	first := true // of a line
	for _, p := range parts {
		if p.text == "" {
			continue
		}
		text := l.fit(p.text, indent)
		n := utf8.RuneCountInString(text)
		switch {
		case !first && col+len(p.gap)+n > l.columns():
			b.WriteString("\n" + strings.Repeat(" ", indent) + text)
			col = indent + n
		case first:
			b.WriteString(text)
			col += n
		default:
			b.WriteString(p.gap + text)
			col += len(p.gap) + n
		}
		first = false
	}
	return b.String()
}

// fit shortens what stands in angle brackets, a name, so that it fits behind indent.
func (l *list) fit(s string, indent int) string {
	if l.o.width == 0 || !strings.HasPrefix(s, "<") {
		return s
	}
	name := strings.TrimSuffix(s[1:], ">")
	return "<" + terminal.Fit(name, max(l.o.width-indent-len("<>"), 1)) + ">"
}

// parts takes an instruction apart where lines may be broken that begin at a column. If it is not known how wide
// the screen is, that is only before where it leads to.
func (l *list) parts(insn string, col int) (all []part) {
	if col+utf8.RuneCountInString(insn) <= l.columns() {
		return []part{{"", insn}}
	}
	add := func(gap, s string) { all = append(all, part{gap, s}) }
	where, target, direct := strings.Cut(insn, " <")
	if l.o.width == 0 {
		add("", where)
	} else {
		code, note, _ := strings.Cut(where, "  #")
		all = operands(code)
		if note != "" {
			add("  ", "#"+note)
		}
	}
	if direct {
		add("  ", "<"+target)
	}
	return all
}

// operands takes an instruction apart at blanks and behind commas, but not inside of brackets.
func operands(insn string) (all []part) {
	gap, from, depth := "", 0, 0
	cut := func(to, next int, then string) {
		if to > from {
			all = append(all, part{gap, insn[from:to]})
		}
		from, gap = next, then
	}
	for i := range len(insn) {
		switch insn[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ' ':
			if depth == 0 {
				cut(i, i+1, " ")
			}
		case ',':
			if depth == 0 && i+1 < len(insn) && insn[i+1] != ' ' {
				cut(i+1, i+1, "")
			}
		}
	}
	cut(len(insn), len(insn), "")
	return all
}
