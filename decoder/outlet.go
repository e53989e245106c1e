package decoder

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/condense"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/held"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
)

// outlet is a Sink that hands a job's flow on in parts.
type outlet struct {
	run       *run
	job       *job
	scratch   *scratch            // nil: it does not run
	walker    *flow.Walker        // that walks the job; nil: none yet
	reading   reading             // of walker
	part      portion             // not handed on yet
	size      int64               // of part, bytes
	reached   flow.Reached        // what was delivered before, to be left out
	ahead     flow.Lookahead      // not part yet
	condenser *condense.Condenser // nil: all of the flow is handed on
}

// adopt keeps b's contents and leaves it an empty batch. What was executed when
// records are missing is not settled: a change may be among them, of any text.
func (o *outlet) adopt(b *flow.Batch) (*flow.Batch, error) {
	if err := o.marks(b); err != nil {
		return nil, err
	}
	s := o.run.s
	x, ok := s.spare.Get().(*flow.Batch)
	if !ok {
		x = b.Another()
	}
	*x, *b = *b, *x
	s.held.Count(flow.BatchSize(x))
	return x, nil
}

// marks marks what is not settled in b, as records are missing or code was learned.
func (o *outlet) marks(b *flow.Batch) error {
	s, c := machineOf(o.run.s, o.job.stream, o.run.code)
	if err := o.run.ctx.Err(); err != nil {
		return err
	}
	if s.complete != math.MaxUint64 {
		b.Unwalk()
		for i := range b.Ranges {
			if r := &b.Ranges[i]; b.Stamps[r.Stamp].Time.Hi > s.complete {
				r.Verdict = flow.Ambiguous
			}
		}
	}
	if len(c.learned) > 0 {
		trials.MarkLearned(c.learned, b)
	}
	return nil
}

// Flow takes a batch.
func (o *outlet) Flow(b *flow.Batch) error {
	if o.condenser != nil {
		if err := o.marks(b); err != nil {
			return err
		}
		return o.condensed(o.condenser.Take(b, o.run.shares.Part))
	}
	x, err := o.adopt(b)
	if err != nil {
		return err
	}
	return o.ahead.Follows(x)
}

// AsksPaths says that the run's sink asks which ranges were walked as paths (flow.PathSink).
func (o *outlet) AsksPaths() bool { return o.run.paths }

// condensed hands on x, if it is not nil.
func (o *outlet) condensed(x *flow.Batch) error {
	if x == nil {
		return nil
	}
	o.run.s.held.Count(flow.BatchSize(x))
	return o.ahead.Follows(x)
}

// ends hands on what lies before the end of a segment of the job, the last one or not.
func (o *outlet) ends(seg *event.Segment, last bool) error {
	x, has := o.condenser.Ends(seg, last)
	if err := o.condensed(x); err != nil || has {
		return err
	}
	return o.ahead.SegmentEnds(seg)
}

// gather adds x to the part, and hands that on where it is large.
func (o *outlet) gather(x *flow.Batch) error {
	if o.reached.Some() {
		if o.reached.Cut(x) {
			o.reached = flow.Reached{}
		}
		if items(x) == 0 {
			o.run.recycle(x, flow.BatchSize(x))
			return nil
		}
	}
	o.part.batches = append(o.part.batches, x)
	if o.size += flow.BatchSize(x); o.size < o.run.shares.Part {
		return nil
	}
	return o.send()
}

// fellApart keeps where trace and code contradict each other.
func (o *outlet) fellApart(x *flow.Contradiction) error {
	if v, ok := trials.Visit(x, o.run.s.Kernel); ok {
		o.part.visits = append(o.part.visits, v)
	}
	return nil
}

// send hands on what there is. While too many parts wait to be taken, the job
// does not count among those that run.
func (o *outlet) send() error {
	if len(o.part.batches) == 0 && len(o.part.visits) == 0 {
		return nil
	}
	p := o.part
	o.part, o.size = portion{}, 0
	select {
	case o.job.parts <- p:
		return nil
	default:
	}
	o.pause()
	select {
	case o.job.parts <- p:
		return o.resume()
	case <-o.run.ctx.Done():
		return o.run.ctx.Err()
	}
}

// resume waits until the job may run.
func (o *outlet) resume() (err error) {
	if o.scratch, err = o.run.running.Take(o.run.ctx); err == nil {
		o.equip()
	}
	return err
}

// pause lets another job run.
func (o *outlet) pause() {
	if o.scratch != nil {
		o.run.running.Give(o.scratch)
		o.scratch = nil
	}
}

// equip lends the walker what its scratch has.
func (o *outlet) equip() {
	if o.walker != nil {
		flow.UsePaths(o.walker, o.scratch.Of(o.reading))
	}
}

// scratch is memory that a job needs while it runs, and no longer: paths of walkers that read text in one way.
type scratch = flow.PathSets[reading]

// scratches is those of a run. A job runs while it has one.
type scratches = held.Stack[*scratch]

// newScratches returns so many of which none is used.
func newScratches(n int) *scratches {
	list := make([]*scratch, n)
	for i := range list {
		list[i] = &scratch{}
	}
	return held.NewStack(list)
}
