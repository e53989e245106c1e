package flow

import "github.com/ptdecode/ptdecode/decoder/event"

// Lookahead gives batches the stamp that comes next in the stream. So a sink can say before
// which event the last ranges of a batch ran, wherever batches are cut. It keeps a batch until
// that is known.
type Lookahead struct {
	To   func(*Batch) error // gathers batches
	Held func(bytes int64)  // is told of what batches take more

	kept []*Batch
}

// Follows takes b.
func (l *Lookahead) Follows(b *Batch) error {
	if len(l.kept) > 0 {
		place := lastStamp(l.kept[0]).Off
		for i := range b.Stamps {
			if b.Stamps[i].Off != place {
				if err := l.comesNext(b.Stamps[i]); err != nil {
					return err
				}
				break
			}
		}
	}
	if len(b.Stamps) == 0 || len(l.kept) > maxKept {
		if err := l.handsOn(); err != nil {
			return err
		}
	}
	if len(b.Stamps) == 0 {
		return l.To(b)
	}
	l.kept = append(l.kept, b)
	return nil
}

// maxKept bounds the batches that are kept where the stream states nothing for long.
const maxKept = 64

// lastStamp returns the newest stamp of b, which has one.
func lastStamp(b *Batch) *Stamp { return &b.Stamps[len(b.Stamps)-1] }

// comesNext hands on what is kept: s comes next.
func (l *Lookahead) comesNext(s Stamp) error {
	for _, b := range l.kept {
		size := BatchSize(b)
		b.Stamps = append(b.Stamps, s)
		l.Held(BatchSize(b) - size)
	}
	return l.handsOn()
}

// handsOn hands on what is kept.
func (l *Lookahead) handsOn() error {
	for i, b := range l.kept {
		l.kept[i] = nil
		if err := l.To(b); err != nil {
			return err
		}
	}
	l.kept = l.kept[:0]
	return nil
}

// SegmentEnds hands on what is kept at the end of a segment: the next sync point comes next.
func (l *Lookahead) SegmentEnds(seg *event.Segment) error {
	if len(l.kept) == 0 {
		return nil
	}
	t := event.Time{Lo: lastStamp(l.kept[0]).Time.Lo, Hi: seg.Time.Hi}
	return l.comesNext(Stamp{Off: seg.End, Time: t})
}
