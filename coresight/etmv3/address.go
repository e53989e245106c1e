package etmv3

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
// of their packet, and whether they state one; ThumbEE is told apart elsewhere.
// IHI0014Q, "Branch Packets".
func addressSet(v uint64) (s set, ok bool) {
	switch b := v >> 28; {
	case b&0x80 != 0: // with an exception, in the older form
		return setARM, true
	case b&0x20 != 0:
		return setJazelle, true
	case b&0x30 == 0x10:
		return setThumb, true
	default:
		return setARM, b&0x08 != 0
	}
}

// bits returns the low n bits of an address that v, the Value of a packet with
// count address bytes, holds. In the alternative encoding the last of two to
// four bytes has six bits.
func (s set) bits(v uint64, count uint8, alternative bool) (addr uint64, n uint8) {
	v &^= 1
	switch {
	case count < 5:
		n = 7 * count
		if alternative && count > 1 {
			n--
		}
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
func BranchTo(f Format, last uint32, was isa.Mode, addr uint32, mode isa.Mode) Packet {
	v, diff := uint64(addr), addr^last
	top := uint64(1) << 4 // Thumb, in the fifth byte
	if mode == isa.ModeA32 {
		v, diff, top = v>>1, diff>>1, 1<<3
	}
	n := uint8(5)
	if mode == was {
		for i := uint8(1); i < 5; i++ {
			// One bit of the last byte may say that exception bytes follow.
			room := 7 * int(i)
			if f.Alternative && i > 1 {
				room--
			}
			if bits.Len32(diff) <= room {
				n, v = i, v&(1<<room-1)
				break
			}
		}
	}
	if n == 5 {
		v |= top << 28
	}
	return Packet{Kind: Branch, Len: n, N: n, Value: v &^ 1}
}
