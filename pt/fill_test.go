package pt

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// sameFilled compares what Fill gives for a segment, n events at a time, with
// what Next gives.
func sameFilled(t *testing.T, c Config, seg event.Segment, n int) {
	t.Helper()
	a, b := NewDecoder(c, seg), NewDecoder(c, seg)
	q := make([]event.Event, n)
	for i := 0; ; {
		for k := range q {
			q[k] = event.Event{Kind: 99, Value: 1, Value2: 2, Mode: 3, Reason: 4, From: 5} // what Fill must write over
		}
		got := a.Fill(q)
		for _, e := range q[:got] {
			var want event.Event
			if !b.Next(&want) || e != want {
				t.Fatalf("event %d, %d at a time: got %+v, want %+v", i, n, e, want)
			}
			i++
		}
		if got < n {
			break
		}
	}
	var e event.Event
	if b.Next(&e) {
		t.Fatalf("Fill, %d at a time, ends before %+v", n, e)
	}
}

// TestFillIsNext would catch a packet that Fill reads otherwise than Next, in
// sound traces with every kind of timing, in traces with bytes changed, and in
// real ones.
func TestFillIsNext(t *testing.T) {
	seeds := uint64(testsize.Of(t, 40, 200))
	for seed := range seeds {
		g := trace(seed, 1000)
		c := g.c
		r := rand.New(rand.NewPCG(seed, 2))
		for range 3 {
			segs, _ := Segments(g.buf, 0, c)
			for _, ahead := range []bool{false, true} {
				c.Ahead = ahead
				for _, s := range segs {
					sameFilled(t, c, s, 1+r.IntN(100))
				}
			}
			for range 20 {
				g.buf[32+r.IntN(len(g.buf)-32)] = byte(r.Uint32())
			}
		}
	}
}

// TestFillRecordings would catch the same in what real processors send.
func TestFillRecordings(t *testing.T) {
	eachRecorded(t, func(_ string, buf []byte) {
		segs, _ := Segments(buf, 0, realConfig())
		for _, s := range segs {
			sameFilled(t, realConfig(), s, 256)
		}
	})
}
