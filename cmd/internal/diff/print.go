package diff

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
)

// Head renders which difference it is, without counts: the part of its line that a file
// of expected differences holds.
func (d *Difference) Head() string {
	sign := map[string]string{"removed": "-", "added": "+", "changed": "~"}[d.Change]
	f := function{d.File, d.Sym}
	what := f.String()
	switch d.Kind {
	case "code":
		what = fmt.Sprintf("%s..+0x%x", place{f, d.Off}, d.End)
	case "edge":
		what = fmt.Sprintf("%s -> %s", place{f, d.Off}, place{function{d.ToFile, d.ToSym}, d.ToOff})
	}
	return sign + " " + d.Kind + " " + what
}

// Line renders the difference as a line.
func (d *Difference) Line() string {
	n, head := max(d.A, d.B), terminal.Plain(d.Head())
	switch {
	case d.Change == "changed" && d.Kind == "time":
		return fmt.Sprintf("%s: %d -> %d ns (%s)", head, d.A, d.B, percent(d.A, d.B))
	case d.Change == "changed":
		return fmt.Sprintf("%s: %d -> %d (%s)", head, d.A, d.B, percent(d.A, d.B))
	case d.Kind == "function":
		return fmt.Sprintf("%s: called %s, %s of it", head, times(n), plural.Count(d.Insns, "instruction"))
	case d.Kind == "code":
		return fmt.Sprintf("%s: %s, %s", head, plural.Count(d.Insns, "instruction"), times(n))
	}
	return fmt.Sprintf("%s: %s", head, times(n))
}

// times renders how often.
func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// percent renders how much b is more than a.
func percent(a, b uint64) string {
	if a == 0 {
		return "from none"
	}
	return fmt.Sprintf("%+.1f %%", 100*(float64(b)-float64(a))/float64(a))
}

// print writes list as lines or as objects.
func print(w io.Writer, list []Difference, asJSON bool) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range list {
		var err error
		if asJSON {
			err = e.Encode(&list[i])
		} else {
			_, err = fmt.Fprintln(w, list[i].Line())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// expected is the differences that a file says are right.
type expected struct {
	file  string
	heads []string // patterns
	seen  []bool
}

// readExpected reads a file of lines as diff prints them. What stands behind the last
// ": " does not count, nor do empty lines and those that begin with #.
func readExpected(file string) (*expected, error) {
	text, err := host.ReadText(file)
	if err != nil {
		return nil, err
	}
	x := &expected{file: file}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if at := strings.LastIndex(line, ": "); at >= 0 {
			line = line[:at]
		}
		sign, rest, _ := strings.Cut(line, " ")
		kind, what, _ := strings.Cut(rest, " ")
		kinds := []string{"function", "code", "edge", "calls", "instructions", "time"}
		if !strings.Contains("+-~", sign) || !slices.Contains(kinds, kind) || what == "" {
			return nil, fmt.Errorf("%s: line %d: %s is no difference as diff prints it, such as \"+ function NAME\"", file, n, terminal.Quote(line))
		}
		x.heads = append(x.heads, line)
	}
	x.seen = make([]bool, len(x.heads))
	return x, nil
}

// rest returns what of list was not expected, and marks what was.
func (x *expected) rest(list []Difference) (out []Difference) {
	for _, d := range list {
		head, found := d.Head(), false
		for i, p := range x.heads {
			if filter.Fits(p, head) {
				x.seen[i], found = true, true
			}
		}
		if !found {
			out = append(out, d)
		}
	}
	return out
}

// missing returns what was expected and is not there.
func (x *expected) missing() (out []string) {
	for i, p := range x.heads {
		if !x.seen[i] {
			out = append(out, p)
		}
	}
	return out
}
