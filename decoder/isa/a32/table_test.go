package a32

import (
	"encoding/binary"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
)

// at is the address of the instructions in the tests below.
const at = 0xc010_8000

// setOfCase is the set that a row of testdata/cases.txt is of.
func setOfCase(c *isatest.Case) *set {
	if c.Mode == isa.ModeA32 {
		return &sets[0]
	}
	return &sets[len(c.Code)/4] // a halfword or two
}

// noInsn are words nobody has assigned: neighbours of the branches.
var noInsn = []struct {
	set int
	w   uint32
}{
	{0, 0xf0000000}, {0, 0xf1000020}, {0, 0xf1000080 | 1<<16}, {0, 0xf57ff00f}, {0, 0xf57ff080}, {0, 0xf5800000},
	{0, 0xf6500010}, {0, 0xf7000000}, {0, 0xf8000000}, {0, 0xf8500000}, {0, 0xff000000},
	{0, 0xe1000010}, {0, 0xe1400010}, {0, 0xe1000020}, {0, 0xe1600020}, {0, 0xe1400030}, {0, 0xe1600030}, {0, 0x01000060}, {0, 0xe1200060},
	{1, 0xb600}, {1, 0xb618 | 1}, {1, 0xb651}, {1, 0xb680}, {1, 0xb700}, {1, 0xb8ff},
	{2, 0xf850f840}, {2, 0xf850fa40}, {2, 0xf850f7ff}, {2, 0xf85df040},
	{2, 0xf3bf8f3f}, {2, 0xf3bf8f8f}, {2, 0xf78f8000}, {2, 0xf78f8004}, {2, 0xf7a08000}, {2, 0xf7e0a000}, {2, 0xf7d08000},
	{2, 0xf03fc001}, {2, 0xf04fc001}, {2, 0xf05fc001}, {2, 0xf052c001}, {2, 0xf00fe003}, {2, 0xf01fe001}, {2, 0xf042e003}, {2, 0xf042e801},
}

// TestCases would catch a form read as something else, and a distance cut, shifted
// or counted from elsewhere. It would catch a length that is not the instruction's,
// and disassembly that says what is not executed.
func TestCases(t *testing.T) {
	for _, c := range isatest.Cases(t, "cases") {
		s := setOfCase(&c)
		c.Want.Len = uint8(s.size)
		c.Check(t, Decoder{}, (Decoder{}).Format, s.bytes(c.Word(t)), at)
	}
}

// TestHalfAligned would catch a BLX in T32 whose target is counted from the
// program counter itself and not from the multiple of 4 below it, and other
// distances that are.
func TestHalfAligned(t *testing.T) {
	for _, c := range []struct {
		w      uint32
		target uint64
	}{
		{0xf000e802, at + 8}, // blx
		{0xf000f802, at + 10},
		{0xf042c003, at + 10}, // wls
	} {
		var in isa.Insn
		if s := (Decoder{}).Decode(&in, sets[2].bytes(c.w), at+2, isa.ModeT32); s != isa.OK || in.Target != c.target {
			t.Errorf("%08x at %#x: status %d, target %#x, want %#x", c.w, at+2, s, in.Target, c.target)
		}
	}
}

// TestNoInsn would catch a word that nobody has assigned taken for a branch, or
// for an instruction that goes on where a processor would not.
func TestNoInsn(t *testing.T) {
	for _, c := range noInsn {
		in := isa.Insn{Len: 9}
		if s := (Decoder{}).Decode(&in, sets[c.set].bytes(c.w), at, sets[c.set].mode); s != isa.Bad || in != (isa.Insn{}) {
			t.Errorf("%s: %08x: status %d, %+v", sets[c.set].name, c.w, s, in)
		}
	}
}

// TestStatus would catch text read beyond its end, and a target that does not wrap
// at 32 bits, as the program counter does. It would catch code of another mode, or
// at an address that cannot be executed, taken for one of these.
func TestStatus(t *testing.T) {
	arm := sets[0].bytes(0xeafffffb)              // b .-12
	wide := sets[2].bytes(0xf7fffffc)             // bl .-4
	narrow := append(sets[1].bytes(0xe7fc), 0xff) // b .-4
	for _, c := range []struct {
		text   []byte
		addr   uint64
		m      isa.Mode
		want   isa.Status
		target uint64
	}{
		{arm, 4, isa.ModeA32, isa.OK, 0xffff_fff8},
		{arm, 0xffff_fffc, isa.ModeA32, isa.OK, 0xffff_fff0},
		{arm[:3], 4, isa.ModeA32, isa.Short, 0},
		{nil, 4, isa.ModeA32, isa.Short, 0},
		{arm, 2, isa.ModeA32, isa.Bad, 0},
		{arm, 1 << 32, isa.ModeA32, isa.Bad, 0},
		{arm, 4, isa.ModeA64, isa.Bad, 0},
		{arm, 4, isa.Mode32, isa.Bad, 0},
		{arm, 4, isa.ModeUnknown, isa.Bad, 0},
		{narrow, 2, isa.ModeT32, isa.OK, 0xffff_fffe},
		{narrow[:2], 2, isa.ModeT32, isa.OK, 0xffff_fffe},
		{narrow[:1], 2, isa.ModeT32, isa.Short, 0},
		{nil, 2, isa.ModeT32, isa.Short, 0},
		{narrow, 1, isa.ModeT32, isa.Bad, 0},
		{wide, 2, isa.ModeT32, isa.OK, 0xffff_fffe},
		{wide[:3], 2, isa.ModeT32, isa.Short, 0},
		{wide[:2], 2, isa.ModeT32, isa.Short, 0},
		{wide, 1<<32 + 2, isa.ModeT32, isa.Bad, 0},
		{sets[0].bytes(0xea800000), 0xffff_fffc, isa.ModeA32, isa.OK, 0xfe00_0004},
		{sets[0].bytes(0xea000000), 0xffff_fffc, isa.ModeA32, isa.OK, 4},
	} {
		in := isa.Insn{Len: 9}
		s := Decoder{}.Decode(&in, c.text, c.addr, c.m)
		if s != c.want || in.Target != c.target || s != isa.OK && in != (isa.Insn{}) {
			t.Errorf("% x at %#x, %s: status %d, %+v", c.text, c.addr, c.m, s, in)
		}
	}
}

// TestDataBarrier would catch a barrier in one of its encodings that is not
// known as one, and another instruction that is, ISB before all.
func TestDataBarrier(t *testing.T) {
	for _, c := range []struct {
		what string
		a32  uint32
		t32  uint32
		is   bool
	}{
		{"dmb sy", 0xf57ff05f, 0xf3bf8f5f, true},
		{"dsb ishst", 0xf57ff04a, 0xf3bf8f4a, true},
		{"isb", 0xf57ff06f, 0xf3bf8f6f, false},
		{"clrex", 0xf57ff01f, 0xf3bf8f2f, false},
		{"mcr p15, 0, r3, c7, c10, 5", 0xee073fba, 0xee073fba, true},
		{"mcr p15, 0, r0, c7, c10, 4", 0xee070f9a, 0xee070f9a, true},
		{"mcr p15, 0, r0, c7, c5, 4", 0xee070f95, 0xee070f95, false},
		{"mcr p15, 0, r0, c7, c10, 1", 0xee070f3a, 0xee070f3a, false},
		{"mrc p15, 0, r0, c7, c10, 4", 0xee170f9a, 0xee170f9a, false},
		{"nop", 0xe320f000, 0xf3af8000, false},
	} {
		if got := (Decoder{}).DataBarrier(binary.LittleEndian.AppendUint32(nil, c.a32), 0x8000, isa.ModeA32); got != c.is {
			t.Errorf("%s, A32: %v", c.what, got)
		}
		b := binary.LittleEndian.AppendUint16(nil, uint16(c.t32>>16))
		b = binary.LittleEndian.AppendUint16(b, uint16(c.t32))
		if got := (Decoder{}).DataBarrier(b, 0x8002, isa.ModeT32); got != c.is {
			t.Errorf("%s, T32: %v", c.what, got)
		}
		if (Decoder{}).DataBarrier(b[:3], 0x8002, isa.ModeT32) || (Decoder{}).DataBarrier(nil, 0x8000, isa.ModeA32) {
			t.Errorf("%s: a barrier though it is cut short", c.what)
		}
	}
	if !(Decoder{}).DataBarrier([]byte{0x9a, 0x0f, 0x07, 0x0e}, 0, isa.ModeA32) {
		t.Error("mcreq: no barrier")
	}
	if (Decoder{}).DataBarrier([]byte{0x07, 0xfe, 0x9a, 0x0f}, 0, isa.ModeT32) {
		t.Error("mcr2: a barrier")
	}
}
