// Package spread holds how long calls took: sum, extremes, quantiles and a histogram.
package spread

import (
	"maps"
	"math"
	"math/bits"
	"slices"
)

// Bars returns a histogram: from and until, ns, and how many calls took as long.
func (s *Spread) Bars() [][3]uint64 {
	out := [][3]uint64{}
	for n, k := range s.each {
		lo, hi := bar(n)
		if last := len(out) - 1; last >= 0 && out[last][0] == lo {
			out[last][2] += k
		} else {
			out = append(out, [3]uint64{lo, hi, k})
		}
	}
	return out
}

// bar returns the bar of a histogram that n belongs to: 1, 2 and 5, by powers of ten.
func bar(n uint64) (lo, hi uint64) {
	for unit := uint64(1); ; unit *= 10 {
		for _, k := range [][2]uint64{{1, 2}, {2, 5}, {5, 10}} {
			if n < k[1]*unit {
				if n < unit {
					return 0, 1
				}
				return k[0] * unit, k[1] * unit
			}
		}
		if unit > math.MaxUint64/100 {
			return n, math.MaxUint64
		}
	}
}

// Spread is how long calls took, ns, and how many took as long. What is more than 2,048 ns
// is kept to 0.1 %, rounded down; sum and the extremes are exact.
type Spread struct {
	N, Sum, Least, Most uint64
	by                  map[uint64]uint64
}

// Count counts a call that took ns.
func (s *Spread) Count(ns uint64) {
	if s.N == 0 {
		s.Least, s.by = ns, map[uint64]uint64{}
	}
	s.N, s.Sum, s.Least, s.Most = s.N+1, s.Sum+ns, min(s.Least, ns), max(s.Most, ns)
	s.by[ns&^(1<<max(0, bits.Len64(ns)-11)-1)]++
}

// each gives the times, the least first, and how many calls took as long.
func (s *Spread) each(yield func(ns, calls uint64) bool) {
	for _, ns := range slices.Sorted(maps.Keys(s.by)) {
		if !yield(ns, s.by[ns]) {
			return
		}
	}
}

// Quantile returns the least time that q percent of the calls do not exceed.
func (s *Spread) Quantile(q uint64) uint64 {
	want, n := (s.N*q+99)/100, uint64(0)
	for ns, k := range s.each {
		if n += k; n >= want {
			return ns
		}
	}
	return s.Most
}
