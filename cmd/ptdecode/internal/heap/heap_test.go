package heap

import "testing"

// TestPercentOf would catch a heap that may grow by gigabytes since it is large, and
// a small one that is swept all the time.
func TestPercentOf(t *testing.T) {
	last := uint64(0)
	for live := uint64(1); live < 1<<40; live *= 2 {
		grown := live * uint64(percentOf(live)) / 100
		if most := max(garbage, live*leastPercent/100); grown > most {
			t.Errorf("%d bytes: may grow by %d, want %d at most", live, grown, most)
		}
		if grown < last {
			t.Errorf("%d bytes: may grow by %d, less than a smaller heap, by %d", live, grown, last)
		}
		last = grown - grown/100 - 2*live/100 // whole percents
	}
	if p := percentOf(32 << 20); p != gcPercent {
		t.Errorf("32 MiB: may grow by %d %%, want %d", p, gcPercent)
	}
}
