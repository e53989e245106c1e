package calls_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// TestDepthsOfShards would catch calls that lie at other depths in the rows of shards than in those of one
// process. Threads go on on other CPUs, so it matters in which order the branches of several streams are taken.
func TestDepthsOfShards(t *testing.T) {
	first, n := seedsAsked(t, 6, 40)
	for seed := first; seed < first+n; seed++ {
		c := sim.DrawThreads(seed)
		c.CPUs, c.Insns, c.Timing = 3, 10000, sim.MTC
		s := simSession(t, sim.Simulate(c))
		want := callRows(t, s, 0, 0)
		for _, of := range []int{1, 3} {
			var got []string
			for i := range of {
				got = append(got, callRows(t, s, i+1, of)...)
			}
			if !slices.Equal(got, want) {
				k := 0
				for k < min(len(got), len(want)) && got[k] == want[k] {
					k++
				}
				t.Errorf("seed %d, %d shards: %d rows, want %d; they differ from row %d on", seed, of, len(got), len(want), k)
			}
		}
	}
}

// callRows returns the rows of calls of a shard; of 0: of the whole flow.
func callRows(t *testing.T, s *decoder.Session, shard, of int) (list []string) {
	t.Helper()
	var streams []rows.Stream
	for _, st := range s.Streams() {
		streams = append(streams, rows.Stream{Index: st.Index, CPU: st.CPU, TID: st.TID, Name: st.Name})
	}
	o := rows.Options{Level: rows.LevelCall, Shard: rows.Shard{I: shard, Of: of, Anywhere: of > 0}}
	m := rows.New(s, streams, nil, o, func(r *rows.Row) error {
		list = append(list, fmt.Sprint(r.Stream.Index, r.Time.Lo, r.Kind, r.Transfer, r.IP, r.Depth))
		return nil
	})
	q := decoder.Query{Merged: true, NoLearn: true, Shard: shard, Shards: of}
	if of > 0 {
		q.Lead = math.MaxInt64
	}
	if err := s.Flow(context.Background(), q, m); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return list
}
