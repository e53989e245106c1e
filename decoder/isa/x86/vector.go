package x86

import "github.com/ptdecode/ptdecode/decoder/isa"

// vex reads VEX and EVEX from behind their first byte b (62, C4 or C5). Outside
// 64-bit code those bytes are BOUND, LES and LDS unless the next byte, as a
// ModRM, names a register.
//
//	C5  RvvvvLpp
//	C4  RXBmmmmm WvvvvLpp
//	62  RXBRBmmm WvvvvXpp zLLbVaaa     (B, X in the middle: APX; else 0, 1)
//
// SDM vol. 2, "Intel Advanced Vector Extensions (Intel AVX)" and "Intel
// AVX-512 Encoding"; APX specification, "Extended EVEX prefix".
func (r *reader) vex(b byte) (form, isa.Status) {
	if r.mode != isa.Mode64 {
		if s := r.need(1); s != isa.OK {
			return 0, s
		}
		if r.text[r.pos] < 0xc0 {
			r.op = b
			return fModRM, isa.OK
		}
	}
	if r.x66 || r.rep != 0 || r.lock || r.rex != 0 {
		return 0, isa.Bad
	}
	r.space, r.lead, r.vmap = spaceVector, b, 1
	switch b {
	case 0xc5:
		return r.vexOpcode(1, 1)
	case 0xc4:
		if s := r.need(3); s == isa.Bad {
			return 0, s
		}
		if s := r.need(1); s != isa.OK {
			return 0, s
		}
		space := r.text[r.pos] & 31
		if vexMaps>>space&1 == 0 {
			return 0, isa.Bad
		}
		r.pos++
		r.vmap = space
		return r.vexOpcode(space, 1)
	}
	if s := r.need(5); s == isa.Bad {
		return 0, s
	}
	if s := r.need(1); s != isa.OK {
		return 0, s
	}
	space := r.text[r.pos] & 7
	if space == 0 || space == 4 && r.mode != isa.Mode64 {
		return 0, isa.Bad
	}
	r.pos++
	r.vmap = space
	if space == 4 {
		return r.evexLegacy()
	}
	f, s := r.vexOpcode(space, 2)
	return f | fModRM, s
}

// vexMaps is the set of VEX maps: 1-3 are the legacy maps, 5 holds AMX forms,
// 7 forms with four bytes of immediate. Bit n is map n.
const vexMaps = 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<7

// vexImm is the set of opcodes of VEX and EVEX map 1 with one byte of
// immediate: shuffles, shifts, compares, inserts.
var vexImm = opset{0x7: 0x000f, 0xc: 0x0074}

// vexOpcode reads the opcode of a VEX or EVEX map behind n bytes of payload,
// whose first holds pp.
func (r *reader) vexOpcode(space byte, n int) (form, isa.Status) {
	f := fModRM
	least := 2 // opcode, ModRM
	switch space {
	case 1:
		least = 1 // VZEROUPPER
	case 3:
		f, least = fModRM|immB, 3
	case 7:
		f, least = fModRM|immD, 6
	}
	if s := r.need(n + least); s == isa.Bad {
		return 0, s
	}
	if s := r.need(n + 1); s != isa.OK {
		return 0, s
	}
	pp := r.text[r.pos] & 3
	r.op = r.text[r.pos+n]
	r.pos += n + 1
	switch {
	case space == 1 && r.op == 0x77:
		f = immNone // VZEROUPPER, VZEROALL
	case space == 1 && vexImm.has(r.op):
		f |= immB
	case space == 7 && r.op == 0xf6 && pp == 2:
		f |= form(isa.TraceControl) << classShift // WRMSRNS with immediate
	}
	return f, isa.OK
}

// evexLegacy reads the opcode of EVEX map 4, the legacy instructions APX
// promotes, from behind the byte that holds the map. APX specification, "EVEX
// Extension of Legacy Instructions".
func (r *reader) evexLegacy() (form, isa.Status) {
	if s := r.need(4); s == isa.Bad {
		return 0, s
	}
	if s := r.need(3); s != isa.OK {
		return 0, s
	}
	r.x66 = r.text[r.pos]&3 == 1
	r.rex = 0x40 | r.text[r.pos]>>4&8
	r.op = r.text[r.pos+2]
	r.pos += 3
	switch r.op {
	case 0x24, 0x2c, 0x6b, 0x80, 0x83, 0xc0, 0xc1, 0xd4:
		return fModRM | immB, isa.OK // SHLD, SHRD, IMUL, group 1, group 2, SHA1RNDS4
	case 0x69, 0x81:
		return fModRM | immZ, isa.OK // IMUL, group 1
	case 0xf6, 0xf7:
		r.space = spaceOne // group 3: CTEST has an immediate
		return fModRM | fGroup, isa.OK
	}
	return fModRM, isa.OK
}

// xop reads the opcode behind 8F: POP if the ModRM's reg field is 0, else XOP.
//
//	8F  RXBmmmmm WvvvvLpp     mmmmm 8 or more
//
// AMD64 manual vol. 3, "XOP Prefix".
func (r *reader) xop() (form, isa.Status) {
	if s := r.need(1); s != isa.OK {
		return 0, s
	}
	b := r.text[r.pos]
	if b&0x38 == 0 {
		r.op = 0x8f
		return fModRM, isa.OK
	}
	if r.x66 || r.rep != 0 || r.lock || r.rex != 0 {
		return 0, isa.Bad
	}
	r.space, r.lead, r.vmap = spaceVector, 0x8f, b&31
	f := fModRM
	switch b & 31 {
	case 8:
		f |= immB
	case 9:
	case 10:
		f |= immD
	default:
		return 0, isa.Bad
	}
	if s := r.need(4 + r.immLen(f)); s == isa.Bad {
		return 0, s
	}
	if s := r.need(3); s != isa.OK {
		return 0, s
	}
	r.op = r.text[r.pos+2]
	r.pos += 3
	return f, isa.OK
}

// rex2No are the opcodes of maps 0 and 1 that fault behind REX2. They are rows 4,
// 7, A and E of map 0 (A1 is JMPABS), rows 3 and 8 of map 1, prefixes and leading
// bytes. APX specification, "REX2 Prefix".
var rex2No = [2]opset{
	{
		0x0: 1 << 15, 0x2: 1<<6 | 1<<14, 0x3: 1<<6 | 1<<14, 0x4: 0xffff,
		0x6: 1<<2 | 0xf0, 0x7: 0xffff, 0xa: 0xffff, 0xc: 1<<4 | 1<<5,
		0xd: 1 << 5, 0xe: 0xffff, 0xf: 1<<0 | 1<<2 | 1<<3,
	},
	{0x3: 0xffff, 0x8: 0xffff},
}

// readREX2 reads the payload of REX2 and the opcode behind it.
//
//	D5  MRXBWRXB     M the map, 0 or 1; W, R, X, B of the low digit as in REX
func (r *reader) readREX2() (form, isa.Status) {
	if r.rex != 0 {
		return 0, isa.Bad
	}
	if s := r.need(2); s != isa.OK {
		return 0, s
	}
	p := r.text[r.pos]
	r.op = r.text[r.pos+1]
	r.pos += 2
	r.rex, r.high, r.rex2 = 0x40|p&15, p>>4&7, true
	r.space = p >> 7
	if r.space == spaceOne && r.op == 0xa1 {
		if p&8 != 0 || r.x66 || r.x67 || r.rep != 0 || r.lock {
			return 0, isa.Bad
		}
		return form(isa.JumpAbs)<<classShift | immQ, isa.OK
	}
	if rex2No[r.space].has(r.op) {
		return 0, isa.Bad
	}
	if r.space == spaceTwo {
		return r.two()
	}
	f := oneByte[r.op]
	if f&fNo64 != 0 {
		return 0, isa.Bad
	}
	if r.op == 0x8f {
		f = fModRM | fGroup
	}
	return f, isa.OK
}
