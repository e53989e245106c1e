package decoder_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// maxSentence is how many words a sentence may have.
const maxSentence = 30

var sentenceRule = rule{"sentences", findSentences, nil, sentenceBudgets}

// TestSentences would catch sentences that the rule joins, or cuts where none
// ends: both would let a long one pass, or blame a short one.
func TestSentences(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // each as line:words
	}{
		{"One two. Three\nfour. five", []string{"1:2", "1:2", "2:1"}},
		{"See e.g. this, i.e. that, cf. the vol. 3 of it etc. and more. End", []string{"1:14", "1:1"}},
		{"(One two.) \"Three four.\" Five? Six! Seven", []string{"1:2", "1:2", "1:1", "1:1", "1:1"}},
		{"Version 1.2.3 of x.y is at a.go:7. It", []string{"1:7", "1:1"}},
		{"The sign ... and the sign . are none, and so on ... Next", []string{"1:11"}},
		{"It ends with \"a: \". The sign \".\" does not. End", []string{"1:4", "1:4", "1:1"}},
		{"Code is `a. b c. d` one word.", []string{"1:5"}},
		{"a + b = c - 1", []string{"1:4"}},
		{"Some:\n  - one\n    more. Two\n  - three\n\nAnd four", []string{"1:1", "2:2", "3:1", "4:1", "6:2"}},
		{"- one\nmore of it\n1. two.\nno item", []string{"1:4", "3:1", "4:2"}},
		{"Code:\n\n\tx := 1\n\ty := 2\n\nends", []string{"1:1", "6:1"}},
		{"One\n| a | b |\n|---|---|\n| c | d |\ntwo", []string{"1:1", "5:1"}},
		{"# Title\ntext\nname     what it is\nother    too", []string{"2:1"}},
	} {
		var lines []proseLine
		for i, l := range strings.Split(c.text, "\n") {
			lines = append(lines, proseLine{i + 1, l})
		}
		var got []string
		for _, p := range paragraphs(lines) {
			for _, s := range sentences(p) {
				got = append(got, fmt.Sprintf("%d:%d", s.line, words(s.text)))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: sentences at lines, with words, %v, want %v", c.text, got, c.want)
		}
	}
}

// findSentences looks for sentences that are too long, in the comments of all
// code and in the documents. Code, tables and headings are no sentences. Each
// item of a list stands for itself.
func findSentences(h *house) (found []string) {
	judge := func(file string, lines []proseLine) {
		for _, p := range paragraphs(lines) {
			for _, s := range sentences(p) {
				if n := words(s.text); n > maxSentence {
					found = append(found, fmt.Sprintf("%s:%d: %d words, at most %d: %s", file, s.line, n, maxSentence, s.text))
				}
			}
		}
	}
	for _, f := range h.files {
		if f.generated {
			continue
		}
		for _, lines := range h.comments(f) {
			judge(f.name, lines)
		}
	}
	for _, name := range h.documents() {
		src, err := fs.ReadFile(h.fsys, name)
		if err != nil {
			return append(found, err.Error())
		}
		judge(name, documentLines(string(src)))
	}
	return found
}

// proseLine is a line of a comment or a document, and the line of the file
// that it stands on.
type proseLine struct {
	line int
	text string
}

// comments returns the comments of f, each as its lines without the slashes.
// A comment that begins behind code and goes on below, in the same column, is
// one: go/ast makes two groups of it.
func (h *house) comments(f goFile) (all [][]proseLine) {
	var last *ast.CommentGroup
	for _, g := range f.ast.Comments {
		lines := h.commentLines(g)
		if last != nil {
			from, to := h.fset.Position(last.Pos()), h.fset.Position(g.Pos())
			alone := len(bytes.TrimSpace(f.src[to.Offset-to.Column+1:to.Offset])) == 0
			if alone && h.fset.Position(last.End()).Line+1 == to.Line && from.Column == to.Column {
				all[len(all)-1] = append(all[len(all)-1], lines...)
				last = g
				continue
			}
		}
		all, last = append(all, lines), g
	}
	return all
}

// directive is a comment that speaks to a tool.
var directive = regexp.MustCompile(`^//[a-z]+:[a-z]|^//(line|export) `)

// commentLines returns the lines of one group. What an example prints is data.
func (h *house) commentLines(g *ast.CommentGroup) (lines []proseLine) {
	for _, c := range g.List {
		at := h.fset.Position(c.Pos()).Line
		if directive.MatchString(c.Text) {
			lines = append(lines, proseLine{line: at})
			continue
		}
		text, block := strings.CutPrefix(c.Text, "/*")
		if block {
			text = strings.TrimSuffix(text, "*/")
		} else {
			text = strings.TrimPrefix(text, "//")
		}
		for i, l := range strings.Split(text, "\n") {
			l = strings.TrimPrefix(strings.TrimRight(l, " \t\r"), " ")
			if low := strings.ToLower(l); strings.HasPrefix(low, "output:") || strings.HasPrefix(low, "unordered output:") {
				return lines
			}
			lines = append(lines, proseLine{at + i, l})
		}
	}
	return lines
}

// documents returns the names of the documents in the tree, those of testdata
// among them.
func (h *house) documents() (names []string) {
	_ = fs.WalkDir(h.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case d.IsDir() && name != "." && (path.Base(name)[0] == '.' || name == "bin"):
			return fs.SkipDir
		case path.Ext(name) == ".md":
			names = append(names, name)
		}
		return nil
	})
	return names
}

// documentLines returns the lines of a document, empty ones in place of those
// between fences. A quotation's mark is dropped, a link leaves what it reads.
func documentLines(src string) (lines []proseLine) {
	fenced := false
	for i, l := range strings.Split(src, "\n") {
		fence := strings.HasPrefix(strings.TrimSpace(l), "```")
		if fence {
			fenced = !fenced
		}
		if fenced || fence {
			l = ""
		}
		l = strings.TrimPrefix(strings.TrimRight(l, " \t\r"), "> ")
		lines = append(lines, proseLine{i + 1, docLink.ReplaceAllString(l, "$1")})
	}
	return lines
}

var (
	docLink  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	listItem = regexp.MustCompile(`^\s*([-*+•]|\d{1,2}[.)]|[a-z]\))\s+`)
	// A row of a table: between bars, or in columns that spaces keep apart.
	tableRow = regexp.MustCompile(`^\s*\||[^\s.?!:;,]( {3,}| *\t+)\S|^[-=+| ]{3,}$`)
	heading  = regexp.MustCompile(`^#+ `)
)

// paragraphs cuts lines where a sentence cannot go on: at empty lines, before
// and after an item of a list, and around what is no prose. That is an
// indented line which continues no item, a row of a table, a heading.
func paragraphs(lines []proseLine) (all [][]proseLine) {
	var now []proseLine
	item := false
	end := func() {
		if len(now) > 0 {
			all = append(all, now)
		}
		now = nil
	}
	for _, l := range lines {
		indented := strings.HasPrefix(l.text, " ") || strings.HasPrefix(l.text, "\t")
		switch mark := listItem.FindString(l.text); {
		case l.text == "":
			end()
			item = false
		case mark != "":
			end()
			item = true
			now = append(now, proseLine{l.line, l.text[len(mark):]})
		case heading.MatchString(l.text), tableRow.MatchString(l.text), indented && !item:
			end()
			item = false
		default:
			if item && !indented && !isOpen(now) {
				end()
				item = false
			}
			now = append(now, l)
		}
	}
	end()
	return all
}

// isOpen reports whether the last line of a list's item leaves its sentence
// unfinished. Then the next one continues it even if it is not indented.
func isOpen(p []proseLine) bool {
	return len(p) > 0 && !strings.ContainsAny(p[len(p)-1].text[len(p[len(p)-1].text)-1:], ".?!:;")
}

// sentences cuts a paragraph behind full stops, question and exclamation
// marks. A sentence has the line on which it begins.
func sentences(p []proseLine) (all []proseLine) {
	var now proseLine
	quoted := false // between two backquotes: code, of which no stop ends a sentence
	for _, l := range p {
		fields := strings.Fields(l.text)
		for i, w := range fields {
			if now.text == "" {
				now = proseLine{l.line, w}
			} else {
				now.text += " " + w
			}
			if strings.Count(w, "`")%2 == 1 {
				quoted = !quoted
			}
			next := ""
			if i+1 < len(fields) {
				next = fields[i+1]
			}
			if !quoted && endsSentence(w, next) {
				all, now = append(all, now), proseLine{}
			}
		}
	}
	if now.text != "" {
		all = append(all, now)
	}
	return all
}

// abbreviations end in a stop that ends no sentence.
var abbreviations = map[string]bool{
	"e.g.": true, "i.e.": true, "cf.": true, "vs.": true, "resp.": true, "approx.": true, "incl.": true,
	"ca.": true, "fig.": true, "figs.": true, "no.": true, "nos.": true, "vol.": true, "sec.": true,
	"ch.": true, "p.": true, "pp.": true, "st.": true, "dr.": true, "mr.": true, "ms.": true,
}

// endsSentence reports whether word is the last of a sentence, next what
// follows it on its line.
func endsSentence(word, next string) bool {
	w := strings.TrimRight(word, `)]}"'”’»*_`+"`")
	if w == "" || !strings.ContainsAny(w[len(w)-1:], ".?!") {
		return false
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(next, `([{"'“‘«*_`+"`"))
	low := next != "" && unicode.IsLower(first)
	switch bare := strings.ToLower(strings.TrimLeft(w, `([{"'“‘«*_`+"`")); {
	case (bare == "." || bare == "..." || bare == "!" || bare == "?") && (word == bare || word != w):
		return false // a sign that the sentence speaks of
	case strings.HasSuffix(bare, "..."), bare == "etc.":
		return !low
	case abbreviations[bare]:
		return bare == "no." && next != "" && !unicode.IsDigit(first)
	case strings.HasSuffix(bare, "?"), strings.HasSuffix(bare, "!"):
		return !low || len(bare) > 1 && w == word
	}
	return true
}

// words counts what a reader reads as words. Code between backquotes is one,
// and a sign that stands alone is none.
func words(sentence string) (n int) {
	quoted := false
	for w := range strings.FieldsSeq(sentence) {
		if !quoted && strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
		if strings.Count(w, "`")%2 == 1 {
			quoted = !quoted
		}
	}
	return n
}

func findArchitecture(h *house) (found []string) {
	const name = "docs/architecture.md"
	text, err := fs.ReadFile(h.fsys, name)
	if err != nil {
		return []string{err.Error()}
	}
	for _, dir := range h.dirs {
		if !bytes.Contains(text, []byte("`"+dir+"`")) {
			found = append(found, fmt.Sprintf("%s: no word of `%s`", name, dir))
		}
	}
	return found
}

// link is an inline link's target up to its fragment.
var link = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)

// findLinks follows the links that stay in the tree.
func findLinks(h *house) (found []string) {
	for _, name := range h.documents() {
		text, err := fs.ReadFile(h.fsys, name)
		if err != nil {
			return append(found, err.Error())
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			to := string(m[1])
			if strings.Contains(to, ":") { // a scheme: not in the tree
				continue
			}
			if _, err := fs.Stat(h.fsys, path.Join(path.Dir(name), to)); err != nil {
				found = append(found, fmt.Sprintf("%s: link to %s, which does not exist", name, to))
			}
		}
	}
	return found
}
