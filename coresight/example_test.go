package coresight_test

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight"
)

// A sink's buffer holds frames of 16 bytes. Each carries the bytes of several trace
// sources, told apart by trace ID.
func ExampleDeframe() {
	frame := []byte{0x21, 'a', 'b', 'c', 0x23, 'x', 'z', 'y', 0x21, 'c', 'd', 'e', 'f', 'g', 'h', 0x00}
	for _, s := range coresight.Deframe(coresight.FormatMemory, frame).Streams() {
		fmt.Printf("%#x: %q\n", s.ID, s.Data)
	}
	// Output:
	// 0x10: "abccdefgh"
	// 0x11: "xzy"
}
