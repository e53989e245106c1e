package decoder

import (
	"maps"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
)

// trialBytes is how much trace a trial counts as besides what it decodes, bytes: it takes a walker of its own.
const trialBytes = 1 << 7

// mostLead is how much trace an approach has at most, bytes. An event of about a byte takes 100.
const mostLead = 1 << 16

// try decodes the segment of v with ideas over c (learn.Try), from where trials before it may have
// come to. Where too much was tried, no idea holds any more.
func (s learner) try(c *code, v *learn.Visit, over []learn.Idea) learn.Outcome {
	t := &trials.Trial{V: v, Switches: s.learned.switches}
	st := s.streams[v.Stream]
	seg, ok := st.Before(v.Off + 1)
	if !ok || s.learned.room < 0 {
		return t.Out
	}
	x := &code{journal: c.journal, text: c.text, trial: &trials.Overlay{Text: c.text, Ideas: over}, caches: s.learned.caches, confirmed: t.Confirmed, watched: true}
	defer s.learned.blocks.Lay(learn.Over(over).Overlap)()
	f := newFollower(s.Session, x, st)
	f.tell = t.Contradicted
	j := &job{stream: st, segs: []event.Segment{seg}, bounds: true}
	f.place(j, 0)
	from, err := seg.Off, error(nil)
	if v.Off-seg.Off > mostLead {
		done := f.fetch(j)
		err = f.walker.Run(f.begin(), f.watch.Sink(t))
		done()
	} else {
		a := s.learned.approaches.To(v, func() (flow.Source, func()) { done := f.fetch(j); return f.begin(), done })
		from, err = f.approaches(a, t, over)
	}
	if err == nil {
		t.Ended()
	}
	read := max(0, f.walker.At()-from)
	s.learned.room -= read + trialBytes
	s.decoded.Add(read)
	f.walker.Release()
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
