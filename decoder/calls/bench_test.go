package calls_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// kept is flow that is kept.
type kept struct {
	batches []*decoder.Batch
	ranges  int
}

// Flow keeps a copy of b.
func (k *kept) Flow(b *decoder.Batch) error {
	c := *b
	c.Ranges, c.Stamps, c.Notes = slices.Clone(b.Ranges), slices.Clone(b.Stamps), slices.Clone(b.Notes)
	k.batches, k.ranges = append(k.batches, &c), k.ranges+len(c.Ranges)
	return nil
}

// BenchmarkTree makes calls of a recording's flow, which was decoded before.
func BenchmarkTree(b *testing.B) {
	s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(b), "kernel-pokes-x86", "tracepoints", "perf.data")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var flow kept
	if err := s.Flow(b.Context(), decoder.Query{Merged: true}, &flow); err != nil {
		b.Fatal(err)
	}
	told := 0
	ends, rows := func(*calls.Call) { told++ }, func(rows *calls.Rows) *calls.Rows { told += rows.N; return rows }
	steps := func(steps *calls.Rows) { told += steps.N }
	for _, of := range []struct {
		name string
		tree calls.Tree
	}{{"folded", calls.Tree{Fold: true, OnEnd: ends}}, {"each", calls.Tree{OnEnd: ends}}, {"brief", calls.Tree{Brief: true, OnEnd: ends}}, {"rows", calls.Tree{Brief: true, OnRows: rows}}, {"steps", calls.Tree{Brief: true, OnSteps: steps}}} {
		b.Run(of.name, func(b *testing.B) {
			told = 0
			for b.Loop() {
				tree := of.tree
				tree.Session = s
				for _, x := range flow.batches {
					if err := tree.Flow(x); err != nil {
						b.Fatal(err)
					}
				}
				tree.Close()
			}
			n := float64(b.N)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n/float64(flow.ranges), "ns/range")
			b.ReportMetric(float64(told)/n, "calls")
		})
	}
}
