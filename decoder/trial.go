package decoder

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/boot"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
)

// trial decodes the segment of a visit with ideas laid over the code.
type trial struct {
	v    *learn.Visit
	out  learn.Outcome
	over bool // no more is wanted
	err  error

	switches uint64 // where the kernel goes on with another task; 0: no one knows
}

// beyondBytes is about how much trace lies behind a visit that a trial reads, bytes.
const beyondBytes = 1 << 10

// try decodes the segment of v with ideas over c (learn.Try). Where too much was tried,
// no idea holds any more.
func (s learner) try(c *code, v *learn.Visit, over []learn.Idea) learn.Outcome {
	t := &trial{v: v, switches: s.source(c).Switch()}
	st := s.streams[v.Stream]
	seg, ok := st.Before(v.Off + 1)
	if !ok || s.learned.room < 0 {
		return t.out
	}
	s.learned.room -= min(seg.End, v.Off+beyondBytes) - seg.Off
	x := &code{journal: c.journal, text: c.text, trial: &boot.Overlay{Text: c.text, Ideas: over}, caches: s.learned.blocks, confirmed: t.confirmed}
	defer lay(x.caches, learn.Over(over).Overlap)()
	f := newFollower(s.Session, x, st)
	f.tell = t.contradicted
	if err := f.segment(&job{stream: st, segs: []event.Segment{seg}, bounds: true}, 0, t); err == nil && !t.over {
		t.out.Ended, t.out.Open = true, max(0, t.out.Open-t.out.Beyond)
	}
	return t.out
}

// confirmed counts what lies behind the visit.
func (t *trial) confirmed(rs []flow.Range, stamps []flow.Stamp) error {
	if t.over {
		return errWhole
	}
	for i := range rs {
		if t.out.Full() {
			break // how much more is told at once hangs on where batches end
		}
		r := &rs[i]
		off := stamps[r.Stamp].Off
		t.out.Follow(t.v, off, r.Block.Addr, r.Block.Lens[:r.N])
		if r.Block.Addr == t.switches {
			t.out.Calls.Switch()
		} else if r.N == r.Block.N {
			t.out.Calls.Block(r.Block.Addr, r.Block.End, r.Block.Target, r.Block.Class)
		}
	}
	return t.endIf(t.out.Full())
}

// endIf ends the trial where enough is known.
func (t *trial) endIf(enough bool) error {
	if t.over = t.over || enough; t.over {
		return errWhole
	}
	return nil
}

// contradicted ends the trial where the trace contradicts again.
func (t *trial) contradicted(x *flow.Contradiction) error {
	if x.Gap.Off < t.v.Begin || !x.Gap.Reason.Contradicts() || t.over {
		return t.endIf(false)
	}
	t.out.Until = x.Gap.Time.Hi
	return t.endIf(true)
}

// Flow counts what of b lies behind the visit (flow.Sink). It ends the walk where no more
// is wanted.
func (t *trial) Flow(b *flow.Batch) error {
	if t.over {
		return errWhole
	}
	for i := range b.Ranges {
		if r := &b.Ranges[i]; b.Stamps[r.Stamp].Off > t.v.Off {
			t.out.Open += int(r.N)
		}
	}
	return nil
}
