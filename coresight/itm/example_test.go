package itm_test

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight/itm"
)

// What software writes to stimulus port 0, a byte at a time, is its messages. A local
// timestamp stands between two of them.
func Example() {
	trace := []byte("\x00\x00\x00\x00\x00\x80" + "\x01h\x01e\x01l" + "\x30" + "\x01l\x01o")
	said := ""
	for p := range itm.NewLexer(trace, 0).All() {
		if fmt.Println(p); p.Kind == itm.SWIT && p.Arg == 0 {
			said += string(rune(p.Value))
		}
	}
	fmt.Println(said)
	// Output:
	// SYNC
	// SWIT 0 1 0x68
	// SWIT 0 1 0x65
	// SWIT 0 1 0x6c
	// LTS2 3
	// SWIT 0 1 0x6c
	// SWIT 0 1 0x6f
	// hello
}
