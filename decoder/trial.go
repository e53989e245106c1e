package decoder

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
)

// beyondBytes is about how much trace lies behind a visit that a trial reads, bytes.
const beyondBytes = 1 << 10

// try decodes the segment of v with ideas over c (learn.Try). Where too much was tried,
// no idea holds any more.
func (s learner) try(c *code, v *learn.Visit, over []learn.Idea) learn.Outcome {
	t := &trials.Trial{V: v, Switches: s.source(c).Switch()}
	st := s.streams[v.Stream]
	seg, ok := st.Before(v.Off + 1)
	if !ok || s.learned.room < 0 {
		return t.Out
	}
	s.learned.room -= min(seg.End, v.Off+beyondBytes) - seg.Off
	x := &code{journal: c.journal, text: c.text, trial: &trials.Overlay{Text: c.text, Ideas: over}, caches: s.learned.caches, confirmed: t.Confirmed}
	defer s.learned.blocks.Lay(learn.Over(over).Overlap)()
	f := newFollower(s.Session, x, st)
	f.tell = t.Contradicted
	if err := f.segment(&job{stream: st, segs: []event.Segment{seg}, bounds: true}, 0, t); err == nil {
		t.Ended()
	}
	return t.Out
}
