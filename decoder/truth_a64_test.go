package decoder

import (
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/a64"
	"github.com/ptdecode/ptdecode/kcore"
)

// script is a flow.Source: what a trace unit's decoder would state.
type script []event.Event

func (s *script) Next(e *event.Event) bool {
	if len(*s) == 0 {
		return false
	}
	*e, *s = (*s)[0], (*s)[1:]
	return true
}

// textA64 is the text of r, which ran on A64 CPUs, made from one of its images.
func textA64(t *testing.T, r *sim.Run, image []sim.Piece) *kcore.Text {
	t.Helper()
	img, err := sim.NewImage(image)
	if err != nil {
		t.Fatal(err)
	}
	pokes, _ := r.Records()
	j, err := kcore.NewJournal(pokes)
	if err != nil {
		t.Fatal(err)
	}
	return kcore.NewText(j, img, kcore.TextOptions{})
}

// walkA64 gives the flow of r to out.
func walkA64(t *testing.T, r *sim.Run, text *kcore.Text, out flow.Sink) {
	t.Helper()
	cache := flow.NewCache()
	for i := range r.CPUs {
		w := flow.NewWalker(textView{Text: text}, cache, flow.Config{ISA: a64.Decoder{}, Rules: r.RulesA64(), Mode: isa.ModeA64, Stream: i})
		for _, seg := range r.CPUs[i].Script {
			src := script(seg)
			if err := w.Run(&src, out); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// decodeA64 decodes r with one of its images.
func decodeA64(t *testing.T, r *sim.Run, image []sim.Piece) steps {
	t.Helper()
	got := steps{}
	walkA64(t, r, textA64(t, r, image), got)
	return got
}

// scoreA64 is score for a machine of A64 CPUs.
func (s *scores) scoreA64(t *testing.T, r *sim.Run) {
	text := textA64(t, r, r.Start)
	got := steps{}
	walkA64(t, r, text, got)
	s.compare(r, got, textView{Text: text})
	if s.noBrute || slices.ContainsFunc(r.Pokes, func(p sim.Poke) bool { return p.Scheme == sim.SchemeUnsafe }) {
		return // brute force knows the texts that there were, not what else may have run
	}
	for i := range r.CPUs {
		s.brute[r.Config.Timing].check(r, scriptStream(r, text, i), i, got[i], bruteRules{})
	}
}

// scriptStream is the script of one CPU of r, for brute force.
func scriptStream(r *sim.Run, text *kcore.Text, cpu int) *bruteStream {
	c := &r.CPUs[cpu]
	b := &bruteStream{dec: a64.Decoder{}, mode: isa.ModeA64, rules: r.RulesA64(), text: text}
	for _, seg := range c.Script {
		b.offs = append(b.offs, seg[0].Off)
	}
	b.events = func(i int) []event.Event { return c.Script[i] }
	b.truth = func(i int) (from, to int) {
		if i+1 < len(c.Starts) {
			return c.Starts[i], c.Starts[i+1]
		}
		return c.Starts[i], len(c.Insns)
	}
	return b
}

// drawnA64 is drawn for A64 CPUs.
func drawnA64(seed uint64) sim.Config {
	if seed%4 == 0 {
		return sim.DrawA64(seed)
	}
	return sim.SparseA64(seed)
}

// TestTruthHistoryA64 keeps runs that were once decoded wrong.
func TestTruthHistoryA64(t *testing.T) {
	for _, seed := range []uint64{2808, 19028, 23658, 44070} {
		s := scores{noBrute: true}
		s.scoreA64(t, sim.SimulateA64(sim.DrawA64(seed)))
		for _, m := range s.trouble {
			t.Error(m)
		}
	}
}

// decodeApart is decodeA64 as workers would do it: the segments in another
// order, each by a walker that has seen nothing before, over blocks that all
// share.
func decodeApart(t *testing.T, r *sim.Run, image []sim.Piece) steps {
	t.Helper()
	text, cache := textView{Text: textA64(t, r, image)}, flow.NewCache()
	got := steps{}
	for i := range r.CPUs {
		segs := r.CPUs[i].Script
		parts := make([]steps, len(segs))
		for k := len(segs) - 1; k >= 0; k-- {
			w := flow.NewWalker(text, cache, flow.Config{ISA: a64.Decoder{}, Rules: r.RulesA64(), Mode: isa.ModeA64, Stream: i})
			src := script(segs[k])
			parts[k] = steps{}
			if err := w.Run(&src, parts[k]); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range parts {
			got[i] = append(got[i], p[i]...)
		}
	}
	return got
}

// TestSameA64 would catch a decode that depends on when the image was taken,
// or on what else its walker has decoded.
func TestSameA64(t *testing.T) {
	first, n := seeds(t, 12, 100)
	eachSeed(first, n, func(_ int, seed uint64) {
		r := sim.SimulateA64(sim.DrawA64(seed))
		want := decodeA64(t, r, r.Start)
		same := func(what string, got steps) {
			for i := range r.CPUs {
				if at := differ(got[i], want[i]); at >= 0 {
					t.Errorf("seed %d cpu %d: %s: differs at step %d of %d and %d", seed, i, what, at, len(got[i]), len(want[i]))
				}
			}
		}
		same("segments apart", decodeApart(t, r, r.Start))
		for what, image := range map[string][]sim.Piece{"middle": r.Middle, "end": r.End, "time in which pokes went on": r.During} {
			same("an image from the "+what, decodeA64(t, r, image))
		}
	})
}

// judgeA64 is judge for a machine of A64 CPUs.
func (b *blames) judgeA64(t *testing.T, seed uint64) {
	cfg := sim.DrawA64(seed)
	cfg.OVF = 0
	if cfg.Work &^= sim.WorkUnsafe; cfg.Work == 0 {
		return
	}
	r := sim.SimulateA64(cfg)
	got := trapNotes{map[int][]flow.Note{}, map[int]int{}}
	text := textA64(t, r, r.Start)
	walkA64(t, r, text, &got)
	b.compare(text, r, &got)
}
