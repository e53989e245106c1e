package a32

import (
	"encoding/binary"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// maxLen is the length of the longest instruction, bytes: all of A32, and those
// of T32 whose first halfword is e800 or higher. The others have half of it.
const maxLen = 4

// Decoder reads A32 and T32 instructions. It has no state.
type Decoder struct{}

var _ isa.Decoder = Decoder{}

// MaxLen is 4 bytes.
func (Decoder) MaxLen() int { return maxLen }

// Decode reads the instruction at the front of text into in. The instruction lies
// at addr and executes in mode m: isa.ModeA32 or isa.ModeT32; any other is Bad.
// Decode does not look at bytes behind the instruction.
//
// It returns Short when text ends inside the instruction. It returns Bad when addr
// is beyond 32 bits or no multiple of 4 (of 2 in ModeT32). It also returns Bad when
// nobody has assigned the encoding; it checks that wherever a branch could be. Both
// leave in zero. Targets wrap at 32 bits, as the program counter does.
//
// A BL to the next instruction does not have isa.FlagZeroCall: Arm's trace units
// push its return address like any other.
func (Decoder) Decode(in *isa.Insn, text []byte, addr uint64, m isa.Mode) isa.Status {
	*in = isa.Insn{}
	w, n, s := load(text, addr, m)
	if s != isa.OK {
		return s
	}
	var r reading
	switch {
	case m == isa.ModeA32:
		r = readA32(w)
	case n == 2:
		r = readT16(w)
	default:
		r = readT32(w)
	}
	if r.class == none {
		return isa.Bad
	}
	in.Len, in.Class, in.Flags = n, r.class, r.flags
	if r.rel != relNone {
		in.Target = uint64(uint32(addr) + offset(w, uint32(addr), r.rel))
	}
	return isa.OK
}

// load gives the instruction at the front of text as one number, and its length,
// bytes. In a T32 instruction of 4 bytes the first halfword is the upper one.
func load(text []byte, addr uint64, m isa.Mode) (w uint32, n uint8, s isa.Status) {
	switch {
	case addr>>32 != 0:
		return 0, 0, isa.Bad
	case m == isa.ModeA32 && addr&3 == 0:
		if len(text) < 4 {
			return 0, 0, isa.Short
		}
		return binary.LittleEndian.Uint32(text), 4, isa.OK
	case m == isa.ModeT32 && addr&1 == 0:
		if len(text) < 2 {
			return 0, 0, isa.Short
		}
		w = uint32(binary.LittleEndian.Uint16(text))
		if w < 0xe800 {
			return w, 2, isa.OK
		}
		if len(text) < 4 {
			return 0, 0, isa.Short
		}
		return w<<16 | uint32(binary.LittleEndian.Uint16(text[2:])), 4, isa.OK
	}
	return 0, 0, isa.Bad
}

// rel is where an instruction keeps its distance to a label.
type rel uint8

// The places of a distance. A distance counts from the program counter as the
// instruction reads it: 8 bytes behind its own address in A32, 4 in T32.
const (
	relNone    rel = iota
	relA24         // A32 B, BL: bits 23:0, signed, words
	relA25         // A32 BLX: bits 23:0 and 24, signed, halfwords
	relT8          // T32 B<c>: bits 7:0, signed, halfwords
	relT11         // T32 B: bits 10:0, signed, halfwords
	relT6          // CBZ, CBNZ: bits 9 and 7:3, unsigned, halfwords
	relT20         // T32 B<c>.W: bits 26, 11, 13, 21:16, 10:0, signed, halfwords
	relT24         // T32 B.W, BL: bits 26, 13, 11, 25:16, 10:0, signed, halfwords; 13 and 11 are inverted when 26 is clear
	relT24X        // T32 BLX: the same without bit 0, words, from a program counter cut to a multiple of 4
	relForward     // WLS, WLSTP: bits 10:1 and 11, unsigned, halfwords
	relBack        // LE, LETP: the same, backwards
)

// offset is the distance from addr, where w lies, to what w names at r, bytes,
// modulo 2^32.
func offset(w, addr uint32, r rel) uint32 {
	switch r {
	case relA24:
		return 8 + uint32(int32(w<<8)>>6)
	case relA25:
		return 8 + uint32(int32(w<<8)>>6) + w>>23&2
	case relT8:
		return 4 + uint32(int32(w<<24)>>23)
	case relT11:
		return 4 + uint32(int32(w<<21)>>20)
	case relT6:
		return 4 + w>>3&0x40 + w>>2&0x3e
	case relT20:
		n := w>>26<<31 | w>>11&1<<30 | w>>13&1<<29 | w>>16&0x3f<<23 | w&0x7ff<<12
		return 4 + uint32(int32(n)>>11)
	case relT24:
		return 4 + far(w)
	case relT24X:
		return 4 + far(w&^1) - addr&3
	case relForward:
		return 4 + w&0x7fe<<1 + w>>10&2
	case relBack:
		return 4 - w&0x7fe<<1 - w>>10&2
	}
	return 0
}

// far is the distance in T32's B.W, BL and BLX, bytes. DDI0487, "BL, BLX
// (immediate)", encoding T1.
func far(w uint32) uint32 {
	if w>>26&1 == 0 {
		w ^= 1<<13 | 1<<11
	}
	n := w>>26<<31 | w>>13&1<<30 | w>>11&1<<29 | w>>16&0x3ff<<19 | w&0x7ff<<8
	return uint32(int32(n) >> 7)
}

// none stands for a class where there is no instruction.
const none = isa.NumClasses

// reading is what a word says to a walker.
type reading struct {
	class isa.Class // none: it is no instruction
	flags isa.Flags
	rel   rel // of the target, relNone without
}

// The readings that most words have.
var (
	other = reading{class: isa.Other}
	nop   = reading{class: isa.Other, flags: isa.FlagNop}
	bad   = reading{class: none}
)
