package decoder

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// asGaps makes gaps of the notes of what was made up, and blocks of one instruction.
func (m *madeUp) asGaps() {
	for _, list := range m.batch {
		for i := range list {
			for k := range list[i].Notes {
				n := &list[i].Notes[k]
				n.Kind, n.Gap = flow.NoteGap, event.Gap{IP: uint64(n.Poke), Stream: list[i].Stream, Time: n.Event.Time}
			}
			for k := range list[i].Ranges {
				list[i].Ranges[k].Block.N = 1
			}
		}
	}
}

// numbers runs q and returns the numbers of ranges and gaps as a sink sees them,
// and as Ranges gives them.
func (m *madeUp) numbers(t *testing.T, q Query) (want, got []uint64) {
	t.Helper()
	q.Merged = true
	if err := m.run(q).flow(context.Background(), sinkFunc(func(b *flow.Batch) error {
		var part []uint64
		for n, r := range b.All() {
			switch {
			case r != nil:
				if q.Until == 0 || b.Stamps[r.Stamp].Time.Lo <= q.Until {
					part = append(part, r.Block.Addr)
				}
			case q.Until == 0 || n.Gap.Time.Lo <= q.Until:
				part = append(part, n.Gap.IP)
			}
		}
		if q.Reverse {
			slices.Reverse(part)
		}
		want = append(want, part...)
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	m.run(q).ranges(context.Background(), func(r Range, err error) bool {
		gap := (*event.Gap)(nil)
		if err != nil && !errors.As(err, &gap) {
			t.Fatal(err)
		}
		if (gap != nil) != (r.Instructions == 0) || gap != nil && gap.IP != r.Addr {
			t.Fatalf("range %+v beside gap %v", r, gap)
		}
		got = append(got, r.Addr)
		return true
	})
	return want, got
}

type sinkFunc func(*flow.Batch) error

func (f sinkFunc) Flow(b *flow.Batch) error { return f(b) }

// TestRanges would catch a range or a gap that Ranges loses, doubles, or gives in
// another order than the flow has it, forwards and backwards. So would it one that
// lies behind the time asked for.
func TestRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 100 {
		m := newMadeUp(r, 1+r.IntN(4), 1+r.IntN(8), true)
		m.asGaps()
		for _, reverse := range []bool{false, true} {
			for _, until := range []uint64{0, 60} {
				if want, got := m.numbers(t, Query{Reverse: reverse, Until: until}); !slices.Equal(got, want) {
					t.Fatalf("reverse %v, until %d: ranges %d, want %d", reverse, until, got, want)
				}
			}
		}
	}
}

// TestRangesStop would catch work that goes on behind a break.
func TestRangesStop(t *testing.T) {
	m := newMadeUp(rand.New(rand.NewPCG(11, 12)), 2, 400, true)
	m.asGaps()
	run := m.run(Query{Merged: true, Jobs: 2, SegmentBytes: 1})
	decode, decoded := run.decode, atomic.Int64{}
	run.decode = func(o *outlet) (func(int, flow.Sink) error, func()) {
		decoded.Add(1)
		return decode(o)
	}
	given := 0
	run.ranges(context.Background(), func(Range, error) bool { given++; return given < 3 })
	if n := decoded.Load(); given != 3 || n > 20 {
		t.Errorf("%d ranges given and %d of 800 segments decoded, want 3 and few", given, n)
	}
}

// TestRangesErrors would catch an error that ends the flow and does not come out
// of the iterator, or comes as a gap.
func TestRangesErrors(t *testing.T) {
	m := newMadeUp(rand.New(rand.NewPCG(13, 14)), 1, 40, true)
	m.asGaps()
	ctx, cancel := context.WithCancel(context.Background())
	var last error
	n := 0
	m.run(Query{Merged: true, SegmentBytes: 1}).ranges(ctx, func(_ Range, err error) bool {
		cancel()
		n, last = n+1, err
		return true
	})
	if !errors.Is(last, context.Canceled) || n < 2 {
		t.Errorf("the last of %d errors is %v, want %v", n, last, context.Canceled)
	}
}

// TestRangeSymbol would catch a range whose symbol is not what KernelSymbol says of
// the same address: a module without its name, or an offset where there is none.
func TestRangeSymbol(t *testing.T) {
	k, err := symbols.ParseKallsyms("ffffffff81000000 T _text\nffffffff81000100 t f\nffffffffc0000000 t g\t[m]\nffffffffc0000100 t h\t[m]\n", "k")
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{symbols: symbols.New(k, nil, nil), rec: recording.New(&recording.Config{}), kernel: isa.UpperHalf}
	for addr, want := range map[uint64]string{0xffffffff81000100: "f", 0xffffffff81000010: "_text+0x10", 0xffffffffc0000000: "g [m]", 0xffffffffc0000020: "g+0x20 [m]", 0x1000: ""} {
		r := Range{Addr: addr, session: s}
		if got := r.Symbol(); got != want || got != s.KernelSymbol(addr, 0) {
			t.Errorf("%x: %q, want %q; KernelSymbol says %q", addr, got, want, s.KernelSymbol(addr, 0))
		}
	}
}

// TestQueryFits would catch a query for a stream that is not there which gives
// nothing and no error, and a question about one that panics.
func TestQueryFits(t *testing.T) {
	s := memorySession(t, &stream.Stream{})
	for _, i := range []int{-1, 1} {
		var call *CallError
		if err := s.Flow(context.Background(), Query{Streams: []int{i}}, &listed{}); !errors.As(err, &call) {
			t.Errorf("stream %d of 1: %v, want a CallError", i, err)
		}
		for _, err := range s.Ranges(context.Background(), Query{Streams: []int{i}}) {
			if !errors.As(err, &call) {
				t.Errorf("ranges of stream %d of 1: %v, want a CallError", i, err)
			}
		}
		if _, _, _, ok := s.Running(i, 5); ok {
			t.Errorf("a thread runs on stream %d of 1", i)
		}
	}
}
