package decoder

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
)

// partOf returns which part of the recording a segment of st is.
func partOf(st *stream.Stream, seg *event.Segment) trials.Part {
	return trials.Part{Stream: st.Index, Begin: seg.Off}
}

// asksOf returns what decodes segment i of o's job, where r asks what was told before.
func (r *run) asksOf(o *outlet, f *follower) func(i int, out flow.Sink) error {
	return func(i int, out flow.Sink) error {
		p := partOf(o.job.stream, &o.job.segs[i])
		if r.gather == nil {
			f.told, f.asks = r.asks.Told(r.asks.Code, p), r.asks
			defer func() { f.told, f.asks = nil, nil }()
			return f.segment(o.job, i, out)
		}
		a := r.asks.Answer(p)
		if a == nil {
			k := &trials.Kept{Asking: r.asks, Watch: f.watch, Err: r.ctx.Err}
			from := len(o.part.visits)
			if err := f.watched(o.job, i, k); err != nil {
				return err
			}
			a = k.Keep(p, f.watch.Read(), o.part.visits[from:])
		} else {
			o.part.visits = append(o.part.visits, a.Visits...)
		}
		r.asks.Insns.Add(int64(a.Insns))
		return nil
	}
}
