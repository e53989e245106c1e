package packettest

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Decoder gives the events of a segment one by one.
type Decoder interface {
	// Next gives one event; it returns false behind the last.
	Next(e *event.Event) bool
	// Reset begins another segment.
	Reset(seg event.Segment)
}

// Resets fails the test where d, after Reset, gives other events of seg than fresh,
// which a new decoder gives.
func Resets(tb testing.TB, d Decoder, seg event.Segment, fresh []event.Event) {
	tb.Helper()
	d.Reset(seg)
	var e event.Event
	for i := range fresh {
		if !d.Next(&e) || e != fresh[i] {
			tb.Fatalf("after Reset, event %d: %+v, want %+v", i, e, fresh[i])
		}
	}
	if d.Next(&e) {
		tb.Fatalf("after Reset, one more: %+v", e)
	}
}

// AllocatesNothing fails the test where d allocates for the segments.
func AllocatesNothing(tb testing.TB, d Decoder, segs ...event.Segment) {
	tb.Helper()
	var e event.Event
	if n := testing.AllocsPerRun(3, func() {
		for _, s := range segs {
			for d.Reset(s); d.Next(&e); {
			}
		}
	}); n != 0 {
		tb.Errorf("%v allocations", n)
	}
}

// SyncPoints returns the sync points of a stream of size bytes, in order, that points gives
// of one piece after the other, from the last to the first.
func (x *Packets[P, PP]) SyncPoints(points interface {
	Next(from, to int64) (event.SyncPoint, bool)
}, size, piece int64) (list []event.SyncPoint) {
	for from := size / piece * piece; from >= 0; from -= piece {
		var part []event.SyncPoint
		for s, ok := points.Next(from, from+piece); ok; s, ok = points.Next(s.Off+1, from+piece) {
			part = append(part, s)
		}
		list = append(part, list...)
	}
	return list
}
