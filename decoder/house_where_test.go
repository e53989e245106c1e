package decoder_test

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// whereRow is a row of the table "Where to change what": what a reader asks, and which
// files answer.
var whereRow = regexp.MustCompile(`(?m)^\| (.+?) \| (.+) \|$`)

// quotedWord is what stands between backquotes; sourceFile a name of a file that rows tell,
// and plainName one of a thing that a file declares.
var (
	quotedWord = regexp.MustCompile("`([^`]+)`")
	sourceFile = regexp.MustCompile(`\.(go|js|md)$`)
	plainName  = regexp.MustCompile(`^[A-Za-z]\w*$`)
)

// findWhere follows the table "Where to change what" of docs/architecture.md: each file and
// folder that it names exists, and each other name stands in one of the row's files. A bare
// name of a file lies in the folder named last; where none was named, in some folder.
func findWhere(h *house) (found []string) {
	const name = "docs/architecture.md"
	text, err := fs.ReadFile(h.fsys, name)
	if err != nil {
		return []string{err.Error()}
	}
	_, table, ok := strings.Cut("\n"+string(text), "\n## Where to change what\n")
	if !ok {
		return []string{name + `: no table "Where to change what"`}
	}
	table, _, _ = strings.Cut(table, "\n## ")
	for _, row := range whereRow.FindAllStringSubmatch(table, -1) {
		for _, gone := range h.goneFrom(row[2]) {
			found = append(found, fmt.Sprintf("%s, %q: %s", name, row[1], gone))
		}
	}
	return found
}

// goneFrom returns what files, the answer of a row, names and the tree lacks.
func (h *house) goneFrom(files string) (gone []string) {
	dir, named, sources := "", []string(nil), []byte(nil)
	for _, m := range quotedWord.FindAllStringSubmatch(files, -1) {
		word := m[1]
		switch {
		case strings.ContainsAny(word, "* "):
		case sourceFile.MatchString(word):
			at := path.Join(dir, word)
			if strings.Contains(word, "/") {
				at, dir = word, path.Dir(word)
			} else if dir == "" {
				if !slices.ContainsFunc(h.files, func(f goFile) bool { return path.Base(f.name) == word }) {
					gone = append(gone, "no file "+word)
				}
				continue
			}
			text, err := fs.ReadFile(h.fsys, at)
			if err != nil {
				gone = append(gone, "no file "+at)
			}
			sources = append(sources, text...)
		case strings.Contains(word, "/"):
			dir = word
			if _, err := fs.Stat(h.fsys, word); err != nil {
				gone = append(gone, "no folder "+word)
			}
		case plainName.MatchString(word):
			named = append(named, word)
		}
	}
	for _, n := range named {
		if !regexp.MustCompile(`\b` + n + `\b`).Match(sources) {
			gone = append(gone, "no "+n+" in its files")
		}
	}
	return gone
}
