package decoder

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/held"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// memoryText is two blocks that conditional branches lead through: one that leads
// to itself or on, and a jump back.
var memoryText = []byte{0x75, 0xfe, 0xeb, 0xfc}

// onePSB returns n bytes of Intel PT behind one PSB+: outcomes at random.
func onePSB(n int) []byte {
	data := psbPlus(nil, fuzzText, 1000)
	r := rand.New(rand.NewPCG(31, 32))
	for len(data) < n {
		data = append(data, 0x02, 0xa3)
		data = append(data, binary.LittleEndian.AppendUint64(nil, r.Uint64()|1<<47)[:6]...)
	}
	return data
}

// psbPlus appends a PSB+ that states a mode of 64 bits, the time tsc and that
// tracing is on at ip.
func psbPlus(dst []byte, ip, tsc uint64) []byte {
	dst = append(dst, bytes.Repeat([]byte{0x02, 0x82}, 8)...)
	dst = append(append(dst, 0x19), binary.LittleEndian.AppendUint64(nil, tsc)[:7]...)
	dst = append(dst, 0x02, 0x43, 0, 0x10, 0, 0, 0, 0, 0x99, 0x01, 0x7d) // the PIP states the host
	return append(append(dst, binary.LittleEndian.AppendUint64(nil, ip)[:6]...), 0x02, 0x23)
}

// memorySession is a session over memoryText and streams of Intel PT.
func memorySession(t *testing.T, traces ...*stream.Stream) *Session {
	t.Helper()
	s, err := fuzzSession(nil, memoryText, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, st := range traces {
		st.Index, st.CPU, st.TID, st.Protocol, st.Unit = i, int32(i), -1, stream.IntelPT, s.streams[0].Unit
		st.Begin(0, 1<<20)
	}
	s.streams = traces
	s.finish()
	return s
}

// listed is a Sink that lists what ran, or compares what comes newest first with
// what was listed.
type listed struct {
	t    *testing.T
	list []uint32 // address and offset of each range
	back bool
	left int // back: of list
}

func (l *listed) Flow(b *flow.Batch) error {
	id := func(r *flow.Range) uint32 {
		return uint32(r.Block.Addr) ^ uint32(b.Stamps[r.Stamp].Off)<<8 ^ uint32(b.Stream)<<28
	}
	if !l.back {
		for i := range b.Ranges {
			l.list = append(l.list, id(&b.Ranges[i]))
		}
		return nil
	}
	for i := len(b.Ranges) - 1; i >= 0; i-- {
		if l.left--; l.left < 0 || l.list[l.left] != id(&b.Ranges[i]) {
			l.t.Fatalf("backwards, %d ranges from the end: not what came forwards", len(l.list)-l.left)
		}
	}
	return nil
}

// TestSegmentIsNotHeld would catch the flow of a segment that is held whole, forwards
// or backwards, or that is not the same backwards. It would catch a segment that is
// decoded more often than the memory for it asks.
func TestSegmentIsNotHeld(t *testing.T) {
	trace := onePSB(128 << 10)
	s := memorySession(t, &stream.Stream{Size: int64(len(trace)), Data: stream.Memory(trace)})
	const kept = 2 << 20
	const batch = 16 << 10 // bytes: a job takes a batch before it lets another go
	l := &listed{t: t}
	for _, back := range []bool{false, true} {
		for _, jobs := range testsize.Some(t, []int{3, 1}, 1) {
			s.held, s.passes = held.Meter{}, atomic.Int64{}
			l.back, l.left = back, len(l.list)
			if !back {
				l.list = nil
			}
			r := s.newRun(Query{Jobs: jobs, Reverse: back, Merged: true})
			r.kept.Left = kept
			r.shares.Part, r.shares.Least = held.MinPart, held.MinPart
			if err := r.flow(context.Background(), l); err != nil {
				t.Fatal(err)
			}
			flowBytes := int64(len(l.list)) * flow.BatchSize(&flow.Batch{Ranges: make([]flow.Range, 1)})
			most := int64((3+held.Waiting)*held.MinPart + jobs*batch)
			if back {
				most += kept
			}
			if got := s.held.Most.Load(); got > most || flowBytes < 5*most {
				t.Errorf("back %v, %d jobs: %d bytes of %d were held, want %d at most", back, jobs, got, flowBytes, most)
			}
			if now := s.held.Now.Load(); now != 0 {
				t.Errorf("back %v, %d jobs: %d bytes are held at the end", back, jobs, now)
			}
			// A batch takes somewhat more than its ranges.
			if got := s.passes.Load(); back && (l.left != 0 || got > 3*flowBytes/kept) {
				t.Errorf("%d jobs: %d ranges did not come backwards, after %d passes for %d bytes", jobs, l.left, got, flowBytes)
			}
		}
	}
}

// TestOtherPaths would catch a walk over bytes that it knows again, and that goes on with the
// paths of another job: one that has not met any. A job that has handed on a part of its
// flow is lent whichever paths are free.
func TestOtherPaths(t *testing.T) {
	const outcomes = 6 // of a byte
	head := psbPlus(nil, fuzzText, 1000)
	trace := append(head, bytes.Repeat([]byte{0x80}, 1<<20)...)
	s := memorySession(t, &stream.Stream{Size: int64(len(trace)), Data: stream.Memory(trace)})
	n := &some{ranges: 1 << 30}
	if err := s.Flow(t.Context(), Query{Jobs: 3}, n); err != nil {
		t.Fatal(err)
	}
	if got, want := 1<<30-n.ranges, outcomes*1<<20; got < want {
		t.Errorf("%d ranges, want %d or more", got, want)
	}
}

// endless is a file of 8 GiB: a piece of trace again and again. It counts the bytes
// that are read.
type endless struct {
	piece []byte
	read  atomic.Int64
}

const endlessSize = 8 << 30

func (e *endless) ReadAt(b []byte, off int64) (int, error) {
	n := 0
	for n < len(b) {
		n += copy(b[n:], e.piece[(off+int64(n))%int64(len(e.piece)):])
	}
	e.read.Add(int64(n))
	return n, nil
}

// some is a Sink that has enough after so many ranges.
type some struct{ ranges int }

func (n *some) Flow(b *flow.Batch) error {
	if n.ranges -= len(b.Ranges); n.ranges <= 0 {
		return ErrStop
	}
	return nil
}

// TestFirstRangeNeedsNoScan would catch a flow that reads the trace before it gives
// its first range, or that holds what it has given. There are two streams of 8 GiB,
// decoded from either end, with times and without.
func TestFirstRangeNeedsNoScan(t *testing.T) {
	for _, timed := range []bool{true, false} {
		piece := psbPlus(nil, fuzzText, 1000)
		if !timed {
			piece = append(piece[:16:16], piece[32:]...) // nor the host
		}
		for range 100 {
			piece = append(piece, 0x02, 0xa3, 1, 2, 3, 4, 5, 0x80)
		}
		file := &endless{piece: piece}
		var traces []*stream.Stream
		for range 2 {
			traces = append(traces, &stream.Stream{Size: endlessSize, Data: stream.NewFile(file, endlessSize)})
		}
		s := memorySession(t, traces...)
		for _, q := range []Query{{}, {Merged: true}, {Reverse: true, Merged: true}} {
			for _, ranges := range []int{1, 500_000} {
				file.read.Store(0)
				s.held = held.Meter{}
				n := &some{ranges: ranges}
				if err := s.Flow(context.Background(), q, n); err != nil || n.ranges > 0 {
					t.Fatalf("%+v: %v, %d ranges are missing", q, err, n.ranges)
				}
				// What is stated nowhere is looked for in 16 MiB: the time, on either side, and
				// the host.
				most := int64(12 << 20)
				if !timed {
					most += 2 * 3 * 16 << 20
					if q.Reverse { // and whether a stream states any time, from its start on
						most += 2 * 5 * 16 << 20
					}
				}
				if got := file.read.Load(); got > most {
					t.Errorf("timed %v, %+v: %d bytes were read for %d ranges, want %d at most", timed, q, got, ranges, most)
				}
				// A job ends with the segment that begins before its end: it holds up to one more.
				// A batch may end a phrase later than it is full.
				if got := s.held.Most.Load(); got > 8*(1+held.Waiting)*held.MaxPart {
					t.Errorf("timed %v, %+v: %d bytes were held", timed, q, got)
				}
			}
		}
	}
}
