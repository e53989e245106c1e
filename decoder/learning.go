package decoder

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
)

// errContradicted ends a run at the first contradiction that it would deliver.
var errContradicted = errors.New("decoder: trace and code contradict each other")

// Restarter is a Sink that can begin anew. Where Session.Flow has learned of other code on
// the way (Config.NoLearn), it calls Restart, and then gives the sink all of the flow with
// that code. Where Restart returns false, the sink keeps what it was given so far, and the
// flow goes on from there.
type Restarter interface {
	Sink
	// Restart makes the sink forget what it was given. It returns false where it cannot,
	// since it has handed that on.
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
	condensed := r.condense.Condenses()
	if again, ok := sink.(Restarter); !changed && !condensed || !ok || !again.Restart() {
		if condensed { // what was taken out of the flow says not where to go on
			return errors.New("decoder: a sink of condensed flow does not begin anew")
		}
		next.goOn(r)
	}
	if r.told != nil && !r.q.Bounds && !r.q.Reverse && !next.code.rough {
		next.asks = trials.Ask(r.told, next.code.learned)
	}
	r.told = nil
	next.running = cmp.Or(r.running, next.running)
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
			ln.next.reached = was.reached
		}
		ln.taken, ln.reached, ln.key, ln.given = ln.done, was.reached, was.given, was.given
	}
}

// clear returns up to where r delivered each stream without a contradiction, bytes, from its start on; nil: that is not known.
func (r *run) clear() map[int]int64 {
	ends, q := map[int]int64{}, &r.q
	for _, ln := range r.lanes {
		ends[ln.st.Index] = math.MaxInt64
		for _, j := range append(ln.jobs, ln.next)[:1] {
			if j != nil {
				ends[ln.st.Index] = j.begin()
			}
		}
	}
	if q.Reverse || q.Bounds || q.From|q.Until > 0 || q.FromOff|q.UntilOff > 0 {
		return nil
	}
	return ends
}

// look takes the contradictions of p.
func (r *run) look(p *portion) error {
	if r.gather != nil {
		for i := range p.visits {
			if err := r.gather(&p.visits[i]); err != nil {
				return err
			}
		}
	}
	if r.learns && len(p.visits) > 0 {
		r.doubt = p.visits[:1] // how many more came with it hangs on how flow is cut into parts
		return errContradicted
	}
	return nil
}
