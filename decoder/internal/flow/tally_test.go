package flow

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/pt"
)

// stepsByRange counts steps with a map, range by range.
type stepsByRange struct {
	times map[Step]uint64
	open  Step
}

func (y *stepsByRange) end(next uint64) {
	if y.open.N > 0 {
		y.open.Next = next
		y.times[y.open]++
	}
	y.open = Step{}
}

func (y *stepsByRange) Flow(b *Batch) error {
	at := map[int]bool{} // where something lies between two ranges
	for _, n := range b.Notes {
		between := n.Kind == NoteGap || n.Kind == NoteTrap || n.Kind == NoteTrackOff || n.Kind == NoteTrackOn
		if between || n.Kind == NoteEvent && (n.Event.Kind == event.Async || n.Event.Kind == event.AsyncDisable) {
			at[n.At] = true
		}
	}
	for i, r := range b.Ranges {
		if at[i] {
			y.end(0)
		}
		y.end(r.Block.Addr)
		y.open = Step{Block: r.Block, N: r.N, Sure: r.Verdict != Ambiguous}
	}
	if at[len(b.Ranges)] {
		y.end(0)
	}
	return nil
}

// TestTally holds counting by phrase to counting range by range. It would catch a phrase
// that counts twice or not at all, a step between two phrases that leads elsewhere, and
// phrases that count though a contradiction made them doubtful. Of some traces bytes are
// changed, so that there are contradictions.
func TestTally(t *testing.T) {
	for _, name := range []string{"unzip", "foo", "avscript_32", "dyn_test", "mruby"} {
		p := openProgram(t, name)
		p.trace = p.trace[:min(len(p.trace), 150_000)]
		for _, every := range []int{0, 4001, 701} {
			for i := every; every > 0 && i < len(p.trace); i += every {
				p.trace[i] ^= 0x18
			}
			cfg := Config{ISA: x86.Decoder{}, Rules: ptRules, Mode: isa.Mode64}
			segs := p.segments()
			cache := NewCache()
			fast, slow := NewWalker(p.text, cache, cfg), NewWalker(p.text, cache, cfg)
			want, tally := stepsByRange{times: map[Step]uint64{}}, new(Tally)
			got, phrased := map[Step]uint64{}, uint64(0)
			for i, s := range segs {
				if err := slow.Run(filler{pt.NewDecoder(p.Config, s)}, &want); err != nil {
					t.Fatal(err)
				}
				if err := fast.Run(pt.NewDecoder(p.Config, s), tally); err != nil {
					t.Fatal(err)
				}
				if i%50 == 49 || i == len(segs)-1 {
					for k := range fast.paths.phrases.n {
						phrased += fast.paths.phrases.nth(uint32(k)).times
					}
					want.end(0)
					tally.Each(func(s Step, times uint64) { got[s] += times })
				}
			}
			if !maps.Equal(got, want.times) {
				t.Fatalf("%s, every %d: other counts: -want +got\n%.3000s", name, every, cmp.Diff(want.times, got))
			}
			if every == 0 && name != "foo" && name != "dyn_test" && phrased == 0 {
				t.Errorf("%s: no phrase was counted as a whole", name)
			}
		}
	}
}

// TestTallyOtherPaths would catch phrases that count for another Tally, or for none, where a
// walker in the midst of phrases is given other paths. Two walkers with a Tally each take
// turns with two sets of paths, whenever tracing goes on in a phrase.
func TestTallyOtherPaths(t *testing.T) {
	p := openProgram(t, "mruby")
	p.trace = p.trace[:min(len(p.trace), 150_000)]
	var turns, within int
	var paths [2]Paths
	var walker *Walker // in hand
	cfg := Config{ISA: x86.Decoder{}, Rules: ptRules, Mode: isa.Mode64, Space: func(event.Time, uint64) (uint32, bool) {
		if turns++; walker != nil && turns%7 == 0 {
			if walker.exec.out.refer.n > 0 {
				within++
			}
			UsePaths(walker, &paths[turns%2])
		}
		return 0, true
	}}
	segs := p.segments()
	cache := NewCache()
	slow := NewWalker(p.text, cache, cfg)
	var walkers [2]*Walker
	var tallies [2]Tally
	for i := range walkers {
		walkers[i] = NewWalker(p.text, cache, cfg)
		UsePaths(walkers[i], &paths[0])
	}
	want := [2]stepsByRange{{times: map[Step]uint64{}}, {times: map[Step]uint64{}}}
	for round := range 3 {
		for i, s := range segs {
			who := (round + i) % 2
			walker = nil
			if err := slow.Run(filler{pt.NewDecoder(p.Config, s)}, &want[who]); err != nil {
				t.Fatal(err)
			}
			walker = walkers[who]
			if err := walker.Run(pt.NewDecoder(p.Config, s), &tallies[who]); err != nil {
				t.Fatal(err)
			}
			want[who].end(0)
			tallies[who].close(0)
		}
	}
	if within == 0 {
		t.Error("no walker was given other paths in the midst of phrases")
	}
	for i := range tallies {
		got := map[Step]uint64{}
		tallies[i].Each(func(s Step, times uint64) { got[s] += times })
		if !maps.Equal(got, want[i].times) {
			t.Errorf("walker %d: other counts: -want +got\n%.3000s", i, cmp.Diff(want[i].times, got))
		}
	}
}
