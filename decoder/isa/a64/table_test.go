package a64

import (
	"encoding/binary"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
)

// word is w as it lies in memory.
func word(w uint32) []byte { return binary.LittleEndian.AppendUint32(nil, w) }

// at is the address of the instructions in the tests below.
const at = 0xffff_8000_1000_0000

// noInsn are words nobody has assigned: neighbours of the branches.
var noInsn = []uint32{
	0x00010000, 0x7fff0000 &^ 0x1e000000, 0x02000000, 0xe6000000, // op0 0 but UDF, op0 1, op0 3
	0x56000000, 0x57000000, 0x76000000, 0x77000000, 0xf6000000, 0xf7000000,
	0x55000000, 0x5540001f, 0x5580001f, // not all of the register is 1, op 2, op 4
	0x74820041, 0x74a20041, 0x74024041, 0xf4028041, 0xf402c041, 0x7502c041, 0x75820041,
	0xd4000000, 0xd4000004, 0xd4200001, 0xd4400001, 0xd4600001, 0xd4800000, 0xd4a00000, 0xd4a00004,
	0xd4c00000, 0xd4e01000, 0xd4e10000, 0xd4e40000, 0xd4e00001,
	0xd61f0001, 0xd61e0000, 0xd61f0400, 0xd61f0800, 0xd65f0800, 0xd65f0bdf, 0xd69f03c0, 0xd69f0be0, 0xd6bf03c0,
	0xd6df03e0, 0xd71f0000, 0xd75f0800, 0xd6ff0be0,
}

// TestCases would catch a form read as something else, a distance cut or shifted
// wrongly, and disassembly that says what is not executed.
func TestCases(t *testing.T) {
	for _, c := range isatest.Cases(t, "cases") {
		c.Want.Len = size
		c.Check(t, Decoder{}, (Decoder{}).Format, word(c.Word(t)), at)
	}
}

// TestNoInsn would catch a word that nobody has assigned taken for a branch, or for
// an instruction that goes on where a later architecture may put a branch.
func TestNoInsn(t *testing.T) {
	for _, w := range noInsn {
		in := isa.Insn{Len: 9}
		if s := (Decoder{}).Decode(&in, word(w), at, isa.ModeA64); s != isa.Bad || in != (isa.Insn{}) {
			t.Errorf("%08x: status %d, %+v", w, s, in)
		}
	}
}

// TestStatus would catch text read beyond its end, and a target that does not wrap
// as the program counter does. It would catch code of another mode, or at an
// address that cannot be executed, taken for A64.
func TestStatus(t *testing.T) {
	b := word(0x17ffffff) // b .-4
	for _, c := range []struct {
		n      int
		addr   uint64
		m      isa.Mode
		want   isa.Status
		target uint64
	}{
		{4, 0, isa.ModeA64, isa.OK, 0xffff_ffff_ffff_fffc},
		{0, 0, isa.ModeA64, isa.Short, 0},
		{3, 0, isa.ModeA64, isa.Short, 0},
		{4, 2, isa.ModeA64, isa.Bad, 0},
		{4, 0, isa.ModeA32, isa.Bad, 0},
		{4, 0, isa.Mode64, isa.Bad, 0},
		{4, 0, isa.ModeUnknown, isa.Bad, 0},
	} {
		var in isa.Insn
		if s := (Decoder{}).Decode(&in, b[:c.n], c.addr, c.m); s != c.want || in.Target != c.target {
			t.Errorf("%d bytes at %#x, %s: status %d, %+v", c.n, c.addr, c.m, s, in)
		}
	}
}
