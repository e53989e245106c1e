package ptm_test

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// The bytes of a trace unit become events: three outcomes of waypoints, and a branch
// that was taken.
func Example() {
	trace := []byte("\x00\x00\x00\x00\x00\x80" + "\x08\x00\x10\x00\x00\x21" + "\x90" + "\x11") // A-sync, I-sync, Atom, Branch
	d := ptm.NewDecoder(ptm.Config{Trace: coresight.Config{Protocol: coresight.PTM}},
		event.Segment{Buf: trace, End: int64(len(trace)), Last: true, Starts: true})
	for e := (event.Event{}); d.Next(&e); {
		fmt.Printf("%v ip %#x, %d outcomes\n", e.Kind, e.IP, e.N)
	}
	// Output:
	// sync ip 0x0, 0 outcomes
	// off ip 0x0, 0 outcomes
	// off ip 0x0, 0 outcomes
	// context ip 0x0, 0 outcomes
	// enable ip 0x1000, 0 outcomes
	// outcomes ip 0x0, 4 outcomes
	// target ip 0x1020, 0 outcomes
	// end ip 0x0, 0 outcomes
}
