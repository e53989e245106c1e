package flow

import (
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// unconfirmed holds back the flow of a segment until an event confirms it, or so much
// follows that a contradiction would not go back to it (doubt.go). Where the trace
// contradicts the code, what is held since is ambiguous: the code may have been wrong.
// confirm.go says what confirms a flow, and what contradicts it.
//
// What it holds is bounded by Config.MaxUnconfirmed. What waits longer than that is
// Unconfirmed. That depends on the flow alone, and not on how it is cut into batches.
type unconfirmed struct {
	sink  Sink
	err   error // the sink's, or of who asks for what is told
	most  int   // Config.MaxUnconfirmed
	told  bool  // the trace states where each return goes
	held  []stretch
	spare *sync.Pool // of *Batch
	own   []*Batch   // some that spare need not give: a collection empties it
	done  bool       // all that is held is settled
	tail  Batch      // scratch of handHead
	doubt struct {   // scratch of contradict
		c    Contradiction
		sure []stretch
	}
	rough rough
	cut   bool // some was handed on unconfirmed since the flow was last settled

	contradicted func(*Contradiction) error
	confirmed    func([]Range, []Stamp) error
	probe        func(stretch, *marks) // for tests: sees what is given
	whole        bool                  // for tests: no tail is left
}

// extent is how much of a batch lies before a place in it.
type extent struct{ ranges, notes int }

// whole returns the place at b's end.
func whole(b *Batch) extent { return extent{len(b.Ranges), len(b.Notes)} }

// Contradiction is where trace and code contradict each other. What is in doubt is lent.
type Contradiction struct {
	Gap     event.Gap
	Stretch []Doubted // what may be wrong, in order
	Cut     bool      // more would be in doubt, but it was handed on: Config.MaxUnconfirmed
}

// Doubted is ranges in a row, and the stamps that they have.
type Doubted struct {
	Ranges []Range
	Stamps []Stamp
}

// start begins a segment, whose flow goes to sink.
func (u *unconfirmed) start(sink Sink) {
	u.sink, u.err, u.done, u.cut = sink, nil, false, false
	u.rough.start()
	for _, h := range u.held { // of a walk that an error ended
		u.keep(h.Batch)
	}
	u.held = u.held[:0]
}

// ownBatches is how many batches are kept out of the pool that walkers share.
const ownBatches = 16

// keep keeps b to be used again.
func (u *unconfirmed) keep(b *Batch) {
	b.Reset()
	if len(u.own) < ownBatches {
		u.own = append(u.own, b)
		return
	}
	u.spare.Put(b)
}

// empty returns a batch in which nothing is. A new one has room for as much as b has.
func (u *unconfirmed) empty(b *Batch) *Batch {
	if n := len(u.own) - 1; n >= 0 {
		b := u.own[n]
		u.own = u.own[:n]
		return b
	}
	if b, ok := u.spare.Get().(*Batch); ok {
		return b
	}
	return b.Another()
}

// give takes b, of which what lies before settled is settled. Behind that the trace stated
// the targets that m marks. What lies before kept came with b before. If tail is true, b
// still has the end of what it had, m marks that, and the rest is handed on.
func (u *unconfirmed) give(b *Batch, settled, kept extent, m *marks) (tail bool) {
	s := stretch{Batch: b, from: settled, to: whole(b), kept: kept, stated: min(m.n, heldBack)}
	if u.probe != nil {
		u.probe(s, m)
	}
	if u.done {
		u.handOn(len(u.held))
		u.done = false
	}
	if len(u.held) == 0 && settled == whole(b) {
		u.hand(b)
		return false
	}
	if !u.whole && u.confirmed == nil && m.n >= heldBack && u.weightFrom(0)+s.weight() <= u.most {
		if at := b.placeBehind(m.oldest()); len(b.Ranges)-at.ranges <= maxTail && len(b.Notes)-at.notes <= maxTail {
			u.handOn(len(u.held))
			u.handHead(b, at)
			m.move(at.ranges)
			return true
		}
	}
	x := u.empty(b)
	*x, *b = *b, *x
	s.Batch = x
	u.held = append(u.held, s)
	u.keepWithin()
	return false
}

// hand hands b on.
func (u *unconfirmed) hand(b *Batch) {
	if u.rough.on {
		u.rough.blur(b)
	}
	u.endWith(u.sink.Flow(b))
}

// handOn hands on the oldest n batches that are held.
func (u *unconfirmed) handOn(n int) {
	for _, h := range u.held[:n] {
		u.hand(h.Batch)
		u.keep(h.Batch)
	}
	k := copy(u.held, u.held[n:])
	clear(u.held[k:])
	u.held = u.held[:k]
}

// keepWithin hands on what no contradiction would go back to, and the oldest where more
// is held than may be.
func (u *unconfirmed) keepWithin() {
	free, stated, all := len(u.held), 0, 0
	for i := range u.held {
		all += u.held[i].weight()
	}
	for free > 0 && stated < heldBack {
		free--
		stated += u.held[free].stated
	}
	if stated < heldBack {
		free = 0
	}
	n := free
	for left := all; all > u.most && n < len(u.held); n++ {
		if left = u.weightFrom(n + 1); left < u.most && n >= free {
			break
		}
		u.cut = u.cut || n >= free
	}
	for k := 0; all > u.most && k < n; k++ {
		tooLong(u.held, k, u.most, u.told)
	}
	u.tellConfirmed(u.held[:n])
	u.handOn(n)
}

// weightFrom returns what is held from index i on, as Config.MaxUnconfirmed counts.
func (u *unconfirmed) weightFrom(i int) (all int) {
	for ; i < len(u.held); i++ {
		all += u.held[i].weight()
	}
	return all
}

// endWith has the walk end with the first error that is none of nil.
func (u *unconfirmed) endWith(err error) {
	if u.err == nil {
		u.err = err
	}
}

// tellConfirmed tells who asks for what is confirmed.
func (u *unconfirmed) tellConfirmed(list []stretch) {
	if u.confirmed == nil {
		return
	}
	for _, s := range list {
		if s.from.ranges < s.to.ranges {
			u.endWith(u.confirmed(s.Ranges[s.from.ranges:s.to.ranges], s.Stamps))
		}
	}
}

// open returns all that is not settled: of what is held, and of b what lies behind
// settled. Of the latter it does not count the targets that were stated.
func (u *unconfirmed) open(b *Batch, settled extent) []stretch {
	if len(u.held) == cap(u.held) {
		u.held = slices.Grow(u.held, 1) // so that b's place is there, now and the next time
	}
	list := u.held
	if u.done {
		list = list[len(list):]
	}
	return append(list, stretch{Batch: b, from: settled, to: whole(b)})
}

// settleAll settles list, all that was open.
func (u *unconfirmed) settleAll(list []stretch) {
	all := 0
	for i := range list {
		all += list[i].weight()
	}
	if all > u.most {
		last := &list[len(list)-1]
		_, last.stated = last.backOver(heldBack, u.told)
		for k := range list {
			tooLong(list, k, u.most, u.told)
		}
	}
	u.done, u.cut = true, false
}

// confirmHeld settles what ran up to b's end: it did run.
func (u *unconfirmed) confirmHeld(b *Batch, settled extent) {
	list := u.open(b, settled)
	u.tellConfirmed(list)
	u.settleAll(list)
}

// contradict settles what ran up to b's end, where there is a gap: the last of it, as far as back
// says, may not have run. Who asks is told of it if that can come of wrong code.
func (u *unconfirmed) contradict(b *Batch, settled extent, g *event.Gap, back reach) {
	list := u.open(b, settled)
	i, at := doubtFrom(list, u.told)
	u.tellSure(list, i, at)
	if u.confirmed != nil {
		u.endWith(u.confirmed(nil, nil))
	}
	if back == nearBytes {
		i, at = behindByte(list, i, at, g.Off-damaged)
	}
	if u.contradicted != nil && g.Reason.Contradicts() {
		u.tellDoubted(list, i, at, g)
	}
	u.settleAll(list)
	doubtAll(list[i:], at)
}

// tellSure tells who asks for it that list is confirmed up to range at of stretch i.
func (u *unconfirmed) tellSure(list []stretch, i, at int) {
	if u.confirmed == nil {
		return
	}
	sure := append(u.doubt.sure[:0], list[:i+1]...)
	sure[i].to.ranges = max(at, sure[i].from.ranges)
	u.tellConfirmed(sure)
	clear(sure)
	u.doubt.sure = sure
}

// tellDoubted tells who asks for it that list is in doubt from range at of stretch i on.
func (u *unconfirmed) tellDoubted(list []stretch, i, at int, g *event.Gap) {
	c := &u.doubt.c
	*c = Contradiction{Gap: *g, Stretch: c.Stretch[:0]}
	for k, s := range list[i:] {
		from := s.from.ranges
		if k == 0 {
			from = max(from, at)
		}
		if from < s.to.ranges {
			c.Stretch = append(c.Stretch, Doubted{s.Ranges[from:s.to.ranges], s.Stamps})
		}
	}
	c.Cut = u.cut && i == 0 && at <= list[0].from.ranges
	u.endWith(u.contradicted(c))
	clear(c.Stretch)
}

// distrust makes doubtful what a contradiction at b's end would, but settles nothing. g says
// what tells of it; nil: nobody need know.
func (u *unconfirmed) distrust(b *Batch, settled extent, g *event.Gap) {
	list := u.open(b, settled)
	i, at := doubtFrom(list, u.told)
	switch {
	case g != nil && g.Reason == event.BadPacket:
		i, at = behindByte(list, i, at, g.Off-damaged)
	case g != nil && u.contradicted != nil:
		u.tellDoubted(list, i, at, g)
	}
	doubtAll(list[i:], at)
}

// doubtAll makes list Ambiguous from a range of the first on.
func doubtAll(list []stretch, at int) {
	for k := range list {
		list[k].downgrade(at, len(list[k].Ranges), Ambiguous)
		at = 0
	}
}

// finish hands on all of a segment that is over, of which b is the last: nothing
// contradicts it.
func (u *unconfirmed) finish(b *Batch, settled, kept extent, m *marks) {
	if u.confirmed != nil { // what lies far enough back is told
		list := u.open(b, settled)
		i, at := doubtFrom(list, u.told)
		u.tellSure(list, i, at)
	}
	if len(u.held) > 0 || len(b.Ranges)+noteSize*len(b.Notes) > u.most {
		u.settleAll(u.open(b, settled))
		u.handOn(len(u.held))
	}
	u.done = false
	if len(b.Ranges)+len(b.Notes) > 0 {
		u.hand(b)
	}
}
