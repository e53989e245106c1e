package badfile_test

import (
	"errors"
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/badfile"
)

// Whatever opens files wraps what is wrong with one.
func Example() {
	err := fmt.Errorf("reading symbols: %w", &badfile.Error{File: "kallsyms", Off: 0x40, What: "line 2: no type"})
	var bad *badfile.Error
	if errors.As(err, &bad) {
		fmt.Printf("look at %s, byte %d\n", bad.File, bad.Off)
	}
	fmt.Println(err)
	// Output:
	// look at kallsyms, byte 64
	// reading symbols: kallsyms+0x40: line 2: no type
}
