package flow

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestNextBreak would catch a breakpoint ahead that is not found again, or
// found although the trace breaks off before it. It asks nextBreak here and
// there while the flow goes on. The answer must be what going through the
// events gives.
func TestNextBreak(t *testing.T) {
	const handler = 0xffffffff81a00000
	for seed := range uint64(testsize.Of(t, 60, 200)) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		var all events
		for range 12000 {
			e := event.Event{Kind: event.Outcomes, N: 1}
			switch rnd.IntN(1 << (2 + seed%12)) {
			case 0, 1:
				e = event.Event{Kind: event.Async, IP: handler}
			case 2:
				e = event.Event{Kind: event.Async, IP: handler + 64} // an interrupt
			case 3:
				e.Kind = []event.Kind{event.Overflow, event.Trouble}[rnd.IntN(2)]
			}
			e.Off = int64(len(all))
			all = append(all, e)
		}
		src := all
		evs := queue{src: &src}
		look, q := lookout{events: &evs, breaks: []uint64{handler}}, 0
		naive := func(i int) int {
			for j := i; j < min(i+maxLook, len(all)); j++ {
				switch e := &all[j]; {
				case e.Kind == event.Overflow || e.Kind == event.Trouble:
					return -1
				case e.Kind == event.Async && e.IP == handler:
					return j
				}
			}
			return -1
		}
		for q = 0; q < len(all); q += rnd.IntN(8 << (seed % 6)) {
			i := q + rnd.IntN(3)*rnd.IntN(8<<(seed%6))
			switch rnd.IntN(12) {
			case 0: // a flow that is behind
				i = max(evs.base, q-rnd.IntN(400)*rnd.IntN(6))
			case 1: // as far from a breakpoint as is looked
				if at := naive(i); at >= 0 {
					i = max(evs.base, at-maxLook+rnd.IntN(3)-1)
				}
			}
			at, e := look.nextBreak(i)
			if want := naive(i); e == nil && want >= 0 || e != nil && (at != want || e.Off != int64(at)) {
				t.Fatalf("seed %d: from event %d on: found %d (%v), want %d", seed, i, at, e, want)
			}
			if evs.at(q); rnd.IntN(3) == 0 {
				evs.trim(q, queueEvents)
			}
		}
	}
}

// TestNextBreakForgets would catch memory that grows with the trace: what every
// flow has used is not kept, and no more than that is forgotten.
func TestNextBreakForgets(t *testing.T) {
	const gap = 10
	var src events
	for i := range 20000 {
		e := event.Event{Kind: event.Outcomes, N: 1}
		if i%gap == 0 {
			e = event.Event{Kind: event.Async, Flags: event.FlagBreak}
		}
		src = append(src, e)
	}
	evs := queue{src: &src}
	look := lookout{events: &evs}
	for q := range 19000 {
		for _, i := range []int{q, max(evs.base, q-300)} {
			want := (i + gap - 1) / gap * gap
			if at, e := look.nextBreak(i); e == nil || at != want {
				t.Fatalf("from event %d on: found %d, want %d", i, at, want)
			}
		}
		if f := look.found; len(f) > 16 && f[16] < evs.base {
			t.Fatalf("event %d is kept, the queue begins at %d", f[0], evs.base)
		}
		evs.trim(q, queueEvents)
	}
}
