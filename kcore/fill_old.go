package kcore

import (
	"bytes"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// vouches reports whether the image tells what lay in the cell in its interval k,
// of which the pokes say nothing. lo and hi are the first and the last interval in
// which it may have been copied. Where before is set it was copied before the first poke
// of all. Then it tells what lay there, unless the first poke brings the same: the change
// before that one has no record.
//
// Before the first poke of a site whose old code is not said, that is so where no poke
// brings what the image holds: it is of before. It is also so where the site goes back
// and forth between two codes, of which the first poke brings the other one. Any other
// image may be a later copy, whatever the other sites say: a change that comes behind
// the last record makes a late copy look like an early one.
func (s *site) vouches(c *siteCell, k, lo, hi int, before bool) bool {
	if k > 0 || len(c.chain) == 0 || !s.rules.unsaid(s.pieces[c.chain[0]].p) {
		return lo == hi
	}
	first := s.new(c.chain[0], c)
	if first == nil {
		return lo == hi
	}
	if before {
		return !bytes.Equal(first, c.img)
	}
	brought, two, want := false, true, first
	for _, i := range c.chain {
		code := s.new(i, c)
		brought = brought || code == nil || bytes.Equal(code, c.img)
		two = two && bytes.Equal(code, want)
		if want = first; bytes.Equal(code, first) {
			want = c.img
		}
	}
	return !brought || two && !bytes.Equal(first, c.img)
}

// FillOld fills in Poke.Old where a record does not say it and the scheme replaces code.
// The old code is what the poke before left there, or what the image holds. Where that is
// not known whole, Old stays empty. FillOld changes the journal, so it must come before all
// other use of it.
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
