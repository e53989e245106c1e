package a32

import "github.com/ptdecode/ptdecode/decoder/isa"

// readA32 reads the A32 instruction w. It is the fast form of the table formsA32.
//
// DDI0487, "A32 Base Instruction Set Encoding"; DDI0406C, A5.1 "ARM instruction
// set encoding".
func readA32(w uint32) reading {
	if w>>28 == 15 {
		return always(w)
	}
	r := conditional(w)
	if w>>28 != 14 && r.class != none && r.class != isa.Cond {
		r.flags |= isa.FlagConditional
	}
	return r
}

// conditional reads w, whose bits 31:28 are a condition.
func conditional(w uint32) reading {
	switch w >> 25 & 7 {
	case 0:
		switch {
		case w>>4&9 == 9: // multiplication, exclusive and other loads and stores
			return other
		case w&0x0190_0000 == 0x0100_0000:
			return miscellaneous(w)
		}
		return data(w)
	case 1:
		if w&0x0190_0000 == 0x0100_0000 {
			return status(w)
		}
		return data(w)
	case 2, 3:
		return single(w)
	case 4:
		return multiple(w)
	case 5:
		switch {
		case w>>24&1 != 0:
			return reading{class: isa.Call, rel: relA24}
		case w>>28 == 14:
			return reading{class: isa.Jump, rel: relA24}
		}
		return reading{class: isa.Cond, rel: relA24}
	case 7:
		if w>>24&1 != 0 {
			return reading{class: isa.Syscall} // SVC
		}
	}
	return coprocessor(w)
}

// miscellaneous reads "Miscellaneous" and "Halfword Multiply and Accumulate".
func miscellaneous(w uint32) reading {
	op := w >> 21 & 3
	switch w >> 4 & 15 {
	case 1:
		switch {
		case w&0x0060_000f == 0x0020_000e: // BX LR
			return reading{class: isa.Return}
		case op == 1: // BX
			return reading{class: isa.JumpInd}
		case op == 3: // CLZ
			return other
		}
		return bad
	case 2: // BXJ
		return only(op == 1, isa.JumpInd)
	case 3: // BLX
		return only(op == 1, isa.CallInd)
	case 6: // ERET
		return only(op == 3, isa.FarReturn)
	case 7:
		switch op {
		case 0: // HLT
			return reading{class: isa.SoftInt}
		case 1: // BKPT
			return reading{class: isa.Break}
		}
		return reading{class: isa.Syscall} // HVC, SMC
	}
	return other
}

// only is an instruction of class c where is, and none elsewhere.
func only(is bool, c isa.Class) reading {
	if is {
		return reading{class: c}
	}
	return bad
}

// status reads MOVW, MOVT, and "Move Special Register and Hints (immediate)".
func status(w uint32) reading {
	if w&0x0fff_ff00 == 0x0320_f000 {
		return hint(w & 0xff)
	}
	return other
}

// hint reads hint number n, which A32 and T32 number alike.
func hint(n uint32) reading {
	switch n {
	case 0: // NOP
		return nop
	case 2, 3: // WFE, WFI
		return reading{class: isa.Wait}
	}
	return other
}

// data reads "Data-processing register" and "Data-processing immediate". With the
// program counter as destination they branch, and those that set the flags then
// return from an exception. DDI0487, "Pseudocode description of operations on the
// AArch32 general-purpose registers and the PC"; DDI0406C, B9.3.20 "SUBS PC, LR and
// related instructions (ARM)".
func data(w uint32) reading {
	switch {
	case w&0x0d90_0000 == 0x0110_0000: // TST, TEQ, CMP, CMN have no destination
		return other
	case w&0x0fff_ffff == 0x01a0_0000: // MOV R0, R0: the NOP of before ARMv6K
		return nop
	case w>>12&15 != 15:
		return other
	case w>>20&1 != 0:
		return reading{class: isa.FarReturn}
	case w&0x0ff0_0fff == 0x01a0_000e: // MOV PC, LR
		return reading{class: isa.Return}
	}
	return reading{class: isa.JumpInd}
}

// single reads "Load/Store Word, Unsigned Byte" and "Media instructions".
func single(w uint32) reading {
	if w&0x0200_0010 == 0x0200_0010 { // media
		if w&0x0ff0_00f0 == 0x07f0_00f0 { // UDF; with a condition it has no name
			return reading{class: isa.Undefined}
		}
		return other
	}
	switch {
	case w&0x0050_f000 != 0x0010_f000: // no LDR PC
		return other
	case w&0x0fff_0000 == 0x049d_0000: // LDR PC, [SP], #n
		return reading{class: isa.Return}
	}
	return reading{class: isa.JumpInd}
}

// multiple reads "Load/Store Multiple".
func multiple(w uint32) reading {
	switch {
	case w&0x0010_8000 != 0x0010_8000: // no LDM with PC
		return other
	case w>>22&1 != 0: // LDM (exception return)
		return reading{class: isa.FarReturn}
	case w&0x0fff_0000 == 0x08bd_0000: // POP
		return reading{class: isa.Return}
	case w&0x0fff_2000 == 0x089d_2000, w&0x0fff_2000 == 0x091b_2000: // of SP and PC, from SP or below R11: a frame
		return reading{class: isa.Return}
	}
	return reading{class: isa.JumpInd}
}

// coprocessor reads what writes to the system registers that matter to a
// walker: MCR and MCRR of coprocessors 14 and 15. T32 has the same words with
// condition 14. DDI0487, "AArch32 System Register Descriptions".
func coprocessor(w uint32) reading {
	switch w & 0x0fff_0fff {
	case 0x0e07_0f95: // ISB as a write of CP15ISB
		return reading{class: isa.Barrier}
	case 0x0e02_0f10, 0x0e02_0f30, // TTBR0, TTBR1
		0x0e0d_0f10, 0x0e0d_0f30: // FCSEIDR, CONTEXTIDR
		return reading{class: isa.SetSpace}
	case 0x0e01_0f32, 0x0e81_0f32, // TRFCR, HTRFCR
		0x0e20_0e10, 0x0e20_0e11: // ETMCR, TRCPRGCTLR
		return reading{class: isa.TraceControl}
	}
	switch w & 0x0ff0_0fff {
	case 0x0c40_0f02, 0x0c40_0f12, 0x0c40_0f42, 0x0c40_0f62: // TTBR0, TTBR1, HTTBR, VTTBR
		return reading{class: isa.SetSpace}
	}
	return other
}

// always reads w, whose bits 31:28 are all set. DDI0487, "Unconditional
// instructions"; DDI0406C, A5.7.
func always(w uint32) reading {
	switch w >> 24 & 15 {
	case 0:
		return bad
	case 1: // CPS, SETEND, SETPAN
		if w&0x00f1_0020 == 0 || w&0x00f1_00f0 == 0x0001_0000 || w&0x00f0_00f0 == 0x0010_0000 {
			return other
		}
		return bad
	case 5:
		switch {
		case w>>20&15 == 7:
			return barrier(w)
		case w>>20&1 == 0:
			return bad
		}
	case 6, 7:
		switch {
		case w&0x0ff0_00f0 == 0x07f0_00f0: // for ever undefined
			return reading{class: isa.Undefined}
		case w&0x0010_0010 != 0x0010_0000: // no preload
			return bad
		}
	case 8, 9:
		switch w & 0x0050_0000 {
		case 0x0010_0000: // RFE
			return reading{class: isa.FarReturn}
		case 0x0040_0000: // SRS
			return other
		}
		return bad
	case 10, 11:
		return reading{class: isa.Call, flags: isa.FlagInterwork, rel: relA25} // BLX
	case 15:
		return bad
	}
	return other
}

// barrier reads "Barriers".
func barrier(w uint32) reading {
	switch w >> 4 & 15 {
	case 6: // ISB
		return reading{class: isa.Barrier}
	case 1, 4, 5, 7: // CLREX, DSB, DMB, SB
		return other
	}
	return bad
}
