package flow

import (
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestBegan would catch a stamp without a time that is ordered by another segment than its own: where segments are read
// backwards, too.
func TestBegan(t *testing.T) {
	var segs []event.Segment
	for i := range int64(5) {
		segs = append(segs, event.Segment{Off: 100 * i, Time: event.Time{Lo: uint64(1000 * (i + 1))}})
	}
	for range 2 {
		for off := range int64(500) {
			s := Stamp{Off: off}
			if got, want := s.Began(segs), uint64(1000*(off/100+1)); got != want {
				t.Errorf("offset %d, the first segment at %d: %d ns, want %d", off, segs[0].Off, got, want)
			}
		}
		slices.Reverse(segs)
	}
}
