package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// shellEnd matches what ends a command on a line of a shell: outside of quotes.
var shellEnd = regexp.MustCompile(`'[^']*'|"[^"]*"|(\||;|&&| #|[0-9]?>|<|$)`)

// docCalls returns the arguments of each ptdecode that a line of a shell runs.
func docCalls(line string) (calls [][]string) {
	for line != "" {
		end, next := len(line), len(line)
		for _, m := range shellEnd.FindAllStringSubmatchIndex(line, -1) {
			if m[2] >= 0 {
				end, next = m[2], m[3]
				break
			}
		}
		part := strings.TrimSpace(line[:end])
		part = strings.TrimPrefix(strings.TrimPrefix(part, "sudo "), "time ")
		if args, ok := strings.CutPrefix(part, "ptdecode "); ok {
			calls = append(calls, shellWords(args))
		}
		if next < len(line) && strings.HasSuffix(line[:next], " #") {
			break // a comment
		}
		line = line[max(next, 1):]
	}
	return calls
}

// wordOf matches a word of a shell's line.
var wordOf = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)

// shellWords splits a command's arguments as a shell does.
func shellWords(line string) (words []string) {
	for _, w := range wordOf.FindAllString(line, -1) {
		words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(w))
	}
	return words
}

// TestDocsFlags would catch a document, whether its commands are run or not, that
// tells readers of a verb or a flag that the command does not have.
func TestDocsFlags(t *testing.T) {
	checked := 0
	for name, b := range testsize.Files(t, "../../README.md", "../../docs/*.md", "../../docs/formats/*.md") {
		for _, block := range docBlocks(string(b)) {
			if strings.HasSuffix(name, "cli.md") {
				continue // made from the flags themselves
			}
			for _, line := range block.commands() {
				if block.lang == "console" && strings.Contains(block.text, line+"\nptdecode: ") {
					continue // it shows what a wrong call says
				}
				for _, args := range docCalls(line) {
					checked++
					if err := parseCall(args); err != nil {
						t.Errorf("%s:%d: ptdecode %s: %v", name, block.line, strings.Join(args, " "), err)
					}
				}
			}
		}
	}
	for _, name := range docPages {
		b, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inline.FindAllSubmatch(b, -1) {
			for _, args := range docCalls(strings.ReplaceAll(string(m[1]), `\|`, "|")) {
				checked++
				if err := parseCall(args); err != nil {
					t.Errorf("%s: `ptdecode %s`: %v", name, strings.Join(args, " "), err)
				}
			}
		}
	}
	if checked < 150 {
		t.Errorf("only %d commands were found", checked)
	}
	for _, wrong := range []string{"ptdecode flwo x", "a | ptdecode flow --colour x", "ptdecode flow x; ptdecode info --sym 'a b'"} {
		if err := firstError(docCalls(wrong)); err == nil {
			t.Errorf("%q: nothing found wrong", wrong)
		}
	}
}

// inline matches a command in a sentence or a table.
var inline = regexp.MustCompile("`(ptdecode [^`\n]+)`")

// TestDocsReasons would catch a reason of gaps of which the page by symptom says nothing.
func TestDocsReasons(t *testing.T) {
	b, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	for r := event.ReasonNone + 1; r < event.NumReasons; r++ {
		if !strings.Contains(string(b), "\n| `"+r.String()+"` |") {
			t.Errorf("docs/troubleshooting.md has no row for gaps of the reason %s", r)
		}
	}
}

// firstError parses calls and returns what is wrong with the first that is.
func firstError(calls [][]string) error {
	for _, args := range calls {
		if err := parseCall(args); err != nil {
			return err
		}
	}
	return nil
}

// parseCall says what is wrong with the verb or the flags of a call.
func parseCall(args []string) error {
	root := newRoot(&app{ui: newUI(&bytes.Buffer{}, &bytes.Buffer{})})
	root.InitDefaultHelpCmd()
	root.InitDefaultVersionFlag()
	if slices.Equal(args, []string{"VERB", "--help"}) {
		return nil
	}
	c, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if c == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return fmt.Errorf("no verb %q", rest[0])
	}
	if c.DisableFlagParsing {
		return nil
	}
	c.InitDefaultHelpFlag()
	return c.ParseFlags(rest)
}

// heading and anchored match a page's headings, and links to one.
var (
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchored = regexp.MustCompile(`\]\(([^)#: ]*)#([^) ]+)\)`)
	notSlug  = regexp.MustCompile(`[^\w\- ]`)
)

// TestDocsAnchors would catch a link to a heading that no page has (any more). That
// files exist to which links lead is a rule of the house.
func TestDocsAnchors(t *testing.T) {
	slugs := func(path string) map[string]bool {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		set := map[string]bool{}
		for _, m := range heading.FindAllSubmatch(b, -1) {
			set[strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(string(m[1])), ""), " ", "-")] = true
		}
		return set
	}
	links := 0
	for name, b := range testsize.Files(t, "../../docs/*.md", "../../README.md") {
		for _, m := range anchored.FindAllSubmatch(b, -1) {
			links++
			to := name
			if len(m[1]) > 0 {
				to = filepath.Join(filepath.Dir(name), string(m[1]))
			}
			if !slugs(to)[string(m[2])] {
				t.Errorf("%s: link to #%s, a heading that %s does not have", name, m[2], to)
			}
		}
	}
	if links < 10 {
		t.Errorf("only %d links to headings were found", links)
	}
}
