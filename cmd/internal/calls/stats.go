package calls

import (
	"math/bits"
	"slices"
)

// stats is numbers, such as how long calls took in ns, and how they are spread. Up to 1,024
// numbers it is exact. Beyond, quantile and each are up to 0.1 % too small; the other fields are
// exact throughout.
//
// What is read comes behind settle.
type stats struct {
	zeros       uint64 // how often 0 came
	last, again uint64 // the number that came last, and how often it came in a row

	n, sum      uint64
	least, most uint64 // 0 where n is

	exact []uint64                    // all numbers, or those that are not on the pages yet
	pages [64]*[1 << precision]uint64 // by how many bits a number has
}

// precision is the bits of a number behind its first one that count, and maxExact how many
// numbers are kept as they are.
const (
	precision = 10
	maxExact  = 1024
)

// take takes a number so many times. 0, and numbers that come in a row, are counted first.
func (s *stats) take(n, times uint64) {
	switch {
	case n == 0:
		s.zeros += times
	case n == s.last:
		s.again += times
	default:
		s.put()
		s.last, s.again = n, times
	}
}

// settle takes in what was counted first.
func (s *stats) settle() {
	s.put()
	s.last, s.again, s.zeros = 0, s.zeros, 0
	s.put()
}

// put takes in the numbers that came last.
func (s *stats) put() {
	n, count := s.last, s.again
	if count == 0 {
		return
	}
	s.again = 0
	if s.n == 0 || n < s.least {
		s.least = n
	}
	s.most = max(s.most, n)
	s.sum += n * count
	if s.n += count; s.n > maxExact && count > rare {
		s.spread(n, count)
		return
	}
	for range count {
		s.exact = append(s.exact, n)
	}
	if s.n > maxExact && len(s.exact) >= maxExact {
		s.paged()
	}
}

// rare is how many equal numbers in a row are kept one by one.
const rare = 16

// paged moves the numbers to their pages, many at once: a page is far away in memory.
func (s *stats) paged() {
	for _, n := range s.exact {
		s.spread(n, 1)
	}
	s.exact = s.exact[:0]
}

// spread counts n on its page, so many times.
func (s *stats) spread(n, count uint64) {
	page, at := 0, n
	if b := bits.Len64(n); b > precision {
		page, at = b-precision, n>>(b-precision-1)&(1<<precision-1)
	}
	if s.pages[page] == nil {
		s.pages[page] = new([1 << precision]uint64)
	}
	s.pages[page][at] += count
}

// each gives the numbers, the least first, and how many there are of each, until yield
// returns false.
func (s *stats) each(yield func(n, count uint64) bool) {
	if s.n > maxExact {
		s.paged()
	}
	slices.Sort(s.exact)
	for _, n := range s.exact {
		if !yield(n, 1) {
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
			if count > 0 && !yield(max(n, s.least), count) {
				return
			}
		}
	}
}

// quantile returns the least of the numbers that a share q of all does not exceed, 0 <= q <= 1:
// the median for 0.5. It is 0 where there are none.
func (s *stats) quantile(q float64) (least uint64) {
	rank := uint64(q * float64(s.n))
	if float64(rank) < q*float64(s.n) || rank == 0 {
		rank++
	}
	if rank >= s.n {
		return s.most
	}
	for n, count := range s.each {
		if least = n; count >= rank {
			break
		}
		rank -= count
	}
	return least
}
