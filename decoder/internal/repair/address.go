package repair

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/kcore"
)

// addresses corrects addresses of which one byte was damaged: of a change that is the only
// one where it stands. If there is an image, it must contradict the change there. Only at
// one address does it lead from one change to the next, or from what the image holds. An
// image that holds elsewhere what it leaves may be of later: then it stays. Two of one site
// may be gone: then each follows the one before, or is followed by the one behind. A change
// that stays although the image contradicts it has gone astray.
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
	if r.read == nil {
		return // nothing contradicts a change
	}
	for _, p := range r.lone() {
		if len(p.Old) > 0 {
			r.astray(p)
		}
	}
}

// lone returns the changes that are the only ones where they stand, and which the image does
// not confirm there, by address.
func (r *repairer) lone() (list []*kcore.Poke) {
	for addr, site := range r.sites {
		if len(site) == 1 && !r.standsAt(site[0], addr) {
			list = append(list, site[0])
		}
	}
	slices.SortFunc(list, func(a, b *kcore.Poke) int { return cmp.Compare(a.Addr, b.Addr) })
	return list
}

// standsAt reports whether the image has what p finds or leaves at addr.
func (r *repairer) standsAt(p *kcore.Poke, addr uint64) bool {
	img := r.image(addr, p.Len+max(len(p.Old), len(p.New)))
	return img != nil && (bytes.HasPrefix(img, p.Old) || bytes.HasPrefix(img, p.New))
}

// fit says how well a change fits an address at which it does not stand.
type fit int

const (
	fitsNot   fit = iota
	fitsImage     // the image holds what it finds there, and nothing else changed it
	fitsOne       // it follows what lies there before, or what comes next follows it
	fitsBoth
)

// mostTries is how many addresses are tried for all lone changes of a recording together.
// A site counts by its changes, too. Changes behind that stay where they are, and in doubt.
const mostTries = 1 << 22

// try counts n tries, and reports whether they may be made.
func (r *repairer) try(n int) bool {
	r.tries += n
	return r.tries <= mostTries
}

// move corrects addresses at which changes fit as well as least says.
func (r *repairer) move(least fit) (moved bool) {
	list := r.lone()
	sites := r.open(list)
	for _, p := range list {
		if len(r.sites[p.Addr]) != 1 {
			continue // another was moved there
		}
		found, how, ok := r.place(p, sites.near(p.Addr), least)
		if !ok {
			continue
		}
		was := *p
		delete(r.sites, was.Addr)
		p.Addr = found
		r.sites[found] = append(r.sites[found], p)
		slices.SortStableFunc(r.sites[found], func(a, b *kcore.Poke) int { return cmp.Compare(a.Time, b.Time) })
		from, to := r.rest(p)
		r.doubt(p, from, to)
		r.doubt(&was, 0, math.MaxUint64)
		if before, after := r.around(p); how < fitsBoth || before == nil || after == nil {
			r.astray(&was) // it may belong elsewhere all the same
		}
		r.wrong++
		moved = true
	}
	return moved
}

// open returns the sites at which one of list may be missing: whose changes do not follow
// each other somewhere.
func (r *repairer) open(list []*kcore.Poke) (sites nearIndex) {
	if len(list) == 0 {
		return nil
	}
	sites = nearIndex{}
	for addr, site := range r.sites {
		if !follow(site, r.image(addr, longest(site))) {
			sites.add(addr)
		}
	}
	return sites
}

// longest returns the length of the longest change of a site, bytes.
func longest(site []*kcore.Poke) (n int) {
	for _, p := range site {
		n = max(n, len(p.Old), len(p.New))
	}
	return n
}

// follow reports whether the changes of a site follow each other from the image's bytes, if
// there are any, and lead to them again. Code that appears or goes follows nothing.
func follow(site []*kcore.Poke, img []byte) bool {
	lies, known := make([]byte, longest(site)), make([]bool, longest(site))
	for k := range img {
		lies[k], known[k] = img[k], true
	}
	for _, p := range site {
		if len(p.Old) == 0 || len(p.New) == 0 {
			return false
		}
		for k, b := range p.Old {
			if known[k] && lies[k] != b {
				return false
			}
		}
		for k, b := range p.New {
			lies[k], known[k] = b, true
		}
	}
	return img == nil || bytes.Equal(lies, img)
}

// place returns the only address at which p fits as well as least says: one of those in
// near, or one that no change has.
func (r *repairer) place(p *kcore.Poke, near []uint64, least fit) (found uint64, how fit, ok bool) {
	n := 0
	take := func(addr uint64, f fit) {
		if f >= least {
			found, how = addr, f
			n++
		}
	}
	for _, addr := range near {
		site := r.sites[addr]
		if !r.try(1 + len(site)*max(longest(site), len(p.Old), len(p.New))/8) {
			return 0, fitsNot, false
		}
		if len(site) > 0 {
			take(addr, r.fits(p, site, addr))
		}
	}
	if least <= fitsImage {
		h := r.held(p)
		if h.many {
			return 0, fitsNot, false
		}
		for _, addr := range h.at {
			if len(r.sites[addr]) == 0 {
				take(addr, fitsImage)
			}
		}
		if how == fitsImage && slices.Contains(h.left, found) {
			return 0, fitsNot, false // an image of later is a reason to stay: it may hold the same by chance
		}
	}
	return found, how, n == 1
}

// held is where the image holds what a change finds or leaves, at addresses that differ in
// one byte from its own.
type held struct {
	at   []uint64
	left []uint64 // it holds what the change leaves, be it one byte
	many bool     // more than mostHeld, or not looked for
}

// mostHeld is how many addresses are kept of a change.
const mostHeld = 16

// held returns where the image holds p, near where it stands. It reads the image once.
func (r *repairer) held(p *kcore.Poke) (h held) {
	const few = 2 // bytes: one byte is often the same
	key := [2]uint64{p.Addr, p.Time}
	if h, ok := r.holds[key]; ok {
		return h
	}
	if r.read == nil || !r.try(8*255) {
		h.many = true
	} else {
		b := make([]byte, max(len(p.Old), len(p.New)))
		for addr := range oneByteFrom(p.Addr) {
			img := b[:r.read(b, addr)]
			old, left := len(p.Old) >= few && bytes.HasPrefix(img, p.Old), len(p.New) > 0 && bytes.HasPrefix(img, p.New)
			if left {
				h.left = append(h.left, addr)
			}
			if old || left && len(p.Old) > 0 && len(p.New) >= few {
				h.at = append(h.at, addr)
			}
			if h.many = max(len(h.at), len(h.left)) > mostHeld; h.many {
				break
			}
		}
	}
	if r.holds == nil {
		r.holds = map[[2]uint64]held{}
	}
	r.holds[key] = h
	return h
}

// oneByteFrom yields the addresses that differ from addr in one byte.
func oneByteFrom(addr uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for shift := 0; shift < 64; shift += 8 {
			for x := uint64(1); x < 256; x++ {
				if !yield(addr ^ x<<shift) {
					return
				}
			}
		}
	}
}

// fits says how well p fits the site at addr: between two changes that do not follow each
// other, or at an end of the site's changes.
func (r *repairer) fits(p *kcore.Poke, site []*kcore.Poke, addr uint64) fit {
	at, _ := slices.BinarySearchFunc(site, p.Time, func(q *kcore.Poke, t uint64) int { return cmp.Compare(q.Time, t) })
	img := r.image(addr, max(len(p.Old), len(p.New)))
	follows, known := agree(p.Old, img, true, func(k int) (byte, bool) {
		if i := before(site, at, k); i >= 0 {
			return byteOf(site[i], k, true)
		}
		return 0, false
	})
	leads, next := agree(p.New, img, at == len(site), func(k int) (byte, bool) {
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

// agree reports whether all bytes of b are those that at tells of, and how many of them it
// tells of. Where it tells of none, the image may do.
func agree(b, img []byte, may bool, at func(k int) (byte, bool)) (ok bool, known int) {
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
	for k := range longest(site) {
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
