package kcore

import (
	"math"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// Pages are the grain of the fast path: one without pokes is read from the
// image as it is. It need not be the machine's page size.
const (
	pageShift = 12
	pageSize  = 1 << pageShift

	// Lines are the grain at which the pokes of an address are found. A page of the
	// kernel may hold many sites, and a site may be toggled all the time.
	lineShift = 6
)

// Text is the kernel's code in time: the bytes at an address, as of an epoch. It is
// immutable and may be used by many goroutines at once.
type Text struct {
	img      *image.Image
	j        *Journal
	pages    map[uint64]*page // by address >> pageShift; those with pokes
	order    []uint64         // the keys of pages, ascending
	place    Placement
	findings []Finding
	losses   []LostRecords
	unlike   []image.Range  // that differ between the images without a record
	vague    map[int32]bool // pokes that do not prove what they would: see TrapProves, NothingBeside

	unlikeBytes uint64
	copies      [2]*image.Image // the early one and the late one; nil: there is no late one
	bare        *image.Image    // img without what was learned
	learned     []Learned
}

// page is one page with pokes.
type page struct {
	base  uint64     // its address
	cells []cell     // by address, not overlapping; between them the image holds at every epoch
	pokes []int32    // that touch the page, ascending
	flips []flip     // at which bytes become unknown, or known again
	lines *pokeLines // nil: few pokes touch the page
}

// pokeLines is the pokes that touch each line of a page, ascending.
type pokeLines [pageSize >> lineShift][]int32

// fewPokes is how many pokes of a page are looked through one by one.
const fewPokes = 16

// Fetch copies the code at addr as of epoch at into dst, up to the first unknown
// byte, and returns how many bytes that are. The same call gives exactly the same
// at every epoch of span, of which at is one: the n bytes, and beyond them an
// unknown one if n < len(dst). It allocates nothing.
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
		data, s := t.cellAt(p, c, at, from, to)
		*span = span.Intersect(s)
		if data == nil {
			return n
		}
		n += copy(dst[n:], data)
		lo++
	}
	return n
}

// Unknown returns how many of the n bytes from addr on are unknown in a row as
// of an epoch. What it costs grows with the poked cells in that row, and with the
// logarithm of all that is known elsewhere.
func (t *Text) Unknown(addr, n uint64, e event.Epoch) uint64 {
	for at := addr; at-addr < n; {
		limit := t.nextPage(at) // of the part that the image alone tells
		if p := t.pages[at>>pageShift]; p != nil {
			off := int(at & (pageSize - 1))
			i := sort.Search(len(p.cells), func(i int) bool { return int(p.cells[i].end) > off })
			limit = p.base + pageSize - 1
			if i < len(p.cells) {
				c := &p.cells[i]
				if int(c.off) <= off {
					if c.known(e) {
						return at - addr
					}
					if at = p.base + uint64(c.end); at == 0 { // behind the last address
						return n
					}
					continue
				}
				limit = p.base + uint64(c.off) - 1
			}
		}
		if held, ok := t.img.Next(at); ok && held <= limit {
			return min(n, held-addr)
		}
		if at = limit + 1; at == 0 {
			return n
		}
	}
	return n
}

// nextPage returns the last address before the next page with pokes behind at.
func (t *Text) nextPage(at uint64) uint64 {
	i, _ := slices.BinarySearch(t.order, at>>pageShift+1)
	if i == len(t.order) {
		return math.MaxUint64
	}
	return t.order[i]<<pageShift - 1
}

// Journal returns the pokes that the text is made of.
func (t *Text) Journal() *Journal { return t.j }

// Image returns the image that the text is made of.
func (t *Text) Image() *image.Image { return t.img }

// Len returns the number of pokes: the last epoch.
func (t *Text) Len() int { return t.j.Len() }

// Poke returns poke i, which must not be changed.
func (t *Text) Poke(i int) *Poke { return t.j.Poke(i) }

// Floor is Journal.Floor.
func (t *Text) Floor(i int) event.Epoch { return t.j.Floor(i) }

// Epochs is Journal.Epochs.
func (t *Text) Epochs(tm event.Time) (lo, hi event.Epoch) { return t.j.Epochs(tm) }

// Edges is Journal.Edges.
func (t *Text) Edges(lo, hi event.Epoch) (loEnd, hiEnd uint64) { return t.j.Edges(lo, hi) }

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
			if r := t.j.pokes[i].Range(); r.Len > 0 && r.Addr <= last && r.Last() >= addr {
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
				if r.Addr <= last && r.Last() >= addr && max(r.Addr, addr)>>pageShift == pg {
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
			list := p.pokes
			if p.lines != nil {
				list = p.lines[ln&(pageSize>>lineShift-1)]
			}
			i := sort.Search(len(list), func(i int) bool { return event.Epoch(list[i]) >= lo })
			for ; i < len(list) && event.Epoch(list[i]) < hi; i++ {
				r := t.j.pokes[list[i]].Range()
				// A poke on two lines counts on the first that was asked of.
				if r.Addr <= last && r.Last() >= addr && max(r.Addr, addr)>>lineShift == ln {
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
