package decoder

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/boot"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestVmlinuxAlone would catch claims that never ran where a vmlinux stands in place of
// the kcore, and doubt where the trace settles what boot made of it.
func TestVmlinuxAlone(t *testing.T) {
	n := testsize.Of(t, 0, 1, 4) // each is decoded hundreds of times
	if n == 0 {
		t.Skip("full form only: PTDECODE_FULL is not set")
	}
	tables := readSiteTables(t)
	for _, c := range []struct {
		name      string
		ambiguous float64 // at most, share of what ran
		missing   int     // at most, instructions
	}{
		{"kprobes", 0.008, 300},
		{"ftrace", 0.017, 4_000},
		{"tracepoints-coarse", 0.025, 1_100},
		{"nomitig-late", 0.006, 2},
	}[:n] {
		t.Run(c.name, func(t *testing.T) {
			o := readOriginal(t, c.name, tables)
			s := opened(t, Config{Recording: o.config.Recording, Kcore: tables.vmlinux})
			got := prints{}
			if err := s.Flow(context.Background(), Query{}, got); err != nil {
				t.Fatal(err)
			}
			var n claimCount
			for i, ran := range o.ran {
				if got[i] == nil {
					got[i] = &printed{}
				}
				n.judge(got[i], ran)
			}
			t.Logf("%+v; %s", n, s.Warnings()[len(s.Warnings())-1].What)
			if n.wrong > 0 || n.seams > 0 {
				t.Errorf("%d claims never ran, %d are not side by side", n.wrong, n.seams)
			}
			if n.ambiguous > int(c.ambiguous*float64(n.executed)) || n.missing > c.missing {
				t.Errorf("of %d instructions %d are ambiguous and %d missing, want at most %.2f%% and %d", n.executed, n.ambiguous, n.missing, 100*c.ambiguous, c.missing)
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
	insns, doubtful := map[int]int{}, map[int]int{}
	err := s.Flow(context.Background(), Query{}, sinkFunc(func(b *Batch) error {
		for i := range b.Ranges {
			r := &b.Ranges[i]
			insns[b.Stream] += int(r.N)
			if r.Verdict == Ambiguous {
				doubtful[b.Stream] += int(r.N)
			}
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("instructions %v, ambiguous %v; %s", insns, doubtful, s.Warnings()[len(s.Warnings())-1].What)
	for i, ran := range []int{3_396_552, 23_078_207} {
		if least := ran * 98 / 100; insns[i] < least || insns[i] > ran {
			t.Errorf("cpu%d: %d instructions of %d, want at least %d", i, insns[i], ran, least)
		}
	}
}

// TestVmlinuxPlace would catch a kernel that is put where it did not run when only the
// trace tells, and a margin that says nothing.
func TestVmlinuxPlace(t *testing.T) {
	testsize.OnlyFull(t)
	dir := filepath.Join(dataDir(t), "kernel-pokes-x86")
	s := opened(t, Config{Recording: filepath.Join(dir, "kprobes", "perf.data")})
	from := s.bootSource(nil)
	for _, how := range []string{"by the recording's record", "by the trace: "} {
		b, err := boot.Open(filepath.Join(dir, "vmlinux.zst"), from)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Known(); !strings.Contains(got, "moved by 0xf600000, "+how) {
			t.Errorf("%s; want 0xf600000, %s", got, how)
		}
		t.Log(b.Known())
		from.Loaded = 0
	}
	if b, err := boot.Open(filepath.Join(dir, "kprobes", "perf.data", "kcore_dir", "kcore"), from); b != nil || err != nil {
		t.Errorf("a kcore is taken for a vmlinux: %v", err)
	}
}
