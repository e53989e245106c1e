package calls

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSlowest would catch a slow call that is left out or stands out of order, and a list
// that grows with what passes it.
func TestSlowest(t *testing.T) {
	for _, n := range []int{1, 2, 7, 100, 5000} {
		draw := rand.New(rand.NewPCG(uint64(n), 2))
		got := &table{o: &options{slowest: n}}
		var want []slowCall
		for tid := range int32(2000) {
			c := slowCall{ns: draw.Uint64N(300), tid: tid}
			want = append(want, c)
			if c.ns >= got.slower {
				got.rank(c)
			}
			if len(got.slow) > 2*n {
				t.Fatalf("%d slowest: %d are held", n, len(got.slow))
			}
		}
		got.cutSlow()
		slices.SortStableFunc(want, func(a, b slowCall) int { return cmp.Compare(b.ns, a.ns) })
		if want = want[:min(n, len(want))]; !slices.Equal(got.slow, want) {
			t.Errorf("%d slowest: %v, want %v", n, got.slow, want)
		}
	}
}
