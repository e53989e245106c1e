package kcore

import (
	"bytes"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// LearnedOver reports whether l may have been learned over t, which is of images and records alone.
// A file of what was learned does not name its recording. What l says lay there must lie there at
// some moment; where it says nothing, its address must lie in an image.
func (t *Text) LearnedOver(l *Learned) bool {
	if l.Had == nil {
		for _, r := range t.img.Ranges() {
			if l.Addr-r.Addr < r.Len {
				return true
			}
		}
		return false
	}
	have := make([]byte, len(l.Had))
	var span event.Span
	for e := event.Epoch(0); e <= event.Epoch(t.Len()); e = span.Until {
		var n int
		n, span = t.Fetch(have, l.Addr, e)
		if n == len(have) && bytes.Equal(have, l.Had) {
			return true
		}
	}
	return false
}
