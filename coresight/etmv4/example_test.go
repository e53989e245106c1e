package etmv4_test

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Packets, written in their text form, become bytes. These become packets again, and
// the packets events.
func Example() {
	unit := coresight.Config{Protocol: coresight.ETE, Arch: coresight.Arch{Major: 8, Profile: 'A', AA64: true}}
	trace, err := etmv4.Assemble(unit, nil, "async\ninfo 0x0\non\naddrctxt.64 0x1000 1 sf ns\natom.f3 een\naddr.64 0x2000\natom.f1 e\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	for p := range etmv4.NewLexer(unit, trace, 0).All() {
		fmt.Printf("+%d %v\n", p.Off, p)
	}
	segment := event.Segment{Buf: trace, End: int64(len(trace)), Last: true, Starts: true}
	d := etmv4.NewDecoder(etmv4.Config{Trace: unit}, segment)
	for e := (event.Event{}); d.Next(&e); {
		fmt.Printf("%v ip %#x, %d outcomes\n", e.Kind, e.IP, e.N)
	}
	// Output:
	// +0 A-Sync
	// +12 Trace Info 0x0
	// +14 Trace On
	// +15 Target Address with Context, 64-bit 0x1000 1 sf ns
	// +25 Atom format 3 een
	// +26 Target Address 64-bit 0x2000
	// +35 Atom format 1 e
	// sync ip 0x0, 0 outcomes
	// off ip 0x0, 0 outcomes
	// off ip 0x0, 0 outcomes
	// context ip 0x0, 0 outcomes
	// enable ip 0x1000, 0 outcomes
	// outcomes ip 0x0, 3 outcomes
	// target ip 0x2000, 0 outcomes
	// outcomes ip 0x0, 1 outcomes
	// end ip 0x0, 0 outcomes
}
