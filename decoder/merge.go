package decoder

import (
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
)

// Merger is a Sink that puts the flow of all streams in the order of time and
// hands it on. What lies between two stamps of a stream stays together;
// streams with equal times are in the order of their indices. The order of
// each stream is kept whatever its times say.
//
// The time of a stretch is the lower bound of its stamp. A stretch is handed
// on when no stream can bring an earlier one: jobs come in the order of the
// times at which they begin, which their sync points state. So what waits is
// bounded by what the jobs hold that begin before the first of them ends, not
// by the recording.
//
// In reverse, batches come last to first, each to be read backwards, and so
// they are handed on: newest first, and of equal times the last stream.
type Merger struct {
	to      flow.Sink
	reverse bool
	jobs    []*job // in the order in which they come
	at      int    // of jobs: the one that the last batch came from
	queues  []mergeQueue
	free    []*merging
	part    flow.Batch // what is handed on
	err     error      // the sink's: nothing more is handed on
}

// mergeQueue is what one stream has brought and what it can still bring.
type mergeQueue struct {
	head  []*merging
	key   uint64 // of the newest piece queued: those to come do not lie before it
	jobs  []int  // its jobs that are not over, as indices in Merger.jobs
	bound uint64 // no piece to come lies before it
}

// merging is a batch of which pieces are left.
type merging struct {
	flow.Batch
	pieces []piece
	next   int // of pieces
}

// piece is a stretch of a batch with one time.
type piece struct {
	key    uint64 // when, ns; in reverse counted back from the end of time
	ranges [2]int // from, until, of the batch's Ranges
	notes  [2]int
}

// Merge returns a Merger that hands on to to what Flow gives for q. Close must
// be called at the end.
func (s *Session) Merge(to flow.Sink, q Query) *Merger {
	m := &Merger{to: to, reverse: q.Reverse, jobs: s.plan(q), queues: make([]mergeQueue, len(s.streams))}
	for i, j := range m.jobs {
		k := &m.queues[j.stream.Index]
		k.jobs = append(k.jobs, i)
	}
	m.advance()
	return m
}

// advance takes the jobs before m.at as over.
func (m *Merger) advance() {
	for i := range m.queues {
		q := &m.queues[i]
		for len(q.jobs) > 0 && q.jobs[0] < m.at {
			q.jobs = q.jobs[1:]
		}
		if len(q.jobs) > 0 {
			q.bound = max(q.key, m.start(m.jobs[q.jobs[0]]))
		}
	}
}

// start returns the earliest key that j can bring.
func (m *Merger) start(j *job) uint64 {
	if m.reverse {
		return math.MaxUint64 - j.segs[len(j.segs)-1].Time.Hi
	}
	return j.segs[0].Time.Lo
}

// Flow takes a batch.
func (m *Merger) Flow(b *flow.Batch) error {
	if m.err != nil || (len(b.Ranges) == 0 && len(b.Notes) == 0) {
		return m.err
	}
	m.locate(b)
	q := &m.queues[b.Stream]
	c := m.copy(b)
	m.cut(c, q)
	q.bound = max(q.bound, q.key)
	q.head = append(q.head, c)
	m.err = m.drain(false)
	return m.err
}

// Close hands on what is left, unless the sink has ended the flow. ErrStop from
// the sink is no error.
func (m *Merger) Close() error {
	if m.err == nil {
		m.err = m.drain(true)
	}
	if m.err == ErrStop {
		return nil
	}
	return m.err
}

// locate finds the job that b came from.
func (m *Merger) locate(b *flow.Batch) {
	off := int64(0)
	for i := 0; i < len(b.Stamps) && off == 0; i++ {
		off = b.Stamps[i].Off
	}
	for i := 0; i < len(b.Notes) && off == 0; i++ {
		off = max(b.Notes[i].Event.Off, b.Notes[i].Gap.Off)
	}
	for i := m.at; i < len(m.jobs); i++ {
		j := m.jobs[i]
		if j.stream.Index == b.Stream && j.segs[0].Off <= off && off <= j.segs[len(j.segs)-1].End {
			if i != m.at {
				m.at = i
				m.advance()
			}
			return
		}
	}
}

// copy returns a copy of b, which is lent.
func (m *Merger) copy(b *flow.Batch) *merging {
	c := new(merging)
	if n := len(m.free); n > 0 {
		c, m.free = m.free[n-1], m.free[:n-1]
	}
	c.Stream = b.Stream
	c.Ranges = append(c.Ranges[:0], b.Ranges...)
	c.Stamps = append(c.Stamps[:0], b.Stamps...)
	c.Notes = append(c.Notes[:0], b.Notes...)
	c.pieces, c.next = c.pieces[:0], 0
	return c
}

// cut cuts c into pieces, in the order in which they are handed on.
func (m *Merger) cut(c *merging, q *mergeQueue) {
	nr, nn := len(c.Ranges), len(c.Notes)
	for r, n := 0, 0; r < nr || n < nn; {
		p := piece{ranges: [2]int{r, r}, notes: [2]int{n, n}}
		var t event.Time
		if n < nn && c.Notes[n].At <= r {
			t = noteTime(c, &c.Notes[n])
			n++
		} else {
			stamp := c.Ranges[r].Stamp
			t = c.Stamps[stamp].Time
			for r < nr && c.Ranges[r].Stamp == stamp && (n == nn || c.Notes[n].At > r) {
				r++
			}
		}
		p.key, p.ranges[1], p.notes[1] = t.Lo, r, n
		c.pieces = append(c.pieces, p)
	}
	if m.reverse {
		slices.Reverse(c.pieces)
	}
	for i := range c.pieces {
		p := &c.pieces[i]
		if m.reverse && p.key != 0 {
			p.key = math.MaxUint64 - p.key
		}
		q.key = max(q.key, p.key)
		p.key = q.key
	}
}

// noteTime returns when note n of c lies, as far as it says so: no later than
// the range that it lies before. A payload is read ahead of the flow; behind the
// last range, it says nothing.
func noteTime(c *merging, n *flow.Note) event.Time {
	t := n.Event.Time
	switch n.Kind {
	case flow.NoteGap:
		t = n.Gap.Time
	case flow.NoteCut:
		t = event.Time{}
	case flow.NoteEvent:
		if n.Event.Kind != event.Async && n.At >= len(c.Ranges) {
			t = event.Time{}
		}
	}
	if n.At < len(c.Ranges) {
		t.Lo = min(t.Lo, c.Stamps[c.Ranges[n.At].Stamp].Time.Lo)
	}
	return t
}

// drain hands on what no stream can precede any more; all of it at the end.
func (m *Merger) drain(all bool) error {
	for {
		best, limit, bringer := -1, uint64(0), -1
		for i := range m.queues {
			q := &m.queues[i]
			if len(q.head) > 0 {
				if best < 0 || m.before(q.head[0].front(), i, m.queues[best].head[0].front(), best) {
					best = i
				}
			} else if !all && len(q.jobs) > 0 && (bringer < 0 || m.before(q.bound, i, limit, bringer)) {
				limit, bringer = q.bound, i
			}
		}
		if best < 0 {
			return nil
		}
		q := &m.queues[best]
		if bringer >= 0 && m.before(limit, bringer, q.head[0].front(), best) {
			return nil
		}
		if err := m.hand(best, limit, bringer); err != nil {
			return err
		}
	}
}

// before reports whether key a of stream i comes before key b of stream j.
func (m *Merger) before(a uint64, i int, b uint64, j int) bool {
	if a != b {
		return a < b
	}
	return (i < j) != m.reverse && i != j
}

// front returns the key of the next piece.
func (c *merging) front() uint64 { return c.pieces[c.next].key }

// hand hands on the next pieces of stream s: as many in a row as lie before
// what every other stream has and can bring.
func (m *Merger) hand(s int, limit uint64, bringer int) error {
	q := &m.queues[s]
	c := q.head[0]
	for i := range m.queues {
		if o := &m.queues[i]; i != s && len(o.head) > 0 {
			if k := o.head[0].front(); bringer < 0 || m.before(k, i, limit, bringer) {
				limit, bringer = k, i
			}
		}
	}
	first := c.next
	for c.next++; c.next < len(c.pieces); c.next++ {
		if bringer >= 0 && m.before(limit, bringer, c.front(), s) {
			break
		}
	}
	m.fill(c, c.pieces[first:c.next])
	if c.next == len(c.pieces) {
		q.head = slices.Delete(q.head, 0, 1)
		m.free = append(m.free, c)
	}
	return m.to.Flow(&m.part)
}

// fill makes m.part of pieces in a row of c.
func (m *Merger) fill(c *merging, p []piece) {
	a, z := p[0], p[len(p)-1]
	if m.reverse {
		a, z = z, a
	}
	b := &m.part
	b.Stream, b.Stamps = c.Stream, c.Stamps
	b.Ranges = c.Ranges[a.ranges[0]:z.ranges[1]]
	b.Notes = append(b.Notes[:0], c.Notes[a.notes[0]:z.notes[1]]...)
	for i := range b.Notes {
		b.Notes[i].At -= a.ranges[0]
	}
}
