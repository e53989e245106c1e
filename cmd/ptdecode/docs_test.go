package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ptdecode/ptdecode/pt"
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
// Other fenced blocks with commands stand below a line <!-- not run: WHY -->. Of these,
// and of all other documents, only verbs and flags are checked.

// docPages are the pages whose commands are run.
var docPages = []string{
	"README.md", "docs/recipes.md", "docs/troubleshooting.md",
	"docs/from-perf.md", "docs/from-magic-trace.md", "docs/from-opencsd.md",
}

// maxNotRun is how many blocks of these pages may be shown and not run.
const maxNotRun = 8

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
	for _, name := range docPages {
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
				case skip:
					shown++
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

// docFiles makes in the working folder the recordings that the page begins with.
func docFiles(t *testing.T, name string) {
	t.Helper()
	check := must(t)
	if name == "README.md" {
		return // it makes its own
	}
	check(os.CopyFS("board", os.DirFS(framedSnapshot(t, false))))
	if name != "docs/recipes.md" { // which makes that of the demonstration
		docRun(t, "ptdecode demo --keep demo")
		docRun(t, "ptdecode bundle --pt 0:demo/cpu0.pt --pt 1:demo/cpu1.pt --kcore demo/kcore --kallsyms demo/kallsyms --events demo/events.jsonl -o demo.tar.zst")
		return
	}
	guest := perfFile{noAux: true}
	host, err := pt.Assemble(nil, docHost)
	check(err)
	work, err := pt.Assemble(nil, workTrace())
	check(err)
	check(os.MkdirAll("guest.data/kcore_dir", 0o777))
	check(os.Mkdir("work", 0o777))
	for file, b := range map[string][]byte{
		"host.pt":                       host,
		"host.bin":                      []byte("\x90\x0f\x01\xc2\x90\x90\x90\x90\x90\xff\xe0"), // nop; vmlaunch; nops; jmp *rax
		"guest.data/data":               guest.bytes(check),
		"guest.data/kcore_dir/kcore":    demoFiles(check)["kcore"],
		"guest.data/kcore_dir/kallsyms": demoFiles(check)["kallsyms"],
		"work/cpu0.pt":                  work,
		"work/code.bin":                 workCode(check),
		"work/kallsyms":                 []byte("ffffffff81000000 T entry_SYSCALL_64\nffffffff81000020 T do_work\nffffffff81000040 T _etext\n"),
		"work/events.jsonl":             workEvents(),
	} {
		check(os.WriteFile(file, b, 0o666))
	}
	if out := docRun(t, "ptdecode bundle -q --pt work/cpu0.pt --text work/code.bin@0xffffffff81000000 --kallsyms work/kallsyms --events work/events.jsonl -o work.tar.zst"); out != "" {
		t.Fatal(out)
	}
}

// The recording work.tar.zst: a worker calls a function that loops. Its clock steps
// each 40 ns, and so does the loop. Half of the calls come before a change to the
// function's jump label, by which it loops longer.
const (
	workCalls = 24
	workPause = 300 // steps of the clock around the change
)

// workCode is the program before the change.
func workCode(check func(error)) []byte {
	b, err := hex.DecodeString("e81b000000480f07" + strings.Repeat("cc", 0x18) + // call do_work; sysretq
		"0f1f440000ffc975fcc3" + strings.Repeat("cc", 6) + // the jump label; dec %ecx; jne to it; ret
		"ffca75fce9ecffffff") // out of line: dec %edx; jne to it; jmp to the first loop
	check(err)
	return b
}

// workLoops gives how often the loops of the i-th call go round: the one out of line
// before the other.
func workLoops(i int) (out, in int) {
	if i < workCalls/2 {
		return 0, 4 + i*i%4
	}
	return 3 + i*i%5, 4
}

// workTrace gives the packets of work.tar.zst in text form.
func workTrace() string {
	ctc, n := uint64(demoStart/demoCrystal), uint64(0)
	var w strings.Builder
	fmt.Fprintf(&w, "psb\ntsc %#x\ntma %#x 0x0\nmode.exec l\npsbend\n", uint64(demoStart), ctc&0xffff)
	steps := func(count int, then string) {
		for range count {
			n++
			fmt.Fprintf(&w, "mtc %#x\n%s", (ctc+n)&0xff, then)
		}
	}
	for i := range workCalls {
		if i == workCalls/2 {
			steps(workPause, "")
		}
		steps(2, "")
		fmt.Fprintf(&w, "tip.pge 6: %#x\n", uint64(demoBase))
		out, in := workLoops(i)
		if out > 0 {
			steps(out, "tnt t\n")
			steps(1, "tnt n\n")
		}
		steps(in, "tnt t\n")
		steps(1, "tnt nt\n") // leaves the loop, and returns
		steps(1, "tip.pgd\n")
	}
	return w.String()
}

// workEvents gives the events of work.tar.zst: the change is made in the pause.
func workEvents() []byte {
	before := workPause / 2
	for i := range workCalls / 2 {
		_, in := workLoops(i)
		before += 4 + in
	}
	return fmt.Appendf(nil, `{"type":"stream","version":1}
{"type":"attr","name":"intel_pt//k","pmu":8,"config":"600"}
{"type":"auxtrace_info","pmu":1,"priv":["8","0","1","0","1","400","800","3","0","1","200","3c000","50","2","2","a","0","0"]}
{"type":"time_conv","mult":1,"cap_zero":true}
{"type":"comm","time":%d,"cpu":0,"pid":101,"tid":101,"comm":"worker"}
{"type":"itrace_start","time":%d,"cpu":0,"pid":101,"tid":101}
{"type":"text_poke","time":%d,"cpu":1,"pid":100,"tid":100,"addr":"%x","old":"0f1f440000","new":"e90b000000","scheme":"bp"}
`, demoStart-2, demoStart-1, demoStart+demoCrystal*before, uint64(demoBase+0x20))
}

// docHost is the trace of a host that enters a guest and comes back.
const docHost = `psb
pip 0x5000
mode.exec l
fup 3: 0x1000
psbend
pip 0x6000 nr
mode.exec l
tip 6: 0xffffffff81000000
fup 2: 0x81000023
pip 0x5000
mode.exec l
tip 6: 0x1008
tip 1: 0x1000
tip.pgd
`

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
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../docs/formats/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
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
	}
	if checked < 60 {
		t.Errorf("only %d commands were found", checked)
	}
	for _, wrong := range []string{"ptdecode flwo x", "a | ptdecode flow --colour x", "ptdecode flow x; ptdecode info --sym 'a b'"} {
		if err := firstError(docCalls(wrong)); err == nil {
			t.Errorf("%q: nothing found wrong", wrong)
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
	if slices.Equal(args, []string{"help"}) || slices.Equal(args, []string{"VERB", "--help"}) {
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
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, name := range append(names, "../../README.md") {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
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
