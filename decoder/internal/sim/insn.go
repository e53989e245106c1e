package sim

import "encoding/binary"

// op is what the machine does with an instruction.
type op uint8

const (
	opBad     op = iota // not an instruction of this machine: executing it is a fault of the simulator
	opPlain             // goes on
	opMem               // goes on; may fault first
	opRep               // repeated string instruction: may be interrupted at its own address
	opCond              // conditional branch
	opJump              // direct jump
	opCall              // direct call
	opJumpInd           // indirect jump
	opCallInd           // indirect call
	opRet               // near return
	opIret              // IRETQ
	opSysret            // SYSRETQ
	opInt3              // breakpoint
	opInt               // INT n
	opSync              // CPUID: serialises
	opSti               // sets IF
	opCli               // clears IF
	opSetRet            // mov %rax,(%rsp): replaces the return address (retpolines)
)

// insn is one decoded instruction, 16 bytes.
type insn struct {
	target uint64 // opCond, opJump, opCall
	code   uint32 // index in Run.Codes
	op     op
	len    uint8 // bytes; 0: not decoded
	flag   uint8 // see program
}

// Flags of an insn, from the program's notes on its address.
const (
	flagGuard   = 1 << iota // conditional that is taken when the stack is deep
	flagHeld                // conditional that is taken while stop_machine holds the CPU
	flagLoop                // backward conditional
	flagLikely              // taken nine times in ten
	flagSeldom              // taken once in ten
	flagTargets             // indirect branch whose targets the program lists
)

// decode reads the instruction at the front of b, which lies at addr. It
// knows the encodings that this package emits and no more; it shares nothing
// with the decoder under test.
func decode(b []byte, addr uint64) (in insn) {
	i, rexW, op16 := 0, false, false
	rep := byte(0)
	for ; i < len(b); i++ {
		switch b[i] {
		case 0x66:
			op16 = true
			continue
		case 0x2e, 0xf0:
			continue
		case 0xf3, 0xf2:
			rep = b[i]
			continue
		}
		break
	}
	if i < len(b) && b[i]&0xf0 == 0x40 {
		rexW = b[i]&8 != 0
		i++
	}
	if i >= len(b) {
		return insn{}
	}
	c := b[i]
	i++
	immZ := 4
	if op16 {
		immZ = 2
	}
	done := func(o op, n int) insn {
		if n > len(b) {
			return insn{}
		}
		return insn{op: o, len: uint8(n)}
	}
	switch {
	case c == 0x0f:
		return decode0f(b, i, addr, done)
	case c == 0xc5 && i+2 <= len(b): // two-byte VEX, map 0f
		n := 2
		if b[i+1] != 0x77 {
			n = 2 + modrm(b, i+2)
		}
		return done(opPlain, i+n)
	case c == 0xc4: // three-byte VEX
		return done(opPlain, i+3+modrm(b, i+3))
	case c == 0x62: // EVEX
		return done(opPlain, i+4+modrm(b, i+4))
	case c >= 0x70 && c <= 0x7f, c >= 0xe0 && c <= 0xe3:
		return direct(done(opCond, i+1), b, i, 1, addr)
	case c == 0xeb:
		return direct(done(opJump, i+1), b, i, 1, addr)
	case c == 0xe9:
		return direct(done(opJump, i+4), b, i, 4, addr)
	case c == 0xe8:
		return direct(done(opCall, i+4), b, i, 4, addr)
	case c == 0xc3:
		return done(opRet, i)
	case c == 0xcf:
		return done(opIret, i)
	case c == 0xcc:
		return done(opInt3, i)
	case c == 0xcd:
		return done(opInt, i+1)
	case c == 0xfa:
		return done(opCli, i)
	case c == 0xfb:
		return done(opSti, i)
	case c == 0xa4 && rep != 0:
		return done(opRep, i)
	case c == 0x90, c == 0xfc, c >= 0x50 && c <= 0x5f, c == 0x9c, c == 0x9d:
		return done(opPlain, i)
	case c >= 0xb8 && c <= 0xbf:
		if rexW {
			return done(opPlain, i+8)
		}
		return done(opPlain, i+immZ)
	case c == 0xa8:
		return done(opPlain, i+1)
	case c == 0xff && i < len(b):
		n := modrm(b, i)
		switch b[i] >> 3 & 7 {
		case 2:
			return done(opCallInd, i+n)
		case 4:
			return done(opJumpInd, i+n)
		}
		return insn{}
	case c == 0x81, c == 0xc7:
		return done(opMem, i+modrm(b, i)+immZ)
	case c == 0x83:
		return done(opPlain, i+modrm(b, i)+1)
	case c == 0xf6 || c == 0xf7:
		n := modrm(b, i)
		if c == 0xf6 {
			return done(opMem, i+n+1)
		}
		return done(opMem, i+n+immZ)
	case c == 0x89 && rexW && i+2 <= len(b) && b[i] == 0x04 && b[i+1] == 0x24:
		return done(opSetRet, i+2)
	case c == 0x8b:
		return done(opMem, i+modrm(b, i))
	case c == 0x31, c == 0x89, c == 0x8d:
		return done(opPlain, i+modrm(b, i))
	}
	return insn{}
}

// decode0f reads the two-byte opcodes; i is the offset of the second byte.
func decode0f(b []byte, i int, addr uint64, done func(op, int) insn) insn {
	if i >= len(b) {
		return insn{}
	}
	c := b[i]
	i++
	switch {
	case c >= 0x80 && c <= 0x8f:
		return direct(done(opCond, i+4), b, i, 4, addr)
	case c == 0xa2:
		return done(opSync, i)
	case c == 0x07:
		return done(opSysret, i)
	case c == 0x1e, c == 0x1f, c == 0xae, c == 0x01:
		return done(opPlain, i+modrm(b, i))
	case c == 0xb1:
		return done(opMem, i+modrm(b, i))
	}
	return insn{}
}

// modrm returns the length of the ModRM byte at b[i] with its SIB and displacement.
func modrm(b []byte, i int) int {
	if i >= len(b) {
		return 16 // beyond any instruction: done refuses it
	}
	mod, rm := b[i]>>6, b[i]&7
	n := 1
	if mod != 3 && rm == 4 {
		n++
		if i+1 < len(b) && mod == 0 && b[i+1]&7 == 5 {
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

// direct fills in the target of a direct branch whose displacement of size
// bytes lies at b[i].
func direct(in insn, b []byte, i, size int, addr uint64) insn {
	if in.len == 0 {
		return in
	}
	next := addr + uint64(in.len)
	if size == 1 {
		in.target = next + uint64(int64(int8(b[i])))
	} else {
		in.target = next + uint64(int64(int32(binary.LittleEndian.Uint32(b[i:]))))
	}
	return in
}
