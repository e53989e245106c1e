package wire

import "github.com/ptdecode/ptdecode/decoder/event"

// Fill is a decoder's Fill. fast gives events of the packets that are most of any stream, in
// a row, and may give none. next gives one event; it returns false behind the last.
func Fill(q []event.Event, fast func(q []event.Event) int, next func(e *event.Event) bool) int {
	n := 0
	for n < len(q) {
		if n += fast(q[n:]); n == len(q) || !next(&q[n]) {
			break
		}
		n++
	}
	return n
}
