package decoder

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// A shard is a part of a run's flow. Parts are cut in the order in which flow is
// delivered, by time and then by stream, so that one behind the other is the whole. All
// shards find the same cuts, each by itself, without looking at all of the trace.
//
// Without merging, flow is delivered by jobs, and a job is of the part in which its first
// segment lies. Merged, the pieces of a job may lie on both sides of a cut. Then the
// shards on both sides decode the segments around it, and each keeps what is its own.

// edge is a seam, for one stream.
type edge struct {
	off  int64  // jobs that begin before it lie before the seam, bytes
	time uint64 // ns: of those behind it, all up to the first piece of this time or a later one do, too
	sure int64  // segments from here on lie behind the seam, bytes

	over bool // such a piece came
}

// shardShare is what a shard takes of a stream.
type shardShare struct {
	from       int64 // where it begins to decode, bytes
	entire     bool  // that is the start of the stream
	lead       edge  // from here on the lead has the flow of all streams
	begin, end edge
	least      uint64 // ns: pieces to come do not lie before it
	tie        uint64 // least from begin on, where that cuts through flow of one time
}

// behind reports whether all of j lies behind the part.
func (sh *shardShare) behind(j *job) bool { return sh != nil && j.begin() >= sh.end.sure }

// cuts returns where jobs must begin, bytes.
func (sh *shardShare) cuts() []int64 {
	return []int64{sh.lead.off, sh.begin.off, sh.begin.sure, sh.end.off, sh.end.sure}
}

// passed takes a piece at time t, of a job that begins at off, and reports whether the
// flow is past the edge with it.
func (e *edge) passed(off int64, t uint64) bool {
	e.over = e.over || off >= e.sure || off >= e.off && t >= e.time
	return e.over
}

// part says where the next piece lies: its time is t, and its job begins at off.
func (sh *shardShare) part(off int64, t uint64) (p flow.Part) {
	begun, ended := sh.begin.passed(off, t), sh.end.passed(off, t)
	switch {
	case ended:
		return flow.After
	case begun:
		sh.least = sh.tie
		return 0
	}
	p = flow.Before
	if off < sh.lead.off {
		p |= flow.Early
	}
	if sh.entire {
		p |= flow.Entire
	}
	return p
}

// ownLead is how much of each stream's own trace a shard with a lead decodes before it,
// bytes.
const ownLead = 64 << 10

// newShares returns what the shard that q asks for takes of each stream, nil where there
// are no shards.
func newShares(q *Query, streams []*stream.Stream) []*shardShare {
	list := make([]*shardShare, len(streams))
	if q.Shards <= 0 || q.Shard < 1 || q.Shard > q.Shards {
		return list
	}
	c := &cutter{Seams: stream.Seams{Streams: streams, Of: stream.HappenedAt}, merged: q.Merged}
	if !q.Merged {
		c.Of = stream.StatedTime
	}
	c.total = stream.Bytes(streams)
	part := func(i int) int64 { return int64(float64(c.total) * float64(i) / float64(q.Shards)) }
	start, until := part(q.Shard-1), part(q.Shard)
	begin, end := c.At(start), c.At(until)
	lead := begin
	if q.Merged && q.Lead > 0 {
		lead = c.At(max(0, start-q.Lead))
	}
	for i, st := range streams {
		sh := &shardShare{lead: c.edge(lead, i), begin: c.edge(begin, i), end: c.edge(end, i)}
		if begin.At == i && begin.Off >= 0 {
			sh.tie = begin.Time
		}
		if q.Shard == q.Shards {
			sh.end = edge{off: math.MaxInt64, sure: math.MaxInt64}
		}
		sh.from = min(sh.lead.off, sh.begin.off)
		if q.Merged && q.Lead > 0 {
			sh.from = max(0, sh.from-ownLead)
		}
		if !q.Merged {
			size := q.SegmentBytes
			if size <= 0 {
				size = defaultJob
			}
			sh.from -= sh.from % size // where a job begins
		}
		sh.entire = sh.from <= st.Head
		list[i] = sh
	}
	return list
}

// cutter finds stream.Seams.
type cutter struct {
	stream.Seams
	merged bool
	total  int64 // bytes
}

// maxUnsure is how much trace before a seam may be decoded on both sides of it, bytes of a
// stream. It is more than a segment or two only where the trace does not bound times above.
const maxUnsure = 4 << 20

// edge returns s for stream number i.
func (c *cutter) edge(s stream.Seam, i int) edge {
	st := c.Streams[i]
	if i == s.At && s.Off >= 0 {
		return edge{off: s.Off, sure: s.Off}
	}
	e := edge{time: s.Time}
	if i < s.At {
		e.time++
	}
	e.sure = stream.SeekTime(st, 0, st.Size, e.time, c.Of)
	if e.off = e.sure; !c.merged {
		e.time = 0
		return e
	}
	for e.sure-e.off < maxUnsure {
		g, ok := st.Before(e.off)
		if !ok || stream.HappenedAt(st, g).Hi < e.time {
			break
		}
		e.off = g.Off
		if b, ok := st.Before(g.Off); ok && stream.HappenedAt(st, b).Lo == 0 && stream.HappenedAt(st, g).Lo == 0 {
			break // another seam may lie between the two, and no time was stated yet
		}
	}
	return e
}

// beyond reports whether nothing more of ln is wanted.
func (m *merger) beyond(ln *lane) bool {
	sh := ln.share
	if sh == nil {
		return false
	}
	if w, ok := m.to.(interface{ Waits() bool }); ok && w.Waits() {
		return false
	}
	switch {
	case len(ln.head) > 0:
		return ln.head[0].Pieces[ln.head[0].Next].Part == flow.After
	case len(ln.jobs) > 0:
		return sh.end.over || sh.behind(ln.jobs[0])
	}
	return sh.end.over || ln.next != nil && sh.behind(ln.next)
}
