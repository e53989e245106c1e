package flow

import "github.com/ptdecode/ptdecode/decoder/event"

// Began returns when range r of b ran, ns, as Stamp.Began does.
func (b *Batch) Began(r int, segs []event.Segment) uint64 {
	return b.Stamps[b.Ranges[r].Stamp].Began(segs)
}

// CountsUp reports whether the times of b's stamps count up.
func (b *Batch) CountsUp(segs []event.Segment) bool {
	last := uint64(0)
	for i := range b.Stamps {
		lo := b.Stamps[i].Began(segs)
		if lo < last {
			return false
		}
		last = lo
	}
	return true
}

// NoteBegan returns when note i of b lies, ns, as far as it says so: no later than
// the range that it lies before. A payload is read ahead of the flow; behind the
// last range, it says nothing.
func (b *Batch) NoteBegan(i int, segs []event.Segment) uint64 {
	n := &b.Notes[i]
	t := n.Event.Time.Lo
	switch n.Kind {
	case NoteGap:
		t = n.Gap.Time.Lo
	case NoteCut:
		t = 0
	case NoteEvent:
		if n.Event.Kind != event.Async && n.At >= len(b.Ranges) {
			t = 0
		}
	}
	if n.At < len(b.Ranges) {
		t = min(t, b.Began(n.At, segs))
	}
	return t
}
