package decoder

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
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
	ran   map[int64]int        // by offset: instructions before it
}

func (s *stampTimes) Flow(b *flow.Batch) error {
	for _, r := range b.Ranges {
		if off := b.Stamps[r.Stamp].Off; off != s.last && s.k < len(s.truth) {
			s.last = off
			s.ran[off] = s.k
			s.at[off] = event.Time{Lo: s.truth[max(s.k-1, 0)].Time, Hi: s.truth[s.k].Time}
		}
		s.k += int(r.N)
	}
	return nil
}

// numbered is t with event i at 2*i ns: no event leaves a moment open.
func (t tape) numbered() (out tape) {
	i := uint64(0)
	for _, evs := range t {
		evs = append([]event.Event(nil), evs...)
		for k := range evs {
			evs[k].Time = event.Time{Lo: 2 * i, Hi: 2 * i}
			i++
		}
		out = append(out, evs)
	}
	return out
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

// side is one of two ways to walk the same flow: the tapes of all CPUs, and what
// walks them.
type side struct {
	tapes   []tape
	walkers []*flow.Walker
	least   [][]float64 // s, by CPU and segment
}

// newSide returns walkers of their own for tapes, which s reads.
func newSide(s *Session, tapes []tape) *side {
	x := &side{tapes: tapes}
	for i, st := range s.streams {
		cfg := s.walk
		cfg.ISA, cfg.Rules, cfg.Mode = x86.Decoder{}, st.Unit.(pt.Config).Rules(), isa.Mode64
		x.walkers = append(x.walkers, flow.NewWalker(s.code.Load().text, s.code.Load().caches[s.reading(st)], cfg))
		x.least = append(x.least, slices.Repeat([]float64{math.Inf(1)}, len(tapes[i])))
	}
	return x
}

// tapesOf returns the tapes of s's streams as recorded, and with every time exact;
// ran is how many instructions of the last lie before the event at an offset.
func tapesOf(b *testing.B, s *Session, r *sim.Run) (open, exact []tape, ran map[int64]int) {
	for _, st := range s.streams {
		open = append(open, recordTape(st, st.Unit.(pt.Config)))
	}
	x := newSide(s, open)
	for i, t := range open {
		times := &stampTimes{truth: r.CPUs[i].Insns, last: -1, at: map[int64]event.Time{}, ran: map[int64]int{}}
		t.play(b, x.walkers[i], times, nil)
		exact, ran = append(exact, t.exact(times.at)), times.ran
	}
	return open, exact, ran
}

// compare walks both in turn and reports what a takes over what c takes. What
// counts of each segment is the fastest round.
func compare(b *testing.B, a, c *side, name string) {
	both := [2]*side{a, c}
	var n insns
	for _, x := range both { // blocks, then the paths between them
		for range 2 {
			for i, t := range x.tapes {
				t.play(b, x.walkers[i], &n, nil)
			}
		}
	}
	for b.Loop() {
		for range rounds {
			for _, x := range both {
				for i, t := range x.tapes {
					t.play(b, x.walkers[i], &n, x.least[i])
				}
			}
		}
	}
	var sum [2]float64
	for k, x := range both {
		for _, segs := range x.least {
			for _, s := range segs {
				sum[k] += s
			}
		}
	}
	b.ReportMetric(sum[0]/sum[1], name)
}

// BenchmarkPokes measures what pokes cost. Blocks are warm, and decoding packets,
// which is the same for both sides, is left out.
//
// spread: pokes whose moment the clock leaves open, at many sites. The walk of a
// trace with an MTC each 320 ns, over the walk of the same trace with every time
// exact, so that each poke's window is certain.
//
// hot: one site on the busiest way that is changed 10,000 times, with every window
// certain: each change lies between two events far from where the site is executed. The walk of the trace over that of the same trace without any poke: the
// site holds one NOP or another, so that the flow is the same.
func BenchmarkPokes(b *testing.B) {
	b.Run("spread", func(b *testing.B) {
		r := sim.Simulate(benchMachine)
		s := simSession(b, r, r.Start)
		open, exact, _ := tapesOf(b, s, r)
		compare(b, newSide(s, open), newSide(s, exact), "open/certain")
		b.ReportMetric(float64(len(r.Pokes)), "pokes")
	})
	b.Run("hot", func(b *testing.B) {
		m := benchMachine
		m.Work, m.CPUs, m.Insns = 0, 1, 16_000_000
		r := sim.Simulate(m)
		plain := simSession(b, r, r.Start)
		open, _, ran := tapesOf(b, plain, r)
		var visits int
		r.Pokes, visits = toggle(r, open[0], ran, 10_600)
		hot := simSession(b, r, r.Start)
		tapes := []tape{open[0].numbered()}
		compare(b, newSide(hot, tapes), newSide(plain, tapes), "hot/none")
		b.ReportMetric(float64(len(r.Pokes)), "pokes")
		b.ReportMetric(float64(visits), "visits")
	})
}

// farFrom is how many instructions before and behind a poke of toggle its site is not
// executed.
const farFrom = 64

// toggle returns n pokes of the NOP of five bytes that the CPU executes most often,
// and how often that is. They are about even over t, of which the times are to be
// those of tape.numbered. ran is how many instructions lie before the event at an
// offset.
func toggle(r *sim.Run, t tape, ran map[int64]int, n int) (out []sim.Poke, most int) {
	forms := [2][]byte{{0x0f, 0x1f, 0x44, 0, 0}, {0x66, 0x66, 0x66, 0x66, 0x90}}
	visits := map[uint64]int{}
	var site uint64
	insns := r.CPUs[0].Insns
	for _, x := range insns {
		if code := &r.Codes[x.Code]; bytes.Equal(code.Fetched(), forms[0]) {
			if visits[x.IP]++; visits[x.IP] > visits[site] {
				site = x.IP
			}
		}
	}
	at := func(x sim.Retired) bool { return x.IP == site }
	when := uint64(1)
	for _, evs := range t {
		for _, e := range evs {
			i := len(out)
			k, ok := ran[e.Off]
			if ok && i < n && k >= len(insns)/n*i && !slices.ContainsFunc(insns[max(k-farFrom, 0):min(k+farFrom, len(insns))], at) {
				out = append(out, sim.Poke{Time: when, Stamp: when, Begin: when, End: when, Addr: site, Scheme: sim.SchemeBP, Batch: i,
					Old: forms[i%2], New: forms[(i+1)%2]})
			}
			when += 2
		}
	}
	return out, visits[site]
}
