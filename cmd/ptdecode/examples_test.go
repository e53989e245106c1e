package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// exampleCalls returns the lines of the examples of c and of the verbs below it.
func exampleCalls(c *cobra.Command) (list []string) {
	for line := range strings.Lines(strings.ReplaceAll(c.Example, "\\\n", " ")) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "ptdecode ") {
			list = append(list, line)
		}
	}
	for _, sub := range c.Commands() {
		list = append(list, exampleCalls(sub)...)
	}
	return list
}

// Examples that the test leaves out: perf's, servers and what waits for keys, which have
// tests of their own, and what is written to a user's own folders.
var exampleElsewhere = regexp.MustCompile(`ptdecode (record|view|profile|step) |go tool pprof|fpath|~/`)

// exampleNames is what may be said of an example: it names what another recording has.
var exampleNames = regexp.MustCompile(`(?m)^ptdecode: .*(no such (function|thread|change|symbol|trace buffer)|no function .* is known|no function of that name|the recording has \d+ changes?|no trace (from|of trace ID) )`)

// exampleWrong matches what is said of a call that failed or was wrong.
var exampleWrong = regexp.MustCompile(`(?m)^\[exit code [12]\]$|^ptdecode: hint: see ptdecode \w+ --help$|^sh: `)

// exampleOutput matches a file that an example writes and that must not be there.
var exampleOutput = regexp.MustCompile(`-o (\S+\.tar\.zst)`)

// exampleFiles makes in the working folder all that examples read: perf.data is the real
// recording, or where there is none that of the demonstration.
func exampleFiles(t *testing.T, recording string) {
	t.Helper()
	check := must(t)
	docRun(t, "ptdecode demo --keep demo")
	kcore, kallsyms, events, trace := "demo/kcore", "demo/kallsyms", "demo/events.jsonl", "demo"
	if recording == "" {
		docRun(t, "ptdecode bundle -q --pt 0:demo/cpu0.pt --pt 1:demo/cpu1.pt --kcore demo/kcore --kallsyms demo/kallsyms --events demo/events.jsonl -o perf.data")
	} else {
		check(os.CopyFS("perf.data", os.DirFS(filepath.Join(recording, "perf.data"))))
		check(filepath.WalkDir("perf.data", func(path string, _ fs.DirEntry, err error) error {
			check(err)
			return os.Chmod(path, 0o777)
		}))
		docRun(t, "ptdecode events perf.data > recorded.jsonl")
		kcore, kallsyms, events, trace = "perf.data/kcore_dir/kcore", "perf.data/kcore_dir/kallsyms", "recorded.jsonl", recording
	}
	for to, from := range map[string]string{
		"kcore": kcore, "kcore.after": kcore, "kallsyms": kallsyms, "e.jsonl": events,
		"cpu0.pt": filepath.Join(trace, "cpu0.pt"), "cpu1.pt": filepath.Join(trace, "cpu1.pt"),
	} {
		b, err := os.ReadFile(from)
		check(err)
		check(os.WriteFile(to, b, 0o666))
	}
	same, err := filepath.Abs("perf.data")
	check(err)
	for _, to := range []string{"a.data", "b.data", "c.data", "before/perf.data", "after/perf.data", "old.tar.zst", "new.tar.zst"} {
		check(os.MkdirAll(filepath.Dir(to), 0o777))
		check(os.Symlink(same, to))
	}
	check(os.CopyFS("snapshot", os.DirFS(framedSnapshot(t, false))))
}

// TestExamples would catch an example of a verb's help, its manual page and docs/cli.md that
// fails, or that the command calls a wrong use of it. Some name functions and changes that
// the recording does not have: few do with a real one, of PTDECODE_FULL=all.
func TestExamples(t *testing.T) {
	recording := ""
	if dir := os.Getenv("PTDECODE_DATA"); dir != "" && testsize.Of(t, 0, 0, 1) == 1 {
		recording = filepath.Join(dir, "kernel-pokes-x86/tracepoints-coarse")
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("LC_ALL", "C")
	t.Chdir(t.TempDir())
	exampleFiles(t, recording)
	ran, named := 0, 0
	all := exampleCalls(newRoot(&app{ui: newUI(&bytes.Buffer{}, &bytes.Buffer{})}))
	for _, line := range all[:testsize.Of(t, 35, len(all))] { // some need what those before them wrote
		if exampleElsewhere.MatchString(line) {
			continue
		}
		if _, err := exec.LookPath("jq"); err != nil && strings.Contains(line, "jq ") {
			continue
		}
		if m := exampleOutput.FindStringSubmatch(line); m != nil {
			os.Rename(m[1], "earlier")
		}
		ran++
		said := docRun(t, "{ "+line+"\n} >/dev/null; code=$?; [ ! -e earlier ] || mv -n earlier bug.tar.zst; exit $code")
		if !exampleWrong.MatchString(said) {
			continue
		}
		if !exampleNames.MatchString(said) {
			t.Errorf("%s: %s", line, said)
		}
		named++
	}
	t.Logf("%d examples run, of which %d name what the recording does not have", ran, named)
	most := 22
	if recording != "" {
		most = 5
	}
	if ran < testsize.Of(t, 20, 80) || named > most {
		t.Errorf("%d examples run, and %d of these not to their end", ran, named)
	}
}
