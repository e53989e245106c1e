package decoder

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
)

// drawnA32 is drawn for CPUs that run A32 and T32, traced by PTM or ETMv3.
func drawnA32(seed uint64) sim.Config {
	if seed%4 == 0 {
		return sim.DrawA32(seed)
	}
	return sim.SparseA32(seed)
}

// TestWholeA32 would catch packets of PTM or ETMv3 that the decoder cannot
// follow, which need be no wrong claim: but for overflows and stretches that are
// not traced, and what cannot be known, all that ran is decoded.
func TestWholeA32(t *testing.T) {
	def := 60
	if testing.Short() {
		def = 20
	}
	first, n := seeds(def)
	eachSeed(first, n, func(_ int, seed uint64) {
		cfg := drawnA32(seed)
		if cfg.Work &^= sim.WorkUnsafe; cfg.Work == 0 {
			cfg.Work = sim.WorkUndef
		}
		r := sim.SimulateA32(cfg)
		got := decodeWith(t, r, etmSession(t, r, r.Start), Query{Jobs: 1})
		for i := range r.CPUs {
			doubt := false
			for j := range got[i] {
				g := got[i][j].gap
				if g == nil {
					doubt = doubt || got[i][j].v == flow.Ambiguous
					continue
				}
				// Flows that called differently and are one again have no stack.
				if g.Reason != event.OverflowGap && !(doubt && g.Reason == event.NoCall) {
					t.Errorf("seed %d cpu %d (%v): %v", seed, i, cfg.Timing, g)
					break
				}
			}
		}
	})
}
