package decoder

import (
	"math"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/held"
	"github.com/ptdecode/ptdecode/decoder/internal/pieces"
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
// they are handed on: newest first, and of equal times the last stream. Where
// a stretch states no time, what lies before it tells where it belongs. Then
// up to four parts more wait.
type merger struct {
	*run
	to   flow.Sink
	free []*pieces.Batch
	part flow.Batch // what is handed on
}

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
		c := new(pieces.Batch)
		if n := len(m.free); n > 0 {
			c, m.free = m.free[n-1], m.free[:n-1]
		}
		c.Reuse(b, j.segs, flow.BatchSize(b), steady)
		if c.Job = ln.taken; !steady {
			m.cut(c, ln, j)
		}
		ln.head = append(ln.head, c)
	}
	if m.q.Reverse {
		m.settle(ln)
	}
	ln.opens()
	return nil
}

// opens notes when ln goes on, if its first batch is steady: not before what came of it.
func (ln *lane) opens() {
	if len(ln.head) == 0 || !ln.head[0].Steady {
		return
	}
	c := ln.head[0]
	if len(c.Pieces) > 0 {
		p := &c.Pieces[0]
		ln.key = max(ln.key, p.Key)
		p.Key = ln.key
	}
}

// reach returns the next pieces of ln's first batch as one: as many as lie before a limit of
// another lane, where bringer is one. The batch is steady. Its next piece is the one behind. ran says
// that ranges are last.
func (m *merger) reach(ln *lane, s int, limit uint64, bringer int) (p pieces.Piece, ran bool) {
	c := ln.head[0]
	p = c.Pieces[0]
	r, n := p.Ranges[0], p.Notes[1]
	if ran = p.Ran(); ran {
		r++
	}
	beyond := func(key uint64) bool { return bringer >= 0 && m.before(limit, bringer, max(ln.key, key), s) }
	// A note is not later than the range behind it. So it goes with that.
	end := len(c.Ranges)
	for step := 1; r < end; step *= 2 { // the first one beyond the limit: mostly it is near
		h := min(r+step, end) - 1
		if beyond(c.Began(h, c.Segs)) {
			end = h
			break
		}
		r = h + 1
	}
	end = r + sort.Search(end-r, func(k int) bool { return beyond(c.Began(r+k, c.Segs)) })
	if p.Ranges[1] = end; end > p.Ranges[0] {
		ln.key, ran = max(ln.key, c.Began(end-1, c.Segs)), true
	}
	for n < len(c.Notes) && c.Notes[n].At < end {
		n++
	}
	for {
		p.Key, p.Notes[1] = ln.key, n
		c.Begins(end, n)
		if ln.opens(); len(c.Pieces) == 0 || beyond(c.Front()) {
			return p, ran
		}
		n, ran = n+1, false
	}
}

// cut cuts c, of a job j of ln, into pieces, in the order in which they are handed on. In reverse their keys are
// settled later.
func (m *merger) cut(c *pieces.Batch, ln *lane, j *job) {
	if m.q.Reverse {
		c.CutBack()
		return
	}
	c.Cut()
	for i := range c.Pieces {
		p := &c.Pieces[i]
		if ln.share != nil {
			p.Part = ln.share.part(j.begin(), p.Key)
			ln.key = max(ln.key, ln.share.least)
		}
		ln.key = max(ln.key, p.Key)
		p.Key = ln.key
	}
}

// settle has ln's pieces that wait get their keys, in reverse: where nothing more comes, or too much waits, all of
// them do.
func (m *merger) settle(ln *lane) {
	size := int64(0)
	for _, c := range ln.head {
		size += c.Size
	}
	before, more := uint64(pieces.Nothing), !ln.timeless && (len(ln.jobs) > 0 || ln.next != nil)
	if more && size > held.Waiting*m.shares.Part {
		before, more = pieces.Somewhere, false
	}
	ln.key = pieces.Settle(ln.head, ln.key, before, more)
}

// ready reports whether the next piece of ln is there, and when it lies is known.
func (m *merger) ready(ln *lane) bool {
	if m.q.Reverse && len(ln.head) > 0 && !ln.head[0].Ready() && len(ln.jobs) == 0 && ln.next == nil {
		m.settle(ln)
	}
	return len(ln.head) > 0 && ln.head[0].Ready()
}

// merge hands all of the flow on.
func (m *merger) merge() error {
	for {
		best, limit, bringer := -1, uint64(0), -1
		for i, ln := range m.lanes {
			switch {
			case m.beyond(ln):
			case m.ready(ln):
				if best < 0 || m.before(ln.head[0].Front(), i, m.lanes[best].head[0].Front(), best) {
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
		case best < 0 || bringer >= 0 && m.before(limit, bringer, m.lanes[best].head[0].Front(), best):
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
// bring, whose first job is j. What waits to be settled may lie at the lane's key.
func (m *merger) sooner(limit uint64, bringer int, j *job, i int) (uint64, int) {
	ln := m.lanes[i]
	key := ln.key
	if len(ln.head) == 0 {
		key = max(key, m.earliest(j))
	}
	if bringer < 0 || m.before(key, i, limit, bringer) {
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

// hand hands on the next pieces of lane s: as many in a row as lie before what
// every other lane has and can bring.
func (m *merger) hand(s int, limit uint64, bringer int) error {
	ln := m.lanes[s]
	c := ln.head[0]
	for i, o := range m.lanes {
		if i != s && m.ready(o) {
			if k := o.head[0].Front(); bringer < 0 || m.before(k, i, limit, bringer) {
				limit, bringer = k, i
			}
		}
	}
	if c.Steady {
		p, ran := m.reach(ln, s, limit, bringer)
		return m.lends(ln, []pieces.Piece{p}, ran)
	}
	first := c.Next
	for c.Next++; c.Ready(); c.Next++ {
		if bringer >= 0 && m.before(limit, bringer, c.Front(), s) || c.Pieces[c.Next].Part != c.Pieces[first].Part {
			break
		}
	}
	return m.lends(ln, c.Pieces[first:c.Next], c.Pieces[c.Next-1].Ran())
}

// lends hands on pieces in a row of ln's first batch, of which ranges are last where ran is set.
func (m *merger) lends(ln *lane, p []pieces.Piece, ran bool) error {
	c := ln.head[0]
	m.lend(c, p)
	if !m.q.Reverse && ran {
		m.part.Onward = ln.onward()
	}
	ln.goesTo(c.Job)
	ln.reached.Add(&m.part)
	ln.given = p[len(p)-1].Key
	err := m.to.Flow(&m.part)
	if c.Next == len(c.Pieces) {
		ln.head = slices.Delete(ln.head, 0, 1)
		m.recycle(c.Batch, c.Size)
		c.Batch, c.Segs = nil, nil
		if m.free = append(m.free, c); len(ln.head) == 0 {
			ln.goesTo(ln.taken)
		}
		ln.opens()
	}
	return err
}

// onward returns the block that ln's flow goes on with, if that came already and no note lies
// before it; else nil.
func (ln *lane) onward() *flow.Block {
	for _, c := range ln.head {
		if c.Next < len(c.Pieces) {
			if p := &c.Pieces[c.Next]; p.Ran() {
				return c.Ranges[p.Ranges[0]].Block
			}
			return nil
		}
	}
	return nil
}

// lend makes m.part of pieces in a row of c.
func (m *merger) lend(c *pieces.Batch, p []pieces.Piece) {
	a, z := p[0], p[len(p)-1]
	if m.q.Reverse {
		a, z = z, a
	}
	b := &m.part
	b.Stream, b.Stamps, b.Part, b.Onward = c.Stream, c.Stamps, a.Part, nil
	with, _ := flow.CondensedOf(c.Batch)
	flow.Condense(b, with, 0)
	b.Ranges = c.Ranges[a.Ranges[0]:z.Ranges[1]]
	b.Notes = c.Notes[a.Notes[0]:z.Notes[1]:z.Notes[1]] // a note is large; nobody asks for these again
	for i := range b.Notes {
		b.Notes[i].At -= a.Ranges[0]
	}
}
