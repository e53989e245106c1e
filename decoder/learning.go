package decoder

import (
	"context"
	"errors"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
)

// errContradicted ends a run at the first contradiction that it would deliver.
var errContradicted = errors.New("decoder: trace and code contradict each other")

// Restarter is a Sink that can begin anew. Where code was learned, Flow asks it to, and
// then gives it all of the flow with that code. Restart returns false where the sink has
// handed on what it was given. Then what it had stays, and the flow goes on.
type Restarter interface {
	Sink
	// Restart has the sink forget what it was given. It returns false where it cannot.
	Restart() bool
}

// learning is flow, with what is learned on the way.
func (r *run) learning(ctx context.Context, sink flow.Sink) error {
	s := learner{r.s}
	r.learns = s.mayLearn() && r.q.Shards == 0 && !r.q.NoLearn
	err := r.flow(ctx, sink)
	if err != errContradicted {
		return err
	}
	changed, err := s.learn(ctx, r)
	if err != nil {
		return err
	}
	next := s.newRun(r.q)
	if again, ok := sink.(Restarter); !changed || !ok || !again.Restart() {
		next.goOn(r)
	}
	return next.flow(ctx, sink)
}

// goOn leaves out what r delivered.
func (r *run) goOn(before *run) {
	for i, ln := range r.lanes {
		was := before.lanes[i]
		for ; ln.done < was.done && ln.next != nil; ln.done++ {
			r.progress.done += ln.next.bytes()
			ln.next = ln.plan.next()
		}
		if ln.next != nil {
			ln.next.skip = was.items
		}
		ln.items, ln.key, ln.given = was.items, was.given, was.given
	}
}

// look takes the contradictions of p.
func (r *run) look(p *portion) error {
	if r.gather != nil {
		for i := range p.visits {
			r.gather(&p.visits[i])
		}
	}
	if r.learns && len(p.visits) > 0 {
		r.doubt = p.visits
		return errContradicted
	}
	return nil
}

// maxPath is how many instructions before a contradiction are looked at.
const maxPath = 1024

// visit is x as a place to learn from. ok is false where it says nothing of the kernel's
// code, or follows from another.
func (s learner) visit(x *flow.Contradiction) (v learn.Visit, ok bool) {
	g := &x.Gap
	if !s.Kernel(g.IP) || !g.Reason.Contradicts() {
		return v, false
	}
	v = learn.Visit{Stream: g.Stream, Off: g.Off, Begin: g.Off, IP: g.IP, Time: g.Time, Unread: g.Reason == event.NoText}
	for i := len(x.Stretch) - 1; i >= 0; i-- {
		d := &x.Stretch[i]
		for k := len(d.Ranges) - 1; k >= 0; k-- {
			r := &d.Ranges[k]
			switch {
			case r.Verdict == flow.Ambiguous:
				return v, false // the flow was a guess: what contradicts it may lie before
			case r.Block.Space != 0:
				return v, len(v.Path) > 0
			}
			v.Begin = min(v.Begin, d.Stamps[r.Stamp].Off)
			v.Path = appendBack(v.Path, r)
			if len(v.Path) >= maxPath {
				return v, true
			}
		}
	}
	return v, true
}

// appendBack appends the addresses of r's instructions, the last one first.
func appendBack(list []uint64, r *flow.Range) []uint64 {
	a := r.End()
	for i := int(r.N) - 1; i >= 0; i-- {
		a -= uint64(r.Block.Lens[i])
		list = append(list, a)
	}
	return list
}
