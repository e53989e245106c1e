package boot

import (
	"cmp"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// run decodes a segment with the code as it is now. Where it is to be told, it notes
// which choices were met. It ends early where the segment is worse than most, unless that is 0.
func (l *learner) run(p *part, tell bool, most int) outcome {
	k := &sink{l: l, most: most, stated: p.st.Rules().Returns == isa.ReturnsByTarget}
	if tell {
		k.met, k.seen = map[buildtime.Choice][]*buildtime.Group{}, map[pair]bool{}
	}
	k.watched, k.base, k.strict = l.watched, p.last.steps, len(l.watched) > 1
	k.last = map[buildtime.Choice]int{}
	err := l.by.Decode(p.st, p.seg, k)
	if err != nil && err != errWorse {
		return outcome{bad: 1 << 30}
	}
	if d := k.spaces - p.spaces; err == nil && d != 0 {
		k.bad += badSpace * max(d, -d)
	}
	k.forks = k.ranForks()
	return k.outcome
}

// tried returns by how much better some segments are where c has the value v. It looks no
// further in one that is much worse, and at no more of a few where these are.
func (l *learner) tried(c buildtime.Choice, v int, parts []*part) (better int) {
	l.trial(variant{{c, v}}, parts, 2*badGap, func(p *part, x outcome) bool {
		better += p.last.bad - x.bad
		return len(parts) > mostParts || better > -2*badGap
	})
	return better
}

// trial decodes segments with values of choices that are others than those taken, and tells what
// each comes to. It looks no further in one that is worse by over most. It ends where to returns false.
func (l *learner) trial(x variant, parts []*part, most int, to func(*part, outcome) bool) {
	for _, p := range parts {
		l.current(p)
	}
	state, list := l.b.state, []*buildtime.Group(nil)
	for _, s := range x {
		state, list = state.With(s.c, s.v), append(list, l.b.kernel.Of(s.c)...)
	}
	slices.SortFunc(list, func(a, b *buildtime.Group) int { return cmp.Compare(a.Addr, b.Addr) })
	l.changed, l.blocks, l.watched = l.ranges(list), map[*flow.Block]*blockFacts{}, x
	l.b.apply(list, state)
	l.by.Trial(func(addr, end uint64) bool { return overlap(l.changed, addr, end) })
	for _, p := range parts {
		if !to(p, l.run(p, false, p.last.bad+most)) {
			break
		}
	}
	l.b.apply(list, l.b.state)
	l.changed, l.blocks, l.watched = nil, nil, nil
	l.by.Trial(nil)
}

// current decodes p anew where what it came to is of an older state.
func (l *learner) current(p *part) {
	if p.stale {
		p.last, p.stale = l.run(p, true, 0), false
		p.runs++
	}
}
