package decoder

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// walkedPaths is a Sink that asks which ranges were walked as paths, and looks at what it is told.
type walkedPaths struct {
	t      *testing.T
	of     map[uint32][]*flow.Block // by number of a path: its blocks
	ranges int                      // all of them
	paths  int                      // of these, in paths
}

// AsksPaths says that it asks.
func (w *walkedPaths) AsksPaths() bool { return true }

// Flow takes a batch.
func (w *walkedPaths) Flow(b *flow.Batch) error {
	w.ranges += len(b.Ranges)
	end := 0
	for _, x := range b.Walked {
		at := int(x.At)
		if at < end || x.N == 0 || at+int(x.N) > len(b.Ranges) || x.Number == 0 {
			w.t.Fatalf("path %d has %d ranges from %d on, behind %d of %d", x.Number, x.N, at, end, len(b.Ranges))
		}
		end = at + int(x.N)
		var blocks []*flow.Block
		for i := range b.Ranges[at:end] {
			r := &b.Ranges[at+i]
			if r.Verdict != flow.Certain || r.N != r.Block.N {
				w.t.Fatalf("path %d: range %d has %d instructions of %d, %v", x.Number, i, r.N, r.Block.N, r.Verdict)
			}
			blocks = append(blocks, r.Block)
		}
		if known := w.of[x.Number]; known == nil {
			w.of[x.Number] = blocks
		} else if !slices.Equal(known, blocks) {
			w.t.Fatalf("path %d leads over %d blocks, and then over %d others", x.Number, len(known), len(blocks))
		}
		for i := range b.Notes {
			if n := b.Notes[i].At; n > at && n < end {
				w.t.Fatalf("path %d: a note lies in it", x.Number)
			}
		}
		w.paths += int(x.N)
	}
	return nil
}

// TestWalked would catch ranges that are told of as a path and are not. They may be other blocks than the last time, as code
// changed or paths were forgotten, or be in doubt. Or the end of a batch was counted wrong. The recordings are as
// they are, and with bytes changed.
func TestWalked(t *testing.T) {
	root := testsize.Recordings(t)
	for _, name := range []string{"ftrace", "kprobes", "tracepoints", "tracepoints-coarse"} {
		dir := "kernel-pokes-x86/" + name + "/perf.data"
		whole, err := os.ReadFile(filepath.Join(root, dir, "data"))
		if err != nil {
			t.Fatal(err)
		}
		rnd := rand.New(rand.NewPCG(8, uint64(len(name))))
		for damage := range 2 {
			var fsys fs.FS = os.DirFS(root)
			s := opened(t, Config{FS: fsys, Recording: dir, NoLearn: true})
			if damage > 0 {
				data := slices.Clone(whole)
				for range 300 {
					st := s.Streams()[rnd.IntN(len(s.Streams()))]
					_, at, _ := st.FileOff(rnd.Int64N(st.Size))
					data[at] ^= byte(1 + rnd.IntN(255))
				}
				s = opened(t, Config{FS: replaced{fsys, dir + "/data", data}, Recording: dir, NoLearn: true})
			}
			w := &walkedPaths{t: t, of: map[uint32][]*flow.Block{}}
			for range 2 {
				if err := s.Flow(t.Context(), Query{Jobs: 2}, w); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%s, damage %d: %d of %d ranges in %d paths", name, damage, w.paths, w.ranges, len(w.of))
			if name == "tracepoints" && w.paths < w.ranges/2 {
				t.Errorf("%s: %d of %d ranges are in paths", name, w.paths, w.ranges)
			}
		}
	}
}
