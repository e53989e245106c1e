package repair

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// addresses corrects addresses of which one byte was damaged: of a change that is the only
// one where it stands, and which the image contradicts there. Only at one address does it
// lead from one change to the next, or from what the image holds. Two of one site may be
// gone: then each follows the one before, or is followed by the one behind.
func (r *repairer) addresses() {
	const passes = 3 // one more would need four damaged changes of one site
	for range passes {
		moved := false
		for _, least := range []fit{fitsBoth, fitsOne, fitsImage} {
			if moved = r.move(least) || moved; moved {
				break // what was moved may show where others belong
			}
		}
		if !moved {
			break
		}
	}
	for addr, list := range r.sites {
		if p := list[0]; len(list) == 1 && len(p.Old) > 0 && !r.standsAt(p, addr) {
			r.astray(p)
		}
	}
}

// standsAt reports whether the image has what p finds or leaves at addr.
func (r *repairer) standsAt(p *kcore.Poke, addr uint64) bool {
	img := r.image(addr, p.Len+max(len(p.Old), len(p.New)))
	return img != nil && (bytes.HasPrefix(img, p.Old) || bytes.HasPrefix(img, p.New))
}

// astray puts code in doubt at all addresses that differ in one byte from that of p: one of
// them may be the right one. It is so from then on, up to the next change there.
func (r *repairer) astray(p *kcore.Poke) {
	n := uint64(max(len(p.Old), len(p.New)))
	one(p.Addr, func(a uint64) bool {
		to := uint64(math.MaxUint64)
		for _, q := range slices.Backward(r.sites[a]) {
			if q.Time > p.Time {
				to = q.End
			}
		}
		r.doubts = append(r.doubts, Doubt{a, a + n, event.Time{Lo: p.Begin, Hi: max(p.Begin, to)}})
		return false
	})
}

// fit says how well a change fits an address at which it does not stand.
type fit int

const (
	fitsNot   fit = iota
	fitsImage     // the image holds what it finds there, and nothing else changed it
	fitsOne       // it follows what lies there before, or what comes next follows it
	fitsBoth
)

// move corrects addresses at which changes fit as well as least says.
func (r *repairer) move(least fit) (moved bool) {
	for _, addr := range slices.Sorted(maps.Keys(r.sites)) {
		list := r.sites[addr]
		if len(list) != 1 {
			continue
		}
		p := list[0]
		if r.standsAt(p, addr) {
			continue
		}
		found, ok := one(addr, func(a uint64) bool { return r.fits(p, a) >= least })
		if !ok {
			continue
		}
		was := *p
		delete(r.sites, addr)
		p.Addr = found
		r.sites[found] = append(r.sites[found], p)
		slices.SortStableFunc(r.sites[found], func(a, b *kcore.Poke) int { return cmp.Compare(a.Time, b.Time) })
		from, to := r.rest(p)
		r.doubt(p, from, to)
		r.doubt(&was, 0, math.MaxUint64)
		r.wrong++
		moved = true
	}
	return moved
}

// one returns the only address that differs from addr in one byte and for which is holds.
func one(addr uint64, is func(addr uint64) bool) (found uint64, ok bool) {
	for shift := 0; shift < 64; shift += 8 {
		for x := uint64(1); x < 256; x++ {
			a := addr ^ x<<shift
			if !is(a) {
				continue
			}
			if ok {
				return 0, false
			}
			found, ok = a, true
		}
	}
	return found, ok
}

// fits says how well p fits addr: between two changes that do not follow each other, or at
// an end of the site's changes.
func (r *repairer) fits(p *kcore.Poke, addr uint64) fit {
	site := r.sites[addr]
	if len(site) == 0 {
		const few = 2 // bytes: one byte is often the same
		if len(p.Old) >= few && bytes.Equal(r.image(addr, len(p.Old)), p.Old) {
			return fitsImage
		}
		return fitsNot
	}
	at, _ := slices.BinarySearchFunc(site, p.Time, func(q *kcore.Poke, t uint64) int { return cmp.Compare(q.Time, t) })
	img := r.image(addr, max(len(p.Old), len(p.New)))
	follows, known := same(p.Old, img, true, func(k int) (byte, bool) {
		if i := before(site, at, k); i >= 0 {
			return byteOf(site[i], k, true)
		}
		return 0, false
	})
	leads, next := same(p.New, img, at == len(site), func(k int) (byte, bool) {
		if i := after(site, at, k); i >= 0 {
			return byteOf(site[i], k, false)
		}
		return 0, false
	})
	switch {
	case !r.broken(site, at, img):
		return fitsNot
	case follows && leads && known+next > 0:
		return fitsBoth
	case follows && known > 1 || leads && next > 1:
		return fitsOne
	}
	return fitsNot
}

// same reports whether all bytes of b are those that at tells of, and how many of them it
// tells of. Where it tells of none, the image may do.
func same(b, img []byte, may bool, at func(k int) (byte, bool)) (ok bool, known int) {
	for k, x := range b {
		y, told := at(k)
		if !told && may && img != nil {
			y, told = img[k], true
		}
		if !told {
			continue
		}
		known++
		if x != y {
			return false, 0
		}
	}
	return true, known
}

// broken reports whether the changes of a site do not follow each other at at, or whether
// it is an end of them where the image holds something else.
func (r *repairer) broken(site []*kcore.Poke, at int, img []byte) bool {
	n := 0
	for _, p := range site {
		n = max(n, len(p.Old), len(p.New))
	}
	for k := range n {
		i, j := before(site, at, k), after(site, at, k)
		var x, y byte
		var ok, too bool
		if i >= 0 {
			x, ok = byteOf(site[i], k, true)
		} else if ok = k < len(img); ok {
			x = img[k]
		}
		if j >= 0 {
			y, too = byteOf(site[j], k, false)
		} else if too = k < len(img); too {
			y = img[k]
		}
		if ok && too && x != y {
			return true
		}
	}
	return false
}
