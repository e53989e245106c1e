package decoder

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// lookahead gives batches the stamp that comes next in the stream. So a sink can say before
// which event the last ranges of a batch ran, wherever batches are cut. It keeps a batch until
// that is known.
type lookahead struct {
	kept []*flow.Batch
	to   *outlet // it gathers batches
}

// follows takes b.
func (l *lookahead) follows(b *flow.Batch) error {
	if len(l.kept) > 0 {
		place := lastStamp(l.kept[0]).Off
		for i := range b.Stamps {
			if b.Stamps[i].Off != place {
				if err := l.settle(b.Stamps[i]); err != nil {
					return err
				}
				break
			}
		}
	}
	if len(b.Stamps) == 0 || len(l.kept) > maxKept {
		if err := l.release(); err != nil {
			return err
		}
	}
	if len(b.Stamps) == 0 {
		return l.to.gather(b)
	}
	l.kept = append(l.kept, b)
	return nil
}

// maxKept bounds the batches that are kept where the stream states nothing for long.
const maxKept = 64

// lastStamp returns the newest stamp of b, which has one.
func lastStamp(b *flow.Batch) *flow.Stamp { return &b.Stamps[len(b.Stamps)-1] }

// settle hands on what is kept: s comes next.
func (l *lookahead) settle(s flow.Stamp) error {
	for _, b := range l.kept {
		size := flow.BatchSize(b)
		b.Stamps = append(b.Stamps, s)
		l.to.run.s.held.count(flow.BatchSize(b) - size)
	}
	return l.release()
}

// release hands on what is kept.
func (l *lookahead) release() error {
	for i, b := range l.kept {
		l.kept[i] = nil
		if err := l.to.gather(b); err != nil {
			return err
		}
	}
	l.kept = l.kept[:0]
	return nil
}

// ends hands on what is kept at the end of a segment: the next sync point comes next.
func (l *lookahead) ends(seg *event.Segment) error {
	if len(l.kept) == 0 {
		return nil
	}
	t := event.Time{Lo: lastStamp(l.kept[0]).Time.Lo, Hi: seg.Time.Hi}
	return l.settle(flow.Stamp{Off: seg.End, Time: t})
}
