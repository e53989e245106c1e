package pt_test

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/pt"
)

// Bytes go in, packets come out.
func ExampleLexer() {
	trace := []byte("\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x23\x16\x2d\x10\x40")
	var l pt.Lexer
	l.Reset(trace, 0)
	for p := range l.All() {
		fmt.Printf("+%d %v\n", p.Off, p)
	}
	// Output:
	// +0 PSB
	// +16 PSBEND
	// +18 TNT ntt
	// +19 TIP 1: 0x4010
}

// Packets of a segment, written in their text form, become events: two branches were
// taken and one was not, then an indirect one led to 0x2000.
func ExampleDecoder() {
	trace, err := pt.Assemble(nil, "psb\nmode.exec l\nfup 3: 0x1000\npsbend\ntnt ttn\ntip 1: 0x2000\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	d := pt.NewDecoder(pt.Config{}, event.Segment{Buf: trace, End: int64(len(trace)), Last: true})
	for e := (event.Event{}); d.Next(&e); {
		fmt.Printf("%v ip %#x, %d outcomes\n", e.Kind, e.IP, e.N)
	}
	// Output:
	// sync ip 0x1000, 0 outcomes
	// outcomes ip 0x0, 3 outcomes
	// target ip 0x2000, 0 outcomes
	// end ip 0x0, 0 outcomes
}
