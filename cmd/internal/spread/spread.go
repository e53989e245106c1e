// Package spread holds how numbers are spread, such as how long calls took: sum, extremes,
// quantiles and a histogram. Numbers come one by one. What it holds of many is bounded: then
// quantiles are rounded a little.
package spread

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Spread is numbers, such as how long calls took in ns, and how they are spread. Up to 4,096
// different numbers it is exact. Beyond, Quantile and Each are up to 0.1 % too small; the other
// fields are exact throughout.
//
// What is read comes behind Settle.
type Spread struct {
	zeros  uint64     // how often 0 came
	recent [4]counted // numbers that came lately, by their hash, and how often they came since

	N, Sum      uint64
	Least, Most uint64 // 0 where N is

	exact  []uint64                  // all numbers, or those that are not counted yet
	counts []counted                 // the least number first
	rough  bool                      // there were too many for counts: pages have them
	pages  []*[1 << precision]uint64 // by how many bits a number has; nil: there are none
}

// counted is a number, and how often it came.
type counted struct{ n, count uint64 }

// precision is the bits of a number behind its first one that count on the pages. maxExact
// is how many numbers are kept as they are, and maxCounts how many different ones are counted.
const (
	precision = 10
	maxExact  = 1024
	maxCounts = 4096
)

// Take takes a number so many times. 0, and numbers that come again and again, are counted first.
func (s *Spread) Take(n, times uint64) {
	if n == 0 {
		s.zeros += times
		return
	}
	r := &s.recent[n*0x9e3779b97f4a7c15>>62]
	if r.n != n {
		s.put(*r)
		*r = counted{n: n}
	}
	r.count += times
}

// Settle takes in what was counted first.
func (s *Spread) Settle() {
	for i := range s.recent {
		s.put(s.recent[i])
		s.recent[i] = counted{}
	}
	s.put(counted{0, s.zeros})
	s.zeros = 0
}

// put takes in a number, as often as it came.
func (s *Spread) put(c counted) {
	n, count := c.n, c.count
	if count == 0 {
		return
	}
	if s.N == 0 || n < s.Least {
		s.Least = n
	}
	s.Most = max(s.Most, n)
	s.Sum += n * count
	if s.N += count; count > rare {
		s.add(n, count)
		return
	}
	for range count {
		s.exact = append(s.exact, n)
	}
	if s.N > maxExact && len(s.exact) >= maxExact {
		s.gather()
	}
}

// rare is how many equal numbers in a row are kept one by one.
const rare = 16

// add counts n, so many times.
func (s *Spread) add(n, count uint64) {
	if s.rough {
		s.turn(n, count)
		return
	}
	i, found := slices.BinarySearchFunc(s.counts, n, func(c counted, n uint64) int { return cmp.Compare(c.n, n) })
	if found {
		s.counts[i].count += count
		return
	}
	s.counts = slices.Insert(s.counts, i, counted{n, count})
	s.bound()
}

// gather counts the numbers that are not counted yet, many at once.
func (s *Spread) gather() {
	if s.rough {
		for _, n := range s.exact {
			s.turn(n, 1)
		}
		s.exact = s.exact[:0]
		return
	}
	slices.Sort(s.exact)
	fresh, different, i := s.exact[:0], 0, 0
	for _, n := range s.exact {
		for i < len(s.counts) && s.counts[i].n < n {
			i++
		}
		switch {
		case i < len(s.counts) && s.counts[i].n == n:
			s.counts[i].count++
			continue
		case len(fresh) == 0 || fresh[len(fresh)-1] != n:
			different++
		}
		fresh = append(fresh, n)
	}
	// The fresh ones go between the others, the greatest first.
	i = len(s.counts) - 1
	s.counts = append(s.counts, make([]counted, different)...)
	for to, j := len(s.counts)-1, len(fresh)-1; j >= 0; to-- {
		if n := fresh[j]; i < 0 || s.counts[i].n < n {
			s.counts[to] = counted{n: n}
			for ; j >= 0 && fresh[j] == n; j-- {
				s.counts[to].count++
			}
			continue
		}
		s.counts[to] = s.counts[i]
		i--
	}
	s.exact = s.exact[:0]
	s.bound()
}

// bound moves the counts to the pages where there are too many of them.
func (s *Spread) bound() {
	if len(s.counts) <= maxCounts {
		return
	}
	for _, c := range s.counts {
		s.turn(c.n, c.count)
	}
	s.counts, s.rough = nil, true
}

// turn counts n on its page, so many times.
func (s *Spread) turn(n, count uint64) {
	page, at := 0, n
	if b := bits.Len64(n); b > precision {
		page, at = b-precision, n>>(b-precision-1)&(1<<precision-1)
	}
	if s.pages == nil {
		s.pages = make([]*[1 << precision]uint64, 64)
	}
	if s.pages[page] == nil {
		s.pages[page] = new([1 << precision]uint64)
	}
	s.pages[page][at] += count
}

// Each gives the numbers, the least first, and how many there are of each, until yield
// returns false.
func (s *Spread) Each(yield func(n, count uint64) bool) {
	if s.rough || len(s.counts) > 0 {
		s.gather()
	}
	slices.Sort(s.exact)
	for _, n := range s.exact {
		if !yield(n, 1) {
			return
		}
	}
	for _, c := range s.counts {
		if !yield(c.n, c.count) {
			return
		}
	}
	for page, counts := range s.pages {
		if counts == nil {
			continue
		}
		for at, count := range counts {
			n := uint64(at)
			if page > 0 {
				n = (1<<precision | n) << (page - 1)
			}
			if count > 0 && !yield(max(n, s.Least), count) {
				return
			}
		}
	}
}

// Quantile returns the least of the numbers that a share q of all does not exceed, 0 <= q <= 1:
// the median for 0.5. It is 0 where there are none.
func (s *Spread) Quantile(q float64) (least uint64) {
	rank := uint64(q * float64(s.N))
	if float64(rank) < q*float64(s.N) || rank == 0 {
		rank++
	}
	if rank >= s.N {
		return s.Most
	}
	for n, count := range s.Each {
		if least = n; count >= rank {
			break
		}
		rank -= count
	}
	return least
}

// Bars returns a histogram: from and until, and how many numbers lie there.
func (s *Spread) Bars() [][3]uint64 {
	out := [][3]uint64{}
	for n, k := range s.Each {
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
