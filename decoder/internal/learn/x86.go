package learn

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// The NOPs of patchable length, and what a static call of a function that returns 0
// becomes (arch/x86/include/asm/nops.h; arch/x86/kernel/static_call.c; v6.1).
var (
	nop2    = []byte{0x66, 0x90}
	nop5    = []byte{0x0f, 0x1f, 0x44, 0x00, 0x00}
	xor5rax = []byte{0x2e, 0x2e, 0x2e, 0x31, 0xc0}
)

// The first bytes of direct branches and of the breakpoint (Intel SDM, volume 2).
const (
	opCall  = 0xe8
	opJmp   = 0xe9
	opShort = 0xeb
	opInt3  = 0xcc
	opLoop  = 0xe0 // LOOPNE; behind it LOOPE, LOOP and JRCXZ
)

// direct returns the call or jump with opcode op at addr to target.
func direct(op byte, addr, target uint64) []byte {
	return binary.LittleEndian.AppendUint32([]byte{op}, uint32(target-addr-5))
}

// short returns the jump of 2 bytes at addr to target; nil if that is too far.
func short(addr, target uint64) []byte {
	d := int64(target - addr - 2)
	if d != int64(int8(d)) {
		return nil
	}
	return []byte{opShort, byte(d)}
}

// labels adds the jumps that may lie at addr, where a NOP of n bytes lies.
func (g *Generator) labels(addr, n uint64, jump func(to uint64) []byte, add adder) {
	likely, other := g.outOfLine(addr, addr+n)
	for i, list := range [][]uint64{likely, other} {
		for _, to := range list {
			if c := jump(to); c != nil {
				add([]int{rankLikely, rankDistant}[i], "jump label", c)
			}
		}
	}
}

// x86 adds what may lie at addr, where the code has have.
func (g *Generator) x86(addr uint64, have []byte, add adder) {
	is := func(c []byte) bool { return bytes.HasPrefix(have, c) }
	calls := func() {
		list, often := g.Calls()
		for _, to := range list[:often] {
			add(rankDistant, "static call", direct(opCall, addr, to))
		}
	}
	// A call of what static calls call may be one.
	static := func() bool {
		list, _ := g.Calls()
		return slices.Contains(list, addr+5+uint64(int64(int32(binary.LittleEndian.Uint32(have[1:])))))
	}
	switch {
	case is(nop5) && g.entry(addr):
		for _, to := range g.Tracers() {
			add(rankDistant, "ftrace", direct(opCall, addr, to))
		}
	case is(nop5):
		g.labels(addr, 5, func(to uint64) []byte { return direct(opJmp, addr, to) }, add)
		calls()
	case is(nop2):
		g.labels(addr, 2, func(to uint64) []byte { return short(addr, to) }, add)
	case is(xor5rax):
		add(rankDistant, "static call", nop5)
		calls()
	case len(have) >= 2 && have[0] == opShort:
		add(g.skipping(addr, 2), "jump label", nop2)
	case len(have) >= 5 && have[0] == opJmp:
		add(g.skipping(addr, 5), "jump label", nop5)
	case len(have) >= 5 && have[0] == opCall:
		if g.entry(addr) {
			add(rankLikely, "ftrace", nop5)
			break
		}
		if static() {
			add(rankDistant, "static call", nop5)
			add(rankDistant, "static call", xor5rax)
		}
		calls()
	case len(have) >= 1 && have[0] == opInt3:
		g.armed(addr, have, add)
	}
}

// skipping is the rank of a NOP in place of the jump at addr, which is n bytes long. A jump label of the
// same way out may stand before it. Where one stands right before it, no trace may tell a jump there
// from the NOP here, so neither comes first.
func (g *Generator) skipping(addr, n uint64) int {
	var b [16]byte
	var in isa.Insn
	if g.ISA.Decode(&in, b[:g.Code(b[:], addr)], addr, g.Mode) != isa.OK || !g.skips(addr, addr+n, in.Target) {
		return rankAny
	}
	if f, ok := g.function(addr); ok && f.followsNop(addr, n) {
		return rankLikely
	}
	return rankDistant
}

// entry reports whether addr is where a function that may be traced begins, behind
// ENDBR64 if there is one.
func (g *Generator) entry(addr uint64) bool {
	y, ok := g.Symbol(addr)
	return ok && (y.Addr == addr || y.Addr+4 == addr)
}

// armed adds what may lie under a breakpoint: its first byte is not known, the others
// are. Bytes of which the trace tells the same are one idea: one of each length that
// goes straight on, one of each condition to one target, and each other branch. A straight
// one in front of a branch may pass for a branch to where that leads, and the other way
// round, so neither comes first.
func (g *Generator) armed(addr uint64, have []byte, add adder) {
	type way struct {
		class  isa.Class
		n      uint8
		target uint64
	}
	alike := map[way][][]byte{}
	var order []way
	for _, first := range likelyFirst {
		b := bytes.Clone(have)
		b[0] = first
		var in isa.Insn
		if g.ISA.Decode(&in, b, addr, g.Mode) != isa.OK {
			continue
		}
		if in.Len > 1 && len(have) > 1 && have[1] == opInt3 {
			continue // it would take in what fills up to the next function
		}
		w := way{in.Class, in.Len, 0}
		switch in.Class {
		case isa.Other:
			if g.loops(g.turns(addr, have, b[:1])) {
				continue
			}
		case isa.Cond:
			w.target = in.Target
		case isa.Break, isa.Undefined, isa.FarJump, isa.SoftInt:
			continue
		case isa.Return:
			if !g.ends(addr + uint64(in.Len)) {
				continue
			}
			fallthrough
		default:
			add(rankLikely, "probe", b[:1:1])
			continue
		}
		if alike[w] == nil {
			order = append(order, w)
		}
		alike[w] = append(alike[w], b[:1:1])
	}
	for _, w := range order {
		add(rankLikely, "probe", alike[w][0], alike[w][1:]...)
	}
}

// loops reports whether LOOP or JRCXZ lies at addr. Compilers write neither for the kernel, so
// code that reads so is read from the wrong byte on.
func (g *Generator) loops(addr uint64) bool {
	var b [1]byte
	return g.Code(b[:], addr) == 1 && b[0]&^3 == opLoop
}

// ends reports whether code may end before addr: padding follows, or what branches lead to.
func (g *Generator) ends(addr uint64) bool {
	var b [16]byte
	var in isa.Insn
	if g.ISA.Decode(&in, b[:g.Code(b[:], addr)], addr, g.Mode) != isa.OK || in.Class == isa.Break || in.Flags&isa.FlagNop != 0 {
		return true
	}
	f, ok := g.function(addr)
	return !ok || f.led[addr] > 0
}

// likelyFirst are first bytes of instructions as compilers write them for the kernel,
// the most frequent first.
var likelyFirst = []byte{
	0x48, 0x55, 0x53, 0x41, 0x0f, 0xe8, 0x89, 0x8b, 0x85, 0x31, 0x65, 0x49, 0x4c, 0x4d, 0x45, 0x44,
	0x83, 0x39, 0x3b, 0x80, 0xf6, 0xc7, 0xb8, 0xbe, 0xbf, 0xba, 0xb9, 0x5b, 0x5d, 0x50, 0x51, 0x52, 0x54, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x5e, 0x5f,
	0x74, 0x75, 0x72, 0x73, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f, 0xeb, 0xe9, 0xc3, 0xff,
	0x01, 0x03, 0x09, 0x0b, 0x21, 0x23, 0x29, 0x2b, 0x33, 0x38, 0x3a, 0x3c, 0x3d, 0x66, 0x81, 0x84, 0x88, 0x8a, 0x8d, 0x90, 0xa8, 0xa9, 0xc1, 0xc6, 0xd1, 0xd3, 0xf0, 0xf2, 0xf3, 0xf7, 0xfa, 0xfb, 0x9c, 0x9d, 0x68, 0x6a, 0x25, 0x2d, 0x05, 0x0d, 0x35, 0x98, 0x99, 0x2e, 0x3e,
}
