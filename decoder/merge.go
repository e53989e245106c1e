package decoder

import (
	"math"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// merger puts the flow of all streams in the order of time and hands it on. What
// lies between two stamps of a stream stays together; streams with equal times
// are in the order of their indices. The order of each stream is kept whatever
// its times say.
//
// The time of a stretch is the lower bound of its stamp. A stretch is handed on
// when no stream can bring an earlier one. Where one can, the merger takes the
// next part of that stream's flow, and of no other. So one part of each stream
// waits at most, however far apart their times are.
//
// In reverse, batches come last to first, each to be read backwards, and so
// they are handed on: newest first, and of equal times the last stream.
type merger struct {
	*run
	to   flow.Sink
	free []*merging
	part flow.Batch // what is handed on
}

// merging is a batch of which pieces are left.
type merging struct {
	*flow.Batch
	segs   []event.Segment // of its job
	size   int64           // bytes that the batch takes
	pieces []piece
	next   int // of pieces

	// steady says that its stamps' times count up. Then only the next piece is found ahead, and no more
	// than where it begins. Most of the time what is handed on has many.
	steady bool
}

// piece is a stretch of a batch with one time.
type piece struct {
	key    uint64 // when, ns; in reverse counted back from the end of time
	part   flow.Part
	ranges [2]int // from, until, of the batch's Ranges
	notes  [2]int
}

// ran reports whether p is ranges, not a note.
func (p *piece) ran() bool { return p.notes[0] == p.notes[1] }

// earliest returns the earliest key that j can bring.
func (m *merger) earliest(j *job) uint64 {
	if m.q.Reverse {
		return math.MaxUint64 - j.segs[len(j.segs)-1].Time.Hi
	}
	return j.segs[0].Time.Lo
}

// pull takes the next part of ln's flow.
func (m *merger) pull(ln *lane) error {
	if len(ln.jobs) == 0 {
		m.start(ln) // it is waited for, whatever was started ahead
	}
	m.fill()
	j := ln.jobs[0]
	p, ok := <-j.parts
	if !ok {
		return m.over(ln, j)
	}
	if err := m.look(&p); err != nil {
		return err
	}
	steady := ln.share == nil && !m.q.Reverse && !slices.ContainsFunc(p.batches, func(b *flow.Batch) bool { return !b.CountsUp(j.segs) })
	for _, b := range p.batches {
		if len(b.Ranges) == 0 && len(b.Notes) == 0 {
			m.recycle(b, flow.BatchSize(b))
			continue
		}
		c := new(merging)
		if n := len(m.free); n > 0 {
			c, m.free = m.free[n-1], m.free[:n-1]
		}
		c.Batch, c.segs, c.size, c.pieces, c.next, c.steady = b, j.segs, flow.BatchSize(b), c.pieces[:0], 0, steady
		if c.begins(0, 0); !steady {
			m.cut(c, ln, j)
		}
		ln.head = append(ln.head, c)
	}
	ln.opens()
	return nil
}

// at returns the piece of c that begins with a range and a note. Where it is ranges, its end is left open.
func (c *merging) at(r, n int) (p piece, ok bool) {
	p = piece{ranges: [2]int{r, r}, notes: [2]int{n, n}}
	switch {
	case n < len(c.Notes) && c.Notes[n].At <= r:
		p.key, p.notes[1] = c.NoteBegan(n, c.segs), n+1
	case r < len(c.Ranges):
		p.key = c.Began(r, c.segs)
	default:
		return p, false
	}
	return p, true
}

// begins makes the piece at a range and a note the next one of c, which is steady.
func (c *merging) begins(r, n int) {
	c.pieces = c.pieces[:0]
	if p, ok := c.at(r, n); ok {
		c.pieces = append(c.pieces, p)
	}
}

// runsTo returns the range at which the next note behind p lies, or the end.
func (c *merging) runsTo(p *piece) int {
	if n := p.notes[1]; n < len(c.Notes) {
		return min(len(c.Ranges), c.Notes[n].At)
	}
	return len(c.Ranges)
}

// opens notes when ln goes on, if its first batch is steady: not before what came of it.
func (ln *lane) opens() {
	if len(ln.head) == 0 || !ln.head[0].steady {
		return
	}
	c := ln.head[0]
	if len(c.pieces) > 0 {
		p := &c.pieces[0]
		ln.key = max(ln.key, p.key)
		p.key = ln.key
	}
}

// reach returns the next pieces of ln's first batch as one: as many as lie before a limit of
// another lane, where bringer is one. The batch is steady. Its next piece is the one behind. ran says
// that ranges are last.
func (m *merger) reach(ln *lane, s int, limit uint64, bringer int) (p piece, ran bool) {
	c := ln.head[0]
	p = c.pieces[0]
	r, n := p.ranges[0], p.notes[1]
	if ran = p.ran(); ran {
		r++
	}
	beyond := func(key uint64) bool { return bringer >= 0 && m.before(limit, bringer, max(ln.key, key), s) }
	// A note is not later than the range behind it. So it goes with that.
	end := len(c.Ranges)
	for step := 1; r < end; step *= 2 { // the first one beyond the limit: mostly it is near
		h := min(r+step, end) - 1
		if beyond(c.Began(h, c.segs)) {
			end = h
			break
		}
		r = h + 1
	}
	end = r + sort.Search(end-r, func(k int) bool { return beyond(c.Began(r+k, c.segs)) })
	if p.ranges[1] = end; end > p.ranges[0] {
		ln.key, ran = max(ln.key, c.Began(end-1, c.segs)), true
	}
	for n < len(c.Notes) && c.Notes[n].At < end {
		n++
	}
	for {
		p.key, p.notes[1] = ln.key, n
		c.begins(end, n)
		if ln.opens(); len(c.pieces) == 0 || beyond(c.front()) {
			return p, ran
		}
		n, ran = n+1, false
	}
}

// cut cuts c, of a job j of ln, into pieces, in the order in which they are handed on.
func (m *merger) cut(c *merging, ln *lane, j *job) {
	c.pieces = c.pieces[:0]
	for p, ok := c.at(0, 0); ok; p, ok = c.at(p.ranges[1], p.notes[1]) {
		if p.ran() {
			r, end := p.ranges[0], c.runsTo(&p)
			stamp := c.Ranges[r].Stamp
			for r < end && c.Ranges[r].Stamp == stamp {
				r++
			}
			p.ranges[1] = r
		}
		c.pieces = append(c.pieces, p)
	}
	if m.q.Reverse {
		slices.Reverse(c.pieces)
	}
	for i := range c.pieces {
		p := &c.pieces[i]
		if m.q.Reverse && p.key != 0 {
			p.key = math.MaxUint64 - p.key
		}
		if ln.share != nil {
			p.part = ln.share.part(j.begin(), p.key)
			ln.key = max(ln.key, ln.share.least)
		}
		ln.key = max(ln.key, p.key)
		p.key = ln.key
	}
}

// merge hands all of the flow on.
func (m *merger) merge() error {
	for {
		best, limit, bringer := -1, uint64(0), -1
		for i, ln := range m.lanes {
			switch {
			case m.beyond(ln):
			case len(ln.head) > 0:
				if best < 0 || m.before(ln.head[0].front(), i, m.lanes[best].head[0].front(), best) {
					best = i
				}
			case len(ln.jobs) > 0:
				limit, bringer = m.sooner(limit, bringer, ln.jobs[0], i)
			case ln.next != nil:
				limit, bringer = m.sooner(limit, bringer, ln.next, i)
			}
		}
		var err error
		switch {
		case best < 0 && bringer < 0:
			return nil
		case best < 0 || bringer >= 0 && m.before(limit, bringer, m.lanes[best].head[0].front(), best):
			err = m.pull(m.lanes[bringer])
		default:
			err = m.hand(best, limit, bringer)
		}
		if err != nil {
			return err
		}
	}
}

// sooner returns which comes first: limit of lane bringer, or what lane i can
// bring, whose first job is j.
func (m *merger) sooner(limit uint64, bringer int, j *job, i int) (uint64, int) {
	ln := m.lanes[i]
	if key := max(ln.key, m.earliest(j)); bringer < 0 || m.before(key, i, limit, bringer) {
		return key, i
	}
	return limit, bringer
}

// before reports whether key a of stream i comes before key b of stream j.
func (m *merger) before(a uint64, i int, b uint64, j int) bool {
	if a != b {
		return a < b
	}
	return (i < j) != m.q.Reverse && i != j
}

// front returns the key of the next piece.
func (c *merging) front() uint64 { return c.pieces[c.next].key }

// hand hands on the next pieces of lane s: as many in a row as lie before what
// every other lane has and can bring.
func (m *merger) hand(s int, limit uint64, bringer int) error {
	ln := m.lanes[s]
	c := ln.head[0]
	for i, o := range m.lanes {
		if i != s && len(o.head) > 0 {
			if k := o.head[0].front(); bringer < 0 || m.before(k, i, limit, bringer) {
				limit, bringer = k, i
			}
		}
	}
	if c.steady {
		p, ran := m.reach(ln, s, limit, bringer)
		return m.lends(ln, []piece{p}, ran)
	}
	first := c.next
	for c.next++; c.next < len(c.pieces); c.next++ {
		if bringer >= 0 && m.before(limit, bringer, c.front(), s) || c.pieces[c.next].part != c.pieces[first].part {
			break
		}
	}
	return m.lends(ln, c.pieces[first:c.next], c.pieces[c.next-1].ran())
}

// lends hands on pieces in a row of ln's first batch, of which ranges are last where ran is set.
func (m *merger) lends(ln *lane, p []piece, ran bool) error {
	c := ln.head[0]
	m.lend(c, p)
	if !m.q.Reverse && ran {
		m.part.Onward = ln.onward()
	}
	ln.reached.Add(&m.part)
	ln.given = p[len(p)-1].key
	err := m.to.Flow(&m.part)
	if c.next == len(c.pieces) {
		ln.head = slices.Delete(ln.head, 0, 1)
		m.recycle(c.Batch, c.size)
		c.Batch, c.segs = nil, nil
		m.free = append(m.free, c)
		ln.opens()
	}
	return err
}

// onward returns the block that ln's flow goes on with, if that came already and no note lies
// before it; else nil.
func (ln *lane) onward() *flow.Block {
	for _, c := range ln.head {
		if c.next < len(c.pieces) {
			if p := &c.pieces[c.next]; p.ran() {
				return c.Ranges[p.ranges[0]].Block
			}
			return nil
		}
	}
	return nil
}

// lend makes m.part of pieces in a row of c.
func (m *merger) lend(c *merging, p []piece) {
	a, z := p[0], p[len(p)-1]
	if m.q.Reverse {
		a, z = z, a
	}
	b := &m.part
	b.Stream, b.Stamps, b.Part, b.Onward = c.Stream, c.Stamps, a.part, nil
	with, _ := flow.CondensedOf(c.Batch)
	flow.Condense(b, with, 0)
	b.Ranges = c.Ranges[a.ranges[0]:z.ranges[1]]
	b.Notes = c.Notes[a.notes[0]:z.notes[1]:z.notes[1]] // a note is large; nobody asks for these again
	for i := range b.Notes {
		b.Notes[i].At -= a.ranges[0]
	}
}
