package sim

import "fmt"

// Where the code of A64 lies.
const (
	textA64 = 0xffff800008010000
	dynA64  = 0xffff80000a000000
)

// A64 words that the machine writes (DDI0487, C4 "A64 Instruction Set Encoding").
const (
	a64NOP     = 0xd503201f
	a64ISB     = 0xd5033fdf
	a64RET     = 0xd65f03c0
	a64RETAA   = 0xd65f0bff
	a64ERET    = 0xd69f03e0
	a64B       = 0x14000000 // imm26
	a64BL      = 0x94000000 // imm26
	a64BCond   = 0x54000000 // imm19, cond
	a64CBZ     = 0x34000000 // imm19, Rt; bit 24: NZ; bit 31: 64 bits
	a64TBZ     = 0x36000000 // imm14, Rt; bit 24: NZ
	a64BR      = 0xd61f0000 // Rn
	a64BLR     = 0xd63f0000 // Rn
	a64BRAAZ   = 0xd61f081f // Rn
	a64BLRAAZ  = 0xd63f081f // Rn
	a64SVC     = 0xd4000001 // imm16
	a64HVC     = 0xd4000002
	a64SMC     = 0xd4000003
	a64BRK     = 0xd4200000 // imm16
	a64UDF     = 0x00000000 // imm16
	a64IRQOn   = 0xd50342ff // msr daifclr, #2
	a64IRQOff  = 0xd50342df // msr daifset, #2
	a64Yield   = 0xd503203f
	a64TSTART  = 0xd5233060 // Rt
	a64TCOMMIT = 0xd503307f
	a64TCANCEL = 0xd4600000        // imm16
	brkKprobe  = a64BRK | 4<<5     // KPROBES_BRK_IMM, arch/arm64/include/asm/brk-imm.h, v6.1
	brkStep    = a64BRK | 6<<5     // KPROBES_BRK_SS_IMM
	brkWarn    = a64BRK | 0x800<<5 // BUG_BRK_IMM
	udfProbe   = a64UDF | 0x7f
	wordLength = 4 // bytes
)

// field is the displacement of a direct branch: where in the word, and how wide.
type field struct{ shift, bits uint }

var (
	imm26 = field{0, 26}
	imm19 = field{5, 19}
	imm14 = field{5, 14}
)

// branch returns op with the displacement from an instruction at from to to.
func branch(op uint32, f field, from, to uint64) uint32 {
	d := int64(to-from) >> 2
	if lim := int64(1) << (f.bits - 1); d < -lim || d >= lim || (to-from)&3 != 0 {
		panic(fmt.Sprintf("sim: a branch at %#x does not reach %#x", from, to))
	}
	return op | uint32(d)&(1<<f.bits-1)<<f.shift
}

// plainA64 is words that go on to the next instruction.
var plainA64 = [...]uint32{
	a64NOP,
	0xd503233f, // paciasp
	0xd503245f, // bti c
	0xaa0003e1, // mov x1, x0
	0x910043ff, // add sp, sp, #16
	0xd2800020, // mov x0, #1
	0xf2a00020, // movk x0, #1, lsl #16
	0xf1000c1f, // cmp x0, #3
	0x9a9f17e0, // cset x0, eq
	0x90000000, // adrp x0, .
	0x10000040, // adr x0, .+8
	0x9b017c00, // mul x0, x0, x1
	0x1e604020, // fmov d0, d1
	0x4ea11c20, // mov v0.16b, v1.16b
	0xd53bd040, // mrs x0, tpidr_el0
	0xd5033bbf, // dmb ish
	0xd5033b9f, // dsb ish
	0xd50b7520, // ic ivau, x0
	0xf9400000, // ldr x0, [x0]
	0xf9000001, // str x1, [x0]
	0x58000040, // ldr x0, .+8
	0xa9bf7bfd, // stp x29, x30, [sp, #-16]!
	0xa8c17bfd, // ldp x29, x30, [sp], #16
	0xb8e10040, // ldaddal w1, w0, [x2]
	0xc8dffc20, // ldar x0, [x1]
}
