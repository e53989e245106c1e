package etmv3_test

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Packets, written in their text form, become bytes. These become packets again, and
// the packets events.
func Example() {
	trace, err := etmv3.Assemble(nil, "async 5\nisync 0x1000 0x21\npheader 1 een\nbranch 1: 0x10\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	c := etmv3.Config{Trace: coresight.Config{Protocol: coresight.ETMv3}}
	for p := range etmv3.NewLexer(c.Format(), trace, 0).All() {
		fmt.Printf("+%d %v\n", p.Off, p)
	}
	segment := event.Segment{Buf: trace, End: int64(len(trace)), Last: true, Starts: true}
	d := etmv3.NewDecoder(c, segment)
	for e := (event.Event{}); d.Next(&e); {
		fmt.Printf("%v ip %#x, %d outcomes\n", e.Kind, e.IP, e.N)
	}
	// Output:
	// +0 A-sync 5
	// +6 I-sync 0x1000 0x21 (on)
	// +12 P-header 1 een
	// +13 Branch address 1: 0x10
	// sync ip 0x0, 0 outcomes
	// off ip 0x0, 0 outcomes
	// off ip 0x0, 0 outcomes
	// context ip 0x0, 0 outcomes
	// enable ip 0x1000, 0 outcomes
	// outcomes ip 0x0, 3 outcomes
	// target ip 0x1020, 0 outcomes
	// end ip 0x0, 0 outcomes
}
