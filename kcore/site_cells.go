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
	ends := make([]int, 0, 4*len(s.pieces)+2*(len(known)+len(late)))
	lo, hi := pageSize, 0
	for i := range s.pieces {
		p := &s.pieces[i]
		lo, hi = min(lo, int(p.off)), max(hi, int(p.end))
		ends = append(ends, int(p.off), int(p.end))
		for _, n := range []int{len(p.p.Old), len(p.p.New)} {
			if d := p.p.Addr + uint64(n) - s.base; d < pageSize {
				ends = append(ends, int(d))
			}
		}
	}
	for _, rs := range [][]image.Range{known, late} {
		for _, r := range rs {
			ends = append(ends, int(r.Addr), int(r.Addr+r.Len))
		}
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	first, _ := slices.BinarySearch(ends, lo)
	last, _ := slices.BinarySearch(ends, hi)
	s.link(s.thin(ends[first : last+1]))
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
