package export

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestStacks would catch instructions of pprof in another stack of calls than those of folded,
// and calls that it counts twice or not.
func TestStacks(t *testing.T) {
	testsize.OnlyFull(t)
	c := decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "kprobes", "perf.data")}
	dir := t.TempDir()
	pb, lines := filepath.Join(dir, "pb"), filepath.Join(dir, "folded")
	runVerb(t, New(testHost(c, io.Discard)), "--with-ambiguous", "-o", "pprof:"+pb, "-o", "folded:"+lines)
	got, want := map[string]int64{}, map[string]int64{} // instructions by thread and callers
	began, all := map[string]int64{}, map[string]int64{}
	for _, s := range parsed(t, pb).Sample {
		var names []string
		for _, l := range s.Location[1:] {
			names = append([]string{l.Line[0].Function.Name}, names...)
		}
		got[strings.Join(append(s.Label["comm"], names...), ";")] += s.Value[0]
		began[s.Location[0].Line[0].Function.Name] += s.Value[2]
	}
	text, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		i, last := strings.LastIndexByte(line, ' '), strings.LastIndexByte(line, ';')
		n, err := strconv.ParseInt(strings.TrimSpace(line[i:]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		want[line[:last]] += n
	}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%s: %d, want %d", k, got[k], n)
		}
	}
	for k := range got {
		if want[k] == 0 && got[k] != 0 {
			t.Errorf("%s: %d, want none", k, got[k])
		}
	}
	s, err := decoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tree := &calls.Tree{Session: s, OnBegin: func(c *calls.Call) {
		if c.How != calls.Unseen && c.How != calls.Resumed {
			all[c.Sym]++
		}
	}}
	if err := s.Flow(t.Context(), decoder.Query{Merged: true}, treeSink{tree}); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(began, func(_ string, n int64) bool { return n == 0 })
	if !maps.Equal(began, all) {
		for k, n := range all {
			if began[k] != n {
				t.Errorf("%s: %d calls, want %d", k, began[k], n)
			}
		}
	}
}

// treeSink is a Tree as a sink.
type treeSink struct{ *calls.Tree }

// Close ends it.
func (s treeSink) Close() error {
	s.Tree.Close()
	return nil
}

var _ host.Sink = treeSink{}

// TestProfileWindow would catch pages of a window whose stacks do not have the calls that were
// open when it began, as the format pprof has them.
func TestProfileWindow(t *testing.T) {
	c := decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "kprobes", "perf.data")}
	const from, until = 4_420_000_000, 4_420_050_000
	h := testHost(c, io.Discard)
	pb := filepath.Join(t.TempDir(), "pb")
	var of *host.Filter
	all := h.Filters(nil)
	h.Filters = func(*cobra.Command) func(*decoder.Session) (*host.Filter, error) {
		return func(s *decoder.Session) (f *host.Filter, err error) {
			of, err = all(s)
			of.Query, of.Options = decoder.Query{From: from, Until: until}, rows.Options{From: from, Until: until}
			return of, err
		}
	}
	runVerb(t, New(h), "-o", "pprof:"+pb)
	s, err := decoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, _, err := Profile(t.Context(), h, s, of, false)
	if err != nil {
		t.Fatal(err)
	}
	count := func(p *profile.Profile) map[string]int64 {
		m := map[string]int64{}
		for _, s := range p.Sample {
			names := s.Label["comm"]
			for _, l := range s.Location {
				names = append(names, l.Line[0].Function.Name)
			}
			m[strings.Join(names, ";")] += s.Value[0]
		}
		return m
	}
	got, want := count(p), count(parsed(t, pb))
	if len(want) < 10 || !maps.Equal(got, want) {
		t.Errorf("%d stacks, want the %d of pprof:\n%v\n%v", len(got), len(want), got, want)
	}
}

// TestAmbiguousTime would catch time of ambiguous executions that counts for certain ones of the same code, or for nothing.
func TestAmbiguousTime(t *testing.T) {
	x := &cell{cellKey: cellKey{block: &decoder.Block{}, insns: 2}, time: 8, unsure: 20}
	x.N, x.Ambiguous = 1, 1
	for _, wanted := range []bool{false, true} {
		b := &pprofBuilder{of: &stacked{job: &job{ambiguous: wanted}}, samples: map[sampleKey]*sampleCount{}}
		b.took(x, nil, 1)
		got := map[string]int{}
		for k, n := range b.samples {
			got[k.verdict] = int(n.time)
		}
		want := map[string]int{"": 4}
		if wanted {
			want["ambiguous"] = 10
		}
		if !maps.Equal(got, want) {
			t.Errorf("with ambiguous ones: %v; time by verdict %v, want %v", wanted, got, want)
		}
	}
}
