package boot

import (
	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// fewGaps is of how many segments one may contradict the code where the others are believed.
const fewGaps = 8

// distrust takes back what the trace settled where some of it contradicts the code still: some
// value is wrong there. What the other segments settle by themselves stays, unless these are few.
func (l *learner) distrust() {
	all := l.parts
	l.parts = nil
	for _, p := range all {
		if l.current(p); p.last.gaps == 0 {
			l.parts = append(l.parts, p)
		}
	}
	left := len(all) - len(l.parts)
	if left == 0 {
		return
	}
	l.forget()
	if left*fewGaps > len(all) {
		return
	}
	l.refresh()
	for n := 0; l.confirm() && n < mostConfirms; n++ {
		l.forget()
		l.refresh()
	}
}

// ranges returns where groups lie, by address.
func (l *learner) ranges(list []*buildtime.Group) (all []image.Range) {
	for _, g := range list {
		all = append(all, image.Range{Addr: g.Addr + l.b.shift, Len: uint64(len(g.Built))})
	}
	return all
}
