// Package condense takes out of flow what a sink asks only the sum of, before the flow of all
// streams is merged. Each worker does so, while the flow is in its core's cache. The sink says
// what to take out (Sink.Condenser).
package condense

import (
	"sync"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// Sink is a sink that asks only the sum of much of the flow, and can begin anew (decoder.Restarter).
type Sink interface {
	flow.Sink
	Restart() bool // forgets all
	// Condenser returns what appends to out what is left of b, a stretch of one stream. With b nil, out
	// is handed on, and the next stretch is of any stream. It is called by one goroutine at a time, and
	// not by the one that Flow is. nil: all of the flow is wanted.
	Condenser() func(out, b *flow.Batch)
}

// Pool is the condensers of a run that wait for a job.
type Pool struct {
	mu    sync.Mutex
	from  Sink // nil: nothing is condensed
	idle  []*Condenser
	spare sync.Pool // of *flow.Batch
}

// Condenser condenses the flow of one job after the other. nil condenses nothing.
type Condenser struct {
	*Pool
	take func(out, b *flow.Batch)
	out  *flow.Batch // what is left; nil: nothing yet
}

// Begin has p condense flow for sink, if that asks for it.
func (p *Pool) Begin(sink flow.Sink) {
	if from, ok := sink.(Sink); ok {
		if take := from.Condenser(); take != nil {
			p.from, p.idle = from, []*Condenser{{Pool: p, take: take}}
		}
	}
}

// Condenses reports whether anything is condensed.
func (p *Pool) Condenses() bool { return p.from != nil }

// Lease returns a condenser, nil where nothing is condensed.
func (p *Pool) Lease() *Condenser {
	if p.from == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c
	}
	return &Condenser{Pool: p, take: p.from.Condenser()}
}

// Return has c wait, whose job is over.
func (p *Pool) Return(c *Condenser) {
	if c != nil && c.out == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.idle = append(p.idle, c)
	}
}

// Recycle takes a batch that was condensed and delivered, for its memory. It returns false where
// nothing is condensed.
func (p *Pool) Recycle(b *flow.Batch) bool {
	if p.from != nil {
		p.spare.Put(b)
	}
	return p.from != nil
}

// Take takes b, of which nothing is needed any more. It returns what is left of this and of what came
// before, if that is most bytes or more, else nil.
func (c *Condenser) Take(b *flow.Batch, most int64) *flow.Batch {
	if c.out == nil {
		if c.out, _ = c.spare.Get().(*flow.Batch); c.out == nil {
			c.out = roomFor(most)
		}
	}
	if c.take(c.out, b); flow.BatchFilled(c.out) < most {
		return nil
	}
	return c.rest()
}

// roomFor returns an empty batch with room for about so many bytes. Of a kernel's flow ranges take an eighth, stamps and
// notes three eighths each. A batch that grows from nothing touches twice the memory.
func roomFor(most int64) *flow.Batch {
	size := func(b flow.Batch) int64 { return flow.BatchFilled(&b) }
	return &flow.Batch{
		Ranges: make([]flow.Range, 0, most/8/size(flow.Batch{Ranges: make([]flow.Range, 1)})),
		Stamps: make([]flow.Stamp, 0, most*3/8/size(flow.Batch{Stamps: make([]flow.Stamp, 1)})),
		Notes:  make([]flow.Note, 0, most*3/8/size(flow.Batch{Notes: make([]flow.Note, 1)})),
	}
}

// rest returns what is left, nil where nothing came.
func (c *Condenser) rest() (x *flow.Batch) {
	if x = c.out; x != nil {
		c.take(x, nil)
		c.out = nil
	}
	return x
}

// Ends takes the end of a segment, the last one of its job or not. It returns what is to be handed on
// before that end, and whether c has the end for what is to come.
func (c *Condenser) Ends(seg *event.Segment, last bool) (x *flow.Batch, has bool) {
	if c == nil || c.out == nil {
		return nil, false
	}
	if n := len(c.out.Stamps); n > 0 && !last {
		end := event.Time{Lo: c.out.Stamps[n-1].Time.Lo, Hi: seg.Time.Hi}
		c.out.Stamps = append(c.out.Stamps, flow.Stamp{Off: seg.End, Time: end})
		return nil, true
	}
	return c.rest(), false
}
