package calls_test

import (
	"context"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
)

// ranSum counts instructions on their way to a Tree.
type ranSum struct {
	*calls.Tree
	n, ambiguous uint64
}

// Flow counts b.
func (s *ranSum) Flow(b *decoder.Batch) error {
	for i := range b.Ranges {
		s.n += uint64(b.Ranges[i].N)
		if b.Ranges[i].Verdict == decoder.Ambiguous {
			s.ambiguous += uint64(b.Ranges[i].N)
		}
	}
	return s.Tree.Flow(b)
}

// TestSelfSums would catch instructions that belong to no call: what all calls executed
// themselves is what ran. A thread may go on in a thunk, and nobody knows whose it is.
func TestSelfSums(t *testing.T) {
	first, n := seedsAsked(t, 4, 40)
	seeds := []uint64{218, 228, 286, 203697} // a thread goes on in a thunk, or tracing does; the outermost call jumps to a trampoline
	for seed := first; seed < first+n; seed++ {
		seeds = append(seeds, seed)
	}
	all := uint64(0)
	for _, seed := range seeds {
		for _, brief := range []bool{false, true} {
			c := sim.DrawThreads(seed)
			c.CPUs, c.Insns = 3, 10000
			s := simSession(t, sim.Simulate(c))
			sum, ambiguous := uint64(0), uint64(0)
			tree := &ranSum{Tree: &calls.Tree{Session: s, Brief: brief, OnEnd: func(c *calls.Call) {
				sum += c.Self
				ambiguous += c.Ambiguous
			}}}
			if err := s.Flow(context.Background(), decoder.Query{Merged: true}, tree); err != nil {
				t.Fatal(err)
			}
			tree.Close()
			if sum != tree.n || ambiguous != tree.ambiguous {
				t.Errorf("seed %d, brief %t: the calls executed %d instructions, the CPUs %d; ambiguous %d, %d", seed, brief, sum, tree.n, ambiguous, tree.ambiguous)
			}
			all += ambiguous
		}
	}
	if all == 0 {
		t.Error("no instruction is ambiguous: nothing was compared")
	}
}
