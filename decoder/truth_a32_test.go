package decoder

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
)

// drawnA32 is drawn for CPUs that run A32 and T32, traced by PTM or ETMv3.
func drawnA32(seed uint64) sim.Config {
	if seed%4 == 0 {
		return sim.DrawA32(seed)
	}
	return sim.SparseA32(seed)
}

// whole reports the gaps in what is decoded of r that nothing in its trace
// explains. All that ran is decoded, but for overflows, stretches that are not
// traced or that a Q element hides, and what cannot be known.
func whole(t *testing.T, r *sim.Run) {
	t.Helper()
	got := decodeWith(t, r, etmSession(t, r, r.Start), Query{Jobs: 1})
	for i := range r.CPUs {
		doubt, hides := false, r.CPUs[i].Source.V4.CONFIGR>>13&3 != 0
		for j := range got[i] {
			g := got[i][j].gap
			if g == nil {
				doubt = doubt || got[i][j].v == flow.Ambiguous
				continue
			}
			switch g.Reason {
			case event.OverflowGap:
				continue
			case event.NoPath:
				if hides {
					continue
				}
			case event.Mismatch: // of more flows than are followed, the likeliest was not it
				if j > 0 && got[i][j-1].v == flow.Ambiguous && r.Config.RetStack > 0 {
					continue
				}
			case event.NoCall: // flows that called differently and are one again have no stack
				if doubt {
					continue
				}
			}
			t.Errorf("seed %d cpu %d (%v): %v", r.Config.Seed, i, r.Config.Timing, g)
			break
		}
	}
}

// wholeA32 is drawnA32 without what a decoder cannot know.
func wholeA32(seed uint64) sim.Config {
	cfg := drawnA32(seed)
	if cfg.Work &^= sim.WorkUnsafe; cfg.Work == 0 {
		cfg.Work = sim.WorkUndef
	}
	return cfg
}

// wholeETM is the same of A64 CPUs.
func wholeETM(seed uint64) sim.Config {
	cfg := drawnA64(seed).WithETM()
	if cfg.Work &^= sim.WorkUnsafe; cfg.Work == 0 {
		cfg.Work = sim.WorkJump
	}
	return cfg
}

// TestWhole would catch packets of Arm's trace units that the decoder cannot
// follow, or a true flow that it takes for refuted, which need be no wrong claim.
func TestWhole(t *testing.T) {
	first, n := seeds(t, 6, 60)
	eachSeed(first, n, func(_ int, seed uint64) {
		whole(t, sim.SimulateA32(wholeA32(seed)))
		whole(t, sim.SimulateA64(wholeETM(seed)))
	})
}

// TestWholeHistory keeps runs that once had such gaps. In one, flows differed
// only in calls that no return asks for, and were so many that the likeliest
// was taken. In the other, an address replaced one that had more timestamps
// behind it than could wait.
func TestWholeHistory(t *testing.T) {
	whole(t, sim.SimulateA32(wholeA32(193)))
	whole(t, sim.SimulateA64(wholeETM(5203)))
}
