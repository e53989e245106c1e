package boot

import (
	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
)

// visible reports whether the trace could tell values of c apart in what ran: else both ways
// meet again before the first instruction that the trace tells of.
func (l *learner) visible(c buildtime.Choice) bool {
	seen := map[*buildtime.Group]bool{}
	for _, p := range l.parts {
		for _, g := range p.last.met[c] {
			if seen[g] {
				continue
			}
			seen[g] = true
			for _, v := range l.b.open(c) {
				if !l.meets(g, c, v) {
					return true
				}
			}
		}
	}
	return false
}

// meets reports whether the code of g leads the flow to one place, unseen by the trace,
// whether c has the value that it is taken to have or v.
func (l *learner) meets(g *buildtime.Group, c buildtime.Choice, v int) bool {
	b, list := l.b, []*buildtime.Group{g}
	has := b.way(l.isa, g.Addr+b.shift)
	plain := b.plain(l.isa, has)
	b.apply(list, b.state.With(c, v))
	other := b.way(l.isa, g.Addr+b.shift)
	plain = plain && b.plain(l.isa, other)
	b.apply(list, b.state)
	i, k := untilMeeting(has, other), untilMeeting(other, has)
	return plain && i < len(has) && k < len(other) && has[i].Addr == other[k].Addr
}

// cover returns segments in which code ran that depends on c. It takes some first in
// which an event stopped there, and tries to have each group in one of them. The first partsOfATrial
// mostly do; the others are spread over the rest.
func (l *learner) cover(c buildtime.Choice) (parts []*part) {
	have := map[*buildtime.Group]bool{}
	var more []*part
	for _, stated := range []bool{true, false} {
		for _, p := range l.parts {
			if p.stated[c] != stated || len(p.last.met[c]) == 0 && !stated {
				continue
			}
			n := len(have)
			for _, g := range p.last.met[c] {
				have[g] = true
			}
			if len(have) > n || stated && len(parts) < partsOfATrial/2 {
				parts = append(parts, p)
			} else {
				more = append(more, p)
			}
		}
	}
	parts = append(parts, more...)
	n := min(len(parts), partsOfATrial)
	return append(parts[:n:n], some(parts[n:], mostOfATrial-n)...)
}

// met returns the segments in which code ran that depends on c: all, or those with gaps.
func (l *learner) met(c buildtime.Choice, gaps bool) (parts []*part) {
	for _, p := range l.parts {
		if (!gaps || len(p.last.before) > 0) && len(p.last.met[c]) > 0 {
			parts = append(parts, p)
		}
	}
	return parts
}
