package ptm_test

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Packets, written in their text form, become bytes. These become packets again, and
// the packets events.
func Example() {
	trace, err := ptm.Assemble(nil, "async 5\nisync 0x1000 0x21\natom een\nbranch 1: 0x10\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	c := ptm.Config{Trace: coresight.Config{Protocol: coresight.PTM}}
	for p := range ptm.NewLexer(c.Format(), trace, 0).All() {
		fmt.Printf("+%d %v\n", p.Off, p)
	}
	segment := event.Segment{Buf: trace, End: int64(len(trace)), Last: true, Starts: true}
	d := ptm.NewDecoder(c, segment)
	for e := (event.Event{}); d.Next(&e); {
		fmt.Printf("%v ip %#x, %d outcomes\n", e.Kind, e.IP, e.N)
	}
	// Output:
	// +0 A-sync 5
	// +6 I-sync 0x1000 0x21 (on)
	// +12 Atom een
	// +13 Branch address 1: 0x10
	// sync ip 0x0, 0 outcomes
	// off ip 0x0, 0 outcomes
	// off ip 0x0, 0 outcomes
	// context ip 0x0, 0 outcomes
	// enable ip 0x1000, 0 outcomes
	// outcomes ip 0x0, 4 outcomes
	// target ip 0x1020, 0 outcomes
	// end ip 0x0, 0 outcomes
}
