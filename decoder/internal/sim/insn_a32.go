package sim

// decodeA32 reads the A32 or T32 instruction w at addr. Like decodeA64 it knows
// what this package emits and no more.
func decodeA32(w uint32, addr uint64) insn {
	in := insn{op: opPlain, len: uint8(lengthAt(addr, w))}
	switch {
	case !thumb(addr):
		in.readA32(w, addr)
	case in.len == 2:
		in.readT16(w, addr)
	default:
		in.readT32(w, addr)
	}
	return in
}

// to notes a direct branch over d units of 1<<shift bytes, a number of n bits,
// from a program counter of pc.
func (in *insn) to(o op, pc uint64, d uint32, shift, n uint) {
	in.op = o
	in.target = uint64(uint32(int64(pc) + int64(d)<<(64-n)>>(64-n)<<shift))
}

func (in *insn) readA32(w uint32, addr uint64) {
	pc := addr + 8
	if w>>28 == 15 {
		switch {
		case w>>25 == a32BLX>>25:
			in.to(opCall, pc, w&0xffffff<<1|w>>24&1, 1, 25)
			in.target |= 1
		case w == a32ISB:
			in.op = opSync
		case w == a32IRQOn:
			in.op = opSti
		case w == a32IRQOff:
			in.op = opCli
		case w == a32RFE:
			in.op = opIret
		}
		return
	}
	in.cond = w>>28 != 14
	c := w & 0x0fffffff
	switch {
	case c>>24 == a32B>>24 && in.cond:
		in.to(opCond, pc, w&0xffffff, 2, 24)
		in.cond = false
	case c>>24 == a32B>>24:
		in.to(opJump, pc, w&0xffffff, 2, 24)
	case c>>24 == a32BL>>24:
		in.to(opCall, pc, w&0xffffff, 2, 24)
	case c>>24 == a32SVC>>24:
		in.op = opInt
	case c == a32BX|14, c == a32MovPC|14, c == a32PopPC, c == a32LdrRet:
		in.op = opRet
	case c&^15 == a32BX, c&^15 == a32MovPC, c&^15 == a32AddPC, c&^0xf000f == a32LdrPC:
		in.op = opJumpInd
	case c&^15 == a32BLXReg:
		in.op = opCallInd
	case w == a32SubsPC, w == a32Ldm:
		in.op = opIret
	case c&0x0ff000f0 == a32BKPT&0x0fffffff:
		in.op = opInt3
	case c&0x0ff000f0 == a32UDF:
		in.op = opBad
	case w == a32ISBReg:
		in.op = opSync
	case c>>26 == 1 && (c>>25&1 == 0 || c>>4&1 == 0): // a load or store
		in.op = opMem
	}
}

func (in *insn) readT16(w uint32, addr uint64) {
	pc := addr + 4
	switch {
	case w>>11 == t16B>>11:
		in.to(opJump, pc, w&0x7ff, 1, 11)
	case w>>8 == t16SVC>>8:
		in.op = opInt
	case w>>8 == t16UDF>>8:
		in.op = opBad
	case w>>12 == t16BCond>>12:
		in.to(opCond, pc, w&0xff, 1, 8)
	case w&0xf500 == t16CBZ:
		in.to(opCond, pc, w>>9&1<<5|w>>3&0x1f, 1, 32)
	case w == t16BX|14<<3, w == t16MovPC|14<<3, w>>8 == t16PopPC>>8:
		in.op = opRet
	case w&^0x78 == t16BX, w&^0x78 == t16MovPC:
		in.op = opJumpInd
	case w&^0x78 == t16BLXReg:
		in.op = opCallInd
	case w>>8 == t16BKPT>>8:
		in.op = opInt3
	case w == t16IRQOn:
		in.op = opSti
	case w == t16IRQOff:
		in.op = opCli
	case w>>12 >= 5 && w>>12 <= 9:
		in.op = opMem
	}
}

func (in *insn) readT32(w uint32, addr uint64) {
	pc := addr + 4
	switch {
	case w&0xf800d000 == t32B:
		in.to(opJump, pc, narrowT32(w), 1, 24)
	case w&0xf800d000 == t32BL:
		in.to(opCall, pc, narrowT32(w), 1, 24)
	case w&0xf800d000 == t32BLX:
		in.to(opCall, pc&^3, narrowT32(w), 1, 24)
	case w == t32ISB, w == t32ISBReg:
		in.op = opSync
	case w&0xfff0f000 == t32UDF:
		in.op = opBad
	case w == t32SubsPC, w == t32RFE:
		in.op = opIret
	case w&0xf800d000 == t32BCond && w>>22&15 < 14:
		in.to(opCond, pc, w>>26&1<<19|w>>11&1<<18|w>>13&1<<17|w>>16&0x3f<<11|w&0x7ff, 1, 20)
	case w == t32TBB, w == t32TBH, w == t32LdrPC:
		in.op = opJumpInd
	case w == t32PopPC, w == t32LdrRet:
		in.op = opRet
	case w>>25 == 0xf8000000>>25:
		in.op = opMem
	}
}

// narrowT32 is wide backwards.
func narrowT32(w uint32) uint32 {
	s := w >> 26 & 1
	i1, i2 := ^(w>>13^s)&1, ^(w>>11^s)&1
	return s<<23 | i1<<22 | i2<<21 | w>>16&0x3ff<<11 | w&0x7ff
}
