package a32

import (
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
)

// TestDecodeAllocs would catch an allocation on the hot path.
func TestDecodeAllocs(t *testing.T) {
	isatest.CheckAllocs(t, Decoder{}, sets[2].bytes(0xf7fffffe), at, isa.ModeT32)
}

// FuzzDecode would catch a panic, a wrong length, and a result that depends on what
// lies behind the instruction. It would catch a target where there is none or out
// of reach, and a word that the tables and the switches read differently. It would
// catch a direct branch printed with another destination, too.
func FuzzDecode(f *testing.F) {
	for _, c := range isatest.Cases(f, "cases") {
		f.Add(setOfCase(&c).bytes(c.Word(f)), uint64(at), byte(c.Mode))
	}
	for _, c := range noInsn {
		f.Add(sets[c.set].bytes(c.w), uint64(at), byte(sets[c.set].mode))
	}
	f.Add([]byte{}, uint64(0), byte(isa.ModeT32))
	f.Add([]byte{0, 0xf0}, uint64(2), byte(isa.ModeT32))
	f.Add([]byte{0, 0xf0, 0}, uint64(2), byte(isa.ModeT32))
	f.Add(sets[0].bytes(0xea800000), uint64(0), byte(isa.ModeA32)) // wraps
	f.Add(sets[0].bytes(0xea800000), uint64(1)<<32, byte(isa.ModeA32))
	f.Add(sets[0].bytes(0xe12fff1e), uint64(2), byte(isa.ModeA64))
	f.Fuzz(func(t *testing.T, text []byte, addr uint64, mode byte) {
		m := isa.Mode(mode)
		var in, again isa.Insn
		st := Decoder{}.Decode(&in, text, addr, m)
		line := (Decoder{}).Format(text, addr, m, nil)
		s := setOf(text, m)
		align := uint64(4)
		if m == isa.ModeT32 {
			align = 2
		}
		if s == nil || addr>>32 != 0 || addr%align != 0 {
			if st != isa.Bad && (s != nil || st != isa.Short) || in != (isa.Insn{}) {
				t.Fatalf("% x at %#x, %v: status %d, %+v", text, addr, m, st, in)
			}
			return
		}
		w := s.word(text)
		want := s.slow(w)
		if st != isa.OK {
			if st != isa.Bad || want.class != none || in != (isa.Insn{}) || !strings.HasPrefix(line, ".inst") {
				t.Fatalf("%s: %08x: status %d, %+v, the table says %+v", s.name, w, st, in, want)
			}
			return
		}
		if got := (reading{in.Class, in.Flags, want.rel}); int(in.Len) != s.size || got != want {
			t.Fatalf("%s: %08x: %+v, the table says %+v", s.name, w, in, want)
		}
		if (Decoder{}).Decode(&again, append(text[:s.size:s.size], 0x5a, 0xa5), addr, m) != st || in != again {
			t.Fatalf("% x: %+v, with other bytes behind it %+v", text, in, again)
		}
		direct := in.Class == isa.Jump || in.Class == isa.Call || in.Class == isa.Cond
		if direct != (want.rel != relNone) || !direct && in.Target != 0 || in.Target>>32 != 0 {
			t.Fatalf("%s: %08x: class %v with target %#x", s.name, w, in.Class, in.Target)
		}
		if d := int32(uint32(in.Target) - uint32(addr)); direct && (d < -1<<25 || d > 1<<25+8) {
			t.Fatalf("%s: %08x at %#x: target %#x", s.name, w, addr, in.Target)
		}
		if direct {
			isatest.CheckTarget(t, line, addr, in.Target)
		}
		if a32 := (m == isa.ModeA32) != (in.Flags&isa.FlagInterwork != 0); direct && (in.Target&1 != 0 || a32 && in.Target&3 != 0) {
			t.Fatalf("%s: %08x at %#x: target %#x is no place for an instruction", s.name, w, addr, in.Target)
		}
	})
}

// setOf is the set of the instruction at the front of text in mode m, or nil if
// text ends inside it or m has none.
func setOf(text []byte, m isa.Mode) *set {
	for i := range sets {
		s := &sets[i]
		if s.mode == m && len(text) >= s.size && s.has(s.word(text)) {
			return s
		}
	}
	return nil
}

// word is the inverse of bytes.
func (s *set) word(text []byte) uint32 {
	w := uint32(text[0]) | uint32(text[1])<<8
	switch {
	case s.size == 2:
		return w
	case s.mode == isa.ModeT32:
		return w<<16 | uint32(text[2]) | uint32(text[3])<<8
	}
	return w | uint32(text[2])<<16 | uint32(text[3])<<24
}

// BenchmarkDecode reads words in a mix like that of compiled code, of each mode.
func BenchmarkDecode(b *testing.B) {
	arm := []uint32{
		0xe92d4070, 0xe1a04000, 0xe5903004, 0xe3530000, 0x0a000004, 0xe5940008, 0xebfffffe, 0xe2505001,
		0x1afffffb, 0xe5845004, 0xe1a00005, 0xe0800001, 0xe3a01000, 0xe7921003, 0xe2811001, 0xe8bd8070,
	}
	thumb := []uint32{
		0xb570, 0x4604, 0x6843, 0x2b00, 0xd004, 0x68a0, 0xf7fffffe, 0x1e45,
		0xd1fb, 0x6065, 0x4628, 0x1840, 0x2100, 0xf8521023, 0x3101, 0xbd70,
	}
	for i, words := range [][]uint32{arm, thumb} {
		m := isa.ModeA32 + isa.Mode(i)
		var text []byte
		var at []int
		for _, w := range words {
			s := &sets[0]
			if m == isa.ModeT32 {
				s = &sets[1+w>>31]
			}
			at = append(at, len(text))
			text = append(text, s.bytes(w)...)
		}
		b.Run(m.String(), func(b *testing.B) {
			var in isa.Insn
			for i := range b.N {
				Decoder{}.Decode(&in, text[at[i%16]:], 0, m)
			}
		})
	}
}
