package decoder

import (
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// etmSession is a session over what a machine with Arm's trace units gives a
// decoder.
func etmSession(t *testing.T, r *sim.Run, image []sim.Piece) *Session {
	t.Helper()
	f := recording.New(&recording.Config{})
	f.Pokes, _ = r.Records()
	for _, p := range image {
		f.Code = append(f.Code, recording.Code{Addr: p.Addr, Bytes: p.Bytes})
	}
	traces := framed(t, r)
	for i := range r.CPUs {
		c := &r.CPUs[i]
		st := &stream.Stream{CPU: int32(i), TID: -1, Size: int64(len(traces[i])), Data: stream.Memory(traces[i]), Unit: c.Source}
		st.Protocol = stream.ForUnit(c.Source.Protocol)
		f.Streams = append(f.Streams, st)
	}
	s := &Session{rec: f, cfg: Config{ClockError: r.Config.ClockError}}
	if err := s.assemble(); err != nil {
		t.Fatal(err)
	}
	return s
}

// otherID is the trace ID of something that is no CPU's, in the same frames.
const otherID = 0x6f

// framed returns the CPUs' traces as they come out of frames that a formatter
// put them into, a few bytes of each in turn. Every second seed has its frames
// in memory, the others have them at a trace port. In a third of the seeds
// another source, whose bytes mean nothing, sends in between.
func framed(t *testing.T, r *sim.Run) (traces [][]byte) {
	t.Helper()
	f := coresight.Formatter{IDEvery: 8, FSyncEvery: 64}
	if r.Config.Seed%2 != 0 {
		f.Format, f.HSyncEvery = coresight.FormatPort, 100
	}
	more := true
	for off, n := 0, 1; more; off, n = off+n, 1+(n*7+int(r.Config.Seed%11))%40 {
		more = false
		for i := range r.CPUs {
			c := &r.CPUs[i]
			if off >= len(c.Trace) {
				continue
			}
			more = true
			if i == 0 && r.Config.Seed%3 == 0 {
				if err := f.Write(otherID, c.Trace[off/2:min(off/2+n%5, len(c.Trace))]); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.Write(c.Source.ID, c.Trace[off:min(off+n, len(c.Trace))]); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.Flush()
	d := coresight.Deframe(f.Format, f.Bytes())
	if bad, _ := d.Troubles(); len(bad) > 0 {
		t.Errorf("seed %d: %v", r.Config.Seed, bad)
	}
	for i := range r.CPUs {
		traces = append(traces, d.Stream(r.CPUs[i].Source.ID).Data)
	}
	return traces
}

// scoreETM is score for a machine with Arm's trace units.
func (s *scores) scoreETM(t *testing.T, r *sim.Run) {
	session := etmSession(t, r, r.Start)
	got := decodeWith(t, r, session, Query{Jobs: 1})
	s.compare(r, got, session.code.Load().text)
	if s.noBrute || slices.ContainsFunc(r.Pokes, func(p sim.Poke) bool { return p.Scheme == sim.SchemeUnsafe }) {
		return // brute force knows the texts that there were, not what else may have run
	}
	for i := range r.CPUs {
		s.brute[r.Config.Timing].check(r, etmStream(r, session, i), i, got[i], bruteRules{})
	}
}

// TestTruthHistoryETM keeps runs that were once decoded wrong. Some have a
// taken branch that the trace states by its address alone: at a site that is
// being rewritten, beside one, and where more flows fit than are followed. In
// others a TSTART or a failed transaction was taken for a synchronisation, with
// old code fetched behind it. In 14272 a Q element hides the end of a
// window. In the last a return by an address that was a guess went astray, and that
// refuted the true version of code before it.
func TestTruthHistoryETM(t *testing.T) {
	for _, seed := range keptRuns(t, []uint64{9, 18, 34, 51, 63, 500018, 436, 564, 14272, 140873}) {
		s := scores{noBrute: true}
		s.scoreETM(t, sim.SimulateA64(drawnA64(seed).WithETM()))
		for _, m := range s.trouble {
			t.Error(m)
		}
	}
}

// TestSameETM would catch a decode that depends on when the image was taken,
// or on how many workers there are.
func TestSameETM(t *testing.T) {
	first, n := seeds(t, 5, 25, 40)
	eachSeed(first, 2*n, func(_ int, seed uint64) {
		var r *sim.Run
		if seed%2 == 0 {
			r = sim.SimulateA64(sim.DrawA64(seed / 2).WithETM())
		} else {
			r = sim.SimulateA32(drawnA32(seed / 2))
		}
		decode := func(image []sim.Piece, q Query) steps { return decodeWith(t, r, etmSession(t, r, image), q) }
		sameDecoded(t, r, seed, decode(r.Start, Query{Jobs: 1}), decode, []decodedAs{
			{"an image from the middle", r.Middle, Query{Jobs: 1}},
			{"an image taken while pokes went on", r.During, Query{Jobs: 1}},
			{"an image from the end", r.End, Query{Jobs: 1}},
			{"8 workers, segments of their own", r.Start, Query{Jobs: 8, SegmentBytes: 1}},
			{"one segment", r.Start, Query{Jobs: 1, SegmentBytes: 1 << 30}},
		})
	})
}
