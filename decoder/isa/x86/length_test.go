package x86

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

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

// TestLengths would catch a wrong reading of prefixes, addressing and
// immediates: each row is one rule for the length.
func TestLengths(t *testing.T) {
	for _, w := range []struct {
		m   isa.Mode
		hex string
	}{
		// ModRM, SIB, displacement.
		{m64, "8b 00"}, {m64, "8b 04 24"}, {m64, "8b 04 25 78563412"}, {m64, "8b 05 78563412"}, {m64, "8b 40 7f"}, {m64, "8b 44 05 7f"},
		{m64, "8b 80 78563412"}, {m64, "8b 84 25 78563412"}, {m64, "8b c0"}, {m64, "41 8b 04 24"}, {m64, "41 8b 45 00"}, {m64, "43 8b 04 2d 00000000"},
		{m64, "67 8b 00"}, {m64, "67 8b 05 78563412"}, {m64, "67 8b 04 24"},
		{m32, "8b 05 78563412"}, {m32, "8b 04 24"}, {m32, "67 8b 06 3412"}, {m32, "67 8b 04"}, {m32, "67 8b 44 7f"}, {m32, "67 8b 84 3412"},
		{m16, "8b 06 3412"}, {m16, "8b 05"}, {m16, "8b 04"}, {m16, "8b 44 7f"}, {m16, "8b 87 3412"}, {m16, "67 8b 04 24"}, {m16, "67 8b 05 78563412"},
		// Immediates by operand size.
		{m64, "05 78563412"}, {m64, "66 05 3412"}, {m64, "48 05 78563412"}, {m64, "66 48 05 78563412"}, {m64, "04 7f"},
		{m32, "05 78563412"}, {m32, "66 05 3412"}, {m16, "05 3412"}, {m16, "66 05 78563412"},
		{m64, "68 78563412"}, {m64, "66 68 3412"}, {m64, "6a 7f"}, {m64, "69 c0 78563412"}, {m64, "66 69 c0 3412"}, {m64, "6b c0 7f"},
		{m64, "b8 78563412"}, {m64, "48 b8 8877665544332211"}, {m64, "66 b8 3412"}, {m64, "66 48 b8 8877665544332211"}, {m64, "b0 12"}, {m16, "bf 3412"},
		{m64, "81 c0 78563412"}, {m64, "66 81 00 3412"}, {m64, "83 c0 01"}, {m32, "82 c0 01"}, {m64, "c0 e0 01"}, {m64, "d1 e0"},
		{m64, "c6 00 01"}, {m64, "c7 00 78563412"}, {m64, "66 c7 40 08 3412"}, {m64, "48 c7 c0 78563412"},
		{m64, "f6 c0 01"}, {m64, "f6 c8 01"}, {m64, "f6 d0"}, {m64, "f7 00 78563412"}, {m64, "f7 c8 78563412"}, {m64, "66 f7 c0 3412"}, {m64, "48 f7 e1"},
		{m64, "a8 01"}, {m64, "a9 78563412"}, {m64, "c8 100000"}, {m64, "e4 60"}, {m32, "d4 0a"}, {m32, "d5 0a"},
		// moffs by address size.
		{m64, "a0 8877665544332211"}, {m64, "67 a1 78563412"}, {m64, "48 a3 8877665544332211"}, {m64, "66 a1 8877665544332211"},
		{m32, "a1 78563412"}, {m32, "67 a1 3412"}, {m16, "a1 3412"}, {m16, "67 a1 78563412"},
		// Prefixes: REX counts right before the opcode only, and is INC, DEC outside 64-bit code.
		{m64, "48 66 05 3412"}, {m64, "48 2e b8 78563412"}, {m64, "40 4f 89 c0"}, {m64, "2e 36 3e 26 64 65 f0 90"}, {m32, "48"}, {m16, "40"},
		{m64, "66 66 66 66 66 66 66 66 66 66 66 66 66 66 90"}, {m64, "f3 f2 f3 90"}, {m64, "9b"}, {m64, "63 c0"}, {m32, "63 c0"},
		// One byte or more, by mode.
		{m32, "06"}, {m32, "60"}, {m32, "27"}, {m16, "0e"},
		{m32, "c4 00"}, {m32, "c5 44 24 08"}, {m32, "62 00"}, {m16, "c5 06 3412"}, {m16, "62 44 08"}, {m32, "66 c5 00"},
		{m32, "c5 f8 77"}, {m32, "c4 e2 79 18 00"}, {m32, "62 f1 7c 48 28 00"}, {m16, "c5 f8 28 07"},
		// Two and three bytes.
		{m64, "0f 05"}, {m64, "0f 0d 08"}, {m64, "0f 0e"}, {m64, "0f 0f c1 94"}, {m64, "0f 0f 44 24 08 b4"}, {m64, "0f 20 c0"}, {m64, "0f 20 40"}, {m64, "0f 23 84"},
		{m64, "0f 31"}, {m64, "0f a2"}, {m64, "0f 37"}, {m64, "0f 70 c0 1b"}, {m64, "66 0f 71 d0 04"}, {m64, "0f 73 d0 04"}, {m64, "66 0f 73 f8 04"}, {m64, "0f 77"},
		{m64, "0f 78 c1"}, {m64, "0f 79 c1"}, {m64, "66 0f 78 c0 0102"}, {m64, "f2 0f 78 c1 0102"}, {m64, "66 0f 79 c1"}, {m64, "f2 0f 79 c1"},
		{m64, "0f a0"}, {m64, "0f a4 c0 05"}, {m64, "0f a5 c0"}, {m64, "0f ac 00 05"}, {m64, "0f ba e0 05"}, {m64, "0f ba 38 05"}, {m64, "f3 0f b8 c0"}, {m64, "0f c2 c0 01"},
		{m64, "0f c3 00"}, {m64, "0f c4 c0 01"}, {m64, "0f c5 c0 01"}, {m64, "0f c6 c0 01"}, {m64, "0f c7 08"}, {m64, "0f c7 f0"}, {m64, "0f c8"},
		{m64, "f2 0f 00 f0"}, {m64, "0f 01 f8"}, {m64, "0f 01 f9"}, {m64, "f3 0f 01 fa"}, {m64, "0f 01 38"}, {m64, "0f 01 d0"}, {m64, "f3 0f 01 ee"}, {m64, "0f 01 cf"},
		{m64, "0f 38 00 c0"}, {m64, "66 0f 38 10 00"}, {m64, "f2 0f 38 f0 c0"}, {m64, "66 f2 0f 38 f1 c0"}, {m64, "66 0f 38 f6 c1"}, {m64, "f3 0f 38 f6 c1"},
		{m64, "0f 38 f9 00"}, {m64, "66 0f 38 f8 00"}, {m64, "f3 0f 38 d8 00"}, {m64, "66 0f 3a 0f c0 08"}, {m64, "0f 3a cc c0 00"}, {m64, "f3 0f 3a f0 c0 01"},
		{m64, "66 0f ae 38"}, {m64, "66 0f ae f0"}, {m64, "f2 0f ae f0"}, {m64, "f3 0f ae f0"}, {m64, "0f ae e8"}, {m64, "f3 0f ae c0"}, {m64, "66 0f ae f8"},
		// VEX.
		{m64, "c5 f8 28 c1"}, {m64, "c5 f8 77"}, {m64, "c5 fc 77"}, {m64, "c4 e1 78 77"}, {m64, "c5 fd 70 c1 1b"}, {m64, "c5 f1 71 d1 04"}, {m64, "c5 f8 c2 c1 01"},
		{m64, "c5 f9 c5 c1 01"}, {m64, "c5 fd a4 c1"}, {m64, "c4 e2 7d 18 05 78563412"}, {m64, "c4 e3 7d 19 c1 01"}, {m64, "c4 e3 7b f0 c1 05"}, {m64, "c4 e2 78 49 c0"},
		{m64, "c4 e2 7b 4b 04 08"}, {m64, "c4 e5 7b fd c1"}, {m64, "c4 e7 7b f8 c0 78563412"}, {m64, "65 c5 f8 28 04 25 00000000"}, {m64, "67 c5 f8 28 00"},
		// XOP: imm8, none, imm32; POP.
		{m64, "8f e8 78 c2 c1 04"}, {m64, "8f e9 78 01 c9"}, {m64, "8f e9 78 12 c0"}, {m64, "8f ea 78 10 c0 78563412"}, {m64, "8f ea 78 12 00 78563412"}, {m32, "8f e8 78 c2 00 04"},
		{m64, "8f 00"}, {m64, "8f c7"}, {m64, "8f 44 24 08"}, {m64, "41 8f 04 24"},
		// The longest.
		{m64, "67 66 f0 42 0f b1 84 25 78563412"}, {m64, "66 67 f0 2e 81 84 25 78563412 3412"},
		{m64, "2e 67 f0 48 81 84 25 78563412 78563412"},
	} {
		b := unhex(t, w.hex)
		var in isa.Insn
		s := (Decoder{}).Decode(&in, append(b[:len(b):len(b)], 0x24, 0x24, 0x24, 0x24), base, w.m)
		if s != isa.OK || int(in.Len) != len(b) {
			t.Errorf("%v %s: status %d %+v, want length %d", w.m, w.hex, s, in, len(b))
		}
		for n := range b {
			if s := (Decoder{}).Decode(&in, b[:n], base, w.m); s != isa.Short {
				t.Errorf("%v %s cut to %d bytes: status %d, want Short", w.m, w.hex, n, s)
			}
		}
	}
}

// FuzzDecode would catch a panic, a length past the text or past 15, an answer
// that bytes behind the instruction change, and a Short that no byte resolves.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"c3", "48 8b 84 24 00010000", "62 f1 7c 48 28 44 24 01", "d5 00 a1 8877665544332211", "c4 e2", "8f e8 78", "66 66 66 0f 3a 0f", "62 f4 7c 08 f7", "d5 ce b8"} {
		f.Add(unhex(f, s), uint8(isa.Mode64))
		f.Add(unhex(f, s), uint8(isa.Mode32))
		f.Add(unhex(f, s), uint8(isa.Mode16))
	}
	f.Fuzz(func(t *testing.T, text []byte, mode uint8) {
		m := isa.Mode(mode % uint8(isa.NumModes))
		var in isa.Insn
		s := (Decoder{}).Decode(&in, text, base, m)
		(Decoder{}).Format(text, base, m, nil)
		switch s {
		case isa.OK:
			if in.Len < 1 || in.Len > maxLen || int(in.Len) > len(text) || in.Class >= isa.NumClasses {
				t.Fatalf("%v % x: %+v", m, text, in)
			}
		case isa.Bad, isa.Short:
			if in != (isa.Insn{}) {
				t.Fatalf("%v % x: status %d but %+v", m, text, s, in)
			}
		}
		// Any tail gives the same, unless more bytes were asked for.
		seen := false
		for i, tail := range tails {
			if s != isa.Short && i == 4 {
				break
			}
			var in2 isa.Insn
			s2 := (Decoder{}).Decode(&in2, append(text[:len(text):len(text)], tail...), base, m)
			if s != isa.Short && (s2 != s || in2 != in) {
				t.Fatalf("%v % x: status %d %+v, with % x behind %d %+v", m, text, s, in, tail, s2, in2)
			}
			seen = seen || s2 == isa.OK
			if s2 == isa.Short {
				t.Fatalf("%v % x: Short with 15 bytes behind", m, text)
			}
			if s == isa.Short && s2 == isa.OK && int(in2.Len) <= len(text) {
				t.Fatalf("%v % x: Short, though length is %d", m, text, in2.Len)
			}
		}
		if s == isa.Short && !seen {
			t.Fatalf("%v % x: Short, but no bytes behind make it an instruction", m, text)
		}
	})
}

// tails are bytes that complete whatever is begun: each first byte, then
// register operands, opcodes and payloads that are legal in some map.
var tails = func() [][]byte {
	var all [][]byte
	for i := 0; i < 256; i++ {
		for _, second := range []byte{0xc0, 0x10, 0x77, 0x90, 0x78, 0x7c, 0xc8, 0xe0} {
			// At the fifteenth byte VZEROUPPER alone, which has no operands, may end.
			if second == 0x78 {
				all = append(all, append([]byte{byte(i), second, 0x77}, make([]byte, 13)...))
			}
			all = append(all, []byte{byte(i), second, 0x08, 0x10, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0})
		}
	}
	return all
}()

// BenchmarkDecode decodes a real library's text, a jump of bytes an
// instruction; it must not allocate.
func BenchmarkDecode(b *testing.B) {
	text, err := os.ReadFile("/lib/x86_64-linux-gnu/libc.so.6")
	if err != nil {
		b.Skip(err)
	}
	text = text[0x28000:min(len(text), 0x28000+1<<20)]
	var in isa.Insn
	b.ReportAllocs()
	pos, n := 0, 0
	for b.Loop() {
		if pos+maxLen > len(text) {
			pos = 0
		}
		if (Decoder{}).Decode(&in, text[pos:], uint64(pos), isa.Mode64) != isa.OK {
			pos++
			continue
		}
		n++
		pos += int(in.Len)
	}
	b.ReportMetric(float64(n)/float64(b.N), "insn/op")
}

// BenchmarkX86asm is what Decode is compared with: the same bytes through
// x86asm, which reads operands too.
func BenchmarkX86asm(b *testing.B) {
	text, err := os.ReadFile("/lib/x86_64-linux-gnu/libc.so.6")
	if err != nil {
		b.Skip(err)
	}
	text = text[0x28000:min(len(text), 0x28000+1<<20)]
	pos := 0
	for b.Loop() {
		if pos+maxLen > len(text) {
			pos = 0
		}
		inst, err := x86asm.Decode(text[pos:], 64)
		if err != nil {
			pos++
			continue
		}
		pos += inst.Len
	}
}

// TestDecodeAllocs would catch a Decode that allocates.
func TestDecodeAllocs(t *testing.T) {
	text := unhex(t, "48 8b 84 24 00010000")
	var d isa.Decoder = Decoder{}
	var in isa.Insn
	if n := testing.AllocsPerRun(100, func() { d.Decode(&in, text, base, isa.Mode64) }); n != 0 {
		t.Errorf("%v allocations a run, want 0", n)
	}
}
