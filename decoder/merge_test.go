package decoder

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/pieces"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// seen is what a sink was given, a line a range or note: stream, time, number.
type seen struct {
	lines   []string
	reverse bool
	stopAt  int
	onward  map[int]*flow.Block // by stream: what the batch before said of it
	onwards int                 // how many did
}

func (s *seen) Flow(b *flow.Batch) error {
	var part []string
	n := 0
	for i := 0; i <= len(b.Ranges); i++ {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			part = append(part, fmt.Sprintf("%d note %d", b.Stream, b.Notes[n].Poke))
		}
		if i < len(b.Ranges) {
			r := &b.Ranges[i]
			part = append(part, fmt.Sprintf("%d %d %d", b.Stream, b.Stamps[r.Stamp].Time.Lo, r.Block.Addr))
		}
	}
	if n != len(b.Notes) {
		return errors.New("a note lies outside of its batch")
	}
	if next := s.onward[b.Stream]; next != nil {
		if s.onwards++; noteLiesAt(b, 0) || b.Ranges[0].Block != next {
			return errors.New("the flow does not go on where the batch before said")
		}
	}
	if b.Onward != nil && (s.reverse || len(b.Ranges) == 0 || noteLiesAt(b, len(b.Ranges))) {
		return errors.New("it is said where the flow goes on, but not from a range")
	}
	if s.onward == nil {
		s.onward = map[int]*flow.Block{}
	}
	s.onward[b.Stream] = b.Onward
	if s.reverse {
		slices.Reverse(part)
	}
	s.lines = append(s.lines, part...)
	if s.stopAt > 0 && len(s.lines) >= s.stopAt {
		return ErrStop
	}
	return nil
}

// noteLiesAt reports whether a note of b lies before range i.
func noteLiesAt(b *flow.Batch, i int) bool {
	return slices.ContainsFunc(b.Notes, func(n flow.Note) bool { return n.At == i })
}

// madeUp is streams with segments at random times, and the batches that decoding
// them would give.
type madeUp struct {
	s     *Session
	segs  [][]event.Segment // by stream
	batch map[int64][]flow.Batch
}

// madeUpKey is the key of a segment in madeUp.batch.
func madeUpKey(g *event.Segment) int64 { return int64(g.Stream)<<32 | g.Off }

func newMadeUp(r *rand.Rand, streams, segs int, timed bool) *madeUp {
	m := &madeUp{s: &Session{complete: math.MaxUint64, rec: recording.New(&recording.Config{})}, batch: map[int64][]flow.Batch{}}
	m.s.code.Store(&code{})
	number := uint64(0)
	for i := range streams {
		var list []event.Segment
		now := r.Uint64N(100)
		for k := range segs {
			g := event.Segment{Stream: i, Off: int64(k) * 100, End: int64(k+1) * 100, Time: event.Time{Lo: now, Hi: math.MaxUint64}}
			if !timed {
				g.Time.Lo = 0
			}
			list = append(list, g)
			now += r.Uint64N(50)
			if k > 0 && timed {
				list[k-1].Time.Hi = g.Time.Lo
			}
		}
		for k := range list {
			m.batch[madeUpKey(&list[k])] = makeBatches(r, &list[k], &number, timed)
		}
		m.segs = append(m.segs, list)
	}
	return m
}

// makeBatches makes what a segment gives: none to three batches.
func makeBatches(r *rand.Rand, g *event.Segment, number *uint64, timed bool) (out []flow.Batch) {
	t := g.Time.Lo
	hi := g.Time.Hi
	if hi == math.MaxUint64 {
		hi = t + 40
	}
	for range r.IntN(4) {
		b := flow.Batch{Stream: g.Stream, Stamps: []flow.Stamp{{Off: g.Off + 1, Time: event.Time{Lo: t, Hi: math.MaxUint64}}}}
		for range 1 + r.IntN(6) {
			if timed && r.IntN(2) == 0 && t < hi {
				t += r.Uint64N(hi - t)
				b.Stamps = append(b.Stamps, flow.Stamp{Off: g.Off + 1, Time: event.Time{Lo: t, Hi: math.MaxUint64}})
			}
			*number++
			if r.IntN(4) == 0 {
				b.Notes = append(b.Notes, flow.Note{At: len(b.Ranges), Poke: int(*number), Kind: flow.NoteTrap, Event: event.Event{Off: g.Off + 1, Time: event.Time{Lo: t}}})
			} else {
				b.Ranges = append(b.Ranges, flow.Range{Block: &flow.Block{Addr: *number}, Stamp: uint32(len(b.Stamps) - 1), N: 1})
			}
		}
		out = append(out, b)
	}
	return out
}

// listOf gives segments one after the other, or back.
type listOf struct {
	segs []event.Segment
	back bool
}

func (l *listOf) Next() (g event.Segment, ok bool) {
	n := len(l.segs)
	switch {
	case n == 0:
		return g, false
	case l.back:
		g, l.segs = l.segs[n-1], l.segs[:n-1]
	default:
		g, l.segs = l.segs[0], l.segs[1:]
	}
	return g, true
}

// run returns the run of q that decodes what was made up.
func (m *madeUp) run(q Query) *run {
	r := m.s.newRun(q)
	for i, segs := range m.segs {
		r.addLane(&stream.Stream{Index: i, CPU: int32(i)}, &listOf{segs, q.Reverse}, nil)
	}
	r.share()
	r.decode = func(o *outlet) (func(int, flow.Sink) error, func()) {
		return func(i int, out flow.Sink) error {
			for _, b := range m.batch[madeUpKey(&o.job.segs[i])] {
				x := flow.Batch{Stream: b.Stream, Ranges: slices.Clone(b.Ranges), Stamps: slices.Clone(b.Stamps), Notes: slices.Clone(b.Notes)}
				if err := out.Flow(&x); err != nil {
					return err
				}
			}
			return nil
		}, func() {}
	}
	return r
}

// TestMerge would catch ranges that are lost, doubled or out of the order of
// time or of their stream, however the work is cut. So would it backwards that is
// not forwards mirrored.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range testsize.Of(t, 100, 300) {
		m := newMadeUp(r, 1+r.IntN(4), 1+r.IntN(8), round%5 != 0)
		var first []string
		for _, size := range []int64{1, 250, 1 << 20} {
			for _, reverse := range []bool{false, true} {
				q := Query{Reverse: reverse, SegmentBytes: size, Merged: true}
				out := &seen{reverse: reverse}
				if err := m.run(q).flow(context.Background(), out); err != nil {
					t.Fatal(err)
				}
				if reverse {
					slices.Reverse(out.lines)
				}
				if first == nil {
					first = out.lines
					m.checkOrder(t, out.lines)
				}
				if !slices.Equal(first, out.lines) {
					t.Fatalf("round %d: segments of %d bytes, reverse %v:\n%q\nwant\n%q", round, size, reverse, out.lines, first)
				}
			}
		}
	}
}

// bare takes times from what was made up. Segments begin at none, or state bounds that lie before the end of the segment
// before them, though not all of the segment does. What runs at the begin of a segment may have none, and so may all of
// it. Stream 0 has none at all.
func (m *madeUp) bare(r *rand.Rand) {
	for i, segs := range m.segs {
		for k := range segs {
			g := &segs[k]
			bs := m.batch[madeUpKey(g)]
			if g.Time = event.Always; i == 0 || r.IntN(8) == 0 {
				untime(bs)
			} else if len(bs) > 0 && len(bs[0].Ranges) > 0 {
				b, first := &bs[0], flow.Stamp{Off: g.Off + 1, Time: event.Always}
				if lo := b.Stamps[0].Time.Lo; len(b.Ranges) > 1 && r.IntN(2) == 0 {
					first.Time.Lo = lo - min(lo, r.Uint64N(30))
				}
				b.Ranges[0].Stamp = uint32(len(b.Stamps))
				b.Stamps = append(b.Stamps, first)
			}
		}
	}
}

// untime takes all times from bs.
func untime(bs []flow.Batch) {
	for i := range bs {
		for k := range bs[i].Stamps {
			bs[i].Stamps[k].Time.Lo = 0
		}
		for k := range bs[i].Notes {
			bs[i].Notes[k].Event.Time.Lo = 0
		}
	}
}

// TestMergeBackwards would catch backwards that is not forwards mirrored where the trace says little of the time.
func TestMergeBackwards(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for round := range testsize.Of(t, 100, 1000) {
		m := newMadeUp(r, 2+r.IntN(3), 1+r.IntN(8), true)
		m.bare(r)
		for _, size := range []int64{1, 250, 1 << 20} {
			var lines [2][]string
			for i := range lines {
				run, out := m.run(Query{Reverse: i == 1, SegmentBytes: size, Merged: true}), &seen{reverse: i == 1}
				run.lanes[0].timeless = i == 1
				if err := run.flow(context.Background(), out); err != nil {
					t.Fatal(err)
				}
				lines[i] = out.lines
			}
			if slices.Reverse(lines[1]); !slices.Equal(lines[0], lines[1]) {
				t.Fatalf("round %d: segments of %d bytes:\n%q\nbackwards\n%q", round, size, lines[0], lines[1])
			}
		}
	}
}

// TestMergeGoesOn would catch what is lost or doubled where a flow begins anew: while batches wait whose jobs are over, too.
func TestMergeGoesOn(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for round := range testsize.Of(t, 200, 2000) {
		m := newMadeUp(r, 2+r.IntN(3), 1+r.IntN(8), true)
		m.bare(r)
		q := Query{Reverse: round%2 == 1, SegmentBytes: []int64{1, 250, 1 << 20}[r.IntN(3)], Merged: true}
		whole := &seen{reverse: q.Reverse}
		if err := m.run(q).flow(context.Background(), whole); err != nil {
			t.Fatal(err)
		}
		out := &seen{reverse: q.Reverse}
		var before *run
		for more := true; more; more = len(out.lines) >= out.stopAt {
			next := m.run(q)
			if before != nil {
				next.goOn(before)
			}
			out.stopAt, out.onward = len(out.lines)+1+r.IntN(10), nil
			if err := next.flow(context.Background(), out); err != nil {
				t.Fatal(err)
			}
			before = next
		}
		if !slices.Equal(whole.lines, out.lines) {
			t.Fatalf("round %d, reverse %v:\n%q\nbegun anew\n%q", round, q.Reverse, whole.lines, out.lines)
		}
	}
}

// checkOrder holds lines against all ranges and notes, sorted the slow way.
func (m *madeUp) checkOrder(t *testing.T, lines []string) {
	t.Helper()
	var last uint64
	next := map[int]uint64{} // by stream: the number that the last line had
	n := 0
	for _, l := range lines {
		var stream int
		var time, number uint64
		if _, err := fmt.Sscanf(l, "%d note %d", &stream, &number); err != nil {
			fmt.Sscanf(l, "%d %d %d", &stream, &time, &number)
			if time < last {
				t.Fatalf("%s comes after time %d", l, last)
			}
			last = time
		}
		if number <= next[stream] {
			t.Fatalf("%s comes after number %d of its stream", l, next[stream])
		}
		next[stream] = number
		n++
	}
	want := 0
	for _, bs := range m.batch {
		for i := range bs {
			want += len(bs[i].Ranges) + len(bs[i].Notes)
		}
	}
	if n != want {
		t.Fatalf("%d ranges and notes, want %d", n, want)
	}
}

// TestMergeWaitsForLittle would catch a merge that keeps the whole recording, or
// waits for ever. It has streams that bring nothing, state no time, are one
// segment, or come before or behind all others.
func TestMergeWaitsForLittle(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, timed := range []bool{true, false} {
		for _, what := range []string{"even", "silent", "apart", "one segment"} {
			for _, reverse := range []bool{false, true} {
				if what == "apart" && !timed {
					continue // what has no time has no place among what has one
				}
				m := newMadeUp(r, 3, 400, timed)
				m.shape(what)
				q := Query{Reverse: reverse, SegmentBytes: 300, Merged: true, Jobs: 2}
				out := &seen{reverse: reverse}
				run := m.run(q)
				run.shares.Part, run.shares.Least = 1, 1
				run.kept.Left = 20 * 272
				if err := run.flow(context.Background(), out); err != nil {
					t.Fatal(err)
				}
				if reverse {
					slices.Reverse(out.lines)
				}
				m.checkOrder(t, out.lines)
				if most := m.s.held.Most.Load(); most > 40_000 {
					t.Errorf("timed %v, %s, reverse %v: batches of %d bytes waited", timed, what, reverse, most)
				}
				if now := m.s.held.Now.Load(); now != 0 {
					t.Errorf("timed %v, %s, reverse %v: %d bytes are held at the end", timed, what, reverse, now)
				}
			}
		}
	}
}

// shape gives stream 1 another form.
func (m *madeUp) shape(what string) {
	segs := m.segs[1]
	switch what {
	case "silent":
		for i := range segs {
			if i%100 != 0 {
				delete(m.batch, madeUpKey(&segs[i]))
			}
		}
	case "apart":
		for i := range segs {
			segs[i].Time = event.Time{Lo: 1 << 40, Hi: 1 << 41}
			for _, b := range m.batch[madeUpKey(&segs[i])] {
				for k := range b.Stamps {
					b.Stamps[k].Time.Lo = 1 << 40
				}
				for k := range b.Notes {
					b.Notes[k].Event.Time.Lo = 1 << 40
				}
			}
		}
	case "one segment":
		var all []flow.Batch
		for i := range segs {
			all = append(all, m.batch[madeUpKey(&segs[i])]...)
			delete(m.batch, madeUpKey(&segs[i]))
		}
		segs[0].End, segs[0].Time.Hi = segs[len(segs)-1].End, math.MaxUint64
		m.segs[1] = segs[:1]
		m.batch[madeUpKey(&segs[0])] = all
	}
}

// TestMergeStops would catch a merge that goes on when its sink has enough.
func TestMergeStops(t *testing.T) {
	m := newMadeUp(rand.New(rand.NewPCG(7, 8)), 2, 10, true)
	out := &seen{stopAt: 5}
	if err := m.run(Query{Merged: true}).flow(context.Background(), out); err != nil {
		t.Errorf("Flow returned %v", err)
	}
	if len(out.lines) < 5 || len(out.lines) > 15 {
		t.Errorf("%d lines were handed on", len(out.lines))
	}
}

// TestCut would catch a piece of a batch that has ranges of two stamps, or not all of one.
func TestCut(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		b := &flow.Batch{}
		for k := range 1 + r.IntN(20) {
			b.Stamps = append(b.Stamps, flow.Stamp{Off: int64(k), Time: event.Time{Lo: uint64(k)}})
			for range 1 + r.IntN(32) {
				b.Ranges = append(b.Ranges, flow.Range{Stamp: uint32(k)})
			}
		}
		c, m := &pieces.Batch{Batch: b, Segs: []event.Segment{{}}}, &merger{run: &run{}}
		m.cut(c, &lane{}, &job{})
		at := 0
		for k, p := range c.Pieces {
			for ; at < len(b.Ranges) && b.Ranges[at].Stamp == uint32(k); at++ {
			}
			if p.Ranges[1] != at || k > 0 && p.Ranges[0] != c.Pieces[k-1].Ranges[1] {
				t.Fatalf("piece %d has ranges %v, those of its stamp end at %d", k, p.Ranges, at)
			}
		}
		if at != len(b.Ranges) {
			t.Fatalf("%d of %d ranges lie in pieces", at, len(b.Ranges))
		}
	}
}
