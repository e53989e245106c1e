package decoder

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/boot"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestVmlinuxAlone would catch claims that never ran where a vmlinux stands in place of
// the kcore, and doubt where the trace settles what boot made of it. It would catch an
// instruction that is missing, or wrong in what is likely. Verdicts may not depend on how
// the work is cut.
func TestVmlinuxAlone(t *testing.T) {
	n := testsize.Of(t, 0, 1, 4) // each is decoded hundreds of times
	if n == 0 {
		t.Skip("full form only: PTDECODE_FULL is not set")
	}
	tables := readSiteTables(t)
	for _, c := range []struct {
		name      string
		ambiguous float64 // at most, share of what ran
	}{
		{"kprobes", 0.0053},
		{"ftrace", 0.0049},
		{"tracepoints-coarse", 0.0050},
		{"nomitig-late", 0.0058},
	}[:n] {
		t.Run(c.name, func(t *testing.T) {
			o := readOriginal(t, c.name, tables)
			s := opened(t, Config{Recording: o.config.Recording, Kcore: tables.vmlinux})
			got, sum := prints{}, newSums()
			if err := s.Flow(context.Background(), Query{}, sinkFunc(func(b *Batch) error {
				return errors.Join(sum.Flow(b), got.Flow(b))
			})); err != nil {
				t.Fatal(err)
			}
			g := readGolden(t, filepath.Join(dataDir(t), "kernel-pokes-x86", c.name))
			for i := range s.Streams() {
				x := g.CPUs[strconv.Itoa(i)]
				sum.check(t, i, x.Instructions, x.SHA)
			}
			again := newSums() // otherwise cut
			if err := s.Flow(context.Background(), Query{Jobs: 1, SegmentBytes: 1}, again); err != nil {
				t.Fatal(err)
			}
			if again.verdicts != sum.verdicts {
				t.Errorf("instructions by verdict: %v with one job, else %v", again.verdicts, sum.verdicts)
			}
			n := o.claims(got)
			t.Logf("%+v; %s", n, s.Warnings()[len(s.Warnings())-1].What)
			if n.wrong > 0 || n.seams > 0 {
				t.Errorf("%d claims never ran, %d are not side by side", n.wrong, n.seams)
			}
			if n.ambiguous > int(c.ambiguous*float64(n.executed)) {
				t.Errorf("of %d instructions %d are ambiguous, want at most %.2f%%", n.executed, n.ambiguous, 100*c.ambiguous)
			}
		})
	}
}

// TestVmlinuxLong would catch much that is missing in the largest recording, of which only
// how much ran is known.
func TestVmlinuxLong(t *testing.T) {
	if testsize.Of(t, 0, 0, 1) == 0 {
		t.Skip("it decodes a recording hundreds of times: PTDECODE_FULL=all")
	}
	dir := filepath.Join(dataDir(t), "kernel-pokes-x86")
	s := opened(t, Config{Recording: filepath.Join(dir, "tracepoints", "perf.data"), Kcore: filepath.Join(dir, "vmlinux.zst")})
	sum := flowed(t, s, newSums())
	t.Logf("by verdict %v; %s", sum.verdicts, s.Warnings()[len(s.Warnings())-1].What)
	g := readGolden(t, filepath.Join(dir, "tracepoints"))
	for i := range s.Streams() {
		x := g.CPUs[strconv.Itoa(i)]
		sum.check(t, i, x.Instructions, x.SHA)
	}
}

// TestVmlinuxPlace would catch a kernel that is put where it did not run when only the
// trace tells, and one that is left out though the trace tells it. It would catch a margin
// that says nothing, too.
func TestVmlinuxPlace(t *testing.T) {
	dir := filepath.Join(dataDir(t), "kernel-pokes-x86")
	for _, name := range []string{"kprobes", "ftrace", "tracepoints-coarse", "nomitig-late", "tracepoints"}[:testsize.Of(t, 1, 5)] {
		s := opened(t, Config{Recording: filepath.Join(dir, name, "perf.data")})
		from := s.bootSource(nil)
		moved := fmt.Sprintf("moved by %#x, ", from.Loaded-0xffffffff81000000)
		hows := []string{"by the recording's record of the kernel, and by", "by the trace: "}
		if !testsize.Full(t) {
			hows, from.Loaded = hows[1:], 0
		}
		for _, how := range hows {
			b, err := boot.Open(filepath.Join(dir, "vmlinux.zst"), from)
			if err != nil {
				t.Fatal(err)
			}
			if got := b.Known(); !strings.Contains(got, moved+how) {
				t.Errorf("%s: %s; want %s%s", name, got, moved, how)
			}
			t.Log(b.Known())
			from.Loaded = 0
		}
		if b, err := boot.Open(filepath.Join(dir, name, "perf.data", "kcore_dir", "kcore"), from); b != nil || err != nil {
			t.Errorf("%s: a kcore is taken for a vmlinux: %v", name, err)
		}
	}
}
