package ptm

import (
	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
)

// Kind is a packet type of the Program Flow Trace Architecture Specification,
// IHI0035B, chapter "Program Flow Trace Protocol", section "PFT packet formats".
type Kind uint8

// The packet kinds. What the fields of Packet hold stands beside each; fields
// not named are zero, but see Fill. "cycles" stands for CC, Pad and Cycles.
const (
	Bad          Kind = iota // bytes that are no packet; Value: how many were passed over; Info: 1 no opcode, 2 reserved, 3 cut short; N: bytes that 3 needs; Exc: Kind that began
	ASync                    // N: zero bytes, 5 or more
	ISync                    // Value: address as sent (bit 0 T: Thumb); Info: information byte; cycles; N: bytes of Context
	Atom                     // N: outcomes, 1 to 5, in Value, the oldest in bit N-1, 1 = E; cycles (N is 1 then)
	Branch                   // N: address bytes, 1 to 5, in Value; Exc: exception bytes in Info, the first lowest; cycles
	Waypoint                 // N: address bytes, 1 to 5, in Value; Exc: 1 with an information byte in Info
	Trigger                  //
	ContextID                // N: bytes of Context
	VMID                     // Value: 8 bits
	Timestamp                // N: bytes of Value; Info bit 0: the clock's rate has changed (R); cycles
	ExceptionRet             //
	Ignore                   //
	NumKinds
)

// Packet is one packet as sent, payload still compressed, so that Append
// gives its bytes back. It is a plain value of 32 bytes.
//
// Address bytes lie in Value without the bits that say whether another follows:
// seven bits a byte, the first lowest, all eight of a fifth. Bit 0, which marks a
// branch, is 0 there. The bytes of timestamps lie alike, all eight bits of the last
// that there can be.
type Packet struct {
	Kind    Kind
	Len     uint8  // length as sent, bytes; Bad: 0, see Size
	N       uint8  // see Kind
	Exc     uint8  // see Kind
	CC      uint8  // length of the cycle count, bytes, 0 to 5
	Pad     uint8  // bits of the cycle count's bytes that mean nothing: 1, 0 and 7 of the first in bits 0..2, 7 of the fifth in bit 3
	Info    uint16 // see Kind
	Cycles  uint32 // core cycles
	Context uint32 // context ID
	Value   uint64 // see Kind
	Off     int64  // offset in the stream, bytes; see Fill
}

// Size returns the length of p in its stream, bytes.
func (p *Packet) Size() int64 { return wire.Size(p.Kind == Bad, p.Value, p.Len) }

// End returns the offset in the stream of what follows p, bytes.
func (p *Packet) End() int64 { return p.Off + p.Size() }

// PlaceAt sets where p lies in its stream and returns where it ends, bytes: of a packet
// that Fill has read.
func (p *Packet) PlaceAt(off int64) (end int64) {
	p.Off = off
	return p.End()
}

// Reason returns why an I-Sync was sent.
func (p *Packet) Reason() int { return int(p.Info) >> v3.InfoWhy & 3 }

// Exception returns the exception number of a Branch that has exception bytes:
// four bits of the first and five of the second. IHI0035B, "Branch address
// packet".
func (p *Packet) Exception() uint16 {
	n := p.Info >> v3.ExcNum & 0xf
	if p.Exc > 1 {
		n |= p.Info >> 8 & 0x1f << 4
	}
	return n
}

// NonSecure reports whether p states the security state, and whether it is
// Non-secure.
func (p *Packet) NonSecure() (ns, ok bool) {
	switch p.Kind {
	case ISync:
		return p.Info&v3.InfoNS != 0, true
	case Branch:
		return p.Info&v3.ExcNS != 0, p.Exc > 0
	}
	return false, false
}
