package decoder

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/decoder/stream"
	"github.com/ptdecode/ptdecode/pt"
)

// benchMachine is patched some 10,000 times while it runs.
var benchMachine = sim.Config{
	Seed: 1, CPUs: 2, Insns: 8_000_000, Funcs: 24, Work: sim.WorkAll,
	PokeGap: 4200, Batch: 6, Window: 200, Stale: 500,
	Timing: sim.MTC, MTCFreq: 3, PSBBytes: 4096,
}

// tape is the events of a stream, a list for each segment, played to a walker.
type tape [][]event.Event

// recordTape decodes the packets of one CPU into events.
func recordTape(st *stream.Stream, cfg pt.Config) (out tape) {
	cfg.Ahead = true
	d := pt.NewDecoder(cfg, event.Segment{})
	for seg := range st.Segments() {
		seg.Buf = st.Data.Bytes(seg.Off, seg.End-seg.Off+pt.Margin)
		d.Reset(seg)
		var evs []event.Event
		for e := (event.Event{}); d.Next(&e); {
			evs = append(evs, e)
		}
		out = append(out, evs)
	}
	return out
}

// stampTimes is a Sink that finds out when the event at each offset truly
// happened: between the instructions before and behind it.
type stampTimes struct {
	truth []sim.Retired
	k     int // instructions so far
	last  int64
	at    map[int64]event.Time // by offset
}

func (s *stampTimes) Flow(b *flow.Batch) error {
	for _, r := range b.Ranges {
		if off := b.Stamps[r.Stamp].Off; off != s.last && s.k < len(s.truth) {
			s.last = off
			s.at[off] = event.Time{Lo: s.truth[max(s.k-1, 0)].Time, Hi: s.truth[s.k].Time}
		}
		s.k += int(r.N)
	}
	return nil
}

// exact is t with every moment narrowed to what the truth says of it.
func (t tape) exact(at map[int64]event.Time) (out tape) {
	for _, evs := range t {
		evs = append([]event.Event(nil), evs...)
		for i := range evs {
			x, ok := at[evs[i].Off]
			if ok && x.Lo >= evs[i].Time.Lo && x.Hi <= evs[i].Time.Hi {
				evs[i].Time = x
			}
		}
		out = append(out, evs)
	}
	return out
}

// player is a flow.Source over one segment of a tape.
type player struct{ evs []event.Event }

func (p *player) Next(e *event.Event) bool {
	if len(p.evs) == 0 {
		return false
	}
	*e, p.evs = p.evs[0], p.evs[1:]
	return true
}

func (p *player) Fill(q []event.Event) int {
	n := copy(q, p.evs)
	p.evs = p.evs[n:]
	return n
}

// play walks t, and lowers least to what each segment took, where that is less, s.
func (t tape) play(b *testing.B, w *flow.Walker, to flow.Sink, least []float64) {
	for i, evs := range t {
		from := time.Now()
		if err := w.Run(&player{evs}, to); err != nil {
			b.Fatal(err)
		}
		if took := time.Since(from).Seconds(); i < len(least) {
			least[i] = min(least[i], took)
		}
	}
}

// rounds is how often BenchmarkPokes walks each trace in one iteration. Other
// load on the machine only ever adds to what a segment takes, and a segment is
// short: the least of several rounds is what it costs.
const rounds = 12

// BenchmarkPokes measures what pokes cost whose moment the clock leaves open:
// the walk of a trace with an MTC each 320 ns, over the walk of the same trace
// with every time exact, so that each poke's window is certain. Both are walked
// in turn, and what counts of each segment is the fastest round. Blocks are
// warm, and decoding packets, which is the same for both, is left out.
func BenchmarkPokes(b *testing.B) {
	r := sim.Simulate(benchMachine)
	s := simSession(b, r, r.Start)
	var open, certain []tape
	walkers := make([]*flow.Walker, len(r.CPUs))
	for i, st := range s.streams {
		cfg := s.walk
		cfg.ISA, cfg.Rules, cfg.Mode = x86.Decoder{}, st.Unit.(pt.Config).Rules(), isa.Mode64
		walkers[i] = flow.NewWalker(s.text, s.caches[s.reading(st)], cfg)
		x := recordTape(st, st.Unit.(pt.Config))
		times := &stampTimes{truth: r.CPUs[i].Insns, last: -1, at: map[int64]event.Time{}}
		x.play(b, walkers[i], times, nil)
		open, certain = append(open, x), append(certain, x.exact(times.at))
	}
	both := [2][]tape{open, certain}
	var least [2][][]float64 // s, by CPU and segment
	for k, tapes := range both {
		for _, x := range tapes {
			least[k] = append(least[k], slices.Repeat([]float64{math.Inf(1)}, len(x)))
		}
	}
	for b.Loop() {
		var n insns
		for range rounds {
			for k, tapes := range both {
				for i, x := range tapes {
					x.play(b, walkers[i], &n, least[k][i])
				}
			}
		}
	}
	var sum [2]float64
	for k := range least {
		for _, x := range least[k] {
			for _, s := range x {
				sum[k] += s
			}
		}
	}
	b.ReportMetric(float64(len(r.Pokes)), "pokes")
	b.ReportMetric(sum[0]/sum[1], "open/certain")
}
