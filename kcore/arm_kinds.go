package kcore

import "encoding/binary"

// Words of A64: NOP, and the six upper bits of B.
const (
	a64Nop  = 0xd503201f
	a64Jump = 0x05
)

// a64Kind tells the kinds of A64 kernels, which write one instruction (DDI0487,
// sections "B", "BL", "NOP" and "BRK"; arch/arm64/kernel/jump_label.c and
// ftrace.c, v6.1).
func (c *classifier) a64Kind(p *Poke) Kind {
	if len(p.Old) != 4 || len(p.New) != 4 {
		return KindUnknown
	}
	nop, b, bl, brk := false, false, false, false
	for _, t := range [][]byte{p.Old, p.New} {
		switch op := binary.LittleEndian.Uint32(t); {
		case op == a64Nop:
			nop = true
		case op>>26 == a64Jump:
			b = true
		case op>>26 == 0x25:
			bl = true
		case c.j.rules.arches[archA64].trapLen(t) > 0:
			brk = true
		}
	}
	switch {
	case brk:
		return KindKprobe
	case bl && !b:
		return KindFtrace
	case nop && b:
		return KindJumpLabel
	}
	return KindUnknown
}

// a32Text is what an A32 or T32 instruction is, as far as kinds of pokes differ.
type a32Text uint8

const (
	a32Other  a32Text = iota
	a32Nop            // or the pop of what a call of a tracer would have taken
	a32Branch         // B, with a condition too
	a32Call           // BL
	a32Probe          // the undefined instructions of probes
)

// readA32 reads an instruction of A32 or T32, of either byte length (DDI0406C,
// "B", "BL, BLX (immediate)", "NOP"; arch/arm/probes/kprobes/core.h and
// arch/arm/kernel/ftrace.c, v6.1). In the order of bytes of a word no A32 branch is a T32
// one: a T32 instruction of two halfwords has its first halfword below.
func readA32(text []byte) a32Text {
	switch len(text) {
	case 2:
		switch w := binary.LittleEndian.Uint16(text); {
		case w == 0xbf00:
			return a32Nop
		case w>>11 == 0xe000>>11:
			return a32Branch
		case w == 0xde18:
			return a32Probe
		}
	case 4:
		w := binary.LittleEndian.Uint32(text)
		t := w<<16 | w>>16
		switch {
		case w == 0xe320f000, w == 0xe1a00000, w == 0xe8bd4000, t == 0xf3af8000, t == 0xf85deb04:
			return a32Nop
		case w&0x0fffffff == 0x07f001f8, t == 0xf7f0a018:
			return a32Probe
		case t&0xf800d000 == 0xf0009000:
			return a32Branch
		case t&0xf800d000 == 0xf000d000:
			return a32Call
		case w>>28 != 15 && w>>24&15 == 10:
			return a32Branch
		case w>>28 != 15 && w>>24&15 == 11:
			return a32Call
		}
	}
	return a32Other
}

// a32Kind tells the kinds of A32 and T32 kernels, which write one instruction
// (arch/arm/kernel/jump_label.c, ftrace.c, v6.1). A branch to a probe's detour
// takes the place of its undefined instruction, and gives it back.
func (c *classifier) a32Kind(p *Poke) Kind {
	from, to := readA32(p.Old), readA32(p.New)
	if c.detour(p.Addr, p.Old, p.New) != nil || c.detour(p.Addr, p.New, p.Old) != nil {
		return KindOptprobe
	}
	has := func(x a32Text) bool { return from == x || to == x }
	switch {
	case has(a32Probe):
		return KindKprobe
	case has(a32Call) && !has(a32Branch):
		return KindFtrace
	case has(a32Nop) && has(a32Branch):
		return KindJumpLabel
	}
	return KindUnknown
}

// detour returns the code, brought by a record, to which an A32 branch at addr
// leads. The branch must stand for a probe's undefined instruction
// (arch/arm/probes/kprobes/opt-arm.c, v6.1); nil where it does not.
func (c *classifier) detour(addr uint64, probe, branch []byte) *slotText {
	if addr>>32 != 0 || len(branch) != 4 || readA32(probe) != a32Probe || readA32(branch) != a32Branch {
		return nil
	}
	w := binary.LittleEndian.Uint32(branch)
	return c.slot(uint64(uint32(addr) + 8 + uint32(int32(w<<8)>>6)))
}
