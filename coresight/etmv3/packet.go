package etmv3

import (
	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
)

// Kind is a packet type of the Embedded Trace Macrocell Architecture
// Specification, IHI0014Q, chapter "ETMv3 Signal Protocol", section "Packet
// types".
type Kind uint8

// The packet kinds. What the fields of Packet hold stands beside each; fields
// not named are zero, but see Fill. "cycles" stands for CC, Pad and Cycles.
const (
	Bad            Kind = iota // bytes that are no packet; Value: how many were passed over; Info: 1 no opcode, 2 reserved, 3 cut short; N: bytes that 3 needs; Exc: Kind that began
	ASync                      // N: zero bytes, 5 or more
	CycleCount                 // cycles
	ISync                      // Value: address as sent (bit 0 T: Thumb); Info: information byte, bit 8: no address was sent; cycles (ISyncCycles). N: bytes of Context; Exc: bytes of a second address, in Extra
	ISyncCycles                // the same
	Trigger                    //
	Branch                     // N: address bytes, 1 to 5, in Value; Exc: exception bytes in Extra, the first lowest
	PHeader                    // N: atoms, 0 to 16, in Value, the oldest in bit N-1, 1 = E; Info: format; Cycles (format 3); Pad bit 0: bit 3 as sent (format 4)
	ContextID                  // N: bytes of Context
	VMID                       // Value: 8 bits
	Timestamp                  // N: bytes of Value; Info bit 0: the clock's rate has changed (R)
	ExceptionRet               //
	ExceptionEntry             // Armv7-M, in data traces
	Ignore                     //
	Data                       // N: bytes of Value, 0, 1, 2 or 4; Info bit 0: the first of an instruction (A); Exc: bytes of the address, in Extra
	OutOfOrder                 // N: bytes of Value; Info: tag, 1 to 3
	Placeholder                // Info bit 0: A, bits 2..1: tag, 1 to 3; Exc: bytes of the address, in Extra
	StoreFailed                //
	DataSuppressed             //
	NotTraced                  // Info bit 0: A; Exc: bytes of the address, in Extra
	NumKinds
)

// Packet is one packet as sent, payload still compressed, so that Append
// gives its bytes back. It is a plain value of 40 bytes.
//
// Address bytes lie in Value or Extra without the bits that say whether another
// follows: seven bits a byte, the first lowest, all eight of a fifth. Bit 0 of a
// branch, which marks it, is 0 there. The bytes of timestamps lie alike, all eight
// bits of the last that there can be.
type Packet struct {
	Kind    Kind
	Len     uint8  // length as sent, bytes; Bad: 0, see Size
	N       uint8  // see Kind
	Exc     uint8  // see Kind
	CC      uint8  // length of the cycle count, bytes, 0 to 5
	Pad     uint8  // bits 7..4 of the cycle count's fifth byte, which mean nothing; see Kind
	Info    uint16 // see Kind
	Cycles  uint32 // core cycles
	Context uint32 // context ID
	Value   uint64 // see Kind
	Extra   uint64 // see Kind
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

// Bits of an I-sync's information byte, and of a branch's exception bytes, the
// first in bits 7..0, the second in 15..8.
const (
	infoJazelle = 1 << 4
	infoSecond  = 1 << 7 // a second address follows (LSiP: a load or store is in progress)

	infoNoAddress = 1 << 8 // not sent: there is no address

	excCancel = 1 << 5
	excResume = 1 << 14 // the second byte is the one that tells what is resumed
)

// Reason returns why an I-sync was sent.
func (p *Packet) Reason() int { return int(p.Info) >> v3.InfoWhy & 3 }

// The fifth address byte of a branch in its older form holds an exception itself
// (ARM state only). Bit 7 is set, bit 6 cancels, bits 5..3 are the number.
const (
	oldForm   = 1 << (28 + 7)
	oldCancel = 1 << (28 + 6)
	oldNum    = 28 + 3 // shift
)

// oldNumbers are the exception numbers of today for the older ones.
var oldNumbers = [8]uint16{v3.ExcReset, v3.ExcIRQ, 6, 7, 5, v3.ExcFIQ, v3.ExcAsyncAbort, v3.ExcHalt}

// old reports whether p is a branch of the older form with an exception.
func (p *Packet) old() bool { return p.N == 5 && p.Value&oldForm != 0 }

// HasException reports whether a Branch holds exception information.
func (p *Packet) HasException() bool { return p.Exc > 0 || p.old() }

// Exception returns the exception number of a Branch: of an Armv7-M core nine
// bits, of others four. IHI0014Q, "Branch Packets".
func (p *Packet) Exception(mProfile bool) uint16 {
	if p.old() {
		return oldNumbers[p.Value>>oldNum&7]
	}
	if p.Exc == 0 {
		return v3.ExcNone
	}
	n := uint16(p.Extra) >> v3.ExcNum & 0xf
	if mProfile && p.Exc > 1 && p.Extra&excResume == 0 {
		n |= uint16(p.Extra>>8) & 0x1f << 4
	}
	return n
}

// Cancels reports whether a Branch says that the last traced instruction did
// not complete.
func (p *Packet) Cancels() bool {
	if p.old() {
		return p.Value&oldCancel != 0
	}
	return p.Exc > 0 && p.Extra&excCancel != 0
}

// Exception numbers of Armv7-M cores: IHI0014Q, "Encoding of Exception[8:0] for
// ARMv7-M processors". All others are interrupts.
const (
	excMUsageFault   = 9
	excMNMI          = 10
	excMSVC          = 11
	excMDebugMonitor = 12 // BKPT too
	excMMemManage    = 13
	excMPendSV       = 14
	excMSysTick      = 15
	excMReset        = 17
	excMHardFault    = 19 // BKPT too, where the debug monitor is off
	excMBusFault     = 21
)

// NonSecure reports whether p states the security state, and whether it is
// Non-secure.
func (p *Packet) NonSecure() (ns, ok bool) {
	switch p.Kind {
	case ISync, ISyncCycles:
		return p.Info&v3.InfoNS != 0, true
	case Branch:
		return p.Extra&v3.ExcNS != 0, p.Exc > 0
	}
	return false, false
}
