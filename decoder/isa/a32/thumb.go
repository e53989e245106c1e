package a32

import "github.com/ptdecode/ptdecode/decoder/isa"

// readT16 reads the T32 instruction w of one halfword. It is the fast form of the
// table formsT16.
//
// DDI0487, "T32 Base Instruction Set Encoding", "16-bit"; DDI0406C, A6.2 "16-bit
// Thumb instruction encoding".
func readT16(w uint32) reading {
	switch w >> 12 {
	case 4:
		return special(w)
	case 11:
		return misc16(w)
	case 13:
		switch w >> 8 & 15 {
		case 14: // UDF
			return reading{class: isa.Undefined}
		case 15: // SVC
			return reading{class: isa.Syscall}
		}
		return reading{class: isa.Cond, rel: relT8}
	case 14:
		return reading{class: isa.Jump, rel: relT11}
	}
	return other
}

// special reads "Special data instructions and branch and exchange" among the
// words that begin with 4.
func special(w uint32) reading {
	switch {
	case w&0xff87 == 0x4487: // ADD PC
		return reading{class: isa.JumpInd}
	case w == 0x46c0: // MOV R8, R8: the NOP of before Thumb-2
		return nop
	case w == 0x46f7: // MOV PC, LR
		return reading{class: isa.Return}
	case w&0xff87 == 0x4687: // MOV PC
		return reading{class: isa.JumpInd}
	case w&0xfff8 == 0x4770: // BX LR, BXNS LR
		return reading{class: isa.Return}
	case w&0xff80 == 0x4700: // BX, BXNS
		return reading{class: isa.JumpInd}
	case w&0xff80 == 0x4780: // BLX, BLXNS
		return reading{class: isa.CallInd}
	}
	return other
}

// misc16 reads "Miscellaneous 16-bit instructions".
func misc16(w uint32) reading {
	switch w >> 8 & 15 {
	case 1, 3, 9, 11: // CBZ, CBNZ
		return reading{class: isa.Cond, rel: relT6}
	case 6:
		if w&0xf7 == 0x10 || w&0xf7 == 0x50 || w&0xe0 == 0x60 { // SETPAN, SETEND, CPS
			return other
		}
		return bad
	case 7, 8:
		return bad
	case 10:
		if w&0xc0 == 0x80 { // HLT
			return reading{class: isa.SoftInt}
		}
	case 13: // POP with PC
		return reading{class: isa.Return}
	case 14: // BKPT
		return reading{class: isa.Break}
	case 15:
		if w&15 == 0 {
			return hint(w >> 4 & 15)
		}
	}
	return other
}

// readT32 reads the T32 instruction w of two halfwords. It is the fast form of
// the table formsT32.
//
// DDI0487, "T32 Base Instruction Set Encoding", "32-bit"; DDI0406C, A6.3 "32-bit
// Thumb instruction encoding".
func readT32(w uint32) reading {
	switch w >> 24 {
	case 0xe8, 0xe9:
		return multiple32(w)
	case 0xec, 0xee:
		return coprocessor(w)
	case 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7:
		if w>>15&1 != 0 {
			return branch32(w)
		}
	case 0xf8:
		return load32(w)
	case 0xfb:
		switch {
		case w&0x00ff_0ff0 == 0x005e_0f10: // BXAUT of LR
			return reading{class: isa.Return}
		case w&0x00f0_0ff0 == 0x0050_0f10: // BXAUT
			return reading{class: isa.JumpInd}
		}
	}
	return other
}

// multiple32 reads "Load/store multiple" and "Load/store dual, exclusive,
// load-acquire/store-release, table branch".
func multiple32(w uint32) reading {
	switch {
	case w>>22&1 != 0:
		if w&0xfff0_ffe0 == 0xe8d0_f000 { // TBB, TBH
			return reading{class: isa.JumpInd}
		}
	case w>>20&1 == 0: // no load
	case w>>23&3 == 0, w>>23&3 == 3: // RFE
		return reading{class: isa.FarReturn}
	case w>>15&1 == 0: // without PC
	case w&0xffff_2000 == 0xe89f_0000: // CLRM
	case w&0xffff_0000 == 0xe8bd_0000: // POP
		return reading{class: isa.Return}
	default:
		return reading{class: isa.JumpInd}
	}
	return other
}

// load32 reads "Load/store single" of words, bytes and halfwords.
func load32(w uint32) reading {
	switch {
	case w&0x0070_f000 != 0x0050_f000: // no LDR PC
		return other
	case w>>16&15 == 15, w>>23&1 != 0: // from a label; with 12 bits of offset
		return reading{class: isa.JumpInd}
	case w>>11&1 != 0:
		switch {
		case w>>8&5 == 0:
			return bad
		case w&0x000f_0f00 == 0x000d_0b00: // LDR PC, [SP], #n
			return reading{class: isa.Return}
		}
		return reading{class: isa.JumpInd}
	case w>>6&31 == 0: // from the sum of two registers
		return reading{class: isa.JumpInd}
	}
	return bad
}

// branch32 reads "Branches and miscellaneous control".
func branch32(w uint32) reading {
	switch w & 0x5000 {
	case 0:
		if w>>23&7 == 7 {
			return control(w)
		}
		return reading{class: isa.Cond, rel: relT20}
	case 0x1000:
		return reading{class: isa.Jump, rel: relT24}
	case 0x5000:
		return reading{class: isa.Call, rel: relT24}
	}
	if w&1 != 0 {
		return loop(w)
	}
	return reading{class: isa.Call, flags: isa.FlagInterwork, rel: relT24X}
}

// control reads what stands where B<c>.W would have condition 14 or 15.
func control(w uint32) reading {
	switch w >> 20 & 0x7f {
	case 0x38, 0x39, 0x3e, 0x3f: // MSR, MRS
		return other
	case 0x3a:
		switch w {
		case 0xf3af_8002, 0xf3af_8003: // WFE, WFI
			return reading{class: isa.Wait}
		case 0xf3af_8000, 0xf3af_800f: // NOP, BTI
			return nop
		}
		return other // CPS and the other hints
	case 0x3b:
		switch w >> 4 & 15 {
		case 6: // ISB
			return reading{class: isa.Barrier}
		case 0, 1, 2, 4, 5, 7: // LEAVEX, ENTERX, CLREX, DSB, DMB, SB
			return other
		}
	case 0x3c: // BXJ
		return reading{class: isa.JumpInd}
	case 0x3d: // ERET, SUBS PC, LR
		return reading{class: isa.FarReturn}
	case 0x78:
		if w >= 0xf78f_8001 && w <= 0xf78f_8003 { // DCPS1, DCPS2, DCPS3
			return reading{class: isa.Undefined}
		}
	case 0x7e:
		if w>>13&1 == 0 { // HVC
			return reading{class: isa.Syscall}
		}
	case 0x7f:
		if w>>13&1 == 0 { // SMC
			return reading{class: isa.Syscall}
		}
		return reading{class: isa.Undefined} // UDF
	}
	return bad
}

// loop reads what stands where BLX would go to a halfword: the low-overhead loops
// and branch futures of Armv8.1-M, undefined elsewhere. DDI0553, "BF, BFX, BFL,
// BFLX, BFCSEL", "DLS, DLSTP", "LE, LETP", "LCTP", "VCTP", "WLS, WLSTP".
func loop(w uint32) reading {
	switch w & 0xffff_f001 {
	case 0xf00f_c001, 0xf01f_c001: // LE LR, LETP
		return reading{class: isa.Cond, rel: relBack}
	case 0xf02f_c001: // LE without LR
		return reading{class: isa.Jump, rel: relBack}
	}
	switch {
	case w&0x0780_0000 != 0: // BF and its kin
		return other
	case w>>16&15 == 15:
		if w == 0xf00f_e001 { // LCTP
			return other
		}
	case w&0xff80_f001 == 0xf000_c001 && w>>20&7 <= 4: // WLSTP, WLS
		return reading{class: isa.Cond, rel: relForward}
	case w&0xff80_ffff == 0xf000_e001 && w>>20&7 <= 4: // DLSTP, DLS
		return other
	case w&0xffc0_ffff == 0xf000_e801: // VCTP
		return other
	}
	return bad
}
