// Package line is what the printed lines of all instruction sets share, in the syntax
// of GNU as.
package line

import (
	"fmt"
	"strings"
)

// DotByte prints b as data: what is no instruction, or none that can be said
// reliably.
func DotByte(b []byte) string {
	s := ".byte"
	for i, c := range b {
		sep := ","
		if i == 0 {
			sep = " "
		}
		s += fmt.Sprintf("%s0x%02x", sep, c)
	}
	return s
}

// Place prints an address, and where sym is not nil and knows one the symbol
// that holds it. sym names that symbol and says where it begins; "" where there
// is none.
func Place(addr uint64, sym func(uint64) (string, uint64)) string {
	s := fmt.Sprintf("%#x", addr)
	if sym == nil {
		return s
	}
	name, base := sym(addr)
	switch {
	case name == "":
		return s
	case base == addr:
		return fmt.Sprintf("%s <%s>", s, name)
	}
	return fmt.Sprintf("%s <%s+%#x>", s, name, addr-base)
}

// Fill returns form, the text of an encoding, with each operand in it printed. An
// operand stands in form as its name between braces; print prints the one it names.
func Fill(form string, print func(name string) string) string {
	var b strings.Builder
	for {
		before, behind, ok := strings.Cut(form, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, rest, _ := strings.Cut(behind, "}")
		b.WriteString(print(name))
		form = rest
	}
}
