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
// Where it did not come back for sure, they may meet in what is ambiguous behind, or where that ends. There both
// are at one place, with the same told so far, and the same on the trace unit's stack. Or both go on to the end of
// the trace, and no address is stated behind that.
func (o *original) agrees(s *Session, i int, p *printed, u untruth) bool {
	if u.since == nil || u.since.executed < 1 || u.until != nil && u.until.executed < u.since.executed {
		return false
	}
	x, q, from := o.ran[i], &p.parts[u.part], *u.since
	// What the unit has on its stack comes from calls since the sync point.
	sync, ran, printed := p.sync(q.off), 0, 0
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
	if n := len(p.parts) - 1; n >= 0 && !p.gapIn(u.part, n) && len(x.ips)-from.executed < maxAstray {
		told, ok := truth.clone().tells(x.steps(c, from.executed-1, len(x.ips)))
		if ok && claim.ends(p.steps(from.printed-1, len(p.ips)), told) {
			return true
		}
	}
	places := p.meetings(u)
	var told []uint64
	for b := from.executed; len(places) > 0 && b < min(from.executed+maxAstray, len(x.ips)-1); b++ {
		more, ok := truth.tells(x.steps(c, b-1, b+1))
		if !ok {
			return false
		}
		told = append(told, more...)
		for _, to := range places {
			if x.ips[b] != p.ips[to] {
				continue
			}
			y := claim.clone()
			y.meets = &truth.calls
			if *y.left = maxVersions; y.follows(p.steps(from.printed-1, to+1), told) {
				return true
			}
		}
	}
	return false
}

// meetings lists the instructions at which what is printed may meet what was executed behind u. They are the one
// behind u, and those where what is ambiguous begins or ends, up to the next gap.
func (p *printed) meetings(u untruth) (list []int) {
	const most = 16
	if u.to >= len(p.ips) || !p.goesOn(u.to) {
		return nil
	}
	list = []int{u.to}
	for k := u.part + 1; k < len(p.parts) && len(list) < most && p.parts[k].gap == nil && p.parts[k].from < u.to+maxAstray; k++ {
		if at := p.parts[k].from; at > u.to && at < len(p.ips) && p.parts[k].ambiguous != p.parts[k-1].ambiguous {
			list = append(list, at)
		}
	}
	return list
}

// maxAstray bounds how far it is looked for where two flows meet, instructions.
const maxAstray = 1 << 12

// goesOn reports whether what is printed before instruction n and with it is of one stretch, with
// no gap between.
func (p *printed) goesOn(n int) bool {
	return !slices.ContainsFunc(p.parts, func(q part) bool { return q.gap != nil && q.from == n })
}

// sync returns the offset of the sync point before the event at off, or at it.
func (p *printed) sync(off int64) int64 {
	if n := countBetween(p.syncs, 0, off+1); n > 0 {
		return p.syncs[n-1]
	}
	return 0
}

// anchors lists from where on it is asked whether the trace tells u from what x executed, the newest
// first. What is ambiguous before u may have left outcomes, of which nothing is among the rows. So it is
// asked from several anchors. None lies before the sync point, which leaves nothing of before. It is the
// last of them itself, where what is printed goes on without a gap behind it.
func (p *printed) anchors(x *executed, u *untruth) (list []*anchor) {
	const back = 8
	sync := p.sync(p.parts[u.part].off)
	k := u.part
	for k > 0 && p.parts[k-1].gap == nil && p.parts[k-1].off >= sync {
		k--
	}
	for a := u.since; a != nil && len(list) < back && a.printed > p.parts[k].from; a = a.before {
		list = append(list, a)
	}
	if a := p.resumed(k, x); a != nil {
		list = append(list, a)
	}
	return list
}

// alike says of each of list, which was printed of stream i of s, whether the trace
// cannot tell it from what was executed (agrees). What one leaves of the outcomes
// another may use up: then several in one run are alike together.
func (o *original) alike(s *Session, i int, p *printed, list []untruth) []bool {
	const together = 8
	if len(list) > 0 {
		p.syncs = syncsOf(s.Streams()[i])
		o.ran[i].syncs = p.syncs
	}
	same := make([]bool, len(list))
	for k := range list {
		anchors := p.anchors(o.ran[i], &list[k])
		for j := k; j < min(k+together, len(list)) && !same[k] && !p.gapIn(list[k].part, list[j].part); j++ {
			u := list[k]
			u.until = list[j].until
			agrees := false
			for n := 0; n < len(anchors) && !agrees; n++ {
				u.since = anchors[n]
				agrees = o.agrees(s, i, p, u)
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
