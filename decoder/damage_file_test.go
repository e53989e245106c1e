package decoder

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// replaced is an fs.FS in which one file has other contents.
type replaced struct {
	fs.FS
	name string
	data []byte
}

// Open opens a file.
func (r replaced) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil || name != r.name {
		return f, err
	}
	return &contents{File: f, data: r.data}, nil
}

// contents is a file that holds data.
type contents struct {
	fs.File
	data []byte
}

// ReadAt reads from off on, bytes.
func (c *contents) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, c.data[min(off, int64(len(c.data))):])
	if n < len(p) {
		return n, fmt.Errorf("%d bytes of %d: %w", n, len(p), fs.ErrInvalid)
	}
	return n, nil
}

// byPlace is a Sink that keeps a digest of what each segment gave, by where in the
// recording's file the segment begins.
type byPlace struct {
	s    *Session
	segs [][]int64 // by stream: offsets of its segments, ascending
	at   [][]int64 // by stream: where they lie in the file
	out  map[int64]uint64
}

// Flow takes a batch.
func (p *byPlace) Flow(b *flow.Batch) error {
	segs := p.segs[b.Stream]
	for i := range b.Ranges {
		r := &b.Ranges[i]
		at, found := slices.BinarySearch(segs, b.Stamps[r.Stamp].Off)
		if !found {
			at--
		}
		k := p.at[b.Stream][max(at, 0)]
		for _, ip := range appendOn(nil, r) {
			p.out[k] = (p.out[k] ^ ip) * 0x9e3779b97f4a7c15
		}
	}
	return nil
}

// segmentAt is a segment's place in a file, and the bytes there.
type segmentAt struct {
	off, end int64
	ran      uint64 // a digest of what ran
}

// has reports whether the segment decodes by the byte at an offset in the file: the sync
// point behind it ends it, with its time.
func (g *segmentAt) has(at int64) bool { return at >= g.off && at < g.end+64 }

// sinkOfBoth is a Sink of two: what each segment gave, and what was printed.
type sinkOfBoth struct {
	byPlace
	prints
}

// Flow takes a batch.
func (x *sinkOfBoth) Flow(b *flow.Batch) error {
	if err := x.byPlace.Flow(b); err != nil {
		return err
	}
	return x.prints.Flow(b)
}

// damagedFlow is what a damaged recording decodes to.
type damagedFlow struct {
	list []segmentAt
	claims
}

// claims is what was printed, by CPU, of streams as long as they should be.
type claims map[int32]*printed

// bySegments decodes the recording in dir of fsys; nothing where it cannot be opened. ran
// says how long the streams are; nil: nobody asks what was printed.
func bySegments(t *testing.T, fsys fs.FS, dir string, ran map[int32]*executed) (d damagedFlow) {
	t.Helper()
	s, err := Open(Config{FS: fsys, Recording: dir, NoLearn: true}) // the code as it is given
	if err != nil {
		t.Log(err)
		return d
	}
	defer s.Close()
	p := &sinkOfBoth{byPlace{s: s, out: map[int64]uint64{}}, prints{}}
	for _, st := range s.Streams() {
		var segs, at []int64
		for g := range st.Segments() {
			_, off, _ := st.FileOff(g.Off)
			_, end, _ := st.FileOff(g.End - 1)
			segs, at = append(segs, g.Off), append(at, off)
			d.list = append(d.list, segmentAt{off: off, end: end + 1})
		}
		p.segs, p.at = append(p.segs, segs), append(p.at, at)
	}
	if err := s.Flow(t.Context(), Query{Jobs: 1}, p); err != nil {
		t.Fatal(err)
	}
	for i := range d.list {
		d.list[i].ran = p.out[d.list[i].off]
	}
	d.claims = claims{}
	for i, st := range s.Streams() {
		if x := ran[st.CPU]; x != nil && st.Size == x.size && p.prints[i] != nil {
			d.claims[st.CPU] = p.prints[i]
		}
	}
	return d
}

// TestDamagedRecording would catch damage that reaches further than it must, and a claim
// that rests on damaged records. 200 bytes of a recording's file are changed at random,
// headers, records and trace alike. Of the segments of trace of which no byte was changed,
// 95 of 100 must decode as before. In every other round the trace stays whole: then all
// that is printed as certain must have run.
func TestDamagedRecording(t *testing.T) {
	root := testsize.Recordings(t)
	names := []string{"ftrace", "kprobes", "tracepoints-coarse", "nomitig-late"}[:testsize.Of(t, 1, 4)]
	if list := os.Getenv("DAMAGE_RECORDINGS"); list != "" {
		names = strings.Split(list, ",")
	}
	first, _ := strconv.ParseUint(os.Getenv("FIRST"), 10, 64)
	for _, name := range names {
		dir := "kernel-pokes-x86/" + name + "/perf.data"
		whole, err := os.ReadFile(filepath.Join(root, dir, "data"))
		if err != nil {
			t.Fatal(err)
		}
		s := opened(t, Config{Recording: filepath.Join(root, dir)})
		ran := map[int32]*executed{}
		for i, x := range executedBy(t, s, func(i int) []uint64 {
			return testsize.Executed(t, filepath.Join(root, "kernel-pokes-x86", name, fmt.Sprintf("cpu%d.ips.zst", s.Streams()[i].CPU)))
		}) {
			x.size = s.Streams()[i].Size
			ran[s.Streams()[i].CPU] = x
		}
		want := bySegments(t, os.DirFS(root), dir, nil).list
		all, same, worst := 0, 0, 1.0
		var sum claimCount
		rounds := testsize.Of(t, 2, 3, 1000)
		if n, err := strconv.Atoi(os.Getenv("DAMAGE")); err == nil {
			rounds = n
		}
		for round := first; round < first+uint64(rounds); round++ {
			rnd := rand.New(rand.NewPCG(5, round))
			data := slices.Clone(whole)
			hit := map[int64]bool{}
			for range 200 {
				at, by := rnd.IntN(len(data)), byte(1+rnd.IntN(255))
				if round%2 == 1 && slices.ContainsFunc(want, func(w segmentAt) bool { return w.has(int64(at)) }) {
					continue
				}
				data[at] ^= by
				hit[int64(at)] = true
			}
			d := bySegments(t, replaced{os.DirFS(root), dir + "/data", data}, dir, ran)
			got := map[int64]uint64{}
			for _, g := range d.list {
				got[g.off] = g.ran
			}
			n, ok := 0, 0
			for _, w := range want {
				spoilt := false
				for at := range hit {
					spoilt = spoilt || w.has(at)
				}
				if spoilt {
					continue
				}
				if n++; got[w.off] == w.ran {
					ok++
				}
			}
			all, same = all+n, same+ok
			if r := float64(ok) / float64(max(n, 1)); r < 0.95 {
				worst = min(worst, r)
				t.Logf("%s, round %d: %d of %d undamaged segments decode as before", name, round, ok, n)
			}
			if round%2 == 0 {
				continue
			}
			for cpu, p := range d.claims {
				var c claimCount
				for _, u := range c.judge(p, ran[cpu]) {
					t.Errorf("%s, round %d: cpu%d, instructions %d to %d at %#x: printed as certain, and did not run", name, round, cpu, u.from, u.to, p.ips[u.from])
				}
				sum.add(&c)
			}
		}
		t.Logf("%s: %d of %d undamaged segments decode as before; the worst round has %.3f; of %d claims %d are wrong", name, same, all, worst, sum.claims, sum.wrong)
		if float64(same) < 0.95*float64(all) {
			t.Errorf("%s: %d of %d undamaged segments decode as before, need 95 of 100", name, same, all)
		}
	}
}
