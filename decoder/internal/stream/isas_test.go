package stream

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestCheckOpcodes would catch a check for memory of zeros that hits another
// instruction, or that is made where nobody asked for it.
func TestCheckOpcodes(t *testing.T) {
	for _, x := range []struct {
		text      string
		m         isa.Mode
		off, asks isa.Status
	}{
		{"\x00\x00\x00\x00", isa.ModeA64, isa.OK, isa.Bad},
		{"\xff\xff\x00\x00", isa.ModeA64, isa.OK, isa.Bad},
		{"\x00\x00\x00\x14", isa.ModeA64, isa.OK, isa.OK},
		{"\x00\x00", isa.ModeA64, isa.Short, isa.Short},
		{"\x00\x00\x00\x00", isa.ModeA32, isa.OK, isa.OK}, // andeq r0, r0, r0
		{"\x00\x00\x00\x00", isa.ModeT32, isa.OK, isa.OK}, // movs r0, r0
	} {
		var in isa.Insn
		if got := (armISA{}).Decode(&in, []byte(x.text), 0x1000, x.m); got != x.off {
			t.Errorf("%x in %s: %d, want %d", x.text, x.m, got, x.off)
		}
		if got := (armISA{zeros: true}).Decode(&in, []byte(x.text), 0x1000, x.m); got != x.asks {
			t.Errorf("%x in %s, checked: %d, want %d", x.text, x.m, got, x.asks)
		}
	}
}
