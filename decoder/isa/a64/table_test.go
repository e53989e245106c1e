package a64

import (
	"encoding/binary"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// word is w as it lies in memory.
func word(w uint32) []byte { return binary.LittleEndian.AppendUint32(nil, w) }

// at is the address of the instructions in the tests below.
const at = 0xffff_8000_1000_0000

// cases are words with what they mean, by the encoding diagrams of DDI0487, "A64
// Base Instruction Descriptions", and for what is newer DDI0602 under the
// instruction's name. Where there is an instruction the words are what the GNU
// assembler 2.47 makes of the text.
var cases = []struct {
	w      uint32
	class  isa.Class
	target uint64
	flags  isa.Flags
	asm    string
}{
	{0x14000000, isa.Jump, at, 0, "b 0xffff800010000000"},
	{0x15ffffff, isa.Jump, at + 0x7fffffc, 0, "b 0xffff800017fffffc"},
	{0x16000000, isa.Jump, at - 0x8000000, 0, "b 0xffff800008000000"},
	{0x17ffffff, isa.Jump, at - 4, 0, "b 0xffff80000ffffffc"},
	{0x94000001, isa.Call, at + 4, 0, "bl 0xffff800010000004"}, // pushes, unlike x86's call of the next instruction
	{0x97fffffe, isa.Call, at - 8, 0, "bl 0xffff80000ffffff8"},
	{0x54000040, isa.Cond, at + 8, 0, "b.eq 0xffff800010000008"},
	{0x547fffeb, isa.Cond, at + 0xffffc, 0, "b.lt 0xffff8000100ffffc"},
	{0x54800001, isa.Cond, at - 0x100000, 0, "b.ne 0xffff80000ff00000"},
	{0x5400004e, isa.Cond, at + 8, 0, "b.al 0xffff800010000008"}, // always taken, but a conditional branch
	{0x54ffff91, isa.Cond, at - 16, 0, "bc.ne 0xffff80000ffffff0"},
	{0x34ffff63, isa.Cond, at - 20, 0, "cbz w3, 0xffff80000fffffec"},
	{0xb4000043, isa.Cond, at + 8, 0, "cbz x3, 0xffff800010000008"},
	{0x3500005f, isa.Cond, at + 8, 0, "cbnz wzr, 0xffff800010000008"},
	{0xb5ffff43, isa.Cond, at - 24, 0, "cbnz x3, 0xffff80000fffffe8"},
	{0x3603ffe0, isa.Cond, at + 0x7ffc, 0, "tbz w0, #0, 0xffff800010007ffc"},
	{0xb647ff25, isa.Cond, at - 28, 0, "tbz x5, #40, 0xffff80000fffffe4"},
	{0x371fff05, isa.Cond, at - 32, 0, "tbnz w5, #3, 0xffff80000fffffe0"},
	{0xb7fc0005, isa.Cond, at - 0x8000, 0, "tbnz x5, #63, 0xffff80000fff8000"},
	{0x74023ee1, isa.Cond, at - 36, 0, "cbgt w1, w2, 0xffff80000fffffdc"},
	{0xf4221fe1, isa.Cond, at + 0x3fc, 0, "cbge x1, x2, 0xffff8000100003fc"},
	{0x74422001, isa.Cond, at - 0x400, 0, "cbhi w1, w2, 0xffff80000ffffc00"},
	{0x74620041, isa.Cond, at + 8, 0, "cbhs w1, w2, 0xffff800010000008"},
	{0xf4c20041, isa.Cond, at + 8, 0, "cbeq x1, x2, 0xffff800010000008"},
	{0x74e20041, isa.Cond, at + 8, 0, "cbne w1, w2, 0xffff800010000008"},
	{0x7402be21, isa.Cond, at - 60, 0, "cbbgt w1, w2, 0xffff80000fffffc4"},
	{0x74e28041, isa.Cond, at + 8, 0, "cbbne w1, w2, 0xffff800010000008"},
	{0x7442fde1, isa.Cond, at - 68, 0, "cbhhi w1, w2, 0xffff80000fffffbc"},
	{0x74c2c041, isa.Cond, at + 8, 0, "cbheq w1, w2, 0xffff800010000008"},
	{0x7502bda1, isa.Cond, at - 76, 0, "cbgt w1, #5, 0xffff80000fffffb4"},
	{0xf53fbd81, isa.Cond, at - 80, 0, "cblt x1, #63, 0xffff80000fffffb0"},
	{0x7542bd61, isa.Cond, at - 84, 0, "cbhi w1, #5, 0xffff80000fffffac"},
	{0x7562bd41, isa.Cond, at - 88, 0, "cblo w1, #5, 0xffff80000fffffa8"},
	{0x75c2bd21, isa.Cond, at - 92, 0, "cbeq w1, #5, 0xffff80000fffffa4"},
	{0xf5e03d01, isa.Cond, at - 96, 0, "cbne x1, #0, 0xffff80000fffffa0"},
	{0xd61f00e0, isa.JumpInd, 0, 0, "br x7"},
	{0xd61f03c0, isa.JumpInd, 0, 0, "br x30"}, // no return: the hint is in the opcode
	{0xd61f083f, isa.JumpInd, 0, 0, "braaz x1"},
	{0xd61f0c3f, isa.JumpInd, 0, 0, "brabz x1"},
	{0xd71f0822, isa.JumpInd, 0, 0, "braa x1, x2"},
	{0xd71f0c3f, isa.JumpInd, 0, 0, "brab x1, sp"},
	{0xd63f00e0, isa.CallInd, 0, 0, "blr x7"},
	{0xd63f083f, isa.CallInd, 0, 0, "blraaz x1"},
	{0xd63f0c3f, isa.CallInd, 0, 0, "blrabz x1"},
	{0xd73f0822, isa.CallInd, 0, 0, "blraa x1, x2"},
	{0xd73f0c22, isa.CallInd, 0, 0, "blrab x1, x2"},
	{0xd65f03c0, isa.Return, 0, 0, "ret"},
	{0xd65f00e0, isa.Return, 0, 0, "ret x7"},
	{0xd65f0bff, isa.Return, 0, 0, "retaa"},
	{0xd65f0fff, isa.Return, 0, 0, "retab"},
	{0x550004ff, isa.Return, 0, 0, "retaasppc 0xffff80000fffff64"},
	{0x5520051f, isa.Return, 0, 0, "retabsppc 0xffff80000fffff60"},
	{0x551fffff, isa.Return, 0, 0, "retaasppc 0xffff80000ffc0004"},
	{0xd65f0be3, isa.Return, 0, 0, "retaasppcr x3"},
	{0xd65f0fe3, isa.Return, 0, 0, "retabsppcr x3"},
	{0xd69f03e0, isa.FarReturn, 0, 0, "eret"},
	{0xd69f0bff, isa.FarReturn, 0, 0, "eretaa"},
	{0xd69f0fff, isa.FarReturn, 0, 0, "eretab"},
	{0xd6ff03e0, isa.FarReturn, 0, 0, "texit"},
	{0xd6ff07e0, isa.FarReturn, 0, 0, "texit nb"},
	{0xd6bf03e0, isa.Undefined, 0, 0, "drps"},
	{0xd4000001, isa.Syscall, 0, 0, "svc #0x0"},
	{0xd41fffe1, isa.Syscall, 0, 0, "svc #0xffff"},
	{0xd4000042, isa.Syscall, 0, 0, "hvc #0x2"},
	{0xd4000063, isa.Syscall, 0, 0, "smc #0x3"},
	{0xd4e000a0, isa.Syscall, 0, 0, "tenter #0x5"},
	{0xd4e200a0, isa.Syscall, 0, 0, "tenter #0x5, nb"},
	{0xd4200080, isa.Break, 0, 0, "brk #0x4"},
	{0xd4210000, isa.Break, 0, 0, "brk #0x800"},
	{0xd45e0000, isa.SoftInt, 0, 0, "hlt #0xf000"},
	{0xd46000a0, isa.Other, 0, isa.FlagTx, "tcancel #0x5"},
	{0xd4a00001, isa.Undefined, 0, 0, "dcps1"},
	{0xd4a00022, isa.Undefined, 0, 0, "dcps2 #0x1"},
	{0xd4a00003, isa.Undefined, 0, 0, "dcps3"},
	{0x00000000, isa.Undefined, 0, 0, "udf #0"},
	{0x0000ffff, isa.Undefined, 0, 0, "udf #65535"},
	{0xd5033fdf, isa.Barrier, 0, 0, "isb"},
	{0xd50333df, isa.Barrier, 0, 0, "isb #0x3"},
	{0xd5233063, isa.Barrier, 0, isa.FlagTx, "tstart x3"},
	{0xd503307f, isa.Other, 0, isa.FlagTx, "tcommit"},
	{0xd5033f9f, isa.Other, 0, 0, "dsb sy"},
	{0xd5033bbf, isa.Other, 0, 0, "dmb ish"},
	{0xd503207f, isa.Wait, 0, 0, "wfi"},
	{0xd503205f, isa.Wait, 0, 0, "wfe"},
	{0xd5031023, isa.Wait, 0, 0, "wfit x3"},
	{0xd5031003, isa.Wait, 0, 0, "wfet x3"},
	{0xd503201f, isa.Other, 0, isa.FlagNop, "nop"},
	{0xd503241f, isa.Other, 0, isa.FlagNop, "bti"},
	{0xd503245f, isa.Other, 0, isa.FlagNop, "bti c"},
	{0xd503249f, isa.Other, 0, isa.FlagNop, "bti j"},
	{0xd50324df, isa.Other, 0, isa.FlagNop, "bti jc"},
	{0xd503209f, isa.Other, 0, 0, "sev"},
	{0xd503203f, isa.Other, 0, 0, "yield"},
	{0xd503225f, isa.Other, 0, 0, "tsb csync"},
	{0xd503233f, isa.Other, 0, 0, "paciasp"},
	{0xd5032c9f, isa.Other, 0, 0, "hint #0x64"},
	{0xd5182001, isa.SetSpace, 0, 0, "msr ttbr0_el1, x1"},
	{0xd5182021, isa.SetSpace, 0, 0, "msr ttbr1_el1, x1"},
	{0xd51c2001, isa.SetSpace, 0, 0, "msr ttbr0_el2, x1"},
	{0xd51c2021, isa.SetSpace, 0, 0, "msr ttbr1_el2, x1"},
	{0xd51e2001, isa.SetSpace, 0, 0, "msr ttbr0_el3, x1"},
	{0xd51d2001, isa.SetSpace, 0, 0, "msr ttbr0_el12, x1"},
	{0xd51d2021, isa.SetSpace, 0, 0, "msr ttbr1_el12, x1"},
	{0xd51c2101, isa.SetSpace, 0, 0, "msr vttbr_el2, x1"},
	{0xd51c2601, isa.SetSpace, 0, 0, "msr vsttbr_el2, x1"},
	{0xd518d03f, isa.SetSpace, 0, 0, "msr contextidr_el1, xzr"},
	{0xd51cd021, isa.SetSpace, 0, 0, "msr contextidr_el2, x1"},
	{0xd51dd021, isa.SetSpace, 0, 0, "msr contextidr_el12, x1"},
	{0xd5582002, isa.SetSpace, 0, 0, "msrr ttbr0_el1, x2, x3"},
	{0xd55c2102, isa.SetSpace, 0, 0, "msrr vttbr_el2, x2, x3"},
	{0xd5181221, isa.TraceControl, 0, 0, "msr trfcr_el1, x1"},
	{0xd51c1221, isa.TraceControl, 0, 0, "msr trfcr_el2, x1"},
	{0xd51d1221, isa.TraceControl, 0, 0, "msr trfcr_el12, x1"},
	{0xd5110101, isa.TraceControl, 0, 0, "msr trcprgctlr, x1"},
	{0xd5382001, isa.Other, 0, 0, "mrs x1, ttbr0_el1"},
	{0xd5182041, isa.Other, 0, 0, "msr tcr_el1, x1"},
	{0xd50b72e3, isa.Other, 0, 0, ".inst 0xd50b72e3"}, // TRCIT
	{0x910003fd, isa.Other, 0, 0, "mov x29, sp"},
	{0x90000000, isa.Other, 0, 0, "adrp x0, 0xffff800010000000"},
	{0x58000040, isa.Other, 0, 0, "ldr x0, 0xffff800010000008"},
	{0x10ffffe1, isa.Other, 0, 0, "adr x1, 0xffff80000ffffffc"},
	{0xd51b42a4, isa.Other, 0, 0, "msr s3_3_c4_c2_5, x4"}, // DIT: has no name here
	{0xf8e00041, isa.Other, 0, 0, ".inst 0xf8e00041"},     // LDADDAL
}

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
	for _, c := range cases {
		var in isa.Insn
		s := Decoder{}.Decode(&in, append(word(c.w), 0xff), at, isa.ModeA64)
		if want := (isa.Insn{Len: 4, Class: c.class, Flags: c.flags, Target: c.target}); s != isa.OK || in != want {
			t.Errorf("%08x %s: status %d, %+v, want %+v", c.w, c.asm, s, in, want)
		}
		if got := Format(word(c.w), at, isa.ModeA64, nil); got != c.asm {
			t.Errorf("%08x: %q, want %q", c.w, got, c.asm)
		}
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
