package flow

import "slices"

// Two threads that differ in when they executed a change meet again and again: the
// one behind the change with the next that splits off from the one before it. Both
// flows of such a pair were compared when the one met the last before, but for what
// came since. So a flow remembers its meetings:
//
//  1. When two threads are united, the flow that stays notes up to which of its
//     places it was compared with which place of the other. That place is one that
//     a third thread passed too.
//  2. When the flow meets another that went through that place, what lies before is
//     not compared again, and not copied.
//  3. What was compared is another flow once something in it is marked. Then its
//     nodes have new ids, and the meeting is forgotten.

// point is a place in a flow: before range k of node n, and behind the notes that
// lie there.
type point struct {
	n *node
	k int
}

// endOf is the place behind all that n holds.
func endOf(n *node) point {
	if n == nil {
		return point{}
	}
	return point{n, len(n.out.Ranges)}
}

// notesBehind returns the notes of n, which is p's node or one behind it, that lie
// behind p.
func (p point) notesBehind(n *node) []Note {
	notes := n.out.Notes
	if n == p.n {
		for len(notes) > 0 && notes[0].At <= p.k {
			notes = notes[1:]
		}
	}
	return notes
}

// liesBehind reports whether notes at p lie behind q, a place in the same flow.
func (p point) liesBehind(q point) bool { return p.n.id > q.n.id || p.n == q.n && p.k > q.k }

// meeting notes, in a node, a place up to which its flow was compared with another
// flow, and up to which place of that.
type meeting struct {
	k  int    // of the place in the flow
	of point  // in the other flow
	id uint64 // of of.n then
}

// maxMeetings bounds what a node remembers.
const maxMeetings = 32

// A segment's windows may cost Config.FullWork before meetings count. Until then all that
// two flows hold is compared, since that tells more alternatives. Where nothing is said,
// each event adds this much.
const spareWork = 1 << 6

// thrifty reports whether comparing has become so costly by event q that meetings count.
func (w *window) thrifty(q int) bool {
	full := w.cfg.FullWork
	if full == 0 {
		full = w.cfg.MaxWork/2 + spareWork*q
	}
	return w.align.work-w.began >= full
}

// likelier returns which of two threads stays and which goes when they are united:
// the likelier one stays.
func likelier(a, b *thread) (keep, drop *thread) {
	if b.penalty < a.penalty {
		return b, a
	}
	return a, b
}

// unite marks in keep's flow what it does not share with drop's since they last met.
// drop's may be the true one instead.
func (w *window) unite(keep, drop *thread) {
	from, to, ok := point{}, point{}, false
	w.align.brief = w.thrifty(keep.q)
	if w.align.brief {
		from, to, ok = w.metAt(keep, drop)
	}
	if !ok {
		from = endOf(w.align.common(keep.tail, drop.tail))
		to = from
	}
	from = w.ownNodes(keep, from)
	torn := w.align.doubtSince(keep.tail, drop.tail, from, to)
	w.counted()
	w.renew(keep.tail)
	if w.align.brief {
		w.remember(keep, drop, to)
	}
	w.align.brief = false
	keep.gapBefore = torn || keep.gapBefore || drop.gapBefore
	keep.weaken(drop)
}

// metAt returns the last places up to which keep's flow was compared with drop's.
func (w *window) metAt(keep, drop *thread) (from, to point, ok bool) {
	w.looks++
	d := drop.tail
	back := func(id uint64) { // all of drop's nodes down to id are seen
		for ; d != nil && d.id >= id; d = d.parent {
			d.seen = w.looks
			w.align.work++
		}
	}
	for x := keep.tail; x != nil; x = x.parent {
		w.align.work++
		for _, m := range slices.Backward(x.met) {
			if m.of.n.id != m.id {
				continue
			}
			if back(m.id); m.of.n.seen == w.looks {
				return point{x, m.k}, m.of, true
			}
		}
		if back(x.id); x.seen == w.looks {
			break // both hold it
		}
	}
	return point{}, point{}, false
}

// remember notes in keep's flow up to where it was compared with that part of drop's
// that a third thread passed too, and up to where with nodes before. What lies near
// its end is likely to be marked soon. to is where comparing began. A place does not
// count if another thread that passed it may not have a settled note before it.
func (w *window) remember(keep, drop *thread, to point) {
	n := drop.tail
	for n != to.n && n.refs == 1 {
		n = n.parent
	}
	if n == nil || n == to.n && (n.refs == 1 || to.k == len(n.out.Ranges)) {
		return
	}
	path := append(w.align.path[:0], n)
	for back := 1; ; back *= 2 {
		for i := 0; i < back && n != to.n; i++ {
			n = n.parent
		}
		if n == to.n {
			break
		}
		path = append(path, n)
	}
	w.align.path = path
	tail := keep.tail
	for _, n := range slices.Backward(path) {
		if at, of, ok := w.align.lastPair(n); ok {
			if at.n == nil { // all of keep's flow
				at = endOf(tail)
			}
			if w.align.answered(at, of) {
				at.n.addMeeting(meeting{at.k, of, of.n.id})
			}
		}
	}
	if len(tail.met) > 0 && tail.met[len(tail.met)-1].k == len(tail.out.Ranges) {
		poke := tail.poke
		w.grow(keep) // what it notes from now on is to lie behind that place
		keep.tail.poke = poke
	}
}

// addMeeting adds m to n's meetings.
func (n *node) addMeeting(m meeting) {
	n.met = slices.DeleteFunc(n.met, func(m meeting) bool { return m.of.n.id != m.id })
	if len(n.met) >= maxMeetings {
		n.met = slices.Delete(n.met, 0, 1)
	}
	n.met = append(n.met, m)
}

// lastPair returns the last place of keep's flow behind which nothing is paired with
// what the other flow holds up to n, and where that is in the other flow. Both begin
// ranges, or end n or keep's flow. ok and no node: behind all of keep's flow.
func (al *aligner) lastPair(n *node) (at, of point, ok bool) {
	i, later := len(al.a)-1, len(al.a) // the first that is paired with what lies behind n
	for ; i >= 0; i-- {
		x := &al.a[i]
		if x.with == 0 {
			continue
		}
		if y := &al.b[max(x.with, -x.with)-1]; y.n.id <= n.id {
			break
		}
		later = i
	}
	if later == 0 || al.a[later-1].with >= 0 { // no other place would do as well for what lies between
		if later == len(al.a) {
			return point{}, endOf(n), true
		}
		if x := &al.a[later]; x.with > 0 && x.head {
			return point{x.n, int(x.k)}, endOf(n), true
		}
	}
	for ; i >= 0; i-- {
		if x := &al.a[i]; x.with > 0 && x.head {
			if y := &al.b[x.with-1]; y.head {
				return point{x.n, int(x.k)}, point{y.n, int(y.k)}, true
			}
		}
	}
	return point{}, point{}, false
}

// answered reports whether the other flow has each settled note before at, in keep's
// flow, before of. Notes are found by offset and address: one may have its answer
// further on than the ranges around it.
func (al *aligner) answered(at, of point) bool {
	al.work += len(al.answers)
	return !slices.ContainsFunc(al.answers, func(x answer) bool { return !x.note.liesBehind(at) && x.by.liesBehind(of) })
}

// renew gives new ids to the nodes of the flow that ends at n, from the first on in
// which something was marked. No other flow holds them.
func (w *window) renew(n *node) {
	path := w.align.path[:0]
	for ; w.align.touched > 0 && n != nil && n.id >= w.align.touched; n = n.parent {
		path = append(path, n)
	}
	for _, n := range slices.Backward(path) {
		w.spare.ids++
		n.id = w.spare.ids
	}
	w.align.work += len(path)
	w.align.path, w.align.touched = path, 0
}

// ownNodes gives keep nodes of its own for what it emitted since from, where a third
// thread stands on them, and returns where from is now. What is in doubt between two
// threads is not in doubt if the third is true.
func (w *window) ownNodes(keep *thread, from point) point {
	path, shared := w.align.path[:0], false
	n := keep.tail
	for ; n != from.n; n = n.parent {
		path = append(path, n)
		shared = shared || n.refs > 1
	}
	if n != nil && from.k < len(n.out.Ranges) { // part of it may be marked too
		path = append(path, n)
		shared = shared || n.refs > 1
		n = n.parent
	}
	w.align.path = path
	if !shared {
		return from
	}
	if n != nil {
		n.refs++
	}
	for _, o := range slices.Backward(path) {
		c := w.spare.node()
		c.parent, c.stamp, c.poke, c.seam = n, o.stamp, o.poke, o.seam
		c.out.Ranges = append(c.out.Ranges, o.out.Ranges...)
		c.out.Notes = append(c.out.Notes, o.out.Notes...)
		c.out.Stamps = append(c.out.Stamps, o.out.Stamps...)
		c.met = append(c.met, o.met...)
		c.marks = append(c.marks, o.marks...)
		w.spare.hold(c, o.held)
		w.align.work += 1 + len(c.out.Ranges) + len(c.out.Notes)
		if n = c; o == from.n {
			from.n = c
		}
	}
	w.spare.unhold(keep.tail)
	keep.tail = n
	return from
}
