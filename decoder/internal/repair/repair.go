// Package repair corrects changes to code out of a damaged recording. In go the changes as
// they were read, and which of them package perfdata had to mend. Out come the changes
// corrected, and the code that stays in doubt. What one change leaves at a site is what the
// next one finds there. So the changes beside it confirm a change, and tell what a wrong
// byte was.
//
// What is corrected is likely and not sure: all code that rests on it is given as a Doubt.
//
// Start reading in this file; chain.go corrects bytes, address.go addresses.
package repair

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/kcore"
)

// Mended is a change that was mended where it was read.
type Mended struct {
	Addr uint64
	Time uint64     // of the change, as it was read, ns
	Made event.Time // when it was made, ns
}

// Doubt is code that may be other than the changes say.
type Doubt struct {
	Addr, End  uint64 // the code is [Addr, End)
	event.Time        // ns
}

// Doubts is all code in doubt. The zero value is none.
type Doubts struct {
	list  []Doubt  // by address
	reach []uint64 // reach[i] is the greatest End of list[:i+1]

	strays strays // and near them

	Wrong int // changes of which a byte was corrected
}

// Sink gives the flow of one segment on to out. It makes ambiguous what was read of code in
// doubt, and what follows up to the second event behind it: the code may have led elsewhere.
func (d *Doubts) Sink(out flow.Sink) flow.Sink {
	if len(d.list) == 0 && len(d.strays.list) == 0 {
		return out
	}
	return Mark(out, func(r *flow.Range, at event.Time) bool { return d.Has(r.Block.Addr, r.End(), at) })
}

// Mark gives the flow of one segment on to out. It makes ambiguous the ranges that are in
// doubt, and what follows up to the second event behind each.
func Mark(out flow.Sink, doubtful func(r *flow.Range, at event.Time) bool) flow.Sink {
	return &marker{doubtful: doubtful, out: out, at: -1}
}

// marker is what Mark returns.
type marker struct {
	doubtful func(r *flow.Range, at event.Time) bool
	out      flow.Sink
	at       int64 // of the newest range: its event's offset, bytes
	left     int   // so many events from there on lie within the doubt, that one among them
}

// eventsBehind is how many events behind code in doubt the flow is in doubt.
const eventsBehind = 2

// Flow marks b and hands it on. Events that no range leads to do not count: whether they have
// stamps hangs on how the flow was walked.
func (m *marker) Flow(b *flow.Batch) error {
	for i := range b.Ranges {
		r := &b.Ranges[i]
		at := &b.Stamps[r.Stamp]
		if at.Off != m.at {
			m.at, m.left = at.Off, max(0, m.left-1)
		}
		if m.doubtful(r, at.Time) {
			m.left = eventsBehind + 1
		}
		if m.left > 0 {
			r.Verdict = flow.Ambiguous
		}
	}
	return m.out.Flow(b)
}

// Has reports whether code in [addr, end), executed at a time, ns, is in doubt.
func (d *Doubts) Has(addr, end uint64, at event.Time) bool {
	i := sort.Search(len(d.list), func(i int) bool { return d.list[i].Addr >= end })
	for i--; i >= 0 && d.reach[i] > addr; i-- {
		if x := &d.list[i]; addr < x.End && x.Lo <= at.Hi && at.Lo <= x.Hi {
			return true
		}
	}
	return d.strays.has(addr, end, at)
}

// Pokes corrects changes of which one byte was damaged, gives those in mended the times
// between which they were made, and returns what stays in doubt. made is when each change
// was made, as far as the records beside it tell: its own time may be off within that. read
// copies what the image holds at an address, as much as there is. find returns addresses
// at which the image holds b. Both may be nil.
func Pokes(pokes []kcore.Poke, mended []Mended, made []event.Time, read func(b []byte, addr uint64) int, find func(b []byte) []uint64) (doubts Doubts) {
	r := repairer{sites: map[uint64][]*kcore.Poke{}, read: read, find: find}
	for i := range pokes {
		p := &pokes[i]
		r.sites[p.Addr] = append(r.sites[p.Addr], p)
	}
	for _, list := range r.sites {
		slices.SortStableFunc(list, func(a, b *kcore.Poke) int { return cmp.Compare(a.Time, b.Time) })
	}
	r.addresses()
	r.copies(pokes)
	for _, list := range r.sites {
		r.bytes(list)
	}
	for _, m := range mended {
		r.confirm(m)
	}
	for i := range pokes {
		if i < len(made) {
			r.doubt(&pokes[i], made[i].Lo, made[i].Hi)
		}
	}
	for _, list := range r.sites {
		r.ends(list)
	}
	r.index()
	slices.SortFunc(r.doubts, func(a, b Doubt) int { return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Lo, b.Lo)) })
	doubts.list = r.doubts
	reach := uint64(0)
	for _, d := range r.doubts {
		reach = max(reach, d.End)
		doubts.reach = append(doubts.reach, reach)
	}
	doubts.strays, doubts.Wrong = r.strays, r.wrong
	return doubts
}

// repairer is what is needed meanwhile.
type repairer struct {
	sites  map[uint64][]*kcore.Poke // by address, in order of time
	doubts []Doubt
	strays strays
	holds  map[[2]uint64]held // by address and time of a lone change
	wrong  int
	tries  int // made for lone changes

	searches int // of the image for templates
	read     func(b []byte, addr uint64) int
	find     func(b []byte) []uint64
	leads    map[uint64]int // how many changes bring a jump or call to an address; nil: not counted yet
}

// image returns what the image holds at addr, n bytes; nil if it does not.
func (r *repairer) image(addr uint64, n int) []byte {
	b := make([]byte, n)
	if n == 0 || r.read == nil || r.read(b, addr) < n {
		return nil
	}
	return b
}

// doubt adds that the code of p's site is in doubt from one time to another, ns.
func (r *repairer) doubt(p *kcore.Poke, from, to uint64) {
	n := p.Range()
	r.doubts = append(r.doubts, Doubt{n.Addr, endOf(n.Addr, n.Len), event.Time{Lo: from, Hi: max(from, to)}})
}

// around returns the changes of p's site before it and behind it, nil: there is none.
func (r *repairer) around(p *kcore.Poke) (before, after *kcore.Poke) {
	list := r.sites[p.Addr]
	i := slices.Index(list, p)
	if i > 0 {
		before = list[i-1]
	}
	if i >= 0 && i+1 < len(list) {
		after = list[i+1]
	}
	return before, after
}

// rest returns from when to when code rests on p alone, ns.
func (r *repairer) rest(p *kcore.Poke) (from, to uint64) {
	before, after := r.around(p)
	to = math.MaxUint64
	if before != nil {
		from = before.Begin
	}
	if after != nil {
		to = after.End
	}
	return from, to
}

// confirm takes a change that was mended. The ones before and behind it at its site confirm
// it, if both follow from it. Otherwise the code is in doubt from the one to the other.
func (r *repairer) confirm(m Mended) {
	for _, p := range r.sites[m.Addr] {
		if p.Time != m.Time {
			continue
		}
		p.Begin, p.End = min(p.Begin, m.Made.Lo), max(p.End, m.Made.Hi)
		before, after := r.around(p)
		if before != nil && after != nil && bytes.Equal(before.New, p.Old) && bytes.Equal(p.New, after.Old) {
			r.doubt(p, p.Begin, p.End)
			continue
		}
		from, to := r.rest(p)
		r.doubt(p, from, to)
	}
}
