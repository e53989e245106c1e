package x86

import "github.com/ptdecode/ptdecode/decoder/isa"

// regroup says what the ModRM byte makes of an opcode whose form is f. ok is
// false where nothing is assigned. SDM vol. 2, appendix A, "Opcode Extensions
// for One-Byte and Two-Byte Opcodes".
func (r *reader) regroup(f form) (g form, ok bool) {
	mem := r.modrm < 0xc0
	reg := r.modrm >> 3 & 7
	if r.space == spaceTwo {
		return r.regroup2(f, mem, reg)
	}
	switch r.op {
	case 0x8c:
		return f, reg < 6 // MOV from a segment register
	case 0x8d:
		return f, mem // LEA
	case 0x8e:
		return f, reg < 6 && reg != 1
	case 0x8f:
		return f, reg == 0 // POP behind REX2
	case 0xc6, 0xc7:
		if r.modrm == 0xf8 {
			return f, true // XABORT, XBEGIN
		}
		return f, reg == 0
	case 0xf6:
		if reg < 2 {
			f |= immB
		}
	case 0xf7:
		if reg < 2 {
			f |= immZ
		}
	case 0xfe:
		return f, reg < 2
	case 0xff:
		c := [8]isa.Class{2: isa.CallInd, 3: isa.FarJump, 4: isa.JumpInd, 5: isa.FarJump}[reg]
		return f | form(c)<<classShift, reg != 7 && (mem || reg != 3 && reg != 5)
	}
	return f, true
}

// regroup2 is regroup for opcodes behind 0F.
func (r *reader) regroup2(f form, mem bool, reg byte) (form, bool) {
	switch r.op {
	case 0x00:
		return f, reg < 6 || reg == 6 && r.rep == 0xf2 // LKGS
	case 0x01:
		return r.group7(f, mem, reg)
	case 0x18, 0x1c, 0x1e:
		if !r.hintNop(mem, reg) {
			f &^= fNop
		}
	case 0x22:
		if reg != 3 || r.rex&4 != 0 || r.high&4 != 0 || r.lock {
			f &^= form(isa.SetSpace) << classShift // not CR3
		}
		return f, reg != 1 && reg < 5 || r.rex&4 != 0 || r.high&4 != 0
	case 0x71, 0x72:
		return f, !mem && (reg == 2 || reg == 4 || reg == 6)
	case 0x73:
		return f, !mem && (reg == 2 || reg == 3 || reg == 6 || reg == 7)
	case 0x78:
		return f, f&immMask == 0 || !mem && (r.rep != 0 || reg == 0) // EXTRQ is /0
	case 0xa6:
		return f, !mem && r.modrm&7 == 0 && reg < 3 // PadLock
	case 0xa7:
		return f, !mem && r.modrm&7 == 0 && reg < 6
	case 0xae:
		if r.rex2 && mem && (reg == 4 || reg == 5 || reg == 6 && !r.x66 && r.rep == 0) && r.rep != 0xf3 {
			return f, false // XSAVE and its kin
		}
		if mem {
			return f, true
		}
		return f, r.rep != 0 || r.x66 || reg >= 5
	case 0xba:
		return f, reg >= 4
	case 0xc7:
		if mem && (reg == 3 || reg == 5) { // XRSTORS, XSAVES: may load or clear trace control
			f |= form(isa.TraceControl) << classShift
		}
		if r.rex2 && mem && reg >= 3 && reg <= 5 {
			return f, false
		}
		return f, mem && reg != 0 && reg != 2 || !mem && reg >= 6
	}
	return f, true
}

// group7reg holds the ModRM bytes from C0 that are assigned behind 0F 01, bit
// 0 is C0.
const group7reg uint64 = 0xffff_f7ff_fff3_ffff // without D2, D3, EB

// group7 is regroup for 0F 01.
func (r *reader) group7(f form, mem bool, reg byte) (form, bool) {
	if mem {
		return f, reg != 5 || r.rep == 0xf3 // RSTORSSP
	}
	c := isa.Other
	switch r.modrm {
	case 0xc2, 0xc3:
		c = isa.VMEnter // VMLAUNCH, VMRESUME
	case 0xcd:
		if r.x66 {
			c = isa.VMEnter // SEAMRET
		}
	case 0xc6:
		if r.rep != 0xf2 { // F2: RDMSRLIST
			c = isa.TraceControl // WRMSRNS, WRMSRLIST
		}
	case 0xca:
		if r.rep != 0 && r.mode == isa.Mode64 {
			c = isa.FarReturn // ERETS, ERETU
		}
	case 0xec:
		if r.rep != 0xf3 || r.mode != isa.Mode64 {
			return f, false
		}
		c = isa.FarReturn // UIRET
	}
	return f | form(c)<<classShift, group7reg>>(r.modrm&63)&1 != 0
}

// hintNop reports whether 0F 18, 1C or 1E is one of their NOPs and not a hint
// to the cache nor RDSSP. SDM vol. 2, "NOP", "PREFETCHh", "CLDEMOTE", "RDSSPD".
func (r *reader) hintNop(mem bool, reg byte) bool {
	switch r.op {
	case 0x18:
		return !mem || reg == 4 || reg == 5
	case 0x1c:
		return !mem || reg != 0 || r.x66 || r.rep != 0
	}
	return mem || reg != 1 || r.rep != 0xf3
}

// flags gives the flags that hang on ModRM or on F2 and F3.
func (r *reader) flags() isa.Flags {
	reg := r.modrm >> 3 & 7
	mem := r.modrm < 0xc0
	switch {
	case r.space == spaceTwo:
		switch {
		case r.op == 0xae && reg == 4 && r.rep == 0xf3 && !r.x66:
			return isa.FlagPTWrite
		case r.op == 0x01 && r.modrm == 0xd5 && r.rep == 0 && !r.x66:
			return isa.FlagTx // XEND
		case r.op == 0xa6 || r.op == 0xa7:
			if r.rep == 0xf3 {
				return isa.FlagRep // PadLock
			}
		}
	case r.space == spaceOne:
		switch {
		case (r.op == 0xc6 || r.op == 0xc7) && r.modrm == 0xf8:
			return isa.FlagTx // XABORT, XBEGIN
		case r.rep != 0 && (r.op == 0x86 || r.op == 0x87) && mem:
			return isa.FlagTx // XCHG locks without LOCK
		case r.rep == 0xf3 && (r.op&^1 == 0x88 || r.op&^1 == 0xc6) && mem:
			return isa.FlagTx // XRELEASE MOV
		}
	}
	if r.lock && r.rep != 0 {
		return isa.FlagTx // XACQUIRE, XRELEASE
	}
	return 0
}
