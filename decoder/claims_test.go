package decoder

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

type step struct {
	ip   uint64
	v    flow.Verdict
	off  int64
	time event.Time
	gap  *event.Gap

	poked bool        // the text of its block changes
	at    event.Epoch // as of which the block was read
	mode  isa.Mode    // of the block
}

type steps map[int][]step

func (s steps) Flow(b *flow.Batch) error {
	list, notes := s[b.Stream], b.Notes
	n := len(notes)
	for i := range b.Ranges {
		n += int(b.Ranges[i].N)
	}
	if cap(list)-len(list) < n {
		list = slices.Grow(list, max(n, len(list))) // doubled: append grows long lists by a quarter
	}
	say := func(i int) {
		for len(notes) > 0 && notes[0].At <= i {
			if notes[0].Kind == flow.NoteGap {
				g := notes[0].Gap
				list = append(list, step{gap: &g, off: g.Off})
			}
			notes = notes[1:]
		}
	}
	for i := range b.Ranges {
		say(i)
		r := &b.Ranges[i]
		stamp := &b.Stamps[r.Stamp]
		x := step{ip: r.Block.Addr, v: r.Verdict, off: stamp.Off, time: stamp.Time,
			poked: r.Block.Span != event.EveryEpoch, at: r.Block.Span.From, mode: r.Block.Mode}
		for _, l := range r.Block.Lens[:r.N] {
			list = append(list, x)
			x.ip += uint64(l)
		}
	}
	say(len(b.Ranges))
	s[b.Stream] = list
	return nil
}

// opened opens a session that ends with the test.
func opened(t testing.TB, c Config) *Session {
	t.Helper()
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// flowed gives the whole flow of s to sink, and returns sink.
func flowed[S flow.Sink](t testing.TB, s *Session, sink S) S {
	t.Helper()
	if err := s.Flow(t.Context(), Query{}, sink); err != nil {
		t.Fatal(err)
	}
	return sink
}

// TestCoarse would catch a wrong claim where the clock cannot help: an
// instruction that did not execute, given as certain, by trace or by exception.
// It would also catch a claim that is given up.
func TestCoarse(t *testing.T) {
	testsize.OnlyFull(t) // TestKernelTraces has the digest of the same
	dir := filepath.Join(dataDir(t), "kernel-pokes-x86", "tracepoints-coarse")
	s := opened(t, Config{Recording: filepath.Join(dir, "perf.data")})
	got := flowed(t, s, steps{})
	for i, st := range s.Streams() {
		want := testsize.Executed(t, filepath.Join(dir, fmt.Sprintf("cpu%d.ips.zst", st.CPU)))
		wrong, amb, shown := 0, 0, 0
		k := 0
		for n, x := range got[i] {
			if x.gap != nil {
				t.Logf("cpu%d #%d %s", st.CPU, n, x.gap)
				continue
			}
			if x.v == flow.Ambiguous {
				amb++
			}
			// In-order alignment: what is claimed must be the next that executed,
			// but for what ambiguous stretches and gaps left out before it.
			if k < len(want) && want[k] == x.ip {
				k++
				continue
			}
			if shown++; shown < 20 {
				t.Logf("cpu%d #%d+%#x: %x %v, truth %x", st.CPU, n, x.off, x.ip, x.v, want[min(k, len(want)-1)])
			}
			if x.v == flow.Ambiguous {
				continue
			}
			at := align(want, k, got[i][n:])
			if at < 0 {
				wrong++
				continue
			}
			k = at + 1
		}
		t.Logf("cpu%d: %d wrong, %d ambiguous of %d, truth %d aligned %d", st.CPU, wrong, amb, len(got[i]), len(want), k)
		if wrong > 0 {
			t.Errorf("cpu%d: %d wrong claims", st.CPU, wrong)
		}
		if amb > 10 {
			t.Errorf("cpu%d: %d instructions ambiguous, no more than 10 were", st.CPU, amb)
		}
	}
}

// align returns the next place from k on in want where the claims that begin
// got executed one after the other, or -1.
func align(want []uint64, k int, got []step) int {
	for j := k; j < min(k+40000, len(want)); j++ {
		ok := true
		for i := 0; i < min(20, len(got)) && ok; i++ {
			if got[i].gap != nil || got[i].v == flow.Ambiguous || j+i >= len(want) {
				break
			}
			ok = got[i].ip == want[j+i]
		}
		if ok {
			return j
		}
	}
	return -1
}
