package calls_test

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestCyclesOfArm would catch a cycle count of CoreSight that counts twice, not at all, or for a
// call before or behind it, and one where the trace has none. It compares with the counts that
// lie between a call's first and last range: of ETMv4 and ETE in the flow, else in the packets.
func TestCyclesOfArm(t *testing.T) {
	compared := map[string]int{}
	first, n := seedsAsked(t, 50, 100)
	for seed := first; seed < first+4*n && !t.Failed(); seed++ {
		simulate, g := sim.SimulateA64, sim.DrawA64(seed).WithETM()
		if seed%2 == 1 {
			simulate, g = sim.SimulateA32, sim.DrawA32(seed)
		}
		s := simSession(t, simulate(g))
		w := &countsWatched{Tree: &calls.Tree{Session: s}, sums: make([]func(int) uint64, len(s.Streams())), of: map[*calls.Call]*span{}}
		for i, st := range s.Streams() {
			w.sums[i] = packetSums(st)
		}
		w.now, w.skip = make([]uint64, len(w.sums)), make([]bool, len(w.sums))
		w.OnBegin = func(c *calls.Call) {
			w.of[c] = &span{}
			for up := c.Caller; up != nil && c.How == calls.Interrupted; up = up.Caller {
				w.of[up].broken = true
			}
		}
		w.OnRan = w.ran
		w.OnEnd = func(c *calls.Call) {
			in, i := w.of[c], c.Stream.Index
			u := c.Stream.Unit.(coresight.Config)
			counting := u.V3.CycleAccurate()
			if v4 := u.Protocol == coresight.ETMv4 || u.Protocol == coresight.ETE; v4 {
				counting = u.V4.CycleCounts()
			}
			if delete(w.of, c); c.Counted && !counting {
				t.Fatalf("seed %d: a call of %s has cycles, and the trace of %s counts none", seed, c.Sym, w.Session.Streams()[i].Name)
			}
			if !c.Counted || in.broken || !in.begun {
				return
			}
			compared[u.Protocol.String()]++
			if c.Cycles > 0 {
				compared[u.Protocol.String()+", some"]++
			}
			if want := in.last - in.first; c.Cycles != want {
				t.Errorf("seed %d: %s: a call of %s has %d cycles, want %d", seed, u.Protocol, c.Sym, c.Cycles, want)
			}
		}
		if err := s.Flow(t.Context(), decoder.Query{Merged: true}, w); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	t.Log(compared)
	for _, p := range []coresight.Protocol{coresight.ETMv4, coresight.ETE, coresight.ETMv3, coresight.PTM} {
		if compared[p.String()+", some"] < testsize.Of(t, 50, 100) {
			t.Errorf("%s: %d calls with cycles were compared: too few to tell", p, compared[p.String()+", some"])
		}
	}
}

// packetSums returns what gives the cycles up to a range by the place of its packet, nil where
// the flow has the counts.
func packetSums(st *decoder.Stream) func(int) uint64 {
	u := st.Unit.(coresight.Config)
	b, sums, n := st.Data.Bytes(0, int64(st.Size)), make([]uint64, st.Size+1), uint64(0)
	fill := func(from, to int64) {
		for i := from; i < to; i++ {
			sums[i] = n
		}
	}
	switch u.Protocol {
	case coresight.PTM:
		l := ptm.NewLexer((&ptm.Config{Trace: u}).Format(), b, 0)
		for p := (ptm.Packet{}); l.Next(&p); {
			if p.Kind == ptm.Atom || p.Kind == ptm.Branch || p.Kind == ptm.Timestamp {
				n += uint64(p.Cycles)
			}
			fill(p.Off, p.End())
		}
	case coresight.ETMv3:
		l := etmv3.NewLexer((&etmv3.Config{Trace: u}).Format(), b, 0)
		for p := (etmv3.Packet{}); l.Next(&p); {
			if p.Kind == etmv3.PHeader {
				n += [...]uint64{0, uint64(p.N), 1, uint64(p.Cycles), 0}[p.Info]
			}
			fill(p.Off, p.End())
		}
	default:
		return nil
	}
	return func(off int) uint64 { return sums[off] }
}

// span is the cycles told before the first and the last range of a call.
type span struct {
	first, last   uint64
	begun, broken bool
}

// countsWatched sums the counts on its own.
type countsWatched struct {
	*calls.Tree
	batch *decoder.Batch
	sums  []func(int) uint64 // by stream; nil: now is the sum
	note  int                // the next one
	now   []uint64
	skip  []bool // tracing came on: the next count is not a call's
	of    map[*calls.Call]*span
}

// Flow gives flow to the tree.
func (w *countsWatched) Flow(b *decoder.Batch) error {
	w.batch, w.note = b, 0
	err := w.Tree.Flow(b)
	w.upTo(len(b.Ranges))
	return err
}

// upTo takes the notes before the range with index i.
func (w *countsWatched) upTo(i int) {
	for k := w.batch.Stream; w.note < len(w.batch.Notes) && w.batch.Notes[w.note].At <= i; w.note++ {
		switch n := &w.batch.Notes[w.note]; {
		case n.Kind == decoder.NoteGap || n.Kind == decoder.NoteTrackOn:
			w.skip[k] = true
		case n.Kind == decoder.NoteEvent && n.Event.Detail == event.DetailCycleCount:
			if !w.skip[k] {
				w.now[k] += n.Event.Value
			}
			w.skip[k] = false
		}
	}
}

// ran is the tree's OnRan.
func (w *countsWatched) ran(c *calls.Call, x *decoder.BatchRange) {
	i := 0
	for &w.batch.Ranges[i] != x {
		i++
	}
	w.upTo(i)
	sum := w.now[w.batch.Stream]
	if f := w.sums[w.batch.Stream]; f != nil {
		sum = f(int(w.batch.Stamps[x.Stamp].Off))
	}
	for ; c != nil; c = c.Caller {
		if in := w.of[c]; in != nil {
			if in.last = sum; !in.begun {
				in.begun, in.first = true, sum
			}
		}
	}
}
