package decoder

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/sim"
)

// withHoles returns an image that lacks some stretches.
func withHoles(r *rand.Rand, image []sim.Piece) (rest []sim.Piece) {
	rest = slices.Clone(image)
	for n := 1 + r.IntN(12); n > 0 && len(rest) > 0; n-- {
		i := r.IntN(len(rest))
		p := rest[i]
		n := min(1+r.IntN(300), len(p.Bytes))
		at := r.IntN(len(p.Bytes) - n + 1)
		rest = slices.Replace(rest, i, i+1, sim.Piece{Addr: p.Addr, Bytes: p.Bytes[:at]}, sim.Piece{Addr: p.Addr + uint64(at+n), Bytes: p.Bytes[at+n:]})
		rest = slices.DeleteFunc(rest, func(p sim.Piece) bool { return len(p.Bytes) == 0 })
	}
	return rest
}

// TestTruthHoles would catch a claim that rests on outcomes that were used elsewhere.
// Where code is not at hand the flow is lost, and goes on at targets that may have
// waited behind outcomes. The machine's trace units hold them back, over branches and
// returns, in packets of up to 47 outcomes.
//
// It would also catch that the flow behind such a target stays in doubt.
func TestTruthHoles(t *testing.T) {
	first, n := seeds(t, 5, 30)
	parts := make([]scores, runtime.GOMAXPROCS(0))
	eachSeed(first, n, func(i int, seed uint64) {
		cfg := drawn(seed)
		cfg.NoDefer = false
		if seed%3 > 0 {
			cfg.Work = 0
		}
		run := sim.Simulate(cfg)
		s := simSession(t, run, withHoles(rand.New(rand.NewPCG(seed, 0x401e)), run.Start))
		parts[i].compare(run, decodeWith(t, run, s, Query{Jobs: 1}), s.code.Load().text)
	})
	var all scores
	for i := range parts {
		all.add(&parts[i])
	}
	slices.Sort(all.trouble)
	for _, m := range all.trouble[:min(len(all.trouble), 20)] {
		t.Error(m)
	}
	t.Log("\n" + all.table())
}
