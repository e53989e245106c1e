package ptm

import (
	"math/bits"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// set is an instruction set as packets tell it. It decides what an address
// byte's bits are.
type set uint8

const (
	setARM set = iota
	setThumb
	setThumbEE
	setJazelle
)

var setNames = [4]string{"arm", "thumb", "thumbee", "jazelle"}

func (s set) String() string { return setNames[s&3] }

// mode returns the set as the walker names it; of ThumbEE and Jazelle no
// instruction is known.
func (s set) mode() isa.Mode {
	switch s {
	case setARM:
		return isa.ModeA32
	case setThumb:
		return isa.ModeT32
	}
	return isa.ModeUnknown
}

// addressSet returns the set that five address bytes state, v being the Value
// of their packet; ThumbEE is told apart elsewhere. IHI0035B, "Branch address
// packet".
func addressSet(v uint64) set {
	switch b := v >> 28; {
	case b&0x20 != 0:
		return setJazelle
	case b&0x30 == 0x10:
		return setThumb
	}
	return setARM
}

// bits returns the low n bits of an address that v, the Value of a packet with
// count address bytes, holds.
func (s set) bits(v uint64, count uint8) (addr uint64, n uint8) {
	v &^= 1
	switch {
	case count <= 1:
		n = 7
	case count < 5:
		n = 7*count - 1
	case s == setARM:
		n = 28 + 3
	case s == setJazelle:
		n = 28 + 5
	default:
		n = 28 + 4
	}
	v &= 1<<n - 1
	switch s {
	case setARM:
		return v << 1, n + 1
	case setJazelle:
		return v >> 1, n - 1
	}
	return v, n
}

// BranchTo returns the Branch packet to addr in mode (ModeA32 or ModeT32) as a
// trace unit sends it that told last before, in mode was: with the address
// bytes that differ, and all of them where the mode does. Its Off is 0.
func BranchTo(last uint32, was isa.Mode, addr uint32, mode isa.Mode) Packet {
	v, diff := uint64(addr), addr^last
	top := uint64(1) << 4 // Thumb, in the fifth byte
	if mode == isa.ModeA32 {
		v, diff, top = v>>1, diff>>1, 1<<3
	}
	n := uint8(5)
	if mode == was {
		// The last of two to four bytes has six bits.
		switch used := bits.Len32(diff); {
		case used <= 7:
			n = 1
		case used <= 13:
			n = 2
		case used <= 20:
			n = 3
		case used <= 27:
			n = 4
		}
	}
	switch n {
	case 1:
		v &= 0x7f
	case 5:
		v |= top << 28
	default:
		v &= 1<<(7*n-1) - 1
	}
	return Packet{Kind: Branch, Len: n, N: n, Value: v &^ 1}
}
