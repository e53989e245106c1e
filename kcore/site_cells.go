package kcore

import (
	"slices"

	"github.com/ptdecode/ptdecode/kcore/image"
)

// siteCell is bytes that each piece covers whole or not at all. In a crowded
// site it may be cut less finely: a piece that covers a part of it is in its
// chain and says nothing of what lies there.
type siteCell struct {
	off, end int
	chain    []int32 // the pieces that touch it, ascending
	img      []byte  // the image's bytes; nil where it does not hold the cell
	late     []byte  // the late image's, behind the last piece; nil where it says nothing
}

// crowded is how many cells a piece of a site may touch on average. Beyond that
// the site gets only so many cells: each change of each cell is held, and
// thousands of small pokes under thousands of large ones would multiply.
const crowded = 256

// cut makes the site's cells: the bytes between neighbouring ends of old and
// new texts, and of what the images hold; page is the first one's bytes.
func (s *site) cut(known, late []image.Range, page []byte) {
	lo, hi := pageSize, 0
	for i := range s.pieces {
		lo, hi = min(lo, int(s.pieces[i].off)), max(hi, int(s.pieces[i].end))
	}
	marks := make([]bool, hi-lo+1) // by offset from lo: a cell ends there
	mark := func(off uint64) {
		if d := off - uint64(lo); d < uint64(len(marks)) {
			marks[d] = true
		}
	}
	for i := range s.pieces {
		p := &s.pieces[i]
		mark(uint64(p.off))
		mark(uint64(p.end))
		for _, n := range [2]int{len(p.p.Old), len(p.p.New)} {
			if d := p.p.Addr + uint64(n) - s.base; d < pageSize {
				mark(d)
			}
		}
	}
	for _, rs := range [2][]image.Range{known, late} {
		for _, r := range rs {
			mark(r.Addr)
			mark(r.Addr + r.Len)
		}
	}
	var ends []int
	for d, marked := range marks {
		if marked {
			ends = append(ends, lo+d)
		}
	}
	s.link(s.thin(ends))
	for i := range s.cells {
		c := &s.cells[i]
		for _, r := range known {
			if int(r.Addr) <= c.off && c.end <= int(r.Addr+r.Len) {
				c.img = slices.Clone(page[c.off:c.end])
			}
		}
	}
}

// thin drops ends of cells, evenly, where the site is crowded.
func (s *site) thin(ends []int) []int {
	touched := 0
	for i := range s.pieces {
		from, to := touches(&s.pieces[i], ends)
		touched += to - from
	}
	n := len(ends) - 1
	if touched <= crowded*len(s.pieces) || n <= crowded {
		return ends
	}
	kept := make([]int, crowded+1)
	for i := range kept {
		kept[i] = ends[i*n/crowded]
	}
	return kept
}

// touches returns which of the cells between the ends the piece touches.
func touches(p *piece, ends []int) (from, to int) {
	from, exact := slices.BinarySearch(ends, int(p.off))
	if !exact {
		from--
	}
	to, _ = slices.BinarySearch(ends, int(p.end))
	return from, to
}

// link makes the cells between the ends and tells each which pieces touch it.
func (s *site) link(ends []int) {
	s.cells = make([]siteCell, len(ends)-1)
	counts := make([]int, len(ends))
	for i := range s.pieces {
		from, to := touches(&s.pieces[i], ends)
		counts[from]++
		counts[to]--
	}
	n := 0
	for i := range s.cells {
		n += counts[i]
		s.cells[i] = siteCell{off: ends[i], end: ends[i+1], chain: make([]int32, 0, n)}
	}
	for i := range s.pieces {
		from, to := touches(&s.pieces[i], ends)
		for k := from; k < to; k++ {
			s.cells[k].chain = append(s.cells[k].chain, int32(i))
		}
	}
}
