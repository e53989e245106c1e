package sim

import "fmt"

// A32 and T32 instructions that the machine writes (DDI0487, F3 "T32
// Instruction Set Encoding", F4 "A32 Instruction Set Encoding").
const (
	always = 0xe0000000 // the condition of A32's that have none

	a32NOP    = 0xe320f000
	a32B      = 0x0a000000 // cond, imm24
	a32BL     = 0x0b000000 // cond, imm24
	a32BLX    = 0xfa000000 // imm24, and bit 24 for a halfword
	a32BX     = 0x012fff10 // cond, Rm
	a32BLXReg = 0x012fff30 // cond, Rm
	a32MovPC  = 0x01a0f000 // cond, Rm
	a32AddPC  = 0x008ff100 // cond, Rm: add pc, pc, Rm, lsl #2
	a32LdrPC  = 0x0790f100 // cond, Rn, Rm: ldr pc, [Rn, Rm, lsl #2]
	a32PopPC  = 0x08bd8010 // cond: pop {r4, pc}
	a32LdrRet = 0x049df004 // cond: ldr pc, [sp], #4
	a32SVC    = 0x0f000000 // cond
	a32BKPT   = 0xe1200070
	a32UDF    = 0x07f000f0 // cond
	a32ISB    = 0xf57ff06f
	a32ISBReg = 0xee070f95 // mcr p15, 0, r0, c7, c5, 4
	a32IRQOn  = 0xf1080080 // cpsie i
	a32IRQOff = 0xf10c0080 // cpsid i
	a32Yield  = 0xe320f001
	a32SubsPC = 0xe25ef004 // subs pc, lr, #4
	a32Ldm    = 0xe8fd8000 // ldm sp!, {pc}^
	a32RFE    = 0xf8bd0a00 // rfeia sp!

	t16NOP    = 0xbf00
	t16IT     = 0xbf00 // and a condition, and a mask
	t16B      = 0xe000 // imm11
	t16BCond  = 0xd000 // cond, imm8
	t16CBZ    = 0xb100 // imm6, Rn; bit 11: NZ
	t16BX     = 0x4700 // Rm << 3
	t16BLXReg = 0x4780 // Rm << 3
	t16MovPC  = 0x4687 // Rm << 3
	t16PopPC  = 0xbd10 // pop {r4, pc}
	t16SVC    = 0xdf00
	t16BKPT   = 0xbe00
	t16UDF    = 0xde00
	t16IRQOn  = 0xb662 // cpsie i
	t16IRQOff = 0xb672 // cpsid i
	t16Yield  = 0xbf10

	t32NOP    = 0xf3af8000
	t32B      = 0xf0009000 // imm24
	t32BL     = 0xf000d000 // imm24
	t32BLX    = 0xf000c000 // imm24 without bit 0
	t32BCond  = 0xf0008000 // cond, imm20
	t32TBB    = 0xe8dff001 // tbb [pc, r1]
	t32TBH    = 0xe8dff011 // tbh [pc, r1, lsl #1]
	t32LdrPC  = 0xf852f023 // ldr.w pc, [r2, r3, lsl #2]
	t32PopPC  = 0xe8bd81f0 // pop.w {r4-r8, pc}
	t32LdrRet = 0xf85dfb04 // ldr pc, [sp], #4
	t32UDF    = 0xf7f0a000
	t32ISB    = 0xf3bf8f6f
	t32ISBReg = 0xee070f95
	t32SubsPC = 0xf3de8f04 // subs pc, lr, #4
	t32RFE    = 0xe9bdc000 // rfeia sp!

	// arch/arm/probes/kprobes/core.h, v6.1
	udfKprobeA32 = 0x07f001f8 // and the condition of what it stands for
	udfKprobeT16 = 0xde18
	udfKprobeT32 = 0xf7f0a018
)

// span returns the distance from the program counter, which reads ahead bytes
// behind from, to to, in units of 1<<shift bytes, as a number of n bits.
func span(from, to uint64, ahead int64, shift, n uint) uint32 {
	d := int64(plainAddr(to)-plainAddr(from)) - ahead
	if lim := int64(1) << (n - 1 + shift); d < -lim || d >= lim || d&(1<<shift-1) != 0 {
		panic(fmt.Sprintf("sim: a branch at %#x does not reach %#x", from, to))
	}
	return uint32(d>>shift) & (1<<n - 1)
}

// same panics if a branch that does not change the instruction set would have to.
func same(from, to uint64) {
	if thumb(from) != thumb(to) {
		panic(fmt.Sprintf("sim: a branch at %#x to %#x changes the instruction set", from, to))
	}
}

// wide returns the fields of T32's B.W, BL and BLX for a distance of 24 bits.
func wide(d uint32) uint32 {
	s := d >> 23 & 1
	j1, j2 := ^(d>>22^s)&1, ^(d>>21^s)&1
	return s<<26 | d>>11&0x3ff<<16 | j1<<13 | j2<<11 | d&0x7ff
}

// jump32 is B in either instruction set, in T32 with 4 bytes; cond is that of A32's.
func jump32(cond uint32) encoder {
	return func(from, to uint64) uint32 {
		same(from, to)
		if thumb(from) {
			return t32B | wide(span(from, to, 4, 1, 24))
		}
		return cond&0xf0000000 | a32B | span(from, to, 8, 2, 24)
	}
}

// call32 is BL, or BLX where the instruction set changes.
func call32(cond uint32) encoder {
	return func(from, to uint64) uint32 {
		switch {
		case thumb(from) && thumb(to):
			return t32BL | wide(span(from, to, 4, 1, 24))
		case thumb(from):
			return t32BLX | wide(span(from&^3, to, 4, 2, 23)<<1)
		case thumb(to):
			d := span(from, to, 8, 1, 25)
			return a32BLX | d>>1 | d&1<<24
		}
		return cond&0xf0000000 | a32BL | span(from, to, 8, 2, 24)
	}
}

// cond32 is T32's conditional branch of 4 bytes.
func cond32(cond uint32) encoder {
	return func(from, to uint64) uint32 {
		d := span(from, to, 4, 1, 20)
		return t32BCond | d>>19<<26 | cond<<22 | d>>11&0x3f<<16 | d>>17&1<<13 | d>>18&1<<11 | d&0x7ff
	}
}

// jump16, cond16 and cbz are T32's branches of 2 bytes.
func jump16(from, to uint64) uint32 { return t16B | span(from, to, 4, 1, 11) }

func cond16(cond uint32) encoder {
	return func(from, to uint64) uint32 { return t16BCond | cond<<8 | span(from, to, 4, 1, 8) }
}

func cbz(op uint32) encoder {
	return func(from, to uint64) uint32 {
		d := span(from, to, 4, 1, 7)
		if d >= 64 {
			panic("sim: CBZ goes forwards only")
		}
		return op | d>>5<<9 | d&0x1f<<3
	}
}

// plainA32, plainT16 and plainT32 are instructions that go on to the next one.
var plainA32 = [...]uint32{
	a32NOP,
	0xe1a00000, // mov r0, r0
	0xe0810002, // add r0, r1, r2
	0xe3a00001, // mov r0, #1
	0xe3500003, // cmp r0, #3
	0xe5910000, // ldr r0, [r1]
	0xe5801000, // str r1, [r0]
	0xe92d4010, // push {r4, lr}
	0xe8bd0010, // pop {r4}
	0xe0000291, // mul r0, r1, r2
	0xe10f0000, // mrs r0, cpsr
	0xe6ef0071, // uxtb r0, r1
	0xe1911f9f, // ldrex r1, [r1]
	0xe59f0004, // ldr r0, [pc, #4]
	0xe28f0004, // adr r0, .+12
	0xf57ff05b, // dmb ish
	0xf57ff04f, // dsb sy
	0xf5d1f000, // pld [r1]
}

var plainT16 = [...]uint32{
	t16NOP,
	0x1c40, // adds r0, r0, #1
	0x2001, // movs r0, #1
	0x4608, // mov r0, r1
	0x2803, // cmp r0, #3
	0x6808, // ldr r0, [r1]
	0x6001, // str r1, [r0]
	0xb510, // push {r4, lr}
	0xbc10, // pop {r4}
	0x4348, // muls r0, r1
	0xb2c0, // uxtb r0, r0
	0x4801, // ldr r0, [pc, #4]
}

var plainT32 = [...]uint32{
	t32NOP,
	0xf04f0001, // mov.w r0, #1
	0xf8d10000, // ldr.w r0, [r1]
	0xf8c01000, // str.w r1, [r0]
	0xeb010002, // add.w r0, r1, r2
	0xe92d41f0, // push.w {r4-r8, lr}
	0xe8bd01f0, // pop.w {r4-r8}
	0xf3bf8f5b, // dmb ish
	0xf3bf8f4f, // dsb sy
	0xfb01f000, // mul r0, r1, r0
	0xf3ef8000, // mrs r0, cpsr
	0xe8511f00, // ldrex r1, [r1]
	0xf2400001, // movw r0, #1
}
