package decoder

import (
	"maps"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
)

// trialBytes is how much trace a trial counts as besides what it decodes, bytes: it begins anew.
const trialBytes = 1 << 7

// mostLead is how much trace an approach has at most, bytes. An event of about a byte takes 100.
const mostLead = 1 << 16

// tryout is who tries ideas in a stream: one after the other.
type tryout struct {
	*follower
	over  *trials.Overlay // what the follower reads
	trial *trials.Trial   // under way
}

// tryout returns that of st, which reads c.
func (s learner) tryout(c *code, st *stream.Stream) *tryout {
	k := s.learned.tryouts[st.Index]
	if k == nil {
		k = &tryout{over: &trials.Overlay{Text: c.text}}
		x := &code{journal: c.journal, text: c.text, trial: k.over, caches: s.learned.caches, watched: true}
		x.confirmed = func(rs []flow.Range, stamps []flow.Stamp) error { return k.trial.Confirmed(rs, stamps) }
		k.follower = newFollower(s.Session, x, st)
		k.tell = func(x *flow.Contradiction) error { return k.trial.Contradicted(x) }
		s.learned.tryouts[st.Index] = k
	}
	return k
}

// try decodes the segment of v with ideas over c (learn.Try), from where trials before it may have
// come to. Where too much was tried, no idea holds any more.
func (s learner) try(c *code, v *learn.Visit, over []learn.Idea) learn.Outcome {
	t := &trials.Trial{V: v, Switches: s.learned.switches}
	st := s.streams[v.Stream]
	seg, ok := st.Before(v.Off + 1)
	if t.Out.Untried = ok && s.learned.room < 0; t.Out.Untried || !ok {
		return t.Out
	}
	t.Out = t.Out.Use(s.learned.scratch)
	defer s.learned.blocks.Lay(learn.Over(over))()
	f := s.tryout(c, st)
	f.over.Ideas, f.trial = over, t
	f.walker.Renew()
	f.watch.Clear()
	j := &job{stream: st, segs: []event.Segment{seg}, bounds: true}
	f.place(j, 0)
	from, err := seg.Off, error(nil)
	if v.Off-seg.Off > mostLead {
		done := f.fetch(j)
		f.marks = flow.Marks{}
		err = f.walker.Run(f.begin(), f.watch.Sink(t))
		done()
	} else {
		a := s.learned.approaches.To(v, func() (flow.Source, func()) {
			g := &follower{s: s.Session, st: st, seg: f.seg, near: f.near} // its bytes and its decoder stay
			done := g.fetch(j)
			return g.begin(), done
		})
		from, err = f.approaches(a, t, over)
	}
	if err == nil {
		t.Ended()
	}
	read := max(0, f.walker.At()-from)
	s.learned.room -= read + trialBytes
	s.decoded.Add(read)
	s.learned.scratch = t.Out.Lend()
	return t.Out
}

// approaches walks the segment for t, with ideas laid over the code, from the last footing of a on at which t would be, too.
// It returns from which offset on.
func (f *follower) approaches(a *trials.Approach, t *trials.Trial, over []learn.Idea) (from int64, err error) {
	begin, to := a.Begin(over), f.watch.Sink(t)
	if begin == nil {
		f.marks = *a.Marks(t, over, f.seg.Off, f.seen)
		return f.seg.Off, f.walker.Run(a.From(0), to)
	}
	t.Resume(begin)
	maps.Copy(f.seen, begin.Seen)
	f.watch.Reads = begin.Reads
	f.marks = *a.Marks(t, over, begin.Off, f.seen)
	return begin.Off, f.walker.Resume(begin.Mark, a.From(begin.Next), to)
}
