package x86

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
)

const (
	m16 = isa.Mode16
	m32 = isa.Mode32
	m64 = isa.Mode64
)

// base is where the rows' instructions lie.
const base = 0x401000

// TestClasses would catch an instruction of the flow in the wrong class, a
// wrong target, or a missing flag: each row is one that tracing depends on.
func TestClasses(t *testing.T) {
	for _, c := range isatest.Cases(t, "cases") {
		check(t, c)
	}
}

// check decodes c and compares. Bytes behind must not matter.
func check(t *testing.T, c isatest.Case) {
	t.Helper()
	b := unhex(t, c.Code)
	c.Want.Len = uint8(len(b))
	for _, tail := range []string{"", "\x00\x00\x00\x00\x00\x00", "\xff\xff\xff\xff\xff\xff"} {
		var in isa.Insn
		if s := (Decoder{}).Decode(&in, append(b[:len(b):len(b)], tail...), base, c.Mode); s != isa.OK || in != c.Want {
			t.Errorf("%v %s: status %d %+v, want %+v", c.Mode, c.Code, s, in, c.Want)
			return
		}
	}
	for n := range b {
		var in isa.Insn
		if s := (Decoder{}).Decode(&in, b[:n], base, c.Mode); s != isa.Short {
			t.Errorf("%v %s cut to %d bytes: status %d, want Short", c.Mode, c.Code, n, s)
		}
	}
}

// TestBad would catch bytes taken for an instruction that fault on every
// processor, or an answer put off (Short) though nothing could save them.
func TestBad(t *testing.T) {
	for _, w := range []struct {
		m   isa.Mode
		hex string
	}{
		{m64, "06"}, {m64, "07"}, {m64, "0e"}, {m64, "16"}, {m64, "17"}, {m64, "1e"}, {m64, "1f"}, {m64, "27"}, {m64, "2f"},
		{m64, "37"}, {m64, "3f"}, {m64, "60"}, {m64, "61"}, {m64, "82"}, {m64, "9a"}, {m64, "ce"}, {m64, "d4"}, {m64, "ea"},
		{m64, "0f 04"}, {m64, "0f 0a"}, {m64, "0f 0c"}, {m64, "0f 24"}, {m64, "0f 26"}, {m64, "0f 36"}, {m64, "0f 39"}, {m64, "0f 7a"},
		{m64, "0f 38 0c"}, {m64, "0f 3a 00"}, {m64, "0f b8"}, {m64, "66 0f b8"}, {m64, "f3 0f 78"}, {m64, "d5 80 b8"}, {m64, "0f 00 f0"}, {m64, "0f 00 38"}, {m64, "0f 01 d2"}, {m64, "0f 01 28"},
		{m64, "0f 71 00"}, {m64, "0f 71 c0"}, {m64, "0f 73 c8"}, {m64, "0f ba c0"}, {m64, "0f c7 00"}, {m64, "0f c7 c8"}, {m64, "0f ae c0"},
		{m64, "0f a6 d8"}, {m64, "0f 22 c8"}, {m64, "66 0f 78 c8"}, {m64, "0f 01 ec"}, {m32, "f3 0f 01 ec"},
		{m64, "8c f0"}, {m64, "8e c8"}, {m64, "8d c0"}, {m64, "c6 c8"}, {m64, "c7 08"}, {m64, "fe d0"}, {m64, "ff f8"}, {m64, "ff d8"}, {m64, "ff e8"},
		{m64, "8f 20"}, {m64, "8f eb"}, // XOP of no map
		{m64, "c4 e0"}, {m64, "c4 e4"}, {m64, "c4 ff"}, {m64, "62 f0"}, {m32, "62 f4"},
		{m64, "66 c5"}, {m64, "f2 c4"}, {m64, "f0 62"}, {m64, "48 c5"}, {m64, "f3 8f e8"}, {m32, "66 c5 f8"},
		{m64, "d5 00 0f"}, {m64, "d5 00 48"}, {m64, "d5 00 75"}, {m64, "d5 00 e8"}, {m64, "d5 00 66"}, {m64, "d5 00 c5"}, {m64, "d5 00 d5"},
		{m64, "d5 80 38"}, {m64, "d5 80 84"}, {m64, "d5 80 04"}, {m64, "d5 80 ae 20"}, {m64, "d5 08 a1"}, {m64, "66 d5 00 a1"}, {m64, "48 d5"}, {m64, "d5 00 06"}, {m64, "f3 d5 00 a4"}, {m64, "64 67 d5 00 a1"},
		// Longer than 15 bytes, known as soon as it is.
		{m64, "66 66 66 66 66 66 66 66 66 66 66 66 66 66 66"},
		{m64, "66 66 66 66 66 66 66 66 66 66 66 66 66 66 8b"},
		{m64, "66 66 66 66 66 66 66 66 66 66 66 66 66 66 0f"},
		{m64, "67 67 67 67 67 67 67 67 67 67 67 67 67 0f 38"},
		{m64, "67 67 67 67 67 67 67 67 67 67 67 8b 84"},
		{m64, "67 67 67 67 67 67 67 67 67 67 67 67 c4"},
		{m64, "67 67 67 67 67 67 67 67 67 67 67 62"},
		{isa.ModeUnknown, "90"}, {isa.ModeA64, "90"},
	} {
		in := isa.Insn{Len: 9}
		if s := (Decoder{}).Decode(&in, unhex(t, w.hex), base, w.m); s != isa.Bad || in != (isa.Insn{}) {
			t.Errorf("%v %s: status %d %+v, want Bad", w.m, w.hex, s, in)
		}
	}
}
