package decoder

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
)

// simSession is a session over what the simulated machine gives a decoder.
func simSession(t *testing.T, r *sim.Run, image []sim.Piece) *Session {
	t.Helper()
	f := newFacts(&Config{})
	f.pt = r.PTConfig()
	f.pokes, _ = r.Records()
	f.breaks = r.Breaks()
	for _, p := range image {
		f.code = append(f.code, codeText{p.Addr, p.Bytes})
	}
	for i := range r.CPUs {
		b := r.CPUs[i].PT
		f.streams = append(f.streams, &Stream{CPU: int32(i), TID: -1, Size: int64(len(b)), data: wholeFile(b)})
	}
	s := &Session{}
	if err := s.assemble(f); err != nil {
		t.Fatal(err)
	}
	return s
}

// tally counts claims against the truth.
type tally struct {
	insns, claims, wrong, ambiguous, gaps, missing int
	verdicts                                       [4]int
}

// judge compares what was decoded of one CPU with what it executed. Claims
// that stand next to each other must have executed next to each other.
func (c *tally) judge(got []step, want []sim.Retired) (trouble string) {
	c.insns += len(want)
	k := 0       // of want: everything before is accounted for
	free := true // the next claim may lie anywhere further on
	for i := 0; i < len(got); i++ {
		x := &got[i]
		if x.gap != nil {
			c.gaps++
			free = true
			continue
		}
		c.verdicts[x.v]++
		if x.v == flow.Ambiguous {
			c.ambiguous++
			free = true
			continue
		}
		c.claims++
		if !free && k < len(want) && want[k].IP == x.ip {
			k++
			continue
		}
		at := -1
		if free {
			at = find(got[i:], want, k)
		}
		if at < 0 {
			c.wrong++
			if trouble == "" {
				trouble = fmt.Sprintf("claim %d: %#x %v+%#x; truth %d of %d", i, x.ip, x.v, x.off, k, len(want))
				for j := max(0, k-3); j < min(len(want), k+5); j++ {
					trouble += fmt.Sprintf(" %#x@%d", want[j].IP, want[j].Time)
				}
			}
			free = true
			continue
		}
		c.missing += at - k
		k, free = at+1, false
	}
	c.missing += len(want) - k
	return trouble
}

// find returns the first place from k on in want where the run of claims that
// begins got executed, or -1.
func find(got []step, want []sim.Retired, k int) int {
	for j := k; j < len(want); j++ {
		ok := true
		for i := 0; i < len(got) && ok; i++ {
			if got[i].gap != nil || got[i].v == flow.Ambiguous {
				break
			}
			ok = j+i < len(want) && got[i].ip == want[j+i].IP
		}
		if ok {
			return j
		}
	}
	return -1
}

// seeds returns how many seeds to run, and the first.
func seeds(def int) (first, n uint64) {
	n = uint64(def)
	if v, err := strconv.ParseUint(os.Getenv("SEEDS"), 10, 64); err == nil {
		n = v
	}
	if v, err := strconv.ParseUint(os.Getenv("FIRST"), 10, 64); err == nil {
		first = v
	}
	return first, n
}

// TestTruth would catch any instruction claimed that no CPU executed: the
// decoder's flow over traces, pokes and images of a simulated machine against
// what that machine did.
func TestTruth(t *testing.T) {
	def := 300
	if testing.Short() {
		def = 60
	}
	first, n := seeds(def)
	var all [sim.NumTimings]tally
	for seed := first; seed < first+n; seed++ {
		cfg := sim.Draw(seed)
		r := sim.Simulate(cfg)
		c := &all[cfg.Timing]
		s := simSession(t, r, r.Start)
		got := steps{}
		if err := s.Flow(context.Background(), Query{Jobs: 1}, got); err != nil {
			t.Fatal(err)
		}
		for i := range r.CPUs {
			if msg := c.judge(got[i], r.CPUs[i].Insns); msg != "" {
				t.Errorf("seed %d cpu %d (%v, work %b): %s", seed, i, cfg.Timing, cfg.Work, msg)
			}
		}
	}
	for i := range all {
		t.Logf("%v: %+v", sim.Timing(i), all[i])
	}
}
