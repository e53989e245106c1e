package decoder

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestLoss would catch a walk that goes on across bytes that the recorder
// dropped, or a loss that is not told in its place. It would also catch a loss
// that takes segments with it that it did not touch. Snapshots and samples of
// the AUX area have a loss at each joint, also several between two sync points.
func TestLoss(t *testing.T) {
	s, trace := user(t, "avscript_32")
	whole := s.streams[0]
	all := steps{}
	if err := s.Flow(t.Context(), Query{Jobs: 1}, all); err != nil {
		t.Fatal(err)
	}
	truth := map[int64][]uint64{} // by segment
	for _, x := range all[0] {
		k := segmentOf(whole, x.off)
		truth[k] = append(truth[k], x.ip)
	}
	rnd := rand.New(rand.NewPCG(9, 10))
	for range testsize.Of(t, 2, 20) {
		at := int64(rnd.IntN(len(trace) - 20000))
		cut := slices.Clone(trace[:at])
		var losses []stream.Loss
		gone := map[int64]int64{} // bytes lost up to and with a loss, by its offset
		from := at
		for range 1 + rnd.IntN(3) {
			n := int64(1 + rnd.IntN(1500))
			off := int64(len(cut))
			losses = append(losses, stream.Loss{Off: off, End: off, Why: "snapshot"})
			from += n
			gone[off] = from - off
			more := int64(1 + rnd.IntN(4000))
			cut = append(cut, trace[from:from+more]...)
			from += more
		}
		cut = append(cut, trace[from:]...)
		st := &stream.Stream{Protocol: stream.IntelPT, Size: int64(len(cut)), TID: -1, Unit: whole.Unit, Data: stream.Memory(cut), Losses: losses}
		st.Begin(0, 0)
		s.streams[0] = st
		got := steps{}
		if err := s.Flow(t.Context(), Query{Jobs: 1}, got); err != nil {
			t.Fatal(err)
		}
		seen := map[int64][]uint64{}
		lost := 0
		for _, x := range got[0] {
			if x.gap != nil {
				if x.gap.Reason == event.Lost {
					lost++
				}
				continue
			}
			off := x.off
			for i := len(losses) - 1; i >= 0; i-- {
				if l := losses[i].Off; off >= l {
					off += gone[l]
					break
				}
			}
			k := segmentOf(whole, off)
			seen[k] = append(seen[k], x.ip)
		}
		if lost != len(losses) {
			t.Errorf("bytes lost %d times from %#x on: %d gaps say so", len(losses), at, lost)
		}
		for k, ips := range seen {
			want := truth[k]
			if len(ips) > len(want) || !slices.Equal(ips, want[:len(ips)]) {
				t.Errorf("bytes lost from %#x on: segment %#x decodes otherwise", at, k)
			}
			if end := k + 1; end <= at-4000 && len(ips) != len(want) {
				t.Errorf("bytes lost from %#x on: segment %#x, long before, is cut short", at, k)
			}
		}
	}
}

// segmentOf returns the offset of the segment that holds off.
func segmentOf(st *stream.Stream, off int64) int64 {
	g, ok := st.Before(off + 1)
	if !ok {
		g, _ = st.After(off)
	}
	return g.Off
}

// TestBothImages would catch two images in the wrong order believed, a decode
// that two images change where they do not differ, and a change between them
// that is not told.
func TestBothImages(t *testing.T) {
	root := filepath.Join(dataDir(t), "kernel-pokes-x86")
	dir := filepath.Join(root, "kprobes")
	rec := filepath.Join(dir, "perf.data")
	early, late := filepath.Join(rec, "kcore_dir", "kcore"), filepath.Join(dir, "kcore.after")
	g := readGolden(t, dir)
	for _, c := range []Config{{Recording: rec, Kcore: early, Late: late}, {Recording: rec, Kcore: late, Late: early}} {
		s, err := Open(c)
		if err != nil {
			t.Fatal(err)
		}
		sum := flowed(t, s, newSums())
		for i, st := range s.Streams() {
			w := g.CPUs[fmt.Sprint(st.CPU)]
			sum.check(t, i, w.Instructions, w.SHA)
		}
		s.Close()
	}
	// So it is where ptdecode record has put the late one beside the early one.
	beside := filepath.Join(t.TempDir(), "rec")
	for to, from := range map[string]string{"data": filepath.Join(rec, "data"), "kcore_dir": filepath.Dir(early), "kcore_late/kcore": late} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(beside, to)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(from, filepath.Join(beside, to)); err != nil {
			t.Skip("no links: ", err)
		}
	}
	both := opened(t, Config{Recording: beside})
	if src := both.Sources(); len(src) < 2 || src[1].Path != filepath.Join(beside, "kcore_late", "kcore") {
		t.Errorf("the late copy is not read: %v", src)
	}
	sum := flowed(t, both, newSums())
	for i, st := range both.Streams() {
		w := g.CPUs[fmt.Sprint(st.CPU)]
		sum.check(t, i, w.Instructions, w.SHA)
	}
	// After all changes were undone the late one fits epochs before them, too.
	dir = filepath.Join(root, "nomitig-late")
	rec = filepath.Join(dir, "perf.data")
	early, late = filepath.Join(rec, "kcore_dir", "kcore"), filepath.Join(dir, "kcore.after")
	for _, c := range []Config{{Recording: rec, Kcore: early, Late: late}, {Recording: rec, Kcore: late, Late: early}} {
		s := opened(t, c)
		for _, w := range s.Warnings() {
			if strings.Contains(w.What, "need the last") {
				t.Errorf("--kcore %s --kcore %s: %s", c.Kcore, c.Late, w.What)
			}
		}
	}
	dir = filepath.Join(root, "journal")
	rec = filepath.Join(dir, "perf.data")
	s := opened(t, Config{Recording: rec, Kcore: filepath.Join(rec, "kcore_dir", "kcore"), Late: filepath.Join(dir, "kcore.after")})
	var found []string
	for _, f := range s.Text().Findings() {
		found = append(found, fmt.Sprintf("%x %s", f.Addr, f.Symbol))
	}
	// A jump label that was switched between the last record and the copy, and
	// the module that took another's place.
	if !slices.Contains(found, "ffffffffa345265a __schedule+0x28a") || !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, "ffffffffc0549094") }) {
		t.Errorf("found %q", found)
	}
}
