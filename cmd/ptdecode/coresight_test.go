package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// golden is what the reference decoder makes of one trace ID of a snapshot.
type golden struct {
	Insns    uint64         `json:"instructions"`
	Runs     uint64         `json:"runs"`
	SHA256   string         `json:"runs_sha256"`
	Elements map[string]int `json:"elements"`
}

// goldenElements are the elements of which as many must come as the reference
// decoder gives.
var goldenElements = []string{
	"EXCEPTION", "EXCEPTION_RET", "PE_CONTEXT", "TIMESTAMP", "CYCLE_COUNT", "ADDR_NACC", "NO_SYNC", "TRACE_ON",
	"MEMTRANS", "INSTRUMENTATION", "SYNC_MARKER", "SWTRACE", "ITMTRACE",
}

// differing are the snapshots of which something is decoded otherwise;
// docs/formats/coresight-differences.md says what and why.
const differing = `
ete_ip ete_spec_2
`

// readGoldens reads the runs that are named as a snapshot is and were made with no
// option beyond -decode: by snapshot and trace ID.
func readGoldens(t *testing.T, dir string) map[string]map[string]golden {
	b, err := os.ReadFile(filepath.Join(dir, "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]struct {
		Command string
		IDs     map[string]golden
	}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]golden{}
	for name, g := range all {
		rest := strings.NewReplacer("-decode", "", "-no_time_print", "").Replace(g.Command)
		if w := strings.Fields(rest); len(w) == 2 && w[0] == "-ss_dir" && filepath.Base(w[1]) == name {
			out[name] = g.IDs
		}
	}
	return out
}

// wordCounter counts lines by their first two words.
type wordCounter struct {
	part []byte
	n    map[string]map[string]int
}

// Write takes lines (io.Writer).
func (c *wordCounter) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			c.part = append(c.part, b...)
			break
		}
		line := b[:i]
		if len(c.part) > 0 {
			c.part = append(c.part, line...)
			line = c.part
		}
		id, rest, _ := bytes.Cut(line, []byte(" "))
		name, _, _ := bytes.Cut(rest, []byte(" "))
		m := c.n[string(id)]
		if m == nil {
			m = map[string]int{}
			c.n[string(id)] = m
		}
		m[string(name)]++
		c.part, b = c.part[:0], b[i+1:]
	}
	return n, nil
}

// TestSnapshots would catch anything of the recordings of boards and models that
// is decoded otherwise than by the reference decoder: runs, instructions, and
// the elements between them. A snapshot that differs is listed in differing, and
// is no longer once it agrees.
func TestSnapshots(t *testing.T) {
	dir := filepath.Join(testsize.Recordings(t), "coresight")
	goldens := readGoldens(t, dir)
	names := make([]string, 0, len(goldens))
	for n := range goldens {
		names = append(names, n)
	}
	slices.Sort(names)
	agree := 0
	differs := map[string]bool{}
	for _, n := range strings.Fields(differing) {
		differs[n] = true
	}
	for _, name := range names {
		if !testsize.Full(t) && name == "bugfix-exact-match" {
			continue
		}
		diffs := compareSnapshot(filepath.Join(dir, "snapshots", name), goldens[name])
		switch {
		case len(diffs) == 0 && differs[name]:
			t.Errorf("%s agrees, but is listed as differing", name)
		case len(diffs) == 0:
			agree++
		case differs[name]:
			t.Logf("%s differs, as listed:\n\t%s", name, strings.Join(diffs, "\n\t"))
		default:
			t.Errorf("%s:\n\t%s", name, strings.Join(diffs, "\n\t"))
		}
	}
	if t.Logf("%d of %d snapshots agree", agree, len(names)); agree < 40 {
		t.Error("so few snapshots test nothing")
	}
}

// compareSnapshot decodes a snapshot and says what differs from want.
func compareSnapshot(path string, want map[string]golden) (diffs []string) {
	diff := func(id, format string, args ...any) {
		diffs = append(diffs, id+": "+fmt.Sprintf(format, args...))
	}
	out, errs, code := said("flow", path, "--runs", "--digest")
	if code != exitWhole && code != exitGaps {
		diff("-", "exit code %d: %.160s", code, errs)
		return diffs
	}
	got := map[string]golden{}
	for l := range strings.Lines(out) {
		w := strings.Fields(l)
		if len(w) != 4 {
			diff("-", "line %q", l)
			continue
		}
		insns, _ := strconv.ParseUint(w[1], 10, 64)
		runs, _ := strconv.ParseUint(w[2], 10, 64)
		got[w[0]] = golden{Insns: insns, Runs: runs, SHA256: w[3]}
	}
	count := wordCounter{n: map[string]map[string]int{}}
	var told bytes.Buffer
	if code := run([]string{"flow", path, "--level", "element"}, nil, &count, &told); code != exitWhole && code != exitGaps {
		diff("-", "--level element: exit code %d: %s", code, told.String())
		return diffs
	}
	for _, id := range sortedKeys(want) {
		w := want[id]
		g, ok := got[id]
		if !ok {
			diff(id, "no such stream, want %d instructions in %d runs", w.Insns, w.Runs)
			continue
		}
		if g.Insns != w.Insns || g.Runs != w.Runs || g.SHA256 != w.SHA256 {
			diff(id, "%d instructions in %d runs, want %d in %d", g.Insns, g.Runs, w.Insns, w.Runs)
		}
		for _, e := range goldenElements {
			if n := count.n[id][e]; n != w.Elements[e] {
				diff(id, "%d %s, want %d", n, e, w.Elements[e])
			}
		}
	}
	for id, g := range got {
		if _, ok := want[id]; !ok && g.Insns > 0 {
			diff(id, "%d instructions of a stream that the reference decoder does not have", g.Insns)
		}
	}
	return diffs
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestSnapshotsBackwards would catch branches and elements of Arm's protocols that
// are told otherwise backwards than forwards, and output that depends on the number of
// workers.
func TestSnapshotsBackwards(t *testing.T) {
	data := testsize.Recordings(t)
	for _, x := range testsize.Some(t, [][2]string{{"Snowball", "10"}, {"TC2", "10"}, {"TC2", "13"}, {"juno_r1_1", "10"}, {"rme_test", "1"}, {"armv8_1m_branches", "0"}}, 3) {
		path := filepath.Join(data, "coresight", "snapshots", x[0])
		flow := func(more ...string) []string {
			out, _, _ := said(append([]string{"flow", path, "--id", x[1]}, more...)...)
			return strings.SplitAfter(out, "\n")
		}
		for _, level := range []string{"branch", "element"} {
			forwards, back := flow("--level", level), flow("--level", level, "--reverse")
			slices.Reverse(back)
			if f, b := strings.Join(forwards, ""), strings.Join(back, ""); f != b || len(f) < 100 {
				t.Errorf("%s %s: level %s: %d lines forwards, %d backwards, and not the same", x[0], x[1], level, len(forwards), len(back))
			}
		}
		forwards := flow("--level", "element", "-j", "1")
		if many := flow("--level", "element", "-j", "7"); !slices.Equal(forwards, many) {
			t.Errorf("%s %s: 1 worker gives %d lines, 7 give %d, and not the same", x[0], x[1], len(forwards), len(many))
		}
		const last = 50 // lines; behind them stand EO_TRACE and, behind its newline, ""
		if got, want := flow("--level", "element", "--last", strconv.Itoa(last)), forwards[max(0, len(forwards)-last-2):]; !slices.Equal(got, want) {
			t.Errorf("%s %s: the last lines are\n%swant\n%s", x[0], x[1], strings.Join(got, ""), strings.Join(want, ""))
		}
	}
}
