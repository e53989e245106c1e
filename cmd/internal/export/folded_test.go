package export

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// hostOf returns a host that gives the window of a recording, or all of it.
func hostOf(c decoder.Config, window string) *host.Host {
	h := testHost(c, io.Discard)
	all := h.Filters
	h.Filters = func(c *cobra.Command) func(*decoder.Session) (*host.Filter, error) {
		return func(s *decoder.Session) (*host.Filter, error) {
			f, err := all(c)(s)
			if err == nil && window != "" {
				f.Options.From, f.Options.Until, err = filter.Times(s, window)
				f.Query = decoder.Query{From: f.Options.From, Until: f.Options.Until, Bounds: true}
			}
			return f, err
		}
	}
	return h
}

// stacksIn returns the stacks of a recording and what they weigh: in all of it, or in a window.
func stacksIn(t *testing.T, c decoder.Config, window string) (stacks map[string]uint64, sum uint64) {
	t.Helper()
	h := hostOf(c, window)
	file := filepath.Join(t.TempDir(), "folded")
	runVerb(t, New(h), "--with-ambiguous", "-o", "folded:"+file)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	stacks = map[string]uint64{}
	for line := range strings.Lines(string(b)) {
		at := strings.LastIndexByte(line, ' ')
		n, err := strconv.ParseUint(strings.TrimSpace(line[at:]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		stacks[line[:at]] += n
		sum += n
	}
	return stacks, sum
}

// TestFoldedWindow would catch a stack of a window that never was: one that lacks the calls which
// were in progress as the window began, and does not say so. It would catch instructions of
// before the window, from where calls are followed.
func TestFoldedWindow(t *testing.T) {
	c := decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "tracepoints-coarse", "perf.data")}
	whole, _ := stacksIn(t, c, "")
	s, err := decoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, window := range []string{"40%-45%", "1%-2%", "99%-100%"} {
		q := decoder.Query{Bounds: true}
		f, err := (&filter.Flags{Time: window}).Resolve(s)
		if err != nil {
			t.Fatal(err)
		}
		f.Query(&q)
		x, err := report.Summarise(t.Context(), s, q)
		if err != nil {
			t.Fatal(err)
		}
		stacks, sum := stacksIn(t, c, window)
		if sum != x.Instructions || sum == 0 {
			t.Errorf("%s: stacks of %d instructions, %d ran", window, sum, x.Instructions)
		}
		unseen := uint64(0)
		for k, n := range stacks {
			if strings.Contains(k, ";"+filter.NotSeen) {
				unseen += n
			} else if whole[k] < n {
				t.Errorf("%s: %s: %d instructions, %d in all", window, k, n, whole[k])
			}
		}
		if unseen*4 > sum {
			t.Errorf("%s: of %d instructions of %d callers were not seen", window, unseen, sum)
		}
	}
}

// TestBesideStacks would catch a table, a profile or a picture of a window that changes as soon as
// stacks are written beside it. Stacks need the flow before the window.
func TestBesideStacks(t *testing.T) {
	c := decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "kprobes", "perf.data")}
	dir := t.TempDir()
	var targets []string
	for _, f := range []string{"csv", "perfetto", "pcs", "bolt"} {
		targets = append(targets, f+":"+filepath.Join(dir, f))
	}
	written := func(window string, outs ...string) map[string]string {
		var args []string
		for _, o := range outs {
			args = append(args, "-o", o)
		}
		runVerb(t, New(hostOf(c, window)), args...)
		files := map[string]string{}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "folded" {
				return err
			}
			b, err := os.ReadFile(path)
			files[path] = string(b)
			return errors.Join(err, os.Remove(path))
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	for _, window := range []string{"40%-45%", "70%-70.1%"} {
		alone := written(window, targets...)
		beside := written(window, append(targets, "folded:"+filepath.Join(dir, "folded"))...)
		if len(alone) < len(targets) || len(alone) != len(beside) {
			t.Errorf("%s: %d files alone, %d beside stacks", window, len(alone), len(beside))
		}
		for path, text := range alone {
			if text != beside[path] {
				t.Errorf("%s: %s is another beside stacks: %d and %d bytes", window, filepath.Base(path), len(text), len(beside[path]))
			}
		}
	}
}

// TestFoldedNames would catch instructions under another name of a thread than that of the call in which they ran. The
// recording has a thread that is called poker, sh, exe and cat, as it executes programs.
func TestFoldedNames(t *testing.T) {
	c := decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "kprobes", "perf.data")}
	stacks, _ := stacksIn(t, c, "")
	s, err := decoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, want := map[string]uint64{}, map[string]uint64{}
	tree := &calls.Tree{Session: s, OnEnd: func(c *calls.Call) { want[c.Comm] += c.Self }}
	if err := s.Flow(t.Context(), decoder.Query{Merged: true, Bounds: true}, tree); err != nil {
		t.Fatal(err)
	}
	tree.Close()
	for stack, n := range stacks {
		name, _, _ := strings.Cut(stack, ";")
		got[name] += n
	}
	if !maps.Equal(got, want) || want["sh"] == 0 || want["cat"] == 0 {
		t.Errorf("instructions %v, want %v", got, want)
	}
}
