package decoder

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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

// bySegments decodes the recording in dir of fsys; nil where it cannot be opened.
func bySegments(t *testing.T, fsys fs.FS, dir string) (list []segmentAt) {
	t.Helper()
	s, err := Open(Config{FS: fsys, Recording: dir, NoLearn: true}) // the code as it is given
	if err != nil {
		t.Log(err)
		return nil
	}
	defer s.Close()
	p := &byPlace{s: s, out: map[int64]uint64{}}
	for _, st := range s.Streams() {
		var segs, at []int64
		for g := range st.Segments() {
			_, off, _ := st.FileOff(g.Off)
			_, end, _ := st.FileOff(g.End - 1)
			segs, at = append(segs, g.Off), append(at, off)
			list = append(list, segmentAt{off: off, end: end + 1})
		}
		p.segs, p.at = append(p.segs, segs), append(p.at, at)
	}
	if err := s.Flow(context.Background(), Query{Jobs: 1}, p); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i].ran = p.out[list[i].off]
	}
	return list
}

// TestDamagedRecording would catch damage that reaches further than it must: 200 bytes of
// a recording's file are changed at random, headers, records and trace alike. Of the
// segments of trace of which no byte was changed, 30 of 100 must decode as before. Behind a
// change whose time or lengths are damaged, all changed code is unknown until it changes
// again: what may be wrong must not be certain.
func TestDamagedRecording(t *testing.T) {
	root := testsize.Recordings(t)
	for _, name := range []string{"ftrace", "kprobes"} {
		dir := "kernel-pokes-x86/" + name + "/perf.data"
		whole, err := os.ReadFile(filepath.Join(root, dir, "data"))
		if err != nil {
			t.Fatal(err)
		}
		want := bySegments(t, os.DirFS(root), dir)
		rnd := rand.New(rand.NewPCG(5, 6))
		all, same, worst := 0, 0, 1.0
		for round := range testsize.Of(t, 2, 3, 1000) {
			data := slices.Clone(whole)
			hit := map[int64]bool{}
			for range 200 {
				at := rnd.IntN(len(data))
				data[at] ^= byte(1 + rnd.IntN(255))
				hit[int64(at)] = true
			}
			got := map[int64]uint64{}
			for _, g := range bySegments(t, replaced{os.DirFS(root), dir + "/data", data}, dir) {
				got[g.off] = g.ran
			}
			n, ok := 0, 0
			for _, w := range want {
				spoilt := false
				for at := range hit {
					spoilt = spoilt || at >= w.off && at < w.end+64 // the sync point behind it, with its time, ends it
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
		}
		t.Logf("%s: %d of %d undamaged segments decode as before; the worst round has %.3f", name, same, all, worst)
		if float64(same) < 0.30*float64(all) {
			t.Errorf("%s: %d of %d undamaged segments decode as before, need 30 of 100", name, same, all)
		}
	}
}
