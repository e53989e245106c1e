package itm_test

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/itm"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Packets, written in their text form, become bytes. These become packets again, and
// the packets events.
func Example() {
	trace, err := itm.Assemble(nil, "sync\nswit 1 4 0xcafe\nlts2 3\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	for p := range itm.NewLexer(trace, 0).All() {
		fmt.Printf("+%d %v\n", p.Off, p)
	}
	segment := event.Segment{Buf: trace, End: int64(len(trace)), Last: true}
	d := itm.NewDecoder(coresight.Config{}, segment)
	for e := (event.Event{}); d.Next(&e); {
		fmt.Println(e.Kind, e.Detail, e.Value)
	}
	// Output:
	// +0 SYNC
	// +6 SWIT 1 4 0xcafe
	// +11 LTS2 3
	// off no-sync 0
	// payload software 51966
	// payload local-timestamp 3
	// end  0
}
