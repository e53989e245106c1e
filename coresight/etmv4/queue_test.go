package etmv4

import (
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestQueueIsBounded would catch a queue that keeps events that were handed out:
// in these streams an event waits at every moment, so that the queue is never
// empty. It counts places in the queue.
func TestQueueIsBounded(t *testing.T) {
	for name, packets := range map[string]string{
		"contexts":   "context 1 sf;context 2 sf",
		"trace ons":  "on",
		"exceptions": "exception 14 e0;addr.64 0x2000;addr.64 0x8000;context 1 sf",
		"payloads":   "eret;timestamp 1: 0x5",
		"addresses":  "addr.64 0x2000;on;addr.64 0x3000;context 1 sf",
	} {
		c := Config{Trace: testUnit("etmv4.0")}
		front, err := Assemble(c.Trace, nil, "async\ninfo 0x0\n"+strings.ReplaceAll(front64+"atom.f1 e", ";", "\n"))
		if err != nil {
			t.Fatal(err)
		}
		one, err := Assemble(c.Trace, nil, strings.ReplaceAll(packets, ";", "\n"))
		if err != nil {
			t.Fatal(err)
		}
		buf := front
		for len(buf) < 1<<18 {
			buf = append(buf, one...)
		}
		d := NewDecoder(c, event.Segment{Buf: buf, End: int64(len(buf)), Last: true, Starts: true})
		most, n := 0, 0
		for e := (event.Event{}); d.Next(&e); n++ {
			most = max(most, len(d.out.queue))
		}
		if limit := 2*maxHeld + 2*shrinkFrom; most > limit || n < len(buf)/16 {
			t.Errorf("%s: %d events of %d bytes, up to %d in the queue, want %d at the most", name, n, len(buf), most, limit)
		}
	}
}
