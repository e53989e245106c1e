package snapshot

import (
	"slices"
	"strconv"
	"strings"
)

// iniFile is an ini file as read: sections in order, entries in order.
type iniFile struct {
	name     string // relative to the snapshot's directory
	sections []section
	byName   map[string][]int // indexes of the sections
}

type section struct {
	name    string
	line    int // from 1
	entries []entry
}

type entry struct {
	line       int
	key, value string // without blanks around them; the value without quotes
}

// find returns the section's first entry of a key.
func (s *section) find(key string) (entry, bool) {
	for _, e := range s.entries {
		if e.key == key {
			return e, true
		}
	}
	return entry{}, false
}

// all returns the sections of a name.
func (f *iniFile) all(name string) []*section {
	var list []*section
	for _, i := range f.byName[name] {
		list = append(list, &f.sections[i])
	}
	return list
}

// sectionNames lists the names of the file's sections, for hints.
func (f *iniFile) sectionNames() string {
	if len(f.sections) == 0 {
		return "the file has no sections"
	}
	var names []string
	for _, s := range f.sections {
		if n := "[" + s.name + "]"; len(names) < 12 && (len(names) == 0 || names[len(names)-1] != n) {
			names = append(names, n)
		}
	}
	return "the file's sections are " + strings.Join(names, " ")
}

// parseIni reads ini text. Lines that are neither a section, key=value nor
// empty are noted and left out.
func (s *Snapshot) parseIni(name string, data []byte) *iniFile {
	f := &iniFile{name: name, byName: map[string][]int{}}
	text := strings.TrimPrefix(string(data), "\xEF\xBB\xBF")
	for n := 1; len(text) > 0; n++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = strings.TrimSpace(stripComment(line))
		if line == "" {
			continue
		}
		if line[0] == '[' {
			title, _, closed := strings.Cut(line[1:], "]")
			if !closed {
				s.problem(name, n, "close it with ]", "section %s has no ]: taken as [%s]", quote(line), strings.TrimSpace(title))
			}
			title = strings.TrimSpace(title)
			f.byName[title] = append(f.byName[title], len(f.sections))
			f.sections = append(f.sections, section{name: title, line: n})
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			s.problem(name, n, "write key=value or [section]; a comment starts with ; or #",
				"%s is neither key=value nor a section: left out", quote(line))
			continue
		}
		if len(f.sections) == 0 {
			s.problem(name, n, "put it below a [section]", "%s stands before the first section: left out", quote(line))
			continue
		}
		last := &f.sections[len(f.sections)-1]
		last.entries = append(last.entries, entry{n, strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"'`)})
	}
	return f
}

// stripComment cuts a line at a comment. A ; or # between quotes
// is none.
func stripComment(line string) string {
	var quoted byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == ';', c == '#':
			return line[:i]
		case (c == '"' || c == '\'') && strings.IndexByte(line[i+1:], c) >= 0:
			quoted = c
		}
	}
	return line
}

// quote prints text from a file in a message, cut where it is long.
func quote(text string) string {
	const most = 60
	if len(text) > most {
		return strconv.Quote(text[:most]) + "..."
	}
	return strconv.Quote(text)
}

// number reads a decimal or 0x number of up to 64 bits.
func number(text string) (uint64, bool) {
	base := 10
	if len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x' {
		base, text = 16, text[2:]
	}
	v, err := strconv.ParseUint(text, base, 64)
	return v, err == nil
}

// list splits a list at commas; empty parts are left out.
func list(text string) []string {
	var parts []string
	for p := range strings.SplitSeq(text, ",") {
		if p = strings.TrimSpace(p); p != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

// once reads the entries of a section that may have each key but once, and
// notes the others. Keys that are not known are noted where the section is
// strict.
func (s *Snapshot) once(f *iniFile, sec *section, strict bool, known ...string) map[string]entry {
	got := map[string]entry{}
	for _, e := range sec.entries {
		first, dup := got[e.key]
		switch {
		case !slices.Contains(known, e.key):
			if strict {
				s.problem(f.name, e.line, "keys of this section: "+strings.Join(known, ", "),
					"[%s]: %s is no key of it: left out", sec.name, quote(e.key))
			}
		case dup:
			s.problem(f.name, e.line, "keep one of them", "[%s]: %s stands here and in line %d: the first is taken",
				sec.name, e.key, first.line)
		default:
			got[e.key] = e
		}
	}
	return got
}
