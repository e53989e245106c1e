package v3

import (
	"math/bits"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Set is an instruction set as packets tell it. It decides what an address
// byte's bits are.
type Set uint8

// The instruction sets.
const (
	ARM Set = iota
	Thumb
	ThumbEE
	Jazelle
)

var setNames = [4]string{"arm", "thumb", "thumbee", "jazelle"}

// String returns the set's name as dumps print it.
func (s Set) String() string { return setNames[s&3] }

// Mode returns the set as the walker names it; of ThumbEE and Jazelle no
// instruction is known.
func (s Set) Mode() isa.Mode {
	switch s {
	case ARM:
		return isa.ModeA32
	case Thumb:
		return isa.ModeT32
	}
	return isa.ModeUnknown
}

// WithAlt returns s as an exception byte has it, whose bit alt tells Thumb and
// ThumbEE apart.
func (s Set) WithAlt(alt bool) Set {
	switch {
	case alt && s == Thumb:
		return ThumbEE
	case !alt && s == ThumbEE:
		return Thumb
	}
	return s
}

// AddressSet returns the set that five address bytes state, v being the Value of
// their packet; ThumbEE is told apart elsewhere. IHI0035B, "Branch address packet";
// IHI0014Q, "Branch Packets".
func AddressSet(v uint64) Set {
	switch b := v >> 28; {
	case b&0x20 != 0:
		return Jazelle
	case b&0x30 == 0x10:
		return Thumb
	}
	return ARM
}

// Bits returns the low n bits of an address that v, the Value of a packet with
// count address bytes, holds. In PTM and in the alternative encoding of ETMv3 the
// last of two to four bytes has six bits.
func (s Set) Bits(v uint64, count uint8, alternative bool) (addr uint64, n uint8) {
	v &^= 1
	switch {
	case count < 5:
		n = 7 * count
		if alternative && count > 1 {
			n--
		}
	case s == ARM:
		n = 28 + 3
	case s == Jazelle:
		n = 28 + 5
	default:
		n = 28 + 4
	}
	v &= 1<<n - 1
	switch s {
	case ARM:
		return v << 1, n + 1
	case Jazelle:
		return v >> 1, n - 1
	}
	return v, n
}

// BranchAddress returns the Value of the branch packet to addr in mode (ModeA32 or
// ModeT32) as a trace unit sends it, and how many address bytes it has. The address
// told before is last, in mode was. Bytes that differ are sent, and all of them
// where the mode does.
func BranchAddress(last uint32, was isa.Mode, addr uint32, mode isa.Mode, alternative bool) (v uint64, n uint8) {
	v, diff := uint64(addr), addr^last
	top := uint64(1) << 4 // Thumb, in the fifth byte
	if mode == isa.ModeA32 {
		v, diff, top = v>>1, diff>>1, 1<<3
	}
	if mode == was {
		for n := uint8(1); n < 5; n++ {
			// One bit of the last byte may say that exception bytes follow.
			room := 7 * int(n)
			if alternative && n > 1 {
				room--
			}
			if bits.Len32(diff) <= room {
				return v & (1<<room - 2), n
			}
		}
	}
	return (v | top<<28) &^ 1, 5
}
