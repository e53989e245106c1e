package x86

import "github.com/ptdecode/ptdecode/decoder/isa"

// maxLen is the longest instruction, bytes (SDM vol. 2, "Instruction
// Prefixes"): a longer one faults.
const maxLen = 15

// Decoder reads x86 instructions. It has no state.
type Decoder struct{}

var _ isa.Decoder = Decoder{}

// MaxLen is 15 bytes.
func (Decoder) MaxLen() int { return maxLen }

// Decode reads the instruction at the front of text, which lies at addr and
// executes in mode m (isa.Mode16, Mode32 or Mode64; any other is Bad), into in.
// Bytes behind the instruction are not looked at. It is Short when text ends
// before the instruction does, and Bad when no bytes that could follow would
// make it one. Both leave in zero.
//
// Targets are kept to 16 or 32 bits as the instruction pointer is. There is one
// guess: the base of a 16-bit code segment, which is not known, is taken to be a
// multiple of 64 KiB. So in 16-bit code a branch with 16-bit operands stays in
// addr's 64 KiB.
func (Decoder) Decode(in *isa.Insn, text []byte, addr uint64, m isa.Mode) isa.Status {
	*in = isa.Insn{}
	if m != isa.Mode64 && m != isa.Mode32 && m != isa.Mode16 {
		return isa.Bad
	}
	r := reader{text: text, mode: m}
	if s := r.prefixes(); s != isa.OK {
		return s
	}
	f, s := r.opcode()
	if s != isa.OK {
		return s
	}
	if s := r.operands(&f); s != isa.OK {
		return s
	}
	r.fill(in, f, addr)
	return isa.OK
}

// reader is the state of one Decode.
type reader struct {
	text []byte
	pos  int // bytes read
	mode isa.Mode

	rex  byte // REX, or 40h with REX2's W, R, X, B; 0 without
	rep  byte // F2 or F3, whichever came last; else 0
	x66  bool // operand size prefix
	x67  bool // address size prefix
	lock bool
	rex2 bool
	high byte // REX2's R4, X4, B4 in bits 2-0

	space byte // opcode map: one of the space constants
	lead  byte // of spaceVector: 62, C4, C5 or 8F
	vmap  byte // of spaceVector: the map's number
	op    byte // opcode
	modrm byte
	imm   int // offset of the immediate in text, bytes
}

// The opcode maps of reader.space. A vector space has no groups to look at.
const (
	spaceOne byte = iota
	spaceTwo
	space38
	space3A
	spaceVector
)

// need reports OK if n more bytes can be read, Bad if they would make the
// instruction too long, else Short.
func (r *reader) need(n int) isa.Status {
	switch {
	case r.pos+n > maxLen:
		return isa.Bad
	case r.pos+n > len(r.text):
		return isa.Short
	}
	return isa.OK
}

// prefixes reads the legacy prefixes and REX. A REX counts only right before
// the opcode.
func (r *reader) prefixes() isa.Status {
	for {
		if s := r.need(1); s != isa.OK {
			return s
		}
		b := r.text[r.pos]
		if oneByte[b]&fPrefix == 0 {
			return isa.OK
		}
		switch b {
		case 0x66:
			r.x66 = true
		case 0x67:
			r.x67 = true
		case 0xf0:
			r.lock = true
		case 0xf2, 0xf3:
			r.rep = b
		case 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65:
		default:
			if b&0xf0 != 0x40 || r.mode != isa.Mode64 {
				return isa.OK
			}
			r.rex = b
			r.pos++
			continue
		}
		r.rex = 0
		r.pos++
	}
}

// opcode reads the opcode in whatever map it is.
func (r *reader) opcode() (form, isa.Status) {
	b := r.text[r.pos]
	r.pos++
	f := oneByte[b]
	if f&fPrefix == 0 {
		r.op = b
		if f&fNo64 != 0 && r.mode == isa.Mode64 {
			return 0, isa.Bad
		}
		if b == 0xd6 && r.mode != isa.Mode64 {
			return immNone, isa.OK // SALC; UDB in 64-bit code
		}
		return f, isa.OK
	}
	switch b {
	case 0x0f:
		return r.escape()
	case 0x62, 0xc4, 0xc5:
		return r.vex(b)
	case 0x8f:
		return r.xop()
	case 0xd5:
		if r.mode == isa.Mode64 {
			return r.readREX2()
		}
		r.op = b
		return immB, isa.OK // AAD
	}
	r.op = b // 40-4F outside 64-bit code: INC, DEC
	return immNone, isa.OK
}

// escape reads the opcode behind 0F.
func (r *reader) escape() (form, isa.Status) {
	if s := r.need(1); s != isa.OK {
		return 0, s
	}
	b := r.text[r.pos]
	r.pos++
	r.space, r.op = spaceTwo, b
	if b == 0x38 || b == 0x3a {
		return r.escape3(b)
	}
	return r.two()
}

// two is the form of opcode r.op behind 0F, as its prefixes make it.
func (r *reader) two() (form, isa.Status) {
	f := twoByte[r.op]
	switch {
	case f&fBad != 0, r.op == 0xb8 && r.rep != 0xf3, r.op == 0x78 && r.rep == 0xf3:
		return 0, isa.Bad // B8: POPCNT with F3 only
	case r.op == 0x78 && (r.x66 || r.rep == 0xf2):
		f |= immBB // EXTRQ, INSERTQ
	}
	return f, isa.OK
}

// escape3 reads the opcode behind 0F 38 or 0F 3A.
func (r *reader) escape3(b byte) (form, isa.Status) {
	rest := 2 // opcode, ModRM
	r.space = space38
	set, f := &map38, fModRM
	if b == 0x3a {
		rest = 3
		r.space = space3A
		set, f = &map3A, fModRM|immB
	}
	if r.pos+rest > maxLen {
		return 0, isa.Bad
	}
	if s := r.need(1); s != isa.OK {
		return 0, s
	}
	r.op = r.text[r.pos]
	r.pos++
	if !set.has(r.op) {
		return 0, isa.Bad
	}
	return f, isa.OK
}

// operands reads over ModRM, SIB, displacement and immediate.
func (r *reader) operands(f *form) isa.Status {
	if *f&fModRM != 0 {
		if s := r.need(1 + r.immLen(*f)); s == isa.Bad {
			return s
		}
		if s := r.need(1); s != isa.OK {
			return s
		}
		r.modrm = r.text[r.pos]
		if *f&fGroup != 0 {
			g, ok := r.regroup(*f)
			if !ok {
				return isa.Bad
			}
			*f = g
		}
		r.pos++
	}
	imm := r.immLen(*f)
	if *f&fModRM != 0 && *f&fReg == 0 {
		if s := r.address(imm); s != isa.OK {
			return s
		}
	}
	if s := r.need(imm); s != isa.OK {
		return s
	}
	r.imm = r.pos
	r.pos += imm
	return isa.OK
}

// address reads over SIB and displacement; imm bytes must fit behind them.
// SDM vol. 2, "Addressing-Mode Encoding of ModR/M and SIB Bytes".
func (r *reader) address(imm int) isa.Status {
	mod, rm := r.modrm>>6, r.modrm&7
	if mod == 3 {
		return isa.OK
	}
	disp := 0
	if mod == 1 {
		disp = 1
	}
	if (r.mode == isa.Mode16) != r.x67 && r.mode != isa.Mode64 {
		if mod == 2 || mod == 0 && rm == 6 {
			disp = 2
		}
	} else {
		if mod == 2 || mod == 0 && rm == 5 {
			disp = 4
		}
		if rm == 4 {
			if r.need(1+disp+imm) == isa.Bad {
				return isa.Bad
			}
			if s := r.need(1); s != isa.OK {
				return s
			}
			if mod == 0 && r.text[r.pos]&7 == 5 {
				disp = 4
			}
			r.pos++
		}
	}
	if s := r.need(disp + imm); s != isa.OK {
		return s
	}
	r.pos += disp
	return isa.OK
}

// opsize is the operand size in effect, bytes.
func (r *reader) opsize() int {
	switch {
	case r.mode == isa.Mode64 && r.rex&8 != 0:
		return 8
	case (r.mode == isa.Mode16) != r.x66:
		return 2
	}
	return 4
}

// immLen is the length of f's immediate, bytes.
func (r *reader) immLen(f form) int {
	switch f & immMask {
	case immB, immRelB:
		return 1
	case immW, immBB:
		return 2
	case immWB:
		return 3
	case immD:
		return 4
	case immQ:
		return 8
	case immZ:
		return min(r.opsize(), 4)
	case immV:
		return r.opsize()
	case immFar:
		return 2 + r.opsize()
	case immRelZ:
		if r.mode == isa.Mode64 {
			return 4
		}
		return r.opsize()
	case immOff:
		switch {
		case r.mode == isa.Mode64 && !r.x67:
			return 8
		case r.mode == isa.Mode16 && !r.x67, r.mode == isa.Mode32 && r.x67:
			return 2
		}
		return 4
	}
	return 0
}

// fill writes what was read into in.
func (r *reader) fill(in *isa.Insn, f form, addr uint64) {
	in.Len = uint8(r.pos)
	in.Class = f.class()
	imm := r.text[r.imm:r.pos]
	switch f & immMask {
	case immRelB:
		in.Target = r.target(addr, int64(int8(imm[0])))
	case immRelZ:
		rel := int64(little(imm))
		if len(imm) == 2 {
			rel = int64(int16(rel))
		} else {
			rel = int64(int32(rel))
		}
		in.Target = r.target(addr, rel)
		if rel == 0 && in.Class == isa.Call {
			in.Flags |= isa.FlagZeroCall
		}
	case immQ:
		in.Target = little(imm)
	}
	if f&fString != 0 && r.rep != 0 {
		in.Flags |= isa.FlagRep
	}
	if f&fNop != 0 && !(r.space == spaceOne && (r.rep == 0xf3 || (r.rex|r.high)&1 != 0)) {
		in.Flags |= isa.FlagNop // 90 is PAUSE with F3, XCHG R8, RAX with REX.B
	}
	if f&fGroup != 0 || r.rep != 0 {
		in.Flags |= r.flags()
	}
}

// little is b read as a little-endian number.
func little(b []byte) uint64 {
	var v uint64
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// target is where a branch goes that lies at addr and is rel from its end.
// SDM vol. 2, "JMP", "Jcc", "CALL": 16-bit operands clear the instruction
// pointer's upper bits; in 64-bit code the operand size is fixed.
func (r *reader) target(addr uint64, rel int64) uint64 {
	t := addr + uint64(r.pos) + uint64(rel)
	switch {
	case r.mode == isa.Mode64:
		return t
	case r.opsize() == 4:
		return t & 0xffff_ffff
	case r.mode == isa.Mode16:
		return addr&0xffff_0000 | t&0xffff
	}
	return t & 0xffff
}
