package stm_test

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/stm"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Packets, written in their text form, become bytes. These become packets again, and
// the packets events.
func Example() {
	trace, err := stm.Assemble(nil, "async\nversion 3\nm8 1\nc8 2\nd32 0xcafe\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	for p := range stm.NewLexer(trace, 0).All() {
		fmt.Printf("+%d %v\n", p.Off, p)
	}
	segment := event.Segment{Buf: trace, End: int64(len(trace)), Last: true}
	d := stm.NewDecoder(coresight.Config{}, segment)
	for e := (event.Event{}); d.Next(&e); {
		fmt.Println(e.Kind, e.Detail, e.Value)
	}
	// Output:
	// +0 ASYNC
	// +11 VERSION 3
	// +13 M8 0x1
	// +14 C8 0x2
	// +16 D32 0xcafe
	// +20 NULL
	// off no-sync 0
	// payload stp-sync 3
	// payload software 51966
	// end  0
}
