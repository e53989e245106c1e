package decoder

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/kcore"
)

// TestPokesOfJournal would catch a poke that is left out, one that is broken
// and is not said to be, and one that is said to be and is not.
func TestPokesOfJournal(t *testing.T) {
	s := opened(t, Config{Recording: filepath.Join(dataDir(t), "kernel-pokes-x86", "journal", "perf.data")})
	ps := slices.Collect(s.Pokes())
	if len(ps) != 695 {
		t.Errorf("%d pokes, want 695", len(ps))
	}
	kinds := map[kcore.Kind]int{}
	for i, p := range ps {
		kinds[p.Kind]++
		if bad := p.Broken != nil; bad != (p.Addr == 0xffffffffc0549094 && p.Time == 11244697897) {
			t.Errorf("poke %d at %#x: broken is %v", i, p.Addr, bad)
		}
		if p.Index != i || (i > 0 && p.Time < ps[i-1].Time) {
			t.Errorf("poke %d: index %d, time %d after %d", i, p.Index, p.Time, ps[i-1].Time)
		}
	}
	if kinds[kcore.KindUnknown] > 0 || len(kinds) < 6 {
		t.Errorf("kinds %v", kinds)
	}
}
