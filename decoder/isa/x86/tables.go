package x86

import "github.com/ptdecode/ptdecode/decoder/isa"

// form is what an opcode byte alone says of its instruction.
//
//	bits 0-3   immediate, one of the imm constants
//	bits 4-8   isa.Class
//	bits 9-    form flags
type form uint32

// The immediates. Operand size is 2 bytes in effect of 66h, 4 else and 8 with
// REX.W; address size is 2, 4 or 8 bytes.
const (
	immNone form = iota
	immB         // 1 byte
	immW         // 2 bytes
	immZ         // operand size, but never more than 4 bytes
	immV         // operand size
	immBB        // 1 and 1 byte (EXTRQ, INSERTQ)
	immWB        // 2 and 1 byte (ENTER)
	immOff       // address size (moffs)
	immFar       // 2 bytes selector after an offset of operand size
	immD         // 4 bytes (XOP map 0Ah, map 7)
	immQ         // 8 bytes (JMPABS)
	immRelB      // 1 byte, relative to the next instruction
	immRelZ      // 2 or 4 bytes by operand size, always 4 in 64-bit code
	immMask form = 15
)

const classShift = 4

// The form flags.
const (
	fModRM  form = 1 << (9 + iota) // a ModRM byte follows
	fReg                           // ModRM's mod field counts as 3 (MOV to and from CR, DR)
	fGroup                         // regroup must see the ModRM byte
	fBad                           // no instruction
	fNo64                          // no instruction in 64-bit code
	fPrefix                        // not an opcode: prefix, REX, or a leading byte of a longer form
	fString                        // string instruction: F2 and F3 repeat it
	fNop                           // does nothing
)

func (f form) class() isa.Class { return isa.Class(f >> classShift & 31) }

// Short names for the grids below.
const (
	xx = fBad
	oo = immNone
	px = fPrefix
	mr = fModRM
	mb = fModRM | immB
	mz = fModRM | immZ
	gr = fModRM | fGroup
	gb = fModRM | fGroup | immB
	gz = fModRM | fGroup | immZ
	cr = fModRM | fReg
	ib = immB
	iz = immZ
	iv = immV
	st = fString
	mo = immOff
	n6 = fNo64
	nb = fNo64 | immB
	nm = fNo64 | fModRM | immB
	np = fNop
	mn = fModRM | fNop
	gn = fModRM | fGroup | fNop
	en = immWB

	jb = form(isa.Cond)<<classShift | immRelB
	jz = form(isa.Cond)<<classShift | immRelZ
	ub = form(isa.Jump)<<classShift | immRelB
	uz = form(isa.Jump)<<classShift | immRelZ
	cz = form(isa.Call)<<classShift | immRelZ
	rn = form(isa.Return) << classShift
	rw = form(isa.Return)<<classShift | immW
	fr = form(isa.FarReturn) << classShift
	fw = form(isa.FarReturn)<<classShift | immW
	fj = form(isa.FarJump)<<classShift | immFar | fNo64
	bp = form(isa.Break) << classShift
	sn = form(isa.SoftInt) << classShift
	sb = form(isa.SoftInt)<<classShift | immB
	so = form(isa.SoftInt)<<classShift | fNo64
	sy = form(isa.Syscall) << classShift
	ud = form(isa.Undefined) << classShift
	um = form(isa.Undefined)<<classShift | fModRM
	cs = form(isa.SetSpace)<<classShift | fModRM | fReg | fGroup
	tc = form(isa.TraceControl) << classShift
)

// oneByte is the one-byte opcode map (SDM vol. 2, appendix A, table A-2). Rows
// are the opcode's high digit. Bytes that are prefixes in 64-bit code only
// (40-4F, 62, C4, C5, D5) and 8F are px too; Decode knows them by value.
var oneByte = [256]form{
	/* 0x */ mr, mr, mr, mr, ib, iz, n6, n6, mr, mr, mr, mr, ib, iz, n6, px,
	/* 1x */ mr, mr, mr, mr, ib, iz, n6, n6, mr, mr, mr, mr, ib, iz, n6, n6,
	/* 2x */ mr, mr, mr, mr, ib, iz, px, n6, mr, mr, mr, mr, ib, iz, px, n6,
	/* 3x */ mr, mr, mr, mr, ib, iz, px, n6, mr, mr, mr, mr, ib, iz, px, n6,
	/* 4x */ px, px, px, px, px, px, px, px, px, px, px, px, px, px, px, px,
	/* 5x */ oo, oo, oo, oo, oo, oo, oo, oo, oo, oo, oo, oo, oo, oo, oo, oo,
	/* 6x */ n6, n6, px, mr, px, px, px, px, iz, mz, ib, mb, st, st, st, st,
	/* 7x */ jb, jb, jb, jb, jb, jb, jb, jb, jb, jb, jb, jb, jb, jb, jb, jb,
	/* 8x */ mb, mz, nm, mb, mr, mr, mr, mr, mr, mr, mr, mr, gr, gr, gr, px,
	/* 9x */ np, oo, oo, oo, oo, oo, oo, oo, oo, oo, fj, oo, oo, oo, oo, oo,
	/* Ax */ mo, mo, mo, mo, st, st, st, st, ib, iz, st, st, st, st, st, st,
	/* Bx */ ib, ib, ib, ib, ib, ib, ib, ib, iv, iv, iv, iv, iv, iv, iv, iv,
	/* Cx */ mb, mb, rw, rn, px, px, gb, gz, en, oo, fw, fr, bp, sb, so, fr,
	/* Dx */ mr, mr, mr, mr, nb, px, ud, oo, mr, mr, mr, mr, mr, mr, mr, mr,
	/* Ex */ jb, jb, jb, jb, ib, ib, ib, ib, cz, uz, fj, ub, oo, oo, oo, oo,
	/* Fx */ px, sn, px, px, oo, oo, gr, gr, oo, oo, oo, oo, oo, oo, gr, gr,
}

// twoByte is the map behind 0F (SDM vol. 2, appendix A, table A-3; 0E and 0F
// are AMD's FEMMS and 3DNow!, A6 and A7 are VIA's PadLock).
var twoByte = [256]form{
	/* 0x */ gr, gr, mr, mr, xx, sy, oo, fr, oo, oo, xx, ud, xx, mr, oo, mb,
	/* 1x */ mr, mr, mr, mr, mr, mr, mr, mr, gn, mn, mr, mr, gn, mn, gn, mn,
	/* 2x */ cr, cr, cs, cr, xx, xx, xx, xx, mr, mr, mr, mr, mr, mr, mr, mr,
	/* 3x */ tc, oo, oo, oo, sy, fr, xx, oo, px, xx, px, xx, xx, xx, xx, xx,
	/* 4x */ mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr,
	/* 5x */ mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr,
	/* 6x */ mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr,
	/* 7x */ mb, gb, gb, gb, mr, mr, mr, oo, gr, mr, xx, xx, mr, mr, mr, mr,
	/* 8x */ jz, jz, jz, jz, jz, jz, jz, jz, jz, jz, jz, jz, jz, jz, jz, jz,
	/* 9x */ mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr,
	/* Ax */ oo, oo, oo, mr, mb, mr, gr, gr, oo, oo, fr, mr, mb, mr, gr, mr,
	/* Bx */ mr, mr, mr, mr, mr, mr, mr, mr, mr, um, gb, mr, mr, mr, mr, mr,
	/* Cx */ mr, mr, mb, mr, mb, mb, mb, gr, oo, oo, oo, oo, oo, oo, oo, oo,
	/* Dx */ mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr,
	/* Ex */ mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr,
	/* Fx */ mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, mr, um,
}

// opset is a set of opcodes: row op>>4, bit op&15.
type opset [16]uint16

func (s *opset) has(op byte) bool { return s[op>>4]>>(op&15)&1 != 0 }

// map38 holds the opcodes assigned behind 0F 38 (SDM vol. 2, appendix A, table
// A-4; 8A and 8B are MOVRS): all have ModRM and no immediate.
var map38 = opset{
	0x0: 0x0fff, 0x1: 0x70b1, 0x2: 0x0f3f, 0x3: 0xffbf, 0x4: 0x0003,
	0x8: 0x0c07, 0xc: 0xbf00, 0xd: 0xf900, 0xf: 0x1f63,
}

// map3A holds the opcodes assigned behind 0F 3A (SDM vol. 2, appendix A, table
// all have ModRM and one byte of immediate.
var map3A = opset{
	0x0: 0xff00, 0x1: 0x00f0, 0x2: 0x0007, 0x4: 0x0017,
	0x6: 0x000f, 0xc: 0xd000, 0xd: 0x8000, 0xf: 0x0001,
}
