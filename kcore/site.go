package kcore

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// A site is pokes of one page that overlap, directly or through others, and
// the bytes that they change. A page is copied at once or nearly so, so each
// site is placed on its own: where in the chain of its pokes was the image
// taken? Position p means that the first p of the site's pokes were in effect.
type site struct {
	rules  *rules
	base   uint64 // address of the page
	pieces []piece
	cells  []siteCell
	// wrong[p] counts the cells of which the image contradicts position p; nil
	// if the image says nothing that could.
	wrong []int32
	// Where the image was placed.
	at     int  // position
	half   int  // the piece being written at that moment, or -1
	lo, hi int  // positions that the bytes do not tell from at
	differ bool // the image contradicts every position
}

// piece is the part of a poke that lies in the site's page.
type piece struct {
	p        *Poke
	poke     int32  // in the journal
	off, end uint16 // in the page, at most pageSize
	zeros    int8   // the image has only zeros here: 0 not asked yet, 1 no, 2 yes
}

// old returns what the piece says lay in the cell before it, nil if nothing.
func (s *site) old(k int32, c *siteCell) []byte {
	return part(s.pieces[k].p.Old, s.pieces[k].p.Addr, s.base+uint64(c.off), c.end-c.off)
}

// new returns what the piece put into the cell, nil if nothing.
func (s *site) new(k int32, c *siteCell) []byte {
	return part(s.pieces[k].p.New, s.pieces[k].p.Addr, s.base+uint64(c.off), c.end-c.off)
}

// part returns n bytes at addr out of data at base, nil if they are not in it.
func part(data []byte, base, addr uint64, n int) []byte {
	d := addr - base
	if d >= uint64(len(data)) || uint64(n) > uint64(len(data))-d {
		return nil
	}
	return data[d : d+uint64(n) : d+uint64(n)]
}

// sitesOf splits the pokes of a page, ascending, into sites; buf is for the
// bytes of the two images.
func sitesOf(j *Journal, img, late *image.Image, base uint64, pokes []int32, buf *[2][pageSize]byte) []*site {
	all := make([]piece, 0, len(pokes))
	for _, i := range pokes {
		p := &j.pokes[i]
		r := p.Range()
		from, to := max(r.Addr, base), min(r.Last(), base+pageSize-1)
		all = append(all, piece{p: p, poke: i, off: uint16(from - base), end: uint16(to-base) + 1})
	}
	all = byOffset(all)
	early, behind := buf[0][:], buf[1][:]
	known := knownIn(img, base, early)
	var lateKnown []image.Range
	if late != nil {
		lateKnown = knownIn(late, base, behind)
	}
	var sites []*site
	for i := 0; i < len(all); {
		k, end := i+1, all[i].end
		for k < len(all) && all[k].off < end {
			end = max(end, all[k].end)
			k++
		}
		s := &site{rules: j.rules, base: base, pieces: all[i:k:k], half: -1}
		slices.SortFunc(s.pieces, func(a, b piece) int { return cmp.Compare(a.poke, b.poke) })
		s.cut(known, lateKnown, early)
		if late != nil {
			s.witness(lateKnown, behind)
		}
		sites = append(sites, s)
		i = k
	}
	return sites
}

// byOffset returns pieces by where they begin, those of one offset in the order that
// they had.
func byOffset(all []piece) []piece {
	var from [pageSize + 1]int32 // by offset: where its pieces go
	for i := range all {
		from[all[i].off+1]++
	}
	for i := range pageSize {
		from[i+1] += from[i]
	}
	out := make([]piece, len(all))
	for _, p := range all {
		out[from[p.off]] = p
		from[p.off]++
	}
	return out
}

// knownIn returns the ranges of a page that the image holds, as offsets, and
// copies the page's bytes to buf.
func knownIn(img *image.Image, base uint64, buf []byte) []image.Range {
	rs := img.Within(nil, image.Range{Addr: base, Len: pageSize})
	for i := range rs {
		off := rs[i].Addr - base
		n := img.ReadAt(buf[off:off+rs[i].Len], rs[i].Addr)
		rs[i] = image.Range{Addr: off, Len: uint64(n)} // short if the file could not be read
	}
	return rs
}

// sources returns what the pokes say lay in the cell in its interval k: after
// the first k of its chain. Either may be nil. What follows the last poke is
// the late image.
func (s *site) sources(c *siteCell, k int) (prev, next []byte) {
	if k > 0 {
		prev = s.new(c.chain[k-1], c)
	}
	if k < len(c.chain) {
		next = s.old(c.chain[k], c)
	} else if prev != nil {
		next = c.late
	}
	return prev, next
}

// denies reports whether the image contradicts that it was taken in interval k
// of the cell; says is false where nothing could.
func (s *site) denies(c *siteCell, k int) (denies, says bool) {
	if c.img == nil {
		return false, false
	}
	prev, next := s.sources(c, k)
	if prev == nil && next == nil {
		return false, false
	}
	ok := prev != nil && bytes.Equal(prev, c.img) || next != nil && bytes.Equal(next, c.img)
	return !ok, true
}

// interval returns the cell's interval at position p of the site.
func (c *siteCell) interval(p int) int {
	k, _ := slices.BinarySearch(c.chain, int32(p))
	return k
}

// compare fills wrong.
func (s *site) compare() {
	diff := make([]int32, len(s.pieces)+2)
	heard := false
	for i := range s.cells {
		c := &s.cells[i]
		for k := 0; k <= len(c.chain); k++ {
			denies, says := s.denies(c, k)
			heard = heard || says
			if !denies {
				continue
			}
			from, to := 0, len(s.pieces) // positions of the interval
			if k > 0 {
				from = int(c.chain[k-1]) + 1
			}
			if k < len(c.chain) {
				to = int(c.chain[k])
			}
			diff[from]++
			diff[to+1]--
		}
	}
	if !heard {
		return
	}
	for p := 1; p <= len(s.pieces); p++ {
		diff[p] += diff[p-1]
	}
	s.wrong = diff[:len(s.pieces)+1]
}

// epochs returns the epochs of position p in a journal of n pokes, both ends
// included.
func (s *site) epochs(p, n int) (lo, hi int) {
	hi = n
	if p > 0 {
		lo = int(s.pieces[p-1].poke) + 1
	}
	if p < len(s.pieces) {
		hi = int(s.pieces[p].poke)
	}
	return lo, hi
}

// position returns the position at an epoch.
func (s *site) position(e int) int {
	return sort.Search(len(s.pieces), func(p int) bool { return int(s.pieces[p].poke) >= e })
}

// halfDone reports whether the image can show piece k being written. It then
// shows the trap over the first bytes, behind it the new code as far as it had
// been copied, and then the old. Everything else is as at position k. Of a poke
// that began in the page before only the tail is here.
func (s *site) halfDone(k int) bool {
	p := &s.pieces[k]
	n := len(p.p.Old)
	if n == 0 || n != len(p.p.New) || !s.rules.scheme(p.p.Scheme).torn {
		return false
	}
	trap := 0
	if p.p.Addr >= s.base { // the first byte is in this page, not in the one before
		if trap = s.rules.archOf(p.p).trapLen(s.shown(p)); trap == 0 {
			return false
		}
	}
	var wrong int32
	isNew := true // the bytes so far are the new text's
	end := 0
	for i := s.firstCell(p); i < len(s.cells) && s.cells[i].end <= int(p.end); i++ {
		end = s.cells[i].end
		c := &s.cells[i]
		if denies, _ := s.denies(c, c.interval(k)); denies {
			wrong++
		}
		old, new := s.old(int32(k), c), s.new(int32(k), c)
		for d := range c.img {
			if c.off+d < int(p.off)+trap {
				continue
			}
			b := c.img[d]
			if isNew = isNew && b == new[d]; !isNew && b != old[d] {
				return false
			}
		}
	}
	return end == int(p.end) && wrong == s.wrong[k]
}

// firstCell returns the first cell that begins in the piece or behind it.
func (s *site) firstCell(p *piece) int {
	return sort.Search(len(s.cells), func(i int) bool { return s.cells[i].off >= int(p.off) })
}

// shown returns what the image shows at the front of the piece, as many bytes
// as the longest trap needs.
func (s *site) shown(p *piece) []byte {
	var buf [4]byte
	got := buf[:0]
	for i := s.firstCell(p); i < len(s.cells) && len(got) < len(buf); i++ {
		c := &s.cells[i]
		if c.img == nil || c.off != int(p.off)+len(got) || c.end > int(p.end) {
			break
		}
		got = append(got, c.img[:min(len(c.img), len(buf)-len(got))]...)
	}
	return got
}

// choose places the image in the site, given the epochs that most sites agree
// on, of which g is the likeliest, and those in which it can have been taken.
func (s *site) choose(g, lo, hi, n int, taken [2]int) {
	s.at = s.position(g)
	s.lo, s.hi = s.position(lo), s.position(hi)
	if s.wrong == nil || s.wrong[s.at] == 0 {
		return
	}
	best, far := -1, n+1
	for p, w := range s.wrong {
		if w != 0 {
			continue
		}
		a, b := s.epochs(p, n)
		if b < taken[0] || a > taken[1] {
			continue
		}
		if d := max(a-g, g-b); d < far {
			best, far = p, d
		}
	}
	if k, d := s.nearestHalf(g, taken); k >= 0 && d < far {
		best, s.half = k, k
	}
	if s.differ = best < 0; !s.differ {
		s.at, s.lo, s.hi = best, best, best
	}
}

// nearestHalf returns the piece nearest to epoch g that the image can show
// being written, and how far that is; -1 if there is none.
func (s *site) nearestHalf(g int, taken [2]int) (best, far int) {
	best = -1
	for k := range s.pieces {
		i := int(s.pieces[k].poke)
		if i+1 < taken[0] || i > taken[1] {
			continue
		}
		if d := max(i-g, g-i-1, 0); (best < 0 || d < far) && s.halfDone(k) {
			best, far = k, d
		}
	}
	return best, far
}

// blank reports whether the image has nothing but zeros in the piece: what
// /proc/kcore gives for addresses that were not mapped (fs/proc/kcore.c, v6.1).
func (s *site) blank(k int32) bool {
	p := &s.pieces[k]
	if p.zeros == 0 {
		p.zeros = 2
		for i := s.firstCell(p); i < len(s.cells) && s.cells[i].end <= int(p.end); i++ {
			for _, b := range s.cells[i].img {
				if b != 0 {
					p.zeros = 1
				}
			}
		}
	}
	return p.zeros == 2
}

// span returns the epochs of the cell's interval k.
func (s *site) span(c *siteCell, k int) event.Span {
	sp := event.EveryEpoch
	if k > 0 {
		sp.From = event.Epoch(s.pieces[c.chain[k-1]].poke + 1)
	}
	if k < len(c.chain) {
		sp.Until = event.Epoch(s.pieces[c.chain[k]].poke + 1)
	}
	return sp
}
