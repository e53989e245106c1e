package etmv3_test

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
)

// Packets, written in their text form, become bytes, and these packets again.
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
	// Output:
	// +0 A-sync 5
	// +6 I-sync 0x1000 0x21 (on)
	// +12 P-header 1 een
	// +13 Branch address 1: 0x10
}
