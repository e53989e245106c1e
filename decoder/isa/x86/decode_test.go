package x86

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// unhex reads hex digits with spaces between.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return b
}

// TestSmoke would catch a decoder that reads nothing right: one instruction of
// each shape.
func TestSmoke(t *testing.T) {
	for _, c := range []struct {
		hex   string
		class isa.Class
		to    uint64
	}{
		{"c3", isa.Return, 0},
		{"e8 fb0f0000", isa.Call, 0x2000},
		{"48 8b 84 24 00010000", isa.Other, 0},
		{"74 fe", isa.Cond, 0x1000},
		{"f3 0f 1e fa", isa.Other, 0},
		{"c5 f8 77", isa.Other, 0},
		{"62 f1 7c 48 28 44 24 01", isa.Other, 0},
		{"d5 00 a1 8877665544332211", isa.JumpAbs, 0x1122334455667788},
	} {
		b := unhex(t, c.hex)
		var in isa.Insn
		s := Decoder{}.Decode(&in, append(b, 0xcc, 0xcc), 0x1000, isa.Mode64)
		if s != isa.OK || int(in.Len) != len(b) || in.Class != c.class || in.Target != c.to {
			t.Errorf("%s: %v %+v", c.hex, s, in)
		}
	}
}
