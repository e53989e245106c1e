package ptm

import (
	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// BranchTo returns the Branch packet to addr in mode (ModeA32 or ModeT32) as a
// trace unit sends it. The address that it told before is last, in mode was. The
// packet has the address bytes that differ, and all of them where the mode does.
// Its Off is 0.
func BranchTo(last uint32, was isa.Mode, addr uint32, mode isa.Mode) Packet {
	v, n := v3.BranchAddress(last, was, addr, mode, true)
	return Packet{Kind: Branch, Len: n, N: n, Value: v}
}
