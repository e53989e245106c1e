package decoder

import (
	"cmp"
	"slices"
)

// plan cuts what q asks for into jobs, in the order in which they are delivered.
func (s *Session) plan(q Query) []*job {
	size := q.SegmentBytes
	if size <= 0 {
		size = 8 << 10
	}
	var jobs []*job
	for _, st := range s.streams {
		if q.Streams != nil && !slices.Contains(q.Streams, st.Index) {
			continue
		}
		var j *job
		for i := range st.Segs {
			g := &st.Segs[i]
			if (q.From > 0 && g.Time.Hi < q.From) || (q.Until > 0 && g.Time.Lo > q.Until) {
				j = nil
				continue
			}
			if j == nil || g.End-j.segs[0].Off > size {
				j = &job{stream: st, bounds: q.Bounds}
				jobs = append(jobs, j)
			}
			j.segs = append(j.segs, *g)
		}
	}
	// A clock may step back, a stream's own order may not.
	for i, j := range jobs {
		if j.at = j.segs[0].Time.Lo; i > 0 && jobs[i-1].stream == j.stream {
			j.at = max(j.at, jobs[i-1].at)
		}
	}
	slices.SortStableFunc(jobs, func(a, b *job) int { return cmp.Compare(a.at, b.at) })
	if q.Reverse {
		slices.Reverse(jobs)
	}
	return jobs
}
