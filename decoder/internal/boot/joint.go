package boot

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
)

// clash is what contradicts a value of a choice.
type clash struct {
	p *part // of those segments, the one in which the fewest choices may have another value
	// forks are other choices whose code ran in each of these segments between two places: where
	// the value made a difference first, and where the trace contradicts it. Only with another
	// value of one of these may it fit: up to there the flow depends on nothing else.
	forks []buildtime.Choice
	least int // as many may have one in p
}

// in adds a segment that contradicts the value. Choices that are firm are left out.
func (x *clash) in(p *part, forks []buildtime.Choice, firm map[buildtime.Choice]bool) {
	forks = slices.DeleteFunc(forks, func(d buildtime.Choice) bool { return firm[d] })
	if x.p == nil {
		x.p, x.least, x.forks = p, len(forks), forks
		return
	}
	if len(forks) < x.least {
		x.p, x.least = p, len(forks)
	}
	x.forks = slices.DeleteFunc(x.forks, func(d buildtime.Choice) bool { return !slices.Contains(forks, d) })
}

// mostForks bounds what is tried together.
const mostForks = 8

// watch notes which choices run in a trial, from the first code on that is another there, up to
// where the trial is refuted. x is of code that ran.
func (k *sink) watch(x *blockFacts, addr, end uint64) {
	if k.watched == nil || k.worse {
		return
	}
	if k.since = k.since || x.other; !k.since {
		return
	}
	if !x.asked {
		x.forks, x.asked = k.l.forksIn(addr, end), true
	}
	for _, c := range x.forks {
		k.ran++
		k.last[c] = k.ran
	}
}

// ranForks returns what watch noted, what ran last as the last.
func (k *sink) ranForks() []buildtime.Choice {
	for _, s := range k.watched {
		delete(k.last, s.c)
	}
	return slices.SortedFunc(maps.Keys(k.last), func(c, d buildtime.Choice) int { return cmp.Compare(k.last[c], k.last[d]) })
}

// forksIn returns the choices of which another value may lead the flow elsewhere in [addr, end).
func (l *learner) forksIn(addr, end uint64) (list []buildtime.Choice) {
	for _, g := range l.b.kernel.Within(nil, addr-l.b.shift, end-l.b.shift) {
		for _, c := range g.Choices {
			if !l.b.given(c) && l.leadsApart(pair{g, c}) {
				list = append(list, c)
			}
		}
	}
	return list
}

// leadsApart reports whether another value of a choice may lead the flow elsewhere than the one
// that it has.
func (l *learner) leadsApart(p pair) bool {
	is, ok := l.apart[p]
	if ok {
		return is
	}
	b := l.b
	if b.overlaps(p.g) {
		return false
	}
	// Its code, or what that leads to, may not be as it is by b.state.
	near := overlap(l.changed, p.g.Addr+b.shift-jumpsInside, p.g.Last()+b.shift+jumpsInside)
	for _, v := range b.kernel.Values(p.c) {
		is = is || v != b.state.Get(p.c) && !p.g.Alike(b.state, b.state.With(p.c, v)) && (near || !l.meets(p.g, p.c, v))
	}
	if !near {
		l.apart[p] = is
	}
	return is
}

// joint takes back what counts as settled though another value fits the trace, too, together with another
// value of one more choice. It asks that of each value that the trace refuted. Where no other
// choice could have changed the flow up to the contradiction, nothing makes it fit.
func (l *learner) joint() {
	for _, c := range l.b.kernel.Choices() {
		if !byTrace(l.b.settled[c]) || l.firm[c] {
			continue
		}
		for _, v := range slices.Clone(l.b.refuted[c]) {
			l.together(setting{c, v})
		}
		if l.b.settled[c] != "" {
			l.firm[c] = true
		}
	}
}

// alone reports whether each other value of c contradicts the trace whatever those choices are that are
// not firm.
func (l *learner) alone(c buildtime.Choice) bool {
	return !slices.ContainsFunc(l.b.refuted[c], func(v int) bool {
		x := l.clashes[setting{c, v}]
		return x.p == nil || slices.ContainsFunc(x.forks, func(d buildtime.Choice) bool { return !l.firm[d] })
	})
}

// together looks for a value of another choice with which s fits the trace after all, and takes back
// what was settled of both.
func (l *learner) together(s setting) {
	x, n := l.clashes[s], 0
	if x.p == nil {
		return
	}
	for _, d := range slices.Backward(x.forks) {
		if l.firm[d] {
			continue
		}
		if n++; n > mostForks {
			break
		}
		for _, w := range l.b.kernel.Values(d) {
			if y := (variant{s, {d, w}}); w != l.b.state.Get(d) && l.b.allowed(y) && l.fits(y, x.p) {
				l.reopen(s)
				l.reopen(setting{d, w})
			}
		}
	}
}

// reopen takes back that a value is refuted.
func (l *learner) reopen(s setting) {
	if l.b.settled[s.c] != "" {
		delete(l.b.settled, s.c)
		l.differs = map[pair]bool{}
	}
	l.b.refuted[s.c] = slices.DeleteFunc(l.b.refuted[s.c], func(v int) bool { return v == s.v })
}

// fits reports whether the trace does not contradict values of some choices, first in one segment,
// then in all in which code ran that depends on them.
func (l *learner) fits(x variant, first *part) bool {
	sum := 0
	weigh := func(p *part, y outcome) bool {
		sum += p.last.bad - y.bad
		return sum > -badEnough
	}
	l.trial(x, []*part{first}, badEnough, weigh)
	if sum <= -badEnough {
		return false
	}
	var parts []*part
	for _, p := range l.parts {
		if p != first && slices.ContainsFunc(x, func(s setting) bool { return len(p.last.met[s.c]) > 0 }) {
			parts = append(parts, p)
		}
	}
	sum = min(sum, 0)
	l.trial(x, parts, badEnough, weigh)
	return sum > -badEnough
}
