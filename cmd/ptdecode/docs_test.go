package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// Pages for readers show commands in fenced blocks of the language console:
//
//	```console
//	$ ptdecode info demo.tar.zst
//	what it prints
//	```
//
// Each line behind "$ " is run by a shell, in the order of the page and in one folder,
// and what follows it is what it prints on both outputs. A last line [exit code N] is
// that, if it is not 0. With -update the test writes what the commands print.
//
// A block below a line <!-- run where there is PROGRAM --> is left as it is on machines
// without that program. Below <!-- run with the recording NAME --> it is where there are
// no recordings. Other fenced blocks with commands stand below a line
// <!-- not run: WHY -->. Of these, and of all other documents, only verbs and flags are
// checked.

// docPages are the pages whose commands are run.
var docPages = []string{
	"README.md", "docs/recipes.md", "docs/troubleshooting.md",
	"docs/from-perf.md", "docs/from-magic-trace.md", "docs/from-opencsd.md",
	"docs/exports.md", "docs/install.md", "docs/recording.md", "docs/scale.md",
}

// maxNotRun is how many blocks with commands of ptdecode these pages may show and not run: the
// script for Slurm, whose line is run beside it. Those that only record are not among
// them: a test of the recorder plans them.
const maxNotRun = 1

// docBlock is a fenced block of a page.
type docBlock struct {
	line        int    // of its fence, from 1
	lang, text  string // text is what stands between the fences
	before      string // the last line that is not empty, above the fence
	start, stop int    // where text lies in the page, bytes
}

// docBlocks returns the fenced blocks of a page.
func docBlocks(page string) (blocks []docBlock) {
	var open *docBlock
	at, before := 0, ""
	n := 0
	for line := range strings.Lines(page) {
		n++
		lang, fence := strings.CutPrefix(strings.TrimRight(line, "\n"), "```")
		switch {
		case fence && open == nil:
			open = &docBlock{line: n, lang: lang, before: before, start: at + len(line)}
		case fence:
			open.stop, open.text = at, page[open.start:at]
			blocks = append(blocks, *open)
			open, before = nil, ""
		case open == nil && strings.TrimSpace(line) != "":
			before = strings.TrimSpace(line)
		}
		at += len(line)
	}
	return blocks
}

// commands returns the lines of a block that are commands, without the prompt.
func (b docBlock) commands() (list []string) {
	text := strings.ReplaceAll(b.text, "\\\n", " ")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if b.lang == "console" {
			var ok bool
			if line, ok = strings.CutPrefix(line, "$ "); !ok {
				continue
			}
		}
		if line != "" {
			list = append(list, line)
		}
	}
	return list
}

// canRun reports whether the program, or the recording, that b is run with is there.
func (b docBlock) canRun() bool {
	if strings.HasPrefix(b.before, "<!-- run with the recording ") {
		return os.Getenv("PTDECODE_DATA") != ""
	}
	program, ok := strings.CutPrefix(b.before, "<!-- run where there is ")
	if !ok {
		return true
	}
	_, err := exec.LookPath(strings.TrimSuffix(program, " -->"))
	return err == nil
}

// oneWriter serialises writes: a command's outputs are one here.
type oneWriter struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *oneWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(b)
}

// plainWords matches commands that need no shell.
var plainWords = regexp.MustCompile(`^ptdecode( [-+,.:/@%=\w\[\]]+)*$`)

// docRun runs a command of a page in the working folder, and returns what the page
// must show below it.
func docRun(t *testing.T, command string) string {
	t.Helper()
	var w oneWriter
	code := 0
	if plainWords.MatchString(command) {
		code = run(strings.Fields(command)[1:], strings.NewReader(""), &w, &w)
	} else {
		c := exec.Command("sh", "-c", "ptdecode() { "+process+" \"$@\"; }\n"+command)
		c.Stdout, c.Stderr = &w, &w
		if err := c.Run(); c.ProcessState == nil {
			t.Fatal(err)
		}
		code = c.ProcessState.ExitCode()
	}
	out := w.buf.String()
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	if code != 0 {
		out += fmt.Sprintf("[exit code %d]\n", code)
	}
	return out
}

// TestDocs would catch a page that shows another output than the command prints. It
// would catch a block that is neither run nor says why, and pages with ever more of
// what nobody runs.
func TestDocs(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("LC_ALL", "C")
	ran, shown := 0, 0
	for _, name := range testsize.Some(t, docPages, 4) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(root, name)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			t.Chdir(dir)
			docFiles(t, name)
			page := string(b)
			var fresh strings.Builder
			at := 0
			for _, block := range docBlocks(page) {
				why, skip := strings.CutPrefix(block.before, "<!-- not run: ")
				switch {
				case skip && len(why) < len("why -->"):
					t.Errorf("%s:%d: a block that is not run does not say why", name, block.line)
				case skip && slices.ContainsFunc(block.commands(), func(line string) bool {
					return isPtdecode(line) && docCalls(line)[0][0] != "record"
				}):
					shown++
				case skip:
				case !block.canRun():
					t.Logf("%s:%d: not run: %s", name, block.line, block.before)
				case block.lang == "console":
					fresh.WriteString(page[at:block.start])
					for _, command := range block.commands() {
						ran++
						fresh.WriteString("$ " + command + "\n" + docRun(t, command))
					}
					at = block.stop
				case slices.ContainsFunc(block.commands(), isPtdecode):
					t.Errorf("%s:%d: a block with commands is not run: make its language console, or put <!-- not run: WHY --> above it", name, block.line)
				}
			}
			fresh.WriteString(page[at:])
			docCompare(t, name, path, page, fresh.String())
		})
	}
	t.Logf("%d commands run, %d blocks not run", ran, shown)
	if shown > maxNotRun {
		t.Errorf("%d blocks are not run, at most %d", shown, maxNotRun)
	}
}

// docCompare compares a page with what it must be, and with -update writes that.
func docCompare(t *testing.T, name, path, page, want string) {
	t.Helper()
	if page == want {
		return
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, need := strings.Split(page, "\n"), strings.Split(want, "\n")
	for i := range have {
		if i >= len(need) || have[i] != need[i] {
			t.Fatalf("%s:%d: the page shows\n%s\nand not what the command prints:\n%s\nrun go test ./cmd/ptdecode -run TestDocs -update, and read the difference",
				name, i+1, have[i], strings.Join(need[min(i, len(need)):min(i+3, len(need))], "\n"))
		}
	}
	t.Fatalf("%s: the page ends too early", name)
}

// isPtdecode reports whether a line runs the command.
func isPtdecode(line string) bool {
	return len(docCalls(line)) > 0
}
