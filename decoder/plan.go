package decoder

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// job is a stretch of one stream for one worker.
type job struct {
	stream  *stream.Stream
	segs    []event.Segment
	bounds  bool         // Query.Bounds
	at      uint64       // ns: its place among the jobs of other streams
	parts   chan portion // its flow, in the order in which it is delivered; closed at its end
	reached flow.Reached // what of it was delivered before
	err     error        // what ended it early; set before parts is closed
}

// portion is a stretch of a job's flow.
type portion struct {
	batches []*flow.Batch
	visits  []learn.Visit // where trace and code contradict each other, in the order of the stream
}

// begin returns where j begins in its stream, bytes.
func (j *job) begin() int64 { return j.segs[0].Off }

// bytes returns how much trace j holds.
func (j *job) bytes() int64 {
	return j.segs[len(j.segs)-1].End - j.segs[0].Off
}

// planner cuts what a query asks for of one stream into jobs, in the order in
// which they are delivered. It finds segments as it goes.
type planner struct {
	st   *stream.Stream
	cur  stream.Segments
	q    *Query
	size int64         // bytes: the segments of a job begin between two multiples of it
	cuts []int64       // offsets, bytes: a segment that begins there begins a job
	from int64         // segments before are left out, bytes
	seg  event.Segment // the next one
	more bool          // there is one
	at   uint64        // of the job before, ns
}

// defaultJob is Query.SegmentBytes where it is not said.
const defaultJob = 8 << 10

// newPlanner returns the planner of st, whose segments cur gives.
func newPlanner(st *stream.Stream, cur stream.Segments, q *Query, sh *shardShare) *planner {
	p := &planner{st: st, cur: cur, q: q, size: q.SegmentBytes}
	if sh != nil {
		if p.from = sh.from; q.Merged {
			p.cuts = sh.cuts()
		}
	}
	if p.size <= 0 {
		p.size = defaultJob
	}
	p.step()
	return p
}

// step goes on to the next segment.
func (p *planner) step() {
	p.seg, p.more = p.cur.Next()
	for p.more && p.seg.Off < p.from {
		p.seg, p.more = p.cur.Next()
	}
}

// joins reports whether the next segment may be of the job of first. Jobs are cut where
// their bytes lie, so that they are the same wherever a planner begins.
func (p *planner) joins(first *event.Segment) bool {
	return p.seg.Off/p.size == first.Off/p.size && !slices.Contains(p.cuts, p.seg.Off)
}

// wanted reports whether the query asks for the next segment.
func (p *planner) wanted() bool {
	if !p.q.Beyond || p.q.within(&p.seg) {
		return p.q.within(&p.seg)
	}
	g, ok := p.st.Before(p.seg.Off)
	return ok && p.q.within(&g)
}

// within reports whether what is in g may have happened in q's time.
func (q *Query) within(g *event.Segment) bool {
	return (q.From == 0 || g.Time.Hi >= q.From) && (q.Until == 0 || g.Time.Lo <= q.Until)
}

// next returns the next job, nil at the end.
func (p *planner) next() *job {
	for p.more && !p.wanted() {
		p.step()
	}
	if !p.more {
		return nil
	}
	j := &job{stream: p.st, bounds: p.q.Bounds}
	for p.more && p.wanted() && (len(j.segs) == 0 || p.joins(&j.segs[0])) {
		j.segs = append(j.segs, p.seg)
		p.step()
	}
	if p.q.Reverse {
		slices.Reverse(j.segs)
	}
	// A clock may step back, a stream's own order may not.
	j.at = j.segs[0].Time.Lo
	switch {
	case !p.q.Reverse:
		j.at = max(j.at, p.at)
	case p.at != 0:
		j.at = min(j.at, p.at)
	}
	p.at = j.at
	return j
}
