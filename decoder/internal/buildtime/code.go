package buildtime

import (
	"bytes"
	"encoding/binary"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/a64"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
)

// Opcodes (Intel SDM, volume 2, appendix A, "One-Byte Opcode Map").
const (
	opCall      = 0xe8
	opJump      = 0xe9
	opJumpShort = 0xeb
	opRet       = 0xc3
	opInt3      = 0xcc
	opNop       = 0x90
	prefixCS    = 0x2e
)

// nops are the NOPs by length that boot writes (arch/x86/include/asm/nops.h, v6.1).
var nops = [9][]byte{
	1: {opNop},
	2: {0x66, opNop},
	3: {0x0f, 0x1f, 0x00},
	4: {0x0f, 0x1f, 0x40, 0x00},
	5: {0x0f, 0x1f, 0x44, 0x00, 0x00},
	6: {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
	7: {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
	8: {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
}

// fillNops fills dst with as few NOPs as can be.
func fillNops(dst []byte) {
	for len(dst) > 0 {
		dst = dst[copy(dst, nops[min(len(dst), 8)]):]
	}
}

// optimizeNops makes each row of one-byte NOPs in code a row of long ones
// (arch/x86/kernel/alternative.c, optimize_nops, v6.1).
func optimizeNops(code []byte) {
	var in isa.Insn
	for i := 0; i < len(code); {
		if code[i] == opNop {
			n := len(code) - i - len(bytes.TrimLeft(code[i:], "\x90"))
			if n > 1 {
				fillNops(code[i : i+n])
			}
			i += n
			continue
		}
		if (x86.Decoder{}).Decode(&in, code[i:], 0, isa.Mode64) != isa.OK {
			return
		}
		i += int(in.Len)
	}
}

// branch writes the direct branch of 5 bytes at addr to a target.
func branch(dst []byte, op byte, addr, target uint64) {
	dst[0] = op
	binary.LittleEndian.PutUint32(dst[1:], uint32(target-addr-5))
}

// sameFlow reports whether two versions of the code at addr have the same
// instructions for who follows the flow: lengths, classes and targets.
func sameFlow(a, b []byte, addr uint64, arm bool) bool {
	var x, y isa.Insn
	dec, mode := isa.Decoder(x86.Decoder{}), isa.Mode64
	if arm {
		dec, mode = a64.Decoder{}, isa.ModeA64
	}
	for len(a) > 0 {
		p, q := dec.Decode(&x, a, addr, mode), dec.Decode(&y, b, addr, mode)
		x.Flags, y.Flags = x.Flags&^isa.FlagNop, y.Flags&^isa.FlagNop
		if p != q || x != y && p == isa.OK {
			return false
		}
		if p != isa.OK {
			return bytes.Equal(a, b)
		}
		a, b, addr = a[x.Len:], b[y.Len:], addr+uint64(x.Len)
	}
	return true
}
