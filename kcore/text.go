package kcore

import (
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Pages are the grain of the fast path: one without pokes is read from the
// image as it is. It need not be the machine's page size.
const (
	pageShift = 12
	pageSize  = 1 << pageShift

	// Lines are the grain at which the pokes of an address are found: a page of
	// the kernel may hold many sites, and a site may be toggled all the time.
	lineShift = 6
)

// Text is the kernel's text in time. It is immutable and may be used by many
// goroutines at once.
type Text struct {
	img      *Image
	j        *Journal
	pages    map[uint64]*page // by address >> pageShift; those with pokes
	order    []uint64         // the keys of pages, ascending
	place    Placement
	findings []Finding
	losses   []LostRecords
	unlike   []Range        // that differ between the images without a record
	vague    map[int32]bool // pokes that do not prove what they would: see TrapProves, Empty

	unlikeBytes uint64
}

// page is one page with pokes.
type page struct {
	cells []cell                         // by address, not overlapping; between them the image holds at every epoch
	pokes []int32                        // that touch the page, ascending
	flips []flip                         // at which bytes become unknown, or known again
	lines [pageSize >> lineShift][]int32 // pokes that touch the line, ascending
}

// cell is bytes that each poke changes whole or not at all.
type cell struct {
	off, end uint16    // in the page; off < end
	versions []version // by from; the first is from epoch 0
}

// version is the bytes of a cell from an epoch until the next version's.
type version struct {
	from event.Epoch
	data []byte // nil: unknown; else as long as the cell
}

// Fetch copies the text at addr as of epoch at into dst, up to the first
// unknown byte, and returns how many bytes that are and the epochs around at
// for which the same call gives exactly the same: the n bytes, and beyond them
// an unknown one if n < len(dst). It allocates nothing.
func (t *Text) Fetch(dst []byte, addr uint64, at event.Epoch) (n int, span event.Span) {
	span = event.EveryEpoch
	for n < len(dst) {
		a := addr + uint64(n)
		if a < addr { // behind the last address
			return n, span
		}
		off := int(a & (pageSize - 1))
		want := min(len(dst)-n, pageSize-off)
		var got int
		if p := t.pages[a>>pageShift]; p == nil {
			got = t.img.ReadAt(dst[n:n+want], a)
		} else {
			got = t.fetchPage(p, dst[n:n+want], a, at, &span)
		}
		n += got
		if got < want {
			return n, span
		}
	}
	return n, span
}

// fetchPage is Fetch inside one page; it narrows span.
func (t *Text) fetchPage(p *page, dst []byte, addr uint64, at event.Epoch, span *event.Span) (n int) {
	off := int(addr & (pageSize - 1))
	lo, hi := 0, len(p.cells)
	for lo < hi { // the first cell that ends behind off
		mid := int(uint(lo+hi) >> 1)
		if int(p.cells[mid].end) <= off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for n < len(dst) {
		pos := off + n
		if lo == len(p.cells) || pos < int(p.cells[lo].off) {
			want := len(dst) - n
			if lo < len(p.cells) {
				want = min(want, int(p.cells[lo].off)-pos)
			}
			got := t.img.ReadAt(dst[n:n+want], addr+uint64(n))
			n += got
			if got < want {
				return n
			}
			continue
		}
		c := &p.cells[lo]
		from := pos - int(c.off)
		to := min(int(c.end)-int(c.off), from+len(dst)-n)
		data, s := c.at(at, from, to)
		*span = span.Intersect(s)
		if data == nil {
			return n
		}
		n += copy(dst[n:], data)
		lo++
	}
	return n
}

// at returns bytes [from, to) of the cell as of an epoch, nil if unknown, and
// the epochs around it for which they are the same.
func (c *cell) at(e event.Epoch, from, to int) ([]byte, event.Span) {
	lo, hi := 0, len(c.versions)
	for lo+1 < hi {
		mid := int(uint(lo+hi) >> 1)
		if c.versions[mid].from <= e {
			lo = mid
		} else {
			hi = mid
		}
	}
	v := &c.versions[lo]
	first, next := lo, lo+1
	for first > 0 && v.same(&c.versions[first-1], from, to) {
		first--
	}
	for next < len(c.versions) && v.same(&c.versions[next], from, to) {
		next++
	}
	span := event.Span{From: c.versions[first].from, Until: event.MaxEpoch}
	if next < len(c.versions) {
		span.Until = c.versions[next].from
	}
	if v.data == nil {
		return nil, span
	}
	return v.data[from:to], span
}

// same reports whether bytes [from, to) are alike in v and w.
func (v *version) same(w *version, from, to int) bool {
	if v.data == nil || w.data == nil {
		return v.data == nil && w.data == nil
	}
	return string(v.data[from:to]) == string(w.data[from:to])
}

// Journal returns the pokes that the text is made of.
func (t *Text) Journal() *Journal { return t.j }

// Image returns the image that the text is made of.
func (t *Text) Image() *Image { return t.img }

// Len returns the number of pokes: the last epoch.
func (t *Text) Len() int { return t.j.Len() }

// Poke returns poke i, which must not be changed.
func (t *Text) Poke(i int) *Poke { return t.j.Poke(i) }

// Floor is Journal.Floor.
func (t *Text) Floor(i int) event.Epoch { return t.j.Floor(i) }

// Epochs is Journal.Epochs.
func (t *Text) Epochs(tm event.Time) (lo, hi event.Epoch) { return t.j.Epochs(tm) }

// Between appends to dst the pokes i with lo <= i < hi that change any of the
// n bytes at addr, ascending.
func (t *Text) Between(addr uint64, n int, lo, hi event.Epoch, dst []int) []int {
	if n <= 0 || lo >= hi {
		return dst
	}
	last := addr + uint64(n-1)
	if last < addr {
		last = ^uint64(0)
	}
	start := len(dst)
	if (last>>pageShift)-(addr>>pageShift) > uint64(len(t.pages)) { // cheaper one by one
		for i := int(lo); i < t.j.Len() && event.Epoch(i) < hi; i++ {
			if r := t.j.pokes[i].Range(); r.Len > 0 && r.Addr <= last && r.last() >= addr {
				dst = append(dst, i)
			}
		}
		return dst
	}
	if n <= 4<<lineShift {
		return t.near(addr, last, lo, hi, dst)
	}
	for pg := addr >> pageShift; ; pg++ {
		if p := t.pages[pg]; p != nil {
			i := sort.Search(len(p.pokes), func(i int) bool { return event.Epoch(p.pokes[i]) >= lo })
			for ; i < len(p.pokes) && event.Epoch(p.pokes[i]) < hi; i++ {
				r := t.j.pokes[p.pokes[i]].Range()
				// A poke on two pages counts on the first that was asked of.
				if r.Addr <= last && r.last() >= addr && max(r.Addr, addr)>>pageShift == pg {
					dst = append(dst, int(p.pokes[i]))
				}
			}
		}
		if pg == last>>pageShift {
			break
		}
	}
	if addr>>pageShift != last>>pageShift {
		slices.Sort(dst[start:])
	}
	return dst
}

// near is Between for few bytes, [addr, last].
func (t *Text) near(addr, last uint64, lo, hi event.Epoch, dst []int) []int {
	start := len(dst)
	var p *page
	for ln := addr >> lineShift; ; ln++ {
		if off := ln << lineShift & (pageSize - 1); ln == addr>>lineShift || off == 0 {
			p = t.pages[ln>>(pageShift-lineShift)]
		}
		if p != nil {
			list := p.lines[ln&(pageSize>>lineShift-1)]
			i := sort.Search(len(list), func(i int) bool { return event.Epoch(list[i]) >= lo })
			for ; i < len(list) && event.Epoch(list[i]) < hi; i++ {
				r := t.j.pokes[list[i]].Range()
				// A poke on two lines counts on the first that was asked of.
				if r.Addr <= last && r.last() >= addr && max(r.Addr, addr)>>lineShift == ln {
					dst = append(dst, int(list[i]))
				}
			}
		}
		if ln == last>>lineShift {
			break
		}
	}
	if addr>>lineShift != last>>lineShift {
		slices.Sort(dst[start:])
	}
	return dst
}

// Placement returns when the image was taken, as far as its bytes tell.
func (t *Text) Placement() Placement { return t.place }

// Findings returns what does not fit together, in order of address.
func (t *Text) Findings() []Finding { return t.findings }
