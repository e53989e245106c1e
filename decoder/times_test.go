package decoder

import (
	"fmt"
	"sync"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/sim"
)

// timed counts instructions by when they executed: before the lower bound of their printed
// time, behind its upper one.
type timed struct{ insns, early, late int }

// judge compares the times of what was decoded of a CPU with when it ran: up to the first gap,
// or the first instruction that was not the one.
func (c *timed) judge(r *sim.Run, cpu int, got []step) (trouble string) {
	want := r.CPUs[cpu].Insns
	for i := range min(len(got), len(want)) {
		x, ran := &got[i], want[i].Time
		if x.gap != nil || x.ip != want[i].IP {
			break
		}
		c.insns++
		switch {
		case x.time.Lo > ran:
			c.early++
		case x.time.Hi < ran:
			c.late++
		default:
			continue
		}
		if trouble == "" {
			trouble = fmt.Sprintf("seed %d CPU %d (%v): instruction %d, %x, ran at %d, not in %v", r.Config.Seed, cpu, r.Config.Timing, i, x.ip, ran, x.time)
		}
	}
	return trouble
}

// TestTimes would catch an instruction that ran outside of the bounds of its time.
func TestTimes(t *testing.T) {
	first, n := seeds(t, 4, 40, 60)
	var lock sync.Mutex
	sums := map[string]timed{}
	add := func(kind string, r *sim.Run, got steps) {
		lock.Lock()
		defer lock.Unlock()
		c := sums[kind]
		for i := range r.CPUs {
			if trouble := c.judge(r, i, got[i]); trouble != "" {
				t.Error(trouble)
			}
		}
		sums[kind] = c
	}
	eachSeed(first, n, func(_ int, seed uint64) {
		r := sim.Simulate(drawn(seed))
		add("Intel PT", r, decodeSim(t, r, r.Start, Query{Jobs: 1}))
		r = sim.SimulateA64(drawnA64(seed).WithETM())
		add("ETMv4 and ETE", r, decodeWith(t, r, etmSession(t, r, r.Start), Query{Jobs: 1}))
		r = sim.SimulateA32(drawnA32(seed))
		add("PTM and ETMv3", r, decodeWith(t, r, etmSession(t, r, r.Start), Query{Jobs: 1}))
	})
	for kind, c := range sums {
		t.Logf("%s: %d instructions, %d before their time, %d behind it", kind, c.insns, c.early, c.late)
	}
}
