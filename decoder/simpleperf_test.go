package decoder

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestRealArm would catch a phone's recording by simpleperf that does not decode as
// simpleperf decodes it itself. Its build IDs are padded, its program begins at an
// exec in the middle of the recording, and its trace has no timestamps. The golden
// file counts ranges, the end inclusive, and branches.
func TestRealArm(t *testing.T) {
	dir := filepath.Join(testsize.Recordings(t), "real-arm")
	s := opened(t, Config{Recording: filepath.Join(dir, "perf_etm.data"), SymFS: filepath.Join(dir, "sym")})
	const base = 0x582b2b0000 // where the program lies: offset 0 of its file
	counts, branches := map[uint64]int{}, map[string]int{}
	n, last := 0, uint64(0)
	for _, x := range flowed(t, s, steps{})[0] {
		if x.gap != nil {
			t.Error(x.gap)
			continue
		}
		if x.v != flow.Certain {
			t.Errorf("%x: %v, want it certain", x.ip, x.v)
		}
		ip := x.ip - base
		if n++; n > 1 && ip != last+4 {
			branches[fmt.Sprintf("%x->%x", last, ip)]++
		}
		counts[ip]++
		last = ip
	}
	wantCounts, wantBranches := goldenCounts(t, filepath.Join(dir, "golden-counts.txt"))
	if d := cmp.Diff(wantCounts, counts); d != "" {
		t.Errorf("counts by address:\n%s", d)
	}
	for b, k := range wantBranches {
		if !strings.HasSuffix(b, "->0") && branches[b] != k { // 0: out of what was traced
			t.Errorf("branch %s: %d times, want %d", b, branches[b], k)
		}
	}
	if n != 944 {
		t.Errorf("%d instructions, want 944", n)
	}
}

// goldenCounts reads what AutoFDO's text form counts: instructions of four bytes by
// address, and branches.
func goldenCounts(t *testing.T, path string) (counts map[uint64]int, branches map[string]int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	counts, branches = map[uint64]int{}, map[string]int{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var lo, hi uint64
		var n int
		if k, _ := fmt.Sscanf(sc.Text(), "%x-%x:%d", &lo, &hi, &n); k == 3 {
			for a := lo; a <= hi; a += 4 {
				counts[a] += n
			}
		} else if k, _ := fmt.Sscanf(sc.Text(), "%x->%x:%d", &lo, &hi, &n); k == 3 {
			branches[fmt.Sprintf("%x->%x", lo, hi)] = n
		}
	}
	return counts, branches
}
