package kcore

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// Unlike returns in how many places, and in how many bytes, the two images differ though no
// record tells of a change there. What lies there is unknown at every epoch. Both are 0
// where there is one image only (TextOptions.Late).
func (t *Text) Unlike() (places int, n uint64) { return len(t.unlike), t.unlikeBytes }

// maxUnlike bounds the places at which two images differ that are kept: copies
// of the memory of modules differ in their data, too.
const maxUnlike = 1 << 20

// witness takes what the late image shows of the cells of the site: what the
// last poke of each left, unless that is not said or was no longer mapped.
func (s *site) witness(known []image.Range, page []byte) {
	for i := range s.cells {
		c := &s.cells[i]
		p := s.pieces[c.chain[len(c.chain)-1]]
		if len(bytes.TrimLeft(page[p.off:p.end], "\x00")) == 0 {
			continue
		}
		for _, r := range known {
			if int(r.Addr) <= c.off && c.end <= int(r.Addr+r.Len) {
				c.late = slices.Clone(page[c.off:c.end])
			}
		}
	}
}

// withoutHoles returns an image without the pages that are zeros in it and not in the
// other one. /proc/kcore has zeros where nothing is mapped (fs/proc/kcore.c, v6.12), so
// they are code that came between the copies, or went, such as a module's. No code has a
// whole page of zeros.
func withoutHoles(img, other *image.Image) *image.Image {
	var zero, a, b [pageSize]byte
	var holes []image.Range
	for _, r := range img.Ranges() {
		for _, x := range other.Within(nil, r) {
			for at := (x.Addr + pageSize - 1) &^ (pageSize - 1); at >= x.Addr && at <= x.Last() && x.Last()-at >= pageSize-1; at += pageSize {
				if img.ReadAt(a[:], at) == pageSize && a == zero && other.ReadAt(b[:], at) == pageSize && b != zero {
					if k := len(holes) - 1; k >= 0 && holes[k].Addr+holes[k].Len == at {
						holes[k].Len += pageSize
					} else {
						holes = append(holes, image.Range{Addr: at, Len: pageSize})
					}
				}
			}
		}
	}
	if len(holes) == 0 {
		return img
	}
	img = img.View()
	for _, h := range holes {
		img.Remove(h)
	}
	return img
}

// addLate takes what the late image shows of code that no poke names. Where the
// early one holds other bytes, code was changed without a record. Where the early
// one holds none, the late one's stand.
func (b *builder) addLate(opt TextOptions) {
	t := b.t
	early := t.img.Ranges()
	for _, r := range early {
		for _, x := range opt.Late.Within(nil, r) {
			b.compareRange(x, opt.Late)
		}
	}
	t.copies = [2]*image.Image{t.img, opt.Late}
	both := opt.Late.View()
	both.Add(t.img.View())
	t.img = both
	slices.Sort(t.order)
	for _, r := range t.unlike {
		if len(b.extra) == maxFindings {
			break
		}
		if f, ok := b.unlikeFinding(r, opt); ok {
			b.extra = append(b.extra, f)
		}
	}
}

// maxFindings bounds the findings of text that no poke names.
const maxFindings = 1000

// compareRange makes the bytes of r unknown that differ between the images and
// are in no poked cell.
func (b *builder) compareRange(r image.Range, late *image.Image) {
	const piece = 64 << 10 // a multiple of pageSize
	var x, y [piece]byte
	for at := r.Addr; ; {
		n := min(r.Last()-at+1, piece-at%piece)
		have := b.t.img.ReadAt(x[:n], at)
		if have = min(have, late.ReadAt(y[:n], at)); uint64(have) < n && n > pageSize { // of a bundle, which lacks what is alike
			b.comparePages(image.Range{Addr: at, Len: n}, late)
			have = 0
		}
		if !bytes.Equal(x[:have], y[:have]) {
			for off := 0; off < have; {
				k := min(pageSize-int((at+uint64(off))&(pageSize-1)), have-off)
				b.comparePage(at+uint64(off), x[off:off+k], y[off:off+k])
				off += k
			}
		}
		if n > r.Last()-at {
			return
		}
		at += n
	}
}

// comparePages is compareRange page by page.
func (b *builder) comparePages(r image.Range, late *image.Image) {
	for at := r.Addr; ; {
		n := min(r.Last()-at+1, pageSize-at%pageSize)
		b.compareRange(image.Range{Addr: at, Len: n}, late)
		if at += n; at == r.Last()+1 {
			return
		}
	}
}

// comparePage is compareRange inside a page.
func (b *builder) comparePage(addr uint64, x, y []byte) {
	if bytes.Equal(x, y) || len(b.t.unlike) >= maxUnlike {
		return
	}
	base := addr &^ (pageSize - 1)
	p := b.t.pages[base>>pageShift]
	var poked []cell
	if p != nil {
		poked = slices.Clone(p.cells)
	}
	for i := 0; i < len(x); {
		if x[i] == y[i] {
			i++
			continue
		}
		off := int(addr-base) + i
		c, in := slices.BinarySearchFunc(poked, off, func(c cell, off int) int {
			switch {
			case int(c.end) <= off:
				return -1
			case int(c.off) > off:
				return 1
			}
			return 0
		})
		if in {
			i = int(poked[c].end) - int(addr-base)
			continue
		}
		k := i
		for i < len(x) && x[i] != y[i] && (c == len(poked) || int(addr-base)+i < int(poked[c].off)) {
			i++
		}
		if p == nil {
			p = b.t.addPage(base >> pageShift)
		}
		p.cells = append(p.cells, cell{off: uint16(off), end: uint16(off + i - k), versions: []version{{0, ofNothing}}})
		b.t.unlike = append(b.t.unlike, image.Range{Addr: base + uint64(off), Len: uint64(i - k)})
		b.t.unlikeBytes += uint64(i - k)
	}
	if p != nil {
		slices.SortFunc(p.cells, func(a, b cell) int { return cmp.Compare(a.off, b.off) })
	}
}

// unlikeFinding is the finding of bytes that differ between the images; ok is
// false where no symbol says that they are code.
func (b *builder) unlikeFinding(r image.Range, opt TextOptions) (f Finding, ok bool) {
	if opt.Symbols == nil {
		return f, false
	}
	y, off, ok := opt.Symbols.Lookup(r.Addr, 0)
	if !ok || !y.Code {
		return f, false
	}
	f = Finding{Kind: ImageDiffers, Addr: r.Addr, Last: -1, Next: -1, Span: event.EveryEpoch, Until: math.MaxUint64, Symbol: y.Format(off)}
	f.Have, f.Want = make([]byte, r.Len), make([]byte, r.Len)
	opt.Late.ReadAt(f.Have, r.Addr)
	b.early.ReadAt(f.Want, r.Addr)
	f.Lost = len(b.t.j.lost) > 0
	return f, true
}

// maxContested is how long code that two images differ in may be to be a Candidate, bytes.
const maxContested = 16

// Contested returns what each of the two images holds at addr, where they differ though no
// record tells of a change there. addr must be the first byte that differs. ok is false
// where there is none, or where more bytes differ than an instruction has.
func (t *Text) Contested(addr uint64) (c Candidate, ok bool) {
	i, ok := slices.BinarySearchFunc(t.unlike, addr, func(r image.Range, a uint64) int { return cmp.Compare(r.Addr, a) })
	if !ok {
		return c, false
	}
	const apart = 4 // bytes that the two may share inside of a site
	if i > 0 && addr-t.unlike[i-1].Last() <= apart {
		return c, false
	}
	last := t.unlike[i].Last()
	for k := i + 1; k < len(t.unlike) && t.unlike[k].Addr-last <= apart; k++ {
		last = t.unlike[k].Last()
	}
	n := last - addr + 1
	if n > maxContested {
		return c, false
	}
	c = Candidate{Addr: addr, Why: "images differ"}
	for _, img := range t.copies {
		code := make([]byte, n)
		if img.ReadAt(code, addr) < len(code) {
			return c, false
		}
		c.Code = append(c.Code, code)
	}
	return c, true
}
