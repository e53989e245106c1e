package sim

import "encoding/binary"

// op is what the machine does with an instruction.
type op uint8

const (
	opBad      op = iota // not an instruction of this machine: executing it is a fault of the simulator
	opPlain              // goes on
	opMem                // goes on; may fault first
	opRep                // repeated string instruction: may be interrupted at its own address
	opCond               // conditional branch
	opJump               // direct jump
	opCall               // direct call
	opJumpInd            // indirect jump
	opCallInd            // indirect call
	opRet                // near return
	opIret               // IRETQ
	opSysret             // SYSRETQ, VMRESUME
	opInt3               // breakpoint
	opInt                // INT n
	opSync               // CPUID: serialises
	opSti                // sets IF
	opCli                // clears IF
	opSetRet             // mov %rax,(%rsp): replaces the return address (retpolines)
	opSwitch             // mov mem,%rsp: takes another thread's stack
	opTxStart            // TSTART
	opTxCommit           // TCOMMIT
	opTxCancel           // TCANCEL
)

// insn is one decoded instruction, 16 bytes.
type insn struct {
	target uint64 // opCond, opJump, opCall
	code   uint32 // index in Run.Codes
	op     op
	len    uint8 // bytes; 0: not decoded
	flag   uint8 // see program
	cond   bool  // Arm: may fail its condition, and is no opCond
}

// Flags of an insn, from the program's notes on its address.
const (
	flagGuard   = 1 << iota // conditional that is taken when the stack is deep
	flagHeld                // conditional that is taken while stop_machine holds the CPU
	flagLoop                // backward conditional
	flagLikely              // taken nine times in ten
	flagSeldom              // taken once in ten
	flagTargets             // indirect branch whose targets the program lists
	flagIT                  // stands in an IT block
	flagTx                  // conditional that is taken outside of a transaction
)

// What only x86 has, as flags that do not go together.
const (
	flagYield   = flagGuard | flagHeld // conditional that is not taken where another thread comes
	flagProgram = flagGuard | flagLoop // conditional that is taken where the thread is a program's
)

// reader reads one instruction.
type reader struct {
	b    []byte
	addr uint64
	i    int  // offset of what comes next, bytes
	wide bool // REX.W
	imm  int  // size of a full immediate, bytes
	rep  bool
}

// decode reads the instruction at the front of b, which lies at addr. It
// knows the encodings that this package emits and no more; it shares nothing
// with the decoder under test.
func decode(b []byte, addr uint64) insn {
	r := reader{b: b, addr: addr, imm: 4}
	r.prefixes()
	if r.i >= len(b) {
		return insn{}
	}
	c := b[r.i]
	r.i++
	if c == 0x0f {
		return r.twoByte()
	}
	if in := r.control(c); in.op != opBad {
		return in
	}
	return r.other(c)
}

func (r *reader) prefixes() {
	for ; r.i < len(r.b); r.i++ {
		switch c := r.b[r.i]; {
		case c == 0x66:
			r.imm = 2
		case c == 0xf3 || c == 0xf2:
			r.rep = true
		case c == 0x2e || c == 0xf0:
		case c&0xf0 == 0x40: // REX is the last
			r.wide = c&8 != 0
			r.i++
			return
		default:
			return
		}
	}
}

// done returns an instruction that ends n bytes further on.
func (r *reader) done(o op, n int) insn {
	if r.i+n > len(r.b) {
		return insn{}
	}
	return insn{op: o, len: uint8(r.i + n)}
}

// direct returns a direct branch with a displacement of size bytes.
func (r *reader) direct(o op, size int) insn {
	in := r.done(o, size)
	if in.len == 0 {
		return in
	}
	next := r.addr + uint64(in.len)
	if size == 1 {
		in.target = next + uint64(int64(int8(r.b[r.i])))
	} else {
		in.target = next + uint64(int64(int32(binary.LittleEndian.Uint32(r.b[r.i:]))))
	}
	return in
}

// controls are the opcodes of one byte that lead elsewhere or set IF, and how many
// bytes more each has.
var controls = [256]struct {
	op   op
	more int
}{
	0xeb: {opJump, 1}, 0xe9: {opJump, 4}, 0xe8: {opCall, 4}, 0xc3: {opRet, 0}, 0xcf: {opIret, 0},
	0xcc: {opInt3, 0}, 0xcd: {opInt, 1}, 0xfa: {opCli, 0}, 0xfb: {opSti, 0},
}

// control reads the one-byte opcodes that lead elsewhere or serialise.
func (r *reader) control(c byte) insn {
	switch o := controls[c]; {
	case c >= 0x70 && c <= 0x7f, c >= 0xe0 && c <= 0xe3:
		return r.direct(opCond, 1)
	case o.op == opJump, o.op == opCall:
		return r.direct(o.op, o.more)
	case o.op != opBad:
		return r.done(o.op, o.more)
	case c == 0xff && r.i < len(r.b):
		switch r.b[r.i] >> 3 & 7 {
		case 2:
			return r.done(opCallInd, r.modrm(0))
		case 4:
			return r.done(opJumpInd, r.modrm(0))
		}
	}
	return insn{}
}

// other reads the one-byte opcodes and vector prefixes that go on.
func (r *reader) other(c byte) insn {
	switch {
	case c == 0xc5: // two-byte VEX, map 0f
		if r.i+1 < len(r.b) && r.b[r.i+1] == 0x77 {
			return r.done(opPlain, 2)
		}
		return r.done(opPlain, 2+r.modrm(2))
	case c == 0xc4: // three-byte VEX
		return r.done(opPlain, 3+r.modrm(3))
	case c == 0x62: // EVEX
		return r.done(opPlain, 4+r.modrm(4))
	case c == 0xa4 && r.rep:
		return r.done(opRep, 0)
	case c == 0x90, c == 0xfc, c >= 0x50 && c <= 0x5f, c == 0x9c, c == 0x9d:
		return r.done(opPlain, 0)
	case c >= 0xb8 && c <= 0xbf && r.wide:
		return r.done(opPlain, 8)
	case c >= 0xb8 && c <= 0xbf:
		return r.done(opPlain, r.imm)
	case c == 0xa8:
		return r.done(opPlain, 1)
	case c == 0x81, c == 0xc7, c == 0xf7: // f7: only TEST, which has an immediate
		return r.done(opMem, r.modrm(0)+r.imm)
	case c == 0xf6:
		return r.done(opMem, r.modrm(0)+1)
	case c == 0x83:
		return r.done(opPlain, r.modrm(0)+1)
	case c == 0x89 && r.wide && r.i+2 <= len(r.b) && r.b[r.i] == 0x04 && r.b[r.i+1] == 0x24:
		return r.done(opSetRet, 2)
	case c == 0x8b && r.wide && r.i < len(r.b) && r.b[r.i] == 0xa6:
		return r.done(opSwitch, r.modrm(0))
	case c == 0x8b:
		return r.done(opMem, r.modrm(0))
	case c == 0x31, c == 0x89, c == 0x8d:
		return r.done(opPlain, r.modrm(0))
	}
	return insn{}
}

// twoByte reads the opcodes behind 0f.
func (r *reader) twoByte() insn {
	if r.i >= len(r.b) {
		return insn{}
	}
	c := r.b[r.i]
	r.i++
	switch {
	case c >= 0x80 && c <= 0x8f:
		return r.direct(opCond, 4)
	case c == 0xa2:
		return r.done(opSync, 0)
	case c == 0x07:
		return r.done(opSysret, 0)
	case c == 0x01 && r.i < len(r.b) && r.b[r.i] == 0xc3: // VMRESUME
		return r.done(opSysret, 1)
	case c == 0x1e, c == 0x1f, c == 0xae, c == 0x01:
		return r.done(opPlain, r.modrm(0))
	case c == 0xb1:
		return r.done(opMem, r.modrm(0))
	}
	return insn{}
}

// modrm returns the length of the ModRM byte, at bytes further on, with its
// SIB and displacement; more than an instruction has where it is not there.
func (r *reader) modrm(at int) int {
	i := r.i + at
	if i >= len(r.b) {
		return 16
	}
	mod, rm := r.b[i]>>6, r.b[i]&7
	n := 1
	if mod != 3 && rm == 4 {
		n++
		if i+1 < len(r.b) && mod == 0 && r.b[i+1]&7 == 5 {
			n += 4
		}
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, mod == 0 && rm == 5:
		n += 4
	}
	return n
}
