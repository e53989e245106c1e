package decoder

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
)

// placedCut is a cut that the flow tells of, and how many instructions of its
// CPU lie before it.
type placedCut struct {
	flow.Note
	k int
}

// cuts is a sink that places the settled cuts of each stream, as long as the
// flow shown, sure or not, is what was executed.
type cuts struct {
	run   *sim.Run
	k     map[int]int // instructions so far; -1: not followed further
	found map[int][]placedCut
}

// Flow takes the flow of b.
func (s *cuts) Flow(b *flow.Batch) error {
	notes := b.Notes
	want := s.run.CPUs[b.Stream].Insns
	for i := 0; i <= len(b.Ranges); i++ {
		for ; len(notes) > 0 && notes[0].At <= i; notes = notes[1:] {
			n, k := notes[0], s.k[b.Stream]
			switch {
			case k < 0:
			case n.Kind == flow.NoteGap:
				s.k[b.Stream] = -1
			case n.Kind == flow.NoteCut && n.Verdict == flow.Trace:
				s.found[b.Stream] = append(s.found[b.Stream], placedCut{n, k})
			}
		}
		if i == len(b.Ranges) {
			break
		}
		r := &b.Ranges[i]
		for _, ip := range appendOn(nil, r) {
			k := s.k[b.Stream]
			if k < 0 {
				break
			}
			if s.k[b.Stream]++; k >= len(want) || want[k].IP != ip {
				s.k[b.Stream] = -1
			}
		}
	}
	return nil
}

// misplaced says what is wrong with a cut that a CPU's flow tells of. The CPU
// must execute the poke's code now. It must have begun to see that code since
// it last executed what lay there. checked is false where no CPU can see the
// poke's code.
func misplaced(r *sim.Run, number []int, cpu int, c *placedCut) (trouble string, checked bool) {
	p := &r.Pokes[number[c.Poke]]
	if len(p.Seen) == 0 {
		return "", false
	}
	insns := r.CPUs[cpu].Insns
	on := func(j int) bool { // whether p's text is executed
		at := insns[j].IP
		return at < p.Addr+uint64(len(p.New)) && p.Addr < at+uint64(r.Codes[insns[j].Code].Len)
	}
	last := c.k - 1
	for last >= 0 && !on(last) {
		last--
	}
	switch cut := p.Seen[cpu].New; {
	case c.k >= len(insns) || insns[c.k].IP != c.IP || !on(c.k):
		return "the poke's text is not executed there", true
	case cut > c.k || cut <= last:
		return fmt.Sprintf("behind %d instructions, of which the site was %d; the cut lay behind %d", c.k, last, cut), true
	}
	return "", true
}

// TestCutsTruth would catch a settled cut that is told where it does not lie:
// before the CPU saw the poke's text, or behind its first execution. Each machine is
// also decoded with flows that are never compared again up to where they met.
func TestCutsTruth(t *testing.T) {
	first, n := seeds(t, 12, 100)
	var checked atomic.Int64
	eachSeed(first, n, func(_ int, seed uint64) {
		cfg := sim.Draw(seed)
		cfg.OVF, cfg.Timing, cfg.Work = 0, sim.TSCOnly, sim.WorkAll // where time tells least
		if seed%2 == 0 {
			cfg.Work = sim.WorkCall // of which the flow tells most
		}
		r := sim.Simulate(cfg)
		for _, full := range []int{0, -1} {
			checked.Add(checkCuts(t, r, full))
		}
	})
	t.Logf("%d cuts", checked.Load())
	if checked.Load() < 2*int64(n)/3 {
		t.Errorf("%d cuts in %d machines: too few to tell", checked.Load(), n)
	}
}

// checkCuts returns how many cuts of r could be checked. full is Config.FullWork.
func checkCuts(t *testing.T, r *sim.Run, full int) (checked int64) {
	s := simSession(t, r, r.Start)
	s.walk.FullWork = full
	got := &cuts{r, map[int]int{}, map[int][]placedCut{}}
	if err := s.Flow(context.Background(), Query{Jobs: 1}, got); err != nil {
		t.Errorf("seed %d: %v", r.Config.Seed, err)
		return 0
	}
	_, number := r.Records()
	for cpu, list := range got.found {
		for i := range list {
			msg, ok := misplaced(r, number, cpu, &list[i])
			if msg != "" {
				t.Errorf("seed %d cpu %d, full work %d: poke %d at %#x, told at %#x: %s", r.Config.Seed, cpu, full, list[i].Poke, r.Pokes[number[list[i].Poke]].Addr, list[i].IP, msg)
			}
			if ok {
				checked++
			}
		}
	}
	return checked
}
