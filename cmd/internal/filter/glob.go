package filter

import (
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
)

// patterns is names, each as it is or as a glob: * is any text, ? any character, [a-z] one
// of those in brackets. [ without ], and [], stand for themselves.
type patterns []string

// fit reports whether a pattern fits name.
func (l patterns) fit(name string) bool {
	return slices.ContainsFunc(l, func(p string) bool { return Fits(p, name) })
}

// Fits reports whether pattern is name, or a glob that fits it. A slash is a character
// like any other.
func Fits(pattern, name string) bool {
	if pattern == name {
		return true
	}
	if !isGlob(pattern) {
		return false
	}
	ok, err := path.Match(forMatch(pattern), noSlash(name))
	return ok && err == nil
}

// noSlash writes a slash as a byte that names do not have: path.Match treats it apart.
func noSlash(s string) string { return strings.ReplaceAll(s, "/", "\x01") }

// forMatch writes a pattern as path.Match reads it.
func forMatch(pattern string) string {
	var w strings.Builder
	class := false // i is in brackets
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '[' && !class:
			if class = opens(pattern[i+1:]); !class {
				w.WriteByte('\\')
			}
			w.WriteByte(c)
		case c == '\\' && i+1 < len(pattern):
			w.WriteString(pattern[i : i+2])
			i++
		default:
			class = class && c != ']'
			w.WriteByte(c)
		}
	}
	return noSlash(w.String())
}

// opens reports whether a bracket in front of s has characters in it and another closes it.
func opens(s string) bool {
	s = strings.TrimPrefix(s, "^")
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ']':
			return i > 0
		case '\\':
			i++
		}
	}
	return false
}

// isGlob reports whether s has a character that is special in a glob.
func isGlob(s string) bool { return strings.ContainsAny(s, `*?[\`) }

// Globs refuses patterns that fit nothing. One that is no glob may still be a name.
func Globs(flag string, list []string) (patterns, error) {
	if slices.Contains(list, "") {
		return nil, callf("--%s: an empty name names nothing", flag)
	}
	return list, nil
}

// nearest is the end of a message about a pattern that fits none of the names.
func nearest(pattern string, names iter.Seq[string]) string {
	if _, err := path.Match(forMatch(pattern), ""); err != nil && isGlob(pattern) {
		return "; it is no glob: no range stands in its brackets, or a backslash ends it"
	}
	return Nearest(pattern, names)
}

// Near returns the names most like name, the best first, at most n. A name is like
// another if few letters differ, or if one begins the other.
func Near(name string, names iter.Seq[string], n int) (near []string) {
	type candidate struct {
		name string
		far  int
	}
	var best []candidate
	most := max(2, len(name)/3)
	seen := map[string]bool{}
	names(func(c string) bool {
		d := distance(strings.ToLower(name), strings.ToLower(c), most)
		part := len(name) >= 3 && strings.Contains(c, name)
		if d > most && !part || seen[c] || c == "" {
			return true
		}
		seen[c] = true
		at := 0
		for at < len(best) && (best[at].far < d || best[at].far == d && best[at].name < c) {
			at++
		}
		best = slices.Insert(best, at, candidate{c, d})
		best = best[:min(len(best), n)]
		return true
	})
	for _, c := range best {
		near = append(near, c.name)
	}
	return near
}

// Nearest is the end of a message about a name that is refused: "; is it ..." with the
// names most like it, "" where none is. It is never the name itself.
func Nearest(name string, names iter.Seq[string]) string {
	near := slices.DeleteFunc(Near(name, names, 4), func(n string) bool { return n == name })
	if len(near) > 0 {
		return "; is it " + or(near[:min(len(near), 3)])
	}
	return ""
}

// Has reports whether name is among names.
func Has(name string, names iter.Seq[string]) bool {
	for n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// distance returns how many letters must be put in, taken out or replaced to make b of a;
// most+1 if it is more than most.
func distance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, least := row[0], i
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := before
			if a[i-1] != b[j-1] {
				cost = 1 + min(before, row[j], row[j-1])
			}
			before, row[j] = row[j], cost
			least = min(least, cost)
		}
		if least > most {
			return most + 1
		}
	}
	return min(row[len(b)], most+1)
}

// or renders names with "or" between them, each in quotes.
func or(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = `"` + terminal.Plain(n) + `"`
	}
	return strings.Join(quoted, " or ")
}
