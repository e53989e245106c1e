package flow

import "github.com/ptdecode/ptdecode/decoder/event"

// Extent returns when the first and the latest thing in b may have begun, ns. b is of a job of
// segs. The times are those that cutting it at each stamp and note finds. ok is false where
// only that tells.
// Ranges are in the order of their stamps. So the latest stamp is the last range's where none
// began before the one in front of it.
func Extent(b *Batch, segs []event.Segment) (first, last uint64, ok bool) {
	if n := len(b.Ranges); n > 0 {
		from, until := b.Ranges[0].Stamp, b.Ranges[n-1].Stamp
		if until < from {
			return 0, 0, false
		}
		first = b.Stamps[from].Began(segs)
		last = first
		for i := from + 1; i <= until; i++ {
			at := b.Stamps[i].Began(segs)
			if at < last {
				return 0, 0, false
			}
			last = at
		}
	}
	for i := range b.Notes {
		n := &b.Notes[i]
		t := NoteTime(b, segs, n).Lo
		if i == 0 && (n.At == 0 || len(b.Ranges) == 0) {
			first = t
		}
		last = max(last, t)
	}
	return first, last, true
}

// NoteTime returns when note n of b, of a job of segs, lies, as far as it says so: no later than
// the range that it lies before. A payload is read ahead of the flow; behind the
// last range, it says nothing.
func NoteTime(b *Batch, segs []event.Segment, n *Note) event.Time {
	t := n.Event.Time
	switch n.Kind {
	case NoteGap:
		t = n.Gap.Time
	case NoteCut:
		t = event.Time{}
	case NoteEvent:
		if n.Event.Kind != event.Async && n.At >= len(b.Ranges) {
			t = event.Time{}
		}
	}
	if n.At < len(b.Ranges) {
		t.Lo = min(t.Lo, b.Stamps[b.Ranges[n.At].Stamp].Began(segs))
	}
	return t
}
