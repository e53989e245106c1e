package kcore

import (
	"fmt"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Placement is when the image was taken, as epochs, and on how many sites that
// rests. A site is the pokes that overlap in one page.
type Placement struct {
	Lo, Hi event.Epoch // the first and the last epoch that most sites agree on
	// Epoch is the one that the image is taken to be of. That is the first or the last of
	// the recording, if Lo and Hi allow that, else Lo.
	Epoch  event.Epoch
	Sites  int // sites that were poked
	Held   int // of these, those of which the image holds bytes that can be compared
	Agree  int // of these, those that fit Epoch
	Moved  int // and those that fit another moment only, since the copy took time
	Half   int // and those that show a poke half done
	Differ int // and those that fit no moment; each is a Finding
}

// Foreign reports whether the image contradicts the journal in most of what it
// holds: it is of another boot or another kernel.
func (p Placement) Foreign() bool { return p.Differ > 0 && p.Differ*2 >= p.Held }

// shot is when the image was taken, as epochs: where most sites' bytes agree, and
// where those of each site let it be.
type shot struct {
	lo, hi, likeliest int
	sites             [][2]int32 // both ends included
}

// fit is the first and the last epoch that a site's bytes fit; none are those of a
// site that fits none or says nothing.
type fit struct {
	first, last int32
	none        bool
}

// placeImage finds the epoch that most sites' bytes agree with.
func (b *builder) placeImage(taken *event.Time) shot {
	n := b.t.j.Len()
	votes := make([]int32, n+2)
	pl := &b.t.place
	var fits []fit
	b.eachSite(func(s *site) {
		pl.Sites++
		if s.wrong != nil {
			pl.Held++
			s.vote(votes, n)
		}
		first, last, ok := s.fits(n)
		fits = append(fits, fit{int32(first), int32(last), !ok})
	})
	from, to := 0, n
	if taken != nil {
		lo, hi := b.t.j.Epochs(*taken)
		from, to = int(lo), int(hi)
	}
	best, g, last := int32(-1), 0, 0
	var sum int32
	for e := 0; e <= to; e++ {
		sum += votes[e]
		if e < from {
			continue
		}
		if sum > best {
			best, g, last = sum, e, e
		} else if sum == best {
			last = e
		}
	}
	pl.Lo, pl.Hi = event.Epoch(g), event.Epoch(last)
	first := g
	if g > 0 && last == n && to == n { // not before the first poke, perhaps behind the last
		g = n
	}
	pl.Epoch = event.Epoch(g)
	return shot{first, last, g, copied(fits, int32(from), int32(to))}
}

// choose places the image in site number i.
func (b *builder) choose(s *site, at *shot, i int) {
	pl, g := &b.t.place, at.likeliest
	s.choose(g, at.lo, at.hi, b.t.j.Len(), [2]int{int(at.sites[i][0]), int(at.sites[i][1])})
	switch {
	case s.wrong == nil:
	case s.differ:
		pl.Differ++
	case s.half >= 0:
		pl.Half++
	case s.at == s.position(g):
		pl.Agree++
	default:
		pl.Moved++
	}
}

// copied returns for each site the epochs, both ends included, in which the other
// sites let it be copied. An image is copied in ascending order of addresses, so
// a site is copied not before those below it, nor after those above.
func copied(fits []fit, from, to int32) [][2]int32 {
	out := make([][2]int32, len(fits))
	lo := from
	for i, f := range fits {
		out[i][0] = lo
		if !f.none && f.first <= to {
			lo = max(lo, f.first)
		}
	}
	hi := to
	for i, f := range slices.Backward(fits) {
		out[i][1] = hi
		if !f.none && f.last >= from {
			hi = min(hi, f.last)
		}
	}
	return out
}

// fits returns the first and the last epoch that the site's bytes fit; ok is
// false if they fit none or say nothing.
func (s *site) fits(n int) (first, last int, ok bool) {
	for p, w := range s.wrong {
		if w == 0 {
			lo, hi := s.epochs(p, n)
			if !ok {
				first = lo
			}
			last, ok = hi, true
		}
	}
	for k := 0; !ok && s.wrong != nil && k < len(s.pieces); k++ {
		if s.halfDone(k) {
			return int(s.pieces[k].poke), n, true
		}
	}
	return first, last, ok
}

// vote adds to votes, as differences, the epochs that the site's bytes fit in a
// journal of n pokes. Those of a poke half done count only if the bytes fit no
// epoch whole.
func (s *site) vote(votes []int32, n int) {
	whole := false
	for p, w := range s.wrong {
		if w == 0 {
			whole = true
			lo, hi := s.epochs(p, n)
			votes[lo]++
			votes[hi+1]--
		}
	}
	for k := 0; !whole && k < len(s.pieces); k++ {
		if s.halfDone(k) {
			i := int(s.pieces[k].poke)
			votes[i]++
			votes[min(i+2, n+1)]--
		}
	}
}

// Foreign says how the image contradicts the journal as a whole. An image that does so is
// of another boot or of another kernel. "" if it does not, or if its file is cut short and
// the sites may be in what is missing.
func (t *Text) Foreign() string {
	p := t.Placement()
	switch {
	case p.Foreign():
		return fmt.Sprintf("%d of the %d poked sites that it holds differ from every moment of the recording", p.Differ, p.Held)
	case p.Sites > 0 && p.Held == 0 && len(t.Image().Ranges()) > 0 && t.Image().Short() == nil:
		return fmt.Sprintf("it holds 0 of the %d poked sites", p.Sites)
	}
	return ""
}
