package spread

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSpread would catch quantiles that are off. It compares with a sort of the numbers, few and
// many, of all lengths. They come one by one and many in a row.
func TestSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 10, 1024, 1025, 20000} {
		for _, wide := range []uint{3, 11, 12, 30, 64} {
			var s Spread
			all, sum, different := []uint64{}, uint64(0), map[uint64]bool{}
			for len(all) < n {
				v, times := r.Uint64()>>(64-wide)>>r.UintN(wide), 1
				if r.UintN(64) == 0 {
					times = min(n-len(all), 1+int(r.UintN(2*rare)))
				}
				s.Take(v, uint64(times))
				for different[v] = true; times > 0; times-- {
					all = append(all, v)
					sum += v
				}
			}
			s.Settle()
			slices.Sort(all)
			counted := uint64(0)
			for _, k := range s.Each {
				counted += k
			}
			if counted != uint64(n) || s.N != uint64(n) || s.Sum != sum {
				t.Fatalf("%d numbers of %d bits: %d, sum %d, counted %d; want sum %d", n, wide, s.N, s.Sum, counted, sum)
			}
			if n == 0 {
				continue
			}
			if s.Least != all[0] || s.Most != all[n-1] {
				t.Errorf("%d numbers of %d bits: from %d to %d, want from %d to %d", n, wide, s.Least, s.Most, all[0], all[n-1])
			}
			for _, q := range []float64{0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1} {
				got, want := s.Quantile(q), all[max(0, int(math.Ceil(q*float64(n)))-1)]
				least := want
				if len(different) > maxCounts {
					least = want - want>>10
				}
				if got > want || got < least {
					t.Errorf("%d numbers of %d bits: quantile %v is %d, want %d", n, wide, q, got, want)
				}
			}
		}
	}
}
