package decoder

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
)

// inTurn keeps a line for each range and note, in the order in which a flow is handed on.
type inTurn struct {
	lines []string
	back  bool
}

// Flow takes a batch.
func (l *inTurn) Flow(b *flow.Batch) error {
	at := len(l.lines)
	for n, r := range b.All() {
		if n != nil {
			l.lines = append(l.lines, fmt.Sprint(b.Stream, "note", n.Kind, n.Event.Off, n.Gap.Off, n.IP))
		} else {
			l.lines = append(l.lines, fmt.Sprint(b.Stream, b.Stamps[r.Stamp].Time, r.Block.Addr, r.N, r.Verdict))
		}
	}
	if l.back {
		slices.Reverse(l.lines[at:])
	}
	return nil
}

// TestTruthBackwards would catch flow of simulated machines that comes backwards in another order than forwards: of CPUs
// whose traces state times now and then. Of Arm's it may: of PTM and ETMv3, and of three in a thousand others
// (docs/formats/output.md).
func TestTruthBackwards(t *testing.T) {
	first, n := seeds(t, 8, 60)
	eachSeed(first, n, func(_ int, seed uint64) {
		run := sim.Simulate(drawn(seed))
		arm := sim.SimulateA64(drawnA64(seed).WithETM())
		for what, s := range map[string]*Session{"x86": simSession(t, run, run.Start), "A64": etmSession(t, arm, arm.Start)} {
			var lines [2][]string
			for k := range lines {
				l := &inTurn{back: k == 1}
				if err := s.Flow(context.Background(), Query{Merged: true, NoLearn: true, Reverse: l.back}, l); err != nil {
					t.Error(err)
				}
				lines[k] = l.lines
			}
			slices.Reverse(lines[1])
			for i := range max(len(lines[0]), len(lines[1])) {
				if i >= len(lines[0]) || i >= len(lines[1]) || lines[0][i] != lines[1][i] {
					t.Errorf("seed %d, %s, %d streams: line %d of %d differs, backwards there are %d", seed, what, len(s.Streams()), i, len(lines[0]), len(lines[1]))
					break
				}
			}
		}
	})
}
