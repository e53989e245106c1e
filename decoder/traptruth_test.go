package decoder

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/kcore"
)

// trapNotes is a sink that keeps the traps and counts the gaps of each stream.
type trapNotes struct {
	traps map[int][]flow.Note
	gaps  map[int]int
}

// Flow takes the notes of b.
func (s *trapNotes) Flow(b *flow.Batch) error {
	for i := range b.Notes {
		switch n := &b.Notes[i]; n.Kind {
		case flow.NoteTrap:
			s.traps[b.Stream] = append(s.traps[b.Stream], *n)
		case flow.NoteGap:
			s.gaps[b.Stream]++
		}
	}
	return nil
}

// blames counts what is said of traps against what they were: by timing, how
// many are given to a poke for sure and as the likeliest, rightly and wrongly.
type blames struct {
	count   [sim.AllTimings]struct{ sure, likely, unlikely, wrong int }
	skipped int // CPUs with a gap, in which traps may lie
	trouble []string
}

func (b *blames) add(o *blames) {
	for i := range b.count {
		c, d := &b.count[i], &o.count[i]
		c.sure, c.likely, c.unlikely, c.wrong = c.sure+d.sure, c.likely+d.likely, c.unlikely+d.unlikely, c.wrong+d.wrong
	}
	b.skipped += o.skipped
	b.trouble = append(b.trouble, o.trouble...)
}

// judge compares the traps decoded from r with those taken.
func (b *blames) judge(t *testing.T, r *sim.Run) {
	got := trapNotes{map[int][]flow.Note{}, map[int]int{}}
	s := simSession(t, r, r.Start)
	if err := s.Flow(context.Background(), Query{Jobs: 1}, &got); err != nil {
		t.Errorf("seed %d: %v", r.Config.Seed, err)
		return
	}
	b.compare(s.Text(), r, &got)
}

// compare is judge for traps that are decoded.
func (b *blames) compare(text *kcore.Text, r *sim.Run, got *trapNotes) {
	_, number := r.Records()
	want := map[int][]sim.Trap{}
	for _, x := range r.Traps {
		want[x.CPU] = append(want[x.CPU], x)
	}
	for cpu := range r.CPUs {
		list := got.traps[cpu]
		switch {
		case got.gaps[cpu] > 0:
			b.skipped++
		case len(list) != len(want[cpu]):
			b.trouble = append(b.trouble, fmt.Sprintf("seed %d cpu %d: %d traps, %d were taken", r.Config.Seed, cpu, len(list), len(want[cpu])))
		default:
			for i := range list {
				b.one(text, r, &list[i], &want[cpu][i], number)
			}
		}
	}
}

// one compares one trap.
func (b *blames) one(text *kcore.Text, r *sim.Run, n *flow.Note, w *sim.Trap, number []int) {
	kind := [...]flow.TrapKind{flow.TrapWindow, flow.TrapArmed, flow.TrapSlot, flow.TrapUnknown}[w.Kind]
	poke := slices.Index(number, w.Poke)
	c := &b.count[r.Config.Timing]
	right := n.IP == w.IP && n.Trap == kind && n.Poke == poke
	switch {
	case right && n.Verdict == flow.Exception:
		c.sure++
	case right:
		c.likely++
	case n.IP == w.IP && n.Verdict == flow.Ambiguous:
		c.unlikely++
	default:
		c.wrong++
		m := fmt.Sprintf("seed %d cpu %d: trap at %#x, time %d of %v: %v of poke %d; it was at %#x, %v of poke %d",
			r.Config.Seed, w.CPU, n.IP, w.Time, n.Event.Time, n.Trap, n.Poke, w.IP, kind, poke)
		for _, i := range text.Between(w.IP, 1, 0, event.MaxEpoch, nil) {
			p := text.Poke(i)
			from, until := text.Journal().InProgress(i)
			m += fmt.Sprintf("\n\t%d: %d..%d..%d %v %x -> %x", i, from, p.Time, until, p.Scheme, p.Old, p.New)
		}
		b.trouble = append(b.trouble, m)
	}
}

// TestTrapsSame would catch a trap that is given to another poke when the image
// was taken at another moment, by more workers, or with the trace cut otherwise.
func TestTrapsSame(t *testing.T) {
	first, n := seeds(t, 12, 60)
	total := 0
	for seed := first; seed < first+n; seed++ {
		r := sim.Simulate(sim.Draw(seed))
		var want [][]string
		for i, x := range []struct {
			image []sim.Piece
			q     Query
		}{{r.Start, Query{Jobs: 1}}, {r.End, Query{Jobs: 1}}, {r.During, Query{Jobs: 4, SegmentBytes: 1}}, {r.Start, Query{Jobs: 1, SegmentBytes: 1 << 30}}} {
			got := trapNotes{map[int][]flow.Note{}, map[int]int{}}
			if err := simSession(t, r, x.image).Flow(context.Background(), x.q, &got); err != nil {
				t.Fatal(err)
			}
			lines := make([][]string, len(r.CPUs))
			for cpu := range lines {
				for _, k := range got.traps[cpu] {
					lines[cpu] = append(lines[cpu], fmt.Sprint(k.Event.Off, k.IP, k.Trap, k.Poke, k.Verdict))
				}
			}
			if i == 0 {
				want = lines
			}
			for cpu := range lines {
				total += len(lines[cpu])
				if !slices.Equal(lines[cpu], want[cpu]) {
					t.Errorf("seed %d cpu %d, way %d: %v, want %v", seed, cpu, i, lines[cpu], want[cpu])
				}
			}
		}
	}
	if total < int(n) {
		t.Errorf("%d traps: too few to tell", total)
	}
}

// TestTrapTruth would catch a trap that is missed, and one that is said to be a
// poke's, or of a kind, and is not. It would also catch one that is called
// ambiguous although the records, the clock or the handler's end tell. The
// traces come from a simulated machine. SEEDS and FIRST in the environment say
// which runs.
func TestTrapTruth(t *testing.T) {
	first, n := seeds(t, 32, 300)
	parts := make([]blames, n)
	eachSeed(first, n, func(_ int, seed uint64) {
		cfg := sim.Draw(seed)
		cfg.OVF = 0 // an overflow may hide traps: then they could not be compared one by one
		parts[seed-first].judge(t, sim.Simulate(cfg))
		parts[seed-first].judgeA64(t, seed)
	})
	var all blames
	for i := range parts {
		all.add(&parts[i])
	}
	for _, m := range all.trouble[:min(len(all.trouble), 10)] {
		t.Error(m)
	}
	for i, c := range all.count {
		total := c.sure + c.likely + c.unlikely + c.wrong
		t.Logf("%v: %d traps: %d certain, %d likely and right, %d likely and not right, %d wrong", sim.Timing(i), total, c.sure, c.likely, c.unlikely, c.wrong)
		least := 90 // per cent that must be settled
		if sim.Timing(i) == sim.TSCOnly {
			least = 85
		}
		if 100*c.sure < least*total {
			t.Errorf("%v: %d of %d traps settled, want %d %%", sim.Timing(i), c.sure, total, least)
		}
		if 100*(c.sure+c.likely) < 97*total {
			t.Errorf("%v: %d of %d traps right", sim.Timing(i), c.sure+c.likely, total)
		}
	}
	t.Logf("%d CPUs with gaps skipped", all.skipped)
}
