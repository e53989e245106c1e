package decoder

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mutation is a mistake put into the decoder on purpose.
type mutation struct {
	name   string
	edits  []edit
	caught []string // tests that must fail of it, among others
}

// edit replaces what stands exactly once in a file.
type edit struct{ file, from, to string }

// truths are the tests of what a CPU executed.
var truths = []string{"TestTruth", "TestTruthHistory"}

// mutations are mistakes that the tests must not miss. docs/testing.md lists
// them.
var mutations = []mutation{
	{"pokes ignored", []edit{
		{"decoder/assemble.go", "kcore.NewJournalOf(f.Pokes, ", "kcore.NewJournalOf(nil, "},
	}, truths},
	{"poke times shifted by one window", []edit{
		{"kcore/journal.go", "\t\tp.Begin, p.End = p.Begin-min(", "\t\tp.Time, p.Begin, p.End = p.Time+1000, p.Begin+1000, p.End+1000\n\t\tp.Begin, p.End = p.Begin-min("},
	}, truths},
	{"old and new swapped", []edit{
		{"kcore/journal.go", "\t\tp.Begin, p.End = p.Begin-min(", "\t\tp.Old, p.New = p.New, p.Old\n\t\tp.Begin, p.End = p.Begin-min("},
	}, truths},
	{"traps treated as ordinary interrupts", []edit{
		{"decoder/internal/flow/execute.go", "if x.ahead.isBreak(e) {", "if false && x.ahead.isBreak(e) {"},
	}, []string{"TestTrapTruth", "TestPoke"}},
	{"validity spans ignored in the block cache", []edit{
		{"decoder/internal/flow/cache.go", "if b.Span.Has(at) {", "if true {"},
		{"decoder/internal/flow/reader.go", "b.Mode != m || b.Span.From > lo || lo >= b.Span.Until {", "b.Mode != m {"},
		{"decoder/internal/flow/reader.go", "if lo < b.Span.From || hi >= b.Span.Until {", "if false {"},
	}, truths},
	{"evidence not carried between sites", []edit{
		{"decoder/internal/flow/evidence.go", "if f := text.Floor(i); f > v.floor {", "if f := text.Floor(i); false && f > v.floor {"},
	}, []string{"TestTruthScenarios", "TestPokeOrder"}},
	{"contradiction not taken back", []edit{
		{"decoder/internal/flow/writer.go", "o.wait.contradict(&o.batch, o.sure, &n.Gap, n.doubts)", "o.confirmDelivered()"},
	}, []string{"TestConfirms", "TestDoubtGoesBack"}},
	{"a flow taken for compared that has changed since", []edit{
		{"decoder/internal/flow/meeting.go", "if m.of.n.id != m.id {", "if false {"},
	}, []string{"TestMeetings"}},
	{"a flow that changed taken for the same", []edit{
		{"decoder/internal/flow/meeting.go", "\t\tn.id = w.spare.ids\n", "\t\t_ = n\n"},
	}, []string{"TestMeetings"}},
	{"a learned text not tested against all visits", []edit{
		{"decoder/internal/learn/against.go", "if len(h.Not) > 0 {", "if false {"},
	}, []string{"TestDecide"}},
	{"meetings before the notes that both flows have", []edit{
		{"decoder/internal/flow/meeting.go", "if w.align.answered(at, of) {", "if true {"},
	}, []string{"TestMeetings"}},
}

// mutated is what a mutation is tried on.
var mutated = []string{"./kcore", "./decoder/internal/flow", "./decoder/internal/learn", "./decoder"}

// TestMutations would catch a suite that lets a mistake pass: each mutation is
// put into a copy of the source, whose tests must fail. Run it with make
// mutate: it takes minutes.
func TestMutations(t *testing.T) {
	if os.Getenv("MUTATE") == "" {
		t.Skip("MUTATE is not set: the tests run once for each mutation, which takes minutes")
	}
	dir := t.TempDir()
	copySource(t, "..", dir)
	t.Log("without a mutation")
	if failed, out := runSuite(t, dir); len(failed) > 0 {
		t.Fatalf("the copy fails without a mutation: %v\n%s", failed, out)
	}
	for _, m := range mutations {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) {
			undo := m.apply(t, dir)
			defer undo()
			failed, out := runSuite(t, dir)
			t.Logf("%s: caught by %s", m.name, strings.Join(failed, ", "))
			for _, name := range m.caught {
				if !slices.Contains(failed, name) {
					t.Errorf("%s: %s does not fail\n%s", m.name, name, out)
				}
			}
		})
	}
}

// TestMutationsApply would catch a mutation whose place in the source is gone.
func TestMutationsApply(t *testing.T) {
	for _, m := range mutations {
		for _, e := range m.edits {
			src, err := os.ReadFile(filepath.Join("..", e.file))
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(src), e.from); n != 1 {
				t.Errorf("%s: %q stands %d times in %s, want once", m.name, e.from, n, e.file)
			}
		}
	}
}

// apply puts m into the source at dir; undo takes it out.
func (m *mutation) apply(t *testing.T, dir string) (undo func()) {
	var undos []func()
	for _, e := range m.edits {
		name := filepath.Join(dir, e.file)
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(src), e.from); n != 1 {
			t.Fatalf("%q stands %d times in %s, want once", e.from, n, e.file)
		}
		write := func(b string) {
			if err := os.WriteFile(name, []byte(b), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		write(strings.Replace(string(src), e.from, e.to, 1))
		undos = append(undos, func() { write(string(src)) })
	}
	return func() {
		slices.Reverse(undos)
		for _, u := range undos {
			u()
		}
	}
}

// copySource copies what building and testing the module takes.
func copySource(t *testing.T, from, to string) {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == ".git" || name == "bin" {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		}
		if !d.Type().IsRegular() || rel == ".git" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// failedTest is a failed test as go test tells it; not its parts, which are
// indented.
var failedTest = regexp.MustCompile(`(?m)^--- FAIL: ([A-Za-z0-9_]+)`)

// runSuite runs the tests of the module at dir, and returns the names of those
// that fail and the end of what was printed. The rules of the house are not of
// what a decoder does, nor is this test.
func runSuite(t *testing.T, dir string) (failed []string, out string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"test", "-short", "-count=1", "-timeout=0", "-skip", "^(TestHouse|TestMutations.*)$"}, mutated...)...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "SEEDS=8") // what a mutant says is slow to compare
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "MUTATE", "SEEDS", "FIRST", "TRUTH_TABLE", "PTDECODE_DATA", "PTDECODE_FULL", "GOFLAGS", "GOWORK", "PWD":
		default:
			cmd.Env = append(cmd.Env, v)
		}
	}
	b, err := cmd.CombinedOutput()
	out = string(b[max(0, len(b)-4000):])
	for _, m := range failedTest.FindAllSubmatch(b, -1) {
		failed = append(failed, string(m[1]))
	}
	if err == nil && len(failed) > 0 || err != nil && len(failed) == 0 {
		t.Fatalf("go test: %v, but failed tests: %v\n%s", err, failed, out)
	}
	return failed, out
}
