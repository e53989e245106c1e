package etmv3

import (
	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// addressSet returns the set that five address bytes state, v being the Value
// of their packet, and whether they state one; ThumbEE is told apart elsewhere.
// IHI0014Q, "Branch Packets".
func addressSet(v uint64) (s v3.Set, ok bool) {
	if v&oldForm != 0 { // with an exception
		return v3.ARM, true
	}
	s = v3.AddressSet(v)
	return s, s != v3.ARM || v>>28&0x08 != 0
}

// BranchTo returns the Branch packet to addr in mode (ModeA32 or ModeT32) as a
// trace unit sends it. The address that it told before is last, in mode was. The
// packet has the address bytes that differ, and all of them where the mode does.
// Its Off is 0.
func BranchTo(f Format, last uint32, was isa.Mode, addr uint32, mode isa.Mode) Packet {
	v, n := v3.BranchAddress(last, was, addr, mode, f.Alternative)
	return Packet{Kind: Branch, Len: n, N: n, Value: v}
}
