package a64

import (
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
)

// TestDecodeAllocs would catch an allocation on the hot path.
func TestDecodeAllocs(t *testing.T) {
	isatest.CheckAllocs(t, Decoder{}, word(0x97fffffe), at, isa.ModeA64)
}

// FuzzDecode would catch a panic, a length that is not 4, and a result that depends
// on what lies behind the instruction. It would catch a target where there is none
// or out of reach, and a word that the table of forms and the switches read
// differently. It would catch a direct branch printed with another destination,
// too.
func FuzzDecode(f *testing.F) {
	for _, c := range isatest.Cases(f, "cases") {
		f.Add(word(c.Word(f)), uint64(at), byte(isa.ModeA64))
	}
	for _, w := range noInsn {
		f.Add(word(w), uint64(at), byte(isa.ModeA64))
	}
	f.Add([]byte{}, uint64(0), byte(isa.ModeA64))
	f.Add(word(0x17ffffff)[:3], uint64(2), byte(isa.ModeA64))
	f.Add(word(0x16000000), uint64(0), byte(isa.ModeA64)) // wraps
	f.Add(word(0xd65f03c0), uint64(0), byte(isa.ModeA32))
	f.Fuzz(func(t *testing.T, text []byte, addr uint64, mode byte) {
		m := isa.Mode(mode)
		var in, again isa.Insn
		s := Decoder{}.Decode(&in, text, addr, m)
		line := (Decoder{}).Format(text, addr, m, nil)
		if readable := m == isa.ModeA64 && addr%4 == 0; readable && (s == isa.Short) != (len(text) < 4) || !readable && s != isa.Bad {
			t.Fatalf("% x at %#x, %v: status %d", text, addr, m, s)
		}
		if s != isa.OK {
			if in != (isa.Insn{}) || !strings.HasPrefix(line, ".") {
				t.Fatalf("% x: status %d, %+v, %q", text, s, in, line)
			}
			return
		}
		if (Decoder{}).Decode(&again, append(text[:4:4], 0x5a, 0xa5), addr, m) != s || in != again {
			t.Fatalf("% x: %+v, with other bytes behind it %+v", text, in, again)
		}
		w := uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 | uint32(text[3])<<24
		if in.Len != 4 || in.Class >= isa.NumClasses || !agree(w) {
			t.Fatalf("%08x: %+v, the table says %+v", w, in, find(w))
		}
		if in.Class != isa.Jump && in.Class != isa.Call && in.Class != isa.Cond {
			if in.Target != 0 {
				t.Fatalf("%08x: class %v with target %#x", w, in.Class, in.Target)
			}
			return
		}
		if d := int64(in.Target - addr); d < -1<<27 || d >= 1<<27 || in.Target%4 != 0 {
			t.Fatalf("%08x at %#x: target %#x", w, addr, in.Target)
		}
		isatest.CheckTarget(t, line, addr, in.Target)
	})
}

// BenchmarkDecode reads words in a mix like that of compiled code: of 16, four
// branches, one hint, and the rest data processing, loads and stores.
func BenchmarkDecode(b *testing.B) {
	var text []byte
	for _, w := range []uint32{
		0xd503233f, 0xa9be7bfd, 0x910003fd, 0xf9000bf3, 0xaa0003f3, 0x97fffffe, 0x34000080, 0xf9400a60,
		0x91004000, 0x8b010000, 0xb9400001, 0x7100043f, 0x54000040, 0x52800020, 0xf9400bf3, 0xd65f03c0,
	} {
		text = append(text, word(w)...)
	}
	b.SetBytes(size)
	var in isa.Insn
	for i := range b.N {
		Decoder{}.Decode(&in, text[i%16*size:], at, isa.ModeA64)
	}
}
