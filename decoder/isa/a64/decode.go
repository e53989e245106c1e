package a64

import (
	"encoding/binary"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// size is the length of every instruction, bytes.
const size = 4

// Decoder reads A64 instructions. It has no state.
type Decoder struct{}

var _ isa.Decoder = Decoder{}

// MaxLen is 4 bytes.
func (Decoder) MaxLen() int { return size }

// Decode reads the instruction at the front of text into in. The instruction lies
// at addr and executes in mode m: isa.ModeA64; any other is Bad. Decode does not
// look at bytes behind the instruction.
//
// It returns Short when text has less than 4 bytes. It returns Bad when addr is no
// multiple of 4, or when nobody has assigned the encoding; it checks that wherever
// a branch could be. Both leave in zero.
//
// A BL to the next instruction does not have isa.FlagZeroCall: Arm's trace units
// push its return address like any other.
func (Decoder) Decode(in *isa.Insn, text []byte, addr uint64, m isa.Mode) isa.Status {
	*in = isa.Insn{}
	if m != isa.ModeA64 || addr%size != 0 {
		return isa.Bad
	}
	if len(text) < size {
		return isa.Short
	}
	w := binary.LittleEndian.Uint32(text)
	r := classify(w)
	if r.bad {
		return isa.Bad
	}
	in.Len, in.Class, in.Flags = size, r.class, r.flags
	if r.rel != relNone {
		in.Target = addr + uint64(offset(w, r.rel))
	}
	return isa.OK
}

// rel is where an instruction keeps its distance to a label, which counts
// instructions from its own address.
type rel uint8

// The places of a distance.
const (
	relNone rel = iota
	rel26       // bits 25:0, signed
	rel19       // bits 23:5, signed
	rel14       // bits 18:5, signed
	rel9        // bits 13:5, signed
	relBack     // bits 20:5, unsigned, backwards (RETAASPPC); not where it goes
)

// offset is the distance that w holds at r, bytes.
func offset(w uint32, r rel) int64 {
	var n int32
	switch r {
	case rel26:
		n = int32(w<<6) >> 6
	case rel19:
		n = int32(w<<8) >> 13
	case rel14:
		n = int32(w<<13) >> 18
	case rel9:
		n = int32(w<<18) >> 23
	case relBack:
		n = -int32(w >> 5 & 0xffff)
	}
	return int64(n) * size
}

// reading is what a word says to a walker.
type reading struct {
	class isa.Class
	flags isa.Flags
	rel   rel // of the target, relNone without
	bad   bool
}

var bad = reading{bad: true}

// classify reads w. It is the fast form of the table forms, and says Bad where
// that has no row but a branch could be.
//
// DDI0487, "A64 Instruction Set Encoding", "A64 instruction set encoding" and
// "Branches, Exception Generating and System instructions".
func classify(w uint32) reading {
	if w>>26&7 != 5 {
		return elsewhere(w)
	}
	switch w >> 24 {
	case 0x14, 0x15, 0x16, 0x17:
		return reading{class: isa.Jump, rel: rel26}
	case 0x94, 0x95, 0x96, 0x97:
		return reading{class: isa.Call, rel: rel26}
	case 0x54, 0x34, 0x35, 0xb4, 0xb5: // B.cond, BC.cond, CBZ, CBNZ
		return reading{class: isa.Cond, rel: rel19}
	case 0x36, 0x37, 0xb6, 0xb7: // TBZ, TBNZ
		return reading{class: isa.Cond, rel: rel14}
	case 0x74, 0x75, 0xf4, 0xf5:
		return compareBranch(w)
	case 0x55:
		if w&0x00c0_001f == 0x1f { // RETAASPPC, RETABSPPC
			return reading{class: isa.Return}
		}
	case 0xd4:
		return exception(w)
	case 0xd5:
		return system(w)
	case 0xd6, 0xd7:
		return branchRegister(w)
	}
	return bad
}

// elsewhere reads w from outside the group of branches. There nothing leaves
// the flow but by an exception, so unassigned encodings are looked for only where
// whole groups have none.
func elsewhere(w uint32) reading {
	switch w >> 25 & 15 {
	case 0:
		if w>>16 == 0 {
			return reading{class: isa.Undefined} // UDF
		}
		if w>>31 == 0 {
			return bad // with bit 31 it is SME
		}
	case 1, 3:
		return bad
	}
	return reading{class: isa.Other}
}

// compareBranch reads CB<cc>, CBB<cc> and CBH<cc>. DDI0602, "CB<cc>
// (register)", "CB<cc> (immediate)", "CBB<cc>", "CBH<cc>".
func compareBranch(w uint32) reading {
	cc := w >> 21 & 7
	switch {
	case cc == 4 || cc == 5:
		return bad
	case w>>24&1 != 0: // with an immediate
		if w>>14&1 != 0 {
			return bad
		}
	case w>>14&3 == 1, w>>15&1 != 0 && w>>31 != 0: // bytes and halfwords are in W registers
		return bad
	}
	return reading{class: isa.Cond, rel: rel9}
}

// exception reads "Exception generation".
func exception(w uint32) reading {
	switch low := w & 0x1f; w >> 21 & 7 {
	case 0:
		if low >= 1 && low <= 3 { // SVC, HVC, SMC
			return reading{class: isa.Syscall}
		}
	case 1:
		if low == 0 {
			return reading{class: isa.Break}
		}
	case 2:
		if low == 0 {
			return reading{class: isa.SoftInt} // HLT
		}
	case 3:
		if low == 0 {
			return reading{class: isa.Other, flags: isa.FlagTx} // TCANCEL
		}
	case 5:
		if low >= 1 && low <= 3 { // DCPS1, DCPS2, DCPS3
			return reading{class: isa.Undefined}
		}
	case 7:
		if w&0x001d_f01f == 0 {
			return reading{class: isa.Syscall} // TENTER
		}
	}
	return bad
}

// system reads "Hints", "Barriers", "System instructions with register
// argument" and "System register move".
func system(w uint32) reading {
	switch w &^ 31 {
	case 0xd503_1000, 0xd503_1020: // WFET, WFIT
		return reading{class: isa.Wait}
	case 0xd523_3060: // TSTART
		return reading{class: isa.Barrier, flags: isa.FlagTx}
	case 0xd518_2000, 0xd518_2020, 0xd51c_2000, 0xd51c_2020, 0xd51d_2000, 0xd51d_2020, 0xd51e_2000, // TTBRn_ELm
		0xd51c_2100, 0xd51c_2600, // VTTBR_EL2, VSTTBR_EL2
		0xd558_2000, 0xd558_2020, 0xd55c_2000, 0xd55c_2020, 0xd55d_2000, 0xd55d_2020, 0xd55c_2100, // the same by MSRR
		0xd518_d020, 0xd51c_d020, 0xd51d_d020: // CONTEXTIDR_ELm
		return reading{class: isa.SetSpace}
	case 0xd518_1220, 0xd51c_1220, 0xd51d_1220, // TRFCR_ELm
		0xd511_0100: // TRCPRGCTLR
		return reading{class: isa.TraceControl}
	}
	switch {
	case w&0xffff_f01f == 0xd503_201f:
		return hint(w >> 5 & 0x7f)
	case w&0xffff_f0ff == 0xd503_30df: // ISB
		return reading{class: isa.Barrier}
	case w == 0xd503_307f: // TCOMMIT
		return reading{class: isa.Other, flags: isa.FlagTx}
	}
	return reading{class: isa.Other}
}

// hint reads HINT #n. Numbers nobody has assigned do nothing.
func hint(n uint32) reading {
	switch n {
	case 2, 3: // WFE, WFI
		return reading{class: isa.Wait}
	case 0, 0x20, 0x22, 0x24, 0x26: // NOP, BTI
		return reading{class: isa.Other, flags: isa.FlagNop}
	}
	return reading{class: isa.Other}
}

// branchRegister reads "Unconditional branch (register)".
func branchRegister(w uint32) reading {
	switch w & 0xffff_fc1f {
	case 0xd61f_0000, 0xd61f_081f, 0xd61f_0c1f: // BR, BRAAZ, BRABZ
		return reading{class: isa.JumpInd}
	case 0xd63f_0000, 0xd63f_081f, 0xd63f_0c1f: // BLR, BLRAAZ, BLRABZ
		return reading{class: isa.CallInd}
	case 0xd65f_0000: // RET
		return reading{class: isa.Return}
	}
	switch w &^ 0x3ff {
	case 0xd71f_0800, 0xd71f_0c00: // BRAA, BRAB
		return reading{class: isa.JumpInd}
	case 0xd73f_0800, 0xd73f_0c00: // BLRAA, BLRAB
		return reading{class: isa.CallInd}
	case 0xd65f_0800, 0xd65f_0c00:
		if w>>5&31 == 31 { // RETAASPPCR, RETABSPPCR; with 31 for a register RETAA, RETAB
			return reading{class: isa.Return}
		}
	}
	switch w {
	case 0xd69f_03e0, 0xd69f_0bff, 0xd69f_0fff, // ERET, ERETAA, ERETAB
		0xd6ff_03e0, 0xd6ff_07e0: // TEXIT
		return reading{class: isa.FarReturn}
	case 0xd6bf_03e0: // DRPS: undefined outside Debug state, which is not traced
		return reading{class: isa.Undefined}
	}
	return bad
}
