package decoder

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/decoder/stream"
)

// seen is what a sink was given, a line a range or note: stream, time, number.
type seen struct {
	lines   []string
	reverse bool
	stopAt  int
	held    func() int // how much waits
	most    int
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
	if s.reverse {
		slices.Reverse(part)
	}
	s.lines = append(s.lines, part...)
	if s.stopAt > 0 && len(s.lines) >= s.stopAt {
		return ErrStop
	}
	if s.held != nil {
		s.most = max(s.most, s.held())
	}
	return nil
}

// madeUp is a session of streams with segments at random times, and the
// batches that decoding them would give, by job.
type madeUp struct {
	s     *Session
	batch map[*event.Segment][]flow.Batch
}

func newMadeUp(r *rand.Rand, streams, segs int, timed bool) *madeUp {
	m := &madeUp{s: &Session{}, batch: map[*event.Segment][]flow.Batch{}}
	number := uint64(0)
	for i := range streams {
		st := &stream.Stream{Index: i, CPU: int32(i)}
		now := r.Uint64N(100)
		for k := range segs {
			g := event.Segment{Stream: i, Index: k, Off: int64(k) * 100, End: int64(k+1) * 100, Time: event.Time{Lo: now, Hi: math.MaxUint64}}
			if !timed {
				g.Time.Lo = 0
			}
			st.Segs = append(st.Segs, g)
			now += r.Uint64N(50)
			if k > 0 {
				st.Segs[k-1].Time.Hi = g.Time.Lo
			}
		}
		if !timed {
			for k := range st.Segs {
				st.Segs[k].Time.Hi = math.MaxUint64
			}
		}
		for k := range st.Segs {
			g := &st.Segs[k]
			m.batch[g] = makeBatches(r, g, &number, timed)
		}
		m.s.streams = append(m.s.streams, st)
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

// run gives the batches to the sink as Session.Flow does.
func (m *madeUp) run(q Query, to flow.Sink) error {
	for _, j := range m.s.plan(q) {
		var all []flow.Batch
		for i := range j.segs {
			for k := range j.stream.Segs {
				if g := &j.stream.Segs[k]; g.Off == j.segs[i].Off {
					all = append(all, m.batch[g]...)
				}
			}
		}
		if q.Reverse {
			slices.Reverse(all)
		}
		for i := range all {
			if err := to.Flow(&all[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestMerge would catch ranges that are lost, doubled or out of the order of
// time or of their stream, however the work is cut; and backwards that is not
// forwards mirrored.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 300 {
		m := newMadeUp(r, 1+r.IntN(4), 1+r.IntN(8), round%5 != 0)
		var first []string
		for _, size := range []int64{1, 250, 1 << 20} {
			for _, reverse := range []bool{false, true} {
				q := Query{Reverse: reverse, SegmentBytes: size}
				out := &seen{reverse: reverse}
				mg := m.s.Merge(out, q)
				if err := errors.Join(m.run(q, mg), mg.Close()); err != nil {
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

// TestMergeWaitsForLittle would catch a merge that keeps the whole recording:
// also where a stream brings nothing, and where no time is stated.
func TestMergeWaitsForLittle(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, timed := range []bool{true, false} {
		for _, silent := range []bool{false, true} {
			for _, reverse := range []bool{false, true} {
				m := newMadeUp(r, 3, 400, timed)
				if silent {
					for g := range m.batch {
						if g.Stream == 1 && g.Index%100 != 0 {
							m.batch[g] = nil
						}
					}
				}
				q := Query{Reverse: reverse, SegmentBytes: 300}
				out := &seen{reverse: reverse}
				mg := m.s.Merge(out, q)
				out.held = func() (n int) {
					for i := range mg.queues {
						n += len(mg.queues[i].head)
					}
					return n
				}
				if err := errors.Join(m.run(q, mg), mg.Close()); err != nil {
					t.Fatal(err)
				}
				if out.most > 60 {
					t.Errorf("timed %v, silent %v, reverse %v: %d batches waited", timed, silent, reverse, out.most)
				}
			}
		}
	}
}

// TestMergeStops would catch a merge that goes on when its sink has enough.
func TestMergeStops(t *testing.T) {
	m := newMadeUp(rand.New(rand.NewPCG(7, 8)), 2, 10, true)
	out := &seen{stopAt: 5}
	mg := m.s.Merge(out, Query{})
	if err := m.run(Query{}, mg); err != ErrStop {
		t.Errorf("Flow returned %v, want ErrStop", err)
	}
	n := len(out.lines)
	if err := mg.Close(); err != nil || len(out.lines) != n {
		t.Errorf("Close returned %v and handed on %d more", err, len(out.lines)-n)
	}
}
