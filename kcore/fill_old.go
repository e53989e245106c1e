package kcore

import (
	"bytes"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// vouches reports whether the image tells what lay in the cell in its interval k,
// of which the pokes say nothing. lo and hi are the first and the last interval in
// which it may have been copied.
//
// Before the first poke of a site whose old code is not said, it must be other code
// than that poke brings: a later copy would hold that too. Where the image
// may be of any moment, it tells if the site goes back and forth between two codes.
// Then the first poke leaves the one that it does not bring.
func (s *site) vouches(c *siteCell, k, lo, hi int) bool {
	if k > 0 || len(c.chain) == 0 || !s.rules.unsaid(s.pieces[c.chain[0]].p) {
		return lo == hi
	}
	first := s.new(c.chain[0], c)
	if lo == hi || first == nil || bytes.Equal(first, c.img) {
		return lo == hi && !bytes.Equal(first, c.img)
	}
	want := first
	for _, i := range c.chain {
		if !bytes.Equal(s.new(i, c), want) {
			return false
		}
		if bytes.Equal(want, first) {
			want = c.img
		} else {
			want = first
		}
	}
	return true
}

// FillOld gives pokes whose old code is not said what the text knows of it: what the
// poke before left there, or what the image holds. Where that is not known whole,
// Old stays empty. It changes the journal, so it comes before all other use of it.
func (t *Text) FillOld() {
	for i := range t.j.pokes {
		p := &t.j.pokes[i]
		if len(p.Old) > 0 || !t.j.rules.unsaid(p) {
			continue
		}
		old := make([]byte, p.size())
		if n, _ := t.Fetch(old, p.Addr, event.Epoch(i)); n == len(old) {
			p.Old = old
		}
	}
}
