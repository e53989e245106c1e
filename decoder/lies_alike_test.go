package decoder

import "slices"

// agrees reports whether the trace cannot tell u, which was printed of stream i of s,
// from what was executed. It follows both from where the flow left what was executed
// up to where it came back, and from there on they are the same. What is ambiguous between
// is followed too. In both, each conditional branch must go the same way, and each indirect
// one to the same address.
// It asks what each instruction is, one after the other, and shares nothing else with
// what it judges. What was printed before anything was learned follows the code as it was
// then, and what was printed behind that the code that was learned.
//
// Where it did not come back for sure, they may meet in what is ambiguous behind. There both are at one
// place, with the same told so far, and the same on the trace unit's stack.
func (o *original) agrees(s *Session, i int, p *printed, u untruth) bool {
	if u.since == nil || u.since.executed < 1 || u.until != nil && u.until.executed < u.since.executed {
		return false
	}
	x, q, from := o.ran[i], &p.parts[u.part], *u.since
	// What the unit has on its stack comes from calls since the sync point.
	sync := int64(0)
	if seg, ok := s.Streams()[i].Before(q.off + 1); ok {
		sync = seg.Off
	}
	ran, printed := 0, 0
	for _, a := range x.at {
		if a.off >= sync {
			ran = a.from
			break
		}
	}
	for k := range p.parts[:u.part+1] {
		if r := &p.parts[k]; r.off < sync || r.gap != nil {
			printed = r.from
			if k < u.part {
				printed = p.parts[k+1].from
			}
		}
	}
	c := o.session.code.Load()
	truth := twinOf(o.session, i)
	truth.tells(x.steps(c, min(ran, from.executed-1), from.executed))
	claim := twinOf(s, i)
	claim.passes(p.steps(min(printed, from.printed-1), from.printed))
	if to := u.until; to != nil {
		told, ok := truth.clone().tells(x.steps(c, from.executed-1, to.executed+1))
		if *claim.left = maxVersions; ok && claim.clone().follows(p.steps(from.printed-1, to.printed+1), told) {
			return true
		}
	}
	if u.to >= len(p.ips) || !p.goesOn(u.to) {
		return false
	}
	var told []uint64
	for b := from.executed; b < min(from.executed+maxAstray, len(x.ips)-1); b++ {
		more, ok := truth.tells(x.steps(c, b-1, b+1))
		if !ok {
			return false
		}
		told = append(told, more...)
		if x.ips[b] == p.ips[u.to] {
			y := claim.clone()
			y.meets = &truth.calls
			if *y.left = maxVersions; y.follows(p.steps(from.printed-1, u.to+1), told) {
				return true
			}
		}
	}
	return false
}

// maxAstray bounds how far it is looked for where two flows meet, instructions.
const maxAstray = 1 << 12

// goesOn reports whether what is printed before instruction n and with it is of one stretch, with
// no gap between.
func (p *printed) goesOn(n int) bool {
	return !slices.ContainsFunc(p.parts, func(q part) bool { return q.gap != nil && q.from == n })
}

// alike says of each of list, which was printed of stream i of s, whether the trace
// cannot tell it from what was executed (agrees). What one leaves of the outcomes
// another may use up: then several in one run are alike together. What is ambiguous before one may
// have left some too, of which nothing is in list: then it is asked from an anchor before that on.
func (o *original) alike(s *Session, i int, p *printed, list []untruth) []bool {
	const together, back = 8, 8
	same := make([]bool, len(list))
	for k := range list {
		for j := k; j < min(k+together, len(list)) && !same[k] && !p.gapIn(list[k].part, list[j].part); j++ {
			u := list[k]
			u.until = list[j].until
			agrees := false
			for n := 0; n < back && u.since != nil && !agrees; n++ {
				agrees = o.agrees(s, i, p, u)
				u.since = u.since.before
			}
			for n := k; n <= j && agrees; n++ {
				same[n] = true
			}
		}
	}
	return same
}

// gapIn reports whether there is a gap among parts i to j.
func (p *printed) gapIn(i, j int) bool {
	return slices.ContainsFunc(p.parts[i:j+1], func(q part) bool { return q.gap != nil })
}
