package decoder

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/pt"
)

// bySegment is a Sink that keeps a digest of what each segment of stream 0
// gave, under the offset at which the segment starts.
type bySegment struct {
	segs []int64          // offsets of the segments, ascending
	out  map[int64]uint64 // a running hash of addresses
}

func (s *bySegment) Flow(b *flow.Batch) error {
	for i := range b.Ranges {
		r := &b.Ranges[i]
		at, found := slices.BinarySearch(s.segs, b.Stamps[r.Stamp].Off)
		if !found {
			at--
		}
		k := s.segs[max(at, 0)]
		for _, ip := range appendOn(nil, r) {
			s.out[k] = (s.out[k] ^ ip) * 0x9e3779b97f4a7c15
		}
	}
	return nil
}

// user opens a user recording's text, to decode traces over it.
func user(t *testing.T, name string) (*Session, []byte) {
	t.Helper()
	dir := filepath.Join(dataDir(t), "pt-user", name)
	trace := filepath.Join(dir, "cpu0.pt")
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	s := opened(t, Config{Raw: []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: trace}}, Kcore: filepath.Join(dir, "text.core"), Model: pt.Model{Family: 6, Model: 94}})
	return s, b
}

// segmentDigests decodes trace in place of the session's stream.
func segmentDigests(t *testing.T, s *Session, trace []byte) ([]int64, map[int64]uint64) {
	t.Helper()
	st := &stream.Stream{Protocol: stream.IntelPT, Size: int64(len(trace)), TID: -1, Unit: s.streams[0].Unit, Data: stream.Memory(trace)}
	st.Begin(0, 0)
	s.streams[0] = st
	b := &bySegment{out: map[int64]uint64{}}
	for g := range st.Segments() {
		b.segs = append(b.segs, g.Off)
	}
	if len(b.segs) == 0 {
		return nil, nil
	}
	if err := s.Flow(t.Context(), Query{Jobs: 1}, b); err != nil {
		t.Fatal(err)
	}
	return b.segs, b.out
}

// spoil decodes a user recording whose trace damage changes at random, in each round
// anew. It fails where a segment decodes otherwise, unless damage says that it may:
// other is the first of these, of n.
func spoil(t *testing.T, name string, seed uint64, damage func(rnd *rand.Rand, segs []int64, trace []byte) (bad []byte, what string, other, n int)) {
	t.Helper()
	s, trace := user(t, name)
	segs, want := segmentDigests(t, s, trace)
	rnd := rand.New(rand.NewPCG(seed, seed+1))
	for range testsize.Of(t, 3, 30, 100) {
		bad, what, other, n := damage(rnd, segs, slices.Clone(trace))
		_, got := segmentDigests(t, s, bad)
		for i, off := range segs {
			if (i < other || i >= other+n) && got[off] != want[off] {
				t.Fatalf("%s: segment %d at %#x decodes otherwise", what, i, off)
			}
		}
	}
}

// TestDamagedTrace would catch damage that reaches beyond its segment, a panic,
// or a walk that does not end. It changes bytes at random. Every segment that
// neither holds a changed byte nor ends at a changed sync point must decode as
// before.
func TestDamagedTrace(t *testing.T) {
	spoil(t, "avscript_32", 1, func(rnd *rand.Rand, segs []int64, trace []byte) (bad []byte, what string, other, n int) {
		at := rnd.IntN(len(trace))
		trace[at] ^= byte(1 + rnd.IntN(255))
		hit, found := slices.BinarySearch(segs, int64(at))
		if !found {
			hit--
		}
		return trace, fmt.Sprintf("byte %#x changed to %#x, in segment %d", at, trace[at], hit), hit - 1, 2
	})
}

// TestTruncatedTrace would catch a panic, or an end of the stream that takes
// earlier segments with it. The last whole segment ends at a sync point that may
// be cut.
func TestTruncatedTrace(t *testing.T) {
	spoil(t, "unzip", 3, func(rnd *rand.Rand, segs []int64, trace []byte) (bad []byte, what string, other, n int) {
		end := rnd.IntN(len(trace))
		whole, _ := slices.BinarySearch(segs, int64(end)+1) // that begin by end
		other = max(0, whole-2)
		return trace[:end], fmt.Sprintf("cut at %#x", end), other, len(segs) - other
	})
}
