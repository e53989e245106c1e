package decoder

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/sim"
)

// armMachine is the machine of a seed, of one of Arm's trace units: ETMv4 or ETE, or PTM or ETMv3.
func armMachine(seed uint64) *sim.Run {
	if seed%2 == 0 {
		return sim.SimulateA64(drawnA64(seed).WithETM())
	}
	return sim.SimulateA32(drawnA32(seed))
}

// TestTruthDamagedArm is TestTruthDamaged for the traces of Arm's units. In 90, 110 and 1130 bytes that are no
// packet had the address of an exception's handler: that was no gap. In 846 and 1788 the flow was
// behind the source of an exception. In 2585 and 2969 an interrupt counted as the exception of a breakpoint.
func TestTruthDamagedArm(t *testing.T) {
	first, n := seeds(t, 4, 100)
	kept := keptRuns(t, []uint64{90, 110, 846, 1130, 1788, 2585, 2969})
	parts := make([][sim.AllTimings]damagedTruth, runtime.GOMAXPROCS(0))
	eachSeed(0, n+uint64(len(kept)), func(i int, k uint64) {
		seed := first + k
		if k >= n {
			seed = kept[k-n]
		}
		r := armMachine(seed)
		parts[i][r.Config.Timing].decodeArm(t, r)
	})
	for timing := range sim.AllTimings {
		var all damagedTruth
		for i := range parts {
			x := &parts[i][timing]
			all.add(&x.shortTally)
			all.trouble = append(all.trouble, x.trouble...)
		}
		slices.Sort(all.trouble)
		for _, x := range all.trouble {
			t.Error(x)
		}
		if all.runs > 0 {
			t.Logf("%v: %v", timing, &all)
		}
	}
}

// decodeArm damages the traces of r and judges what is decoded of it.
func (d *damagedTruth) decodeArm(t *testing.T, r *sim.Run) {
	x := rand.New(rand.NewPCG(r.Config.Seed, 78))
	what := spoilRun(x, 1+x.IntN(3), r)
	s := etmSession(t, r, r.Start)
	var bad [][]int64
	for _, st := range s.Streams() {
		bad = append(bad, troubles(st))
	}
	twin := &alikeTwin{codes: r.Codes}
	d.judgeSession(t, r, s, bad, 0, what, twin, func(c int) { twin.stated = newArmTwin(etmStream(r, s, c), s.Streams()[c]).stated })
}
