package decoder

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// tells is a Sink that keeps all that it is told of each stream: instructions with their verdicts
// and times, and notes. How the flow is cut into ranges and batches does not matter to it.
type tells map[int][]told

// told is an instruction, or a note.
type told struct {
	ip   uint64
	v    flow.Verdict
	note bool
	rest uint32 // a hash of its time and offset; of all of a note
}

func (s tells) Flow(b *flow.Batch) error {
	list := s[b.Stream]
	for n, r := range b.All() {
		h := fnv.New32a()
		if n != nil {
			fmt.Fprint(h, n.Kind, n.Verdict, n.Trap, n.Poke, n.IP, n.Event, n.Gap, n.Space, n.Others)
			list = append(list, told{n.IP, n.Verdict, true, h.Sum32()})
			continue
		}
		fmt.Fprint(h, b.Stamps[r.Stamp])
		for _, ip := range appendOn(nil, r) {
			list = append(list, told{ip, r.Verdict, false, h.Sum32()})
		}
	}
	s[b.Stream] = list
	return nil
}

// differ says where s and want differ first; "" if nowhere.
func (s tells) differ(want tells) string {
	for id := range want {
		got, want := s[id], want[id]
		for i := range max(len(got), len(want)) {
			if i >= min(len(got), len(want)) || got[i] != want[i] {
				near := func(l []told) []told { return l[min(i, len(l)):min(i+3, len(l))] }
				return fmt.Sprintf("stream %d, item %d of %d and %d: %+v, want %+v", id, i, len(got), len(want), near(got), near(want))
			}
		}
	}
	if len(s) != len(want) {
		return fmt.Sprintf("%d streams, want %d", len(s), len(want))
	}
	return ""
}

// steadyWays is how the work may be cut. Not much of the trace is one worker's then, or all is.
var steadyWays = []Query{{Jobs: 1}, {Jobs: 2}, {Jobs: 3}, {Jobs: 1, SegmentBytes: 512}, {Jobs: 3, SegmentBytes: 1 << 20}}

// steady decodes what open opens in several ways, and says which tells something else.
func steady(t *testing.T, open func() *Session) string {
	t.Helper()
	var want tells
	for k, q := range steadyWays {
		s := open()
		got := tells{}
		if err := s.Flow(t.Context(), q, got); err != nil {
			t.Fatal(err)
		}
		if k == 0 {
			want = got
		} else if d := got.differ(want); d != "" {
			return fmt.Sprintf("%d workers, %d bytes each: %s", q.Jobs, q.SegmentBytes, d)
		}
	}
	return ""
}

// harm changes bytes of b from an offset on: some, many, or stretches that become zeros or others.
func harm(r *rand.Rand, b []byte, from int) {
	if len(b)-from < 200 {
		return
	}
	kind := r.IntN(5)
	for range []int{3, len(b)/4000 + 10, 5, 10, 10}[kind] {
		i := from + r.IntN(len(b)-from-100)
		n := 1 + r.IntN(40)
		switch kind {
		case 0, 1:
			b[i] = byte(r.Uint32())
		case 2:
			clear(b[i : i+n])
		case 3:
			copy(b[i:i+n], b[i+n:])
		default:
			copy(b[i:i+n], b[from+r.IntN(len(b)-from-100):])
		}
	}
}

// harmCode changes code as harm does: single bytes become parts of branches and the like.
func harmCode(r *rand.Rand, b []byte, from, n int) {
	for range n {
		b[from+r.IntN(len(b)-from)] = []byte{0x90, 0xc3, 0xcc, 0xeb, 0x74, byte(r.Uint32())}[r.IntN(6)]
	}
}

// TestSteady would catch a flow that hangs on how many workers there are, and so on what each of
// them decoded before. Then an instruction, a verdict, a time or a note is another. The simulated
// machine's traces and code are damaged.
func TestSteady(t *testing.T) {
	for seed := range uint64(testsize.Of(t, 12, 60, 200)) {
		cfg, _ := drawShort(seed)
		r := sim.Simulate(cfg)
		rnd := rand.New(rand.NewPCG(seed, 11))
		for i := range r.CPUs {
			c := &r.CPUs[i]
			c.PT, c.Trace = slices.Clone(c.PT), slices.Clone(c.Trace)
			harm(rnd, c.PT, len(c.PT)/50)
			harm(rnd, c.Trace, len(c.Trace)/50)
		}
		image := slices.Clone(r.Start)
		if rnd.IntN(3) == 0 {
			for i := range image {
				image[i].Bytes = slices.Clone(image[i].Bytes)
				harmCode(rnd, image[i].Bytes, 0, 1+rnd.IntN(4))
			}
		}
		if d := steady(t, func() *Session { return simSession(t, r, image) }); d != "" {
			t.Errorf("seed %d (%v): %s", seed, cfg.Timing, d)
		}
	}
}

// TestSteadyRecordings would catch the same in recordings of a kernel, damaged likewise.
func TestSteadyRecordings(t *testing.T) {
	testsize.OnlyFull(t)
	recs := []string{"ftrace", "kprobes", "nomitig-late", "tracepoints-coarse"}
	root := filepath.Join(dataDir(t), "kernel-pokes-x86")
	for seed := range uint64(testsize.Of(t, 0, 2, 12)) {
		rnd := rand.New(rand.NewPCG(seed, 12))
		rec := recs[seed%uint64(len(recs))]
		dir := filepath.Join(t.TempDir(), "perf.data")
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, rec, "perf.data"))); err != nil {
			t.Fatal(err)
		}
		change := func(name string, how func(b []byte)) {
			path := filepath.Join(dir, name)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			how(b)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		change("data", func(b []byte) { harm(rnd, b[:len(b)-4096], len(b)/50) })
		if rnd.IntN(3) == 0 {
			change(filepath.Join("kcore_dir", "kcore"), func(b []byte) { harmCode(rnd, b, 8192, 300) })
		}
		if d := steady(t, func() *Session { return opened(t, Config{Recording: dir}) }); d != "" {
			t.Errorf("seed %d, %s: %s", seed, rec, d)
		}
	}
}
