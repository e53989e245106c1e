package calls_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// condensedFlow gives a tree flow and counts what was taken out of it.
type condensedFlow struct {
	*calls.Tree
	ranges, detours int
}

// Flow gives the tree b.
func (x *condensedFlow) Flow(b *decoder.Batch) error {
	x.ranges += len(b.Ranges)
	for i := range b.Ranges {
		if flow.IsDetour(&b.Ranges[i]) {
			x.detours++
		}
	}
	return x.Tree.Flow(b)
}

// wholeFlow gives a tree all of the flow.
type wholeFlow struct{ tree *calls.Tree }

// Flow gives the tree b.
func (x wholeFlow) Flow(b *decoder.Batch) error { return x.tree.Flow(b) }

// counted is what a tree tells of calls: by function and by what else a table tells apart.
type counted map[string][4]uint64

// countingTree returns a tree of s that folds calls, and what it tells.
func countingTree(s *decoder.Session) (*calls.Tree, counted) {
	of := counted{}
	tree := &calls.Tree{Session: s, Fold: true, OnRestart: func() bool { clear(of); return true }}
	tree.OnEnd = func(c *calls.Call) {
		total, self, ok := c.Took()
		k := fmt.Sprint(c.Sym, c.File, c.Addr, c.Ran, ok, total)
		x := of[k]
		weak := uint64(0)
		if c.Verdict >= decoder.Unconfirmed {
			weak = 1
		}
		of[k] = [4]uint64{x[0] + c.Times, x[1] + c.Insns, x[2] + self, x[3] + weak}
	}
	return tree, of
}

// condenseAlike compares what a tree tells of condensed flow with what it tells of all of it, with
// one to three workers. It returns how many ranges there are, how many are left, and how many detours
// were taken out.
func condenseAlike(t *testing.T, name string, s *decoder.Session, q decoder.Query) (all, left, detours int) {
	t.Helper()
	slow, want := countingTree(s)
	q.Merged = true
	n := &countedRanges{Sink: wholeFlow{slow}}
	if err := s.Flow(context.Background(), q, n); err != nil {
		t.Fatal(err)
	}
	slow.Close()
	for q.Jobs = 1; q.Jobs <= 3; q.Jobs++ {
		tree, got := countingTree(s)
		x := &condensedFlow{Tree: tree}
		if err := s.Flow(context.Background(), q, x); err != nil {
			t.Fatal(err)
		}
		tree.Close()
		left, detours = x.ranges, x.detours
		if tree.Unmatched != slow.Unmatched || tree.Unwound != slow.Unwound {
			t.Errorf("%s, %d workers: %d returns fitted no call, %d calls unwound; of all of the flow %d, %d", name, q.Jobs, tree.Unmatched, tree.Unwound, slow.Unmatched, slow.Unwound)
		}
		if maps.Equal(got, want) {
			continue
		}
		shown := 0
		for k := range want {
			if got[k] != want[k] && shown < 5 {
				t.Errorf("%s, %d workers: calls, instructions, ns, doubtful ones of %s: %v, of all of the flow %v", name, q.Jobs, k, got[k], want[k])
				shown++
			}
		}
		for k := range got {
			if _, ok := want[k]; !ok && shown < 8 {
				t.Errorf("%s, %d workers: of %s: %v, of all of the flow nothing", name, q.Jobs, k, got[k])
				shown++
			}
		}
	}
	return n.n, left, detours
}

// countedRanges counts ranges.
type countedRanges struct {
	decoder.Sink
	n int
}

// Flow counts b's ranges.
func (x *countedRanges) Flow(b *decoder.Batch) error {
	x.n += len(b.Ranges)
	return x.Sink.Flow(b)
}

// TestCondense would catch a call that is counted otherwise where the flow is condensed before it is
// merged: with another time, other instructions, another verdict, twice or not at all. The slow twin is
// the same tree with all of the flow.
func TestCondense(t *testing.T) {
	all, left, detours := 0, 0, 0
	add := func(a, l, d int) { all, left, detours = all+a, left+l, detours+d }
	for seed := range uint64(testsize.Of(t, 60, 100, 600)) {
		q := decoder.Query{SegmentBytes: []int64{0, 64, 1024}[seed%3]}
		for i, c := range []sim.Config{sim.Draw(seed + 60_000), sim.DrawThreads(seed + 60_000)} {
			add(condenseAlike(t, fmt.Sprintf("seed %d, threads %v", seed+60_000, i > 0), simSession(t, sim.Simulate(c)), q))
		}
	}
	if t.Failed() {
		return
	}
	t.Logf("%d of %d ranges are left, %d detours", left, all, detours)
	if detours < 1000 {
		t.Errorf("%d detours", detours)
	}
	for _, name := range []string{"ftrace", "kprobes", "tracepoints", "tracepoints-coarse"} {
		s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", name, "perf.data")})
		if err != nil {
			t.Fatal(err)
		}
		a, l, d := condenseAlike(t, name, s, decoder.Query{})
		t.Logf("%s: %d of %d ranges are left, %d detours", name, l, a, d)
		s.Close()
	}
}
