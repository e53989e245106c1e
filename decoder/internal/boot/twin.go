package boot

import (
	"bytes"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// Twin is other code, that differs from what a segment was decoded with at a few places. It says without decoding
// where both bear the trace alike.
type Twin struct {
	doubts doubts
	over   *Patches
	untold untold
	chance chance
}

// NewTwin returns the twin of code with a learned, read by r, that has b learned instead, read by other. It returns
// nil where they may differ in what records tell, or nobody knows what lies there, or if r or other is nil.
func NewTwin(a, b []kcore.Learned, r, other *Reader) *Twin {
	if r == nil || other == nil {
		return nil
	}
	t := &Twin{over: &Patches{}}
	for _, x := range placesApart(a, b) {
		was, is := make([]byte, x.Len), make([]byte, x.Len)
		if r.Fetch(was, x.Addr) < len(was) || other.Fetch(is, x.Addr) < len(is) {
			return nil
		}
		if at := differing(x.Addr, was, is); at.Len > 0 {
			t.doubts.sites = append(t.doubts.sites, site{addr: at.Addr, last: at.Last()})
			t.over.list = append(t.over.list, patch{at, is[at.Addr-x.Addr:][:at.Len]})
		}
	}
	if len(t.doubts.sites) == 0 {
		return nil
	}
	t.doubts.lists, t.untold = r.Lists, untold{r.ISA, r.Mode, r.Steady, t.doubts.at, r.Fetch}
	return t
}

// placesApart returns the places of which a or b says what the other does not, by address; none where one says that
// code changed.
func placesApart(a, b []kcore.Learned) (list []image.Range) {
	for i, from := range [2][]kcore.Learned{a, b} {
		other := [2][]kcore.Learned{b, a}[i]
		for _, l := range from {
			if l.Was != nil {
				return nil
			}
			if !says(other, &l) {
				list = append(list, l.Range())
			}
		}
	}
	return joined(list)
}

// says reports whether list says of the code what l does.
func says(list []kcore.Learned, l *kcore.Learned) bool {
	for i := range list {
		if list[i].Addr == l.Addr && bytes.Equal(list[i].Code, l.Code) {
			return true
		}
	}
	return false
}

// Bears reports whether the trace of a segment bears t as it bears the code by which it was decoded: nothing in it
// contradicts either. tell gives its flow. Where it reports false, that is not known; so it is of no twin, nil.
func (t *Twin) Bears(tell func(to flow.Sink) error) bool {
	if t == nil || !t.chance.left() {
		return false
	}
	base := t.doubts.lists.get(&t.doubts)
	defer t.doubts.lists.put(base)
	base.sparse = true
	if tell(base) != nil {
		return false
	}
	base.doubt.clear()
	all := func(*site) bool { return true }
	return t.chance.noting(t.untold.tell(base, t.over, &base.doubt, all, func(*site) {}, func(at *site) *aside {
		return t.doubts.asides.keep(at, "", func() *aside { return t.untold.asideOf(at, t.over, all) })
	}))
}
