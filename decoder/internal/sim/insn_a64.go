package sim

// decodeA64 reads the word w at addr. It knows the encodings that this package
// emits and no more; it shares nothing with the decoder under test.
func decodeA64(w uint32, addr uint64) insn {
	in := insn{op: opPlain, len: wordLength}
	direct := func(o op, f field) insn {
		v := int64(w>>f.shift) << (64 - f.bits) >> (64 - f.bits) << 2
		in.op, in.target = o, addr+uint64(v)
		return in
	}
	switch {
	case w>>26 == a64B>>26:
		return direct(opJump, imm26)
	case w>>26 == a64BL>>26:
		return direct(opCall, imm26)
	case w&0xff000010 == a64BCond, w&0x7e000000 == a64CBZ:
		return direct(opCond, imm19)
	case w&0x7e000000 == a64TBZ:
		return direct(opCond, imm14)
	case w&^0x3e0 == a64BR, w&^0x3e0 == a64BRAAZ:
		in.op = opJumpInd
	case w&^0x3e0 == a64BLR, w&^0x3e0 == a64BLRAAZ:
		in.op = opCallInd
	case w == a64RET, w == a64RETAA:
		in.op = opRet
	case w == a64ERET:
		in.op = opIret
	case w == a64ISB:
		in.op = opSync
	case w&^0x1fffe0 == a64SVC, w&^0x1fffe0 == a64HVC, w&^0x1fffe0 == a64SMC:
		in.op = opInt
	case w&^0x1fffe0 == a64BRK:
		in.op = opInt3
	case w>>16 == a64UDF>>16:
		in.op = opBad
	case w&^0x1f == a64TSTART:
		in.op = opTxStart
	case w == a64TCOMMIT:
		in.op = opTxCommit
	case w&^0x1fffe0 == a64TCANCEL:
		in.op = opTxCancel
	case w == a64IRQOn:
		in.op = opSti
	case w == a64IRQOff:
		in.op = opCli
	case w&0x0a000000 == 0x08000000: // loads and stores
		in.op = opMem
	}
	return in
}
