package etmv4

import "github.com/ptdecode/ptdecode/coresight/internal/wire"

// Kind is a packet type of the ETMv4 and ETE instruction trace protocols.
type Kind uint8

// The packet kinds. What Packet's fields hold stands beside each; fields not
// named are zero, but see Fill. "size" is the length of a ULEB128 number as sent,
// bytes, where it is longer than it need be, else 0. The bytes of an address are as
// they were sent, the first lowest: see Address.
const (
	Bad             Kind = iota // bytes that are no packet; Value: how many were passed over; Arg: 1 no opcode, 2 reserved, 3 cut short; Extra: Kind that began; N: bytes that 3 needs
	ASync                       // alignment synchronisation
	Discard                     //
	Overflow                    //
	TraceInfo                   // Arg: PLCTL; Value: INFO 13..0, CYCT 36..16, sizes of INFO, KEY, SPEC, CYCT, window 3 bits each from bit 48; Value2: KEY 27..0, SPEC 59..32; Extra: window
	Timestamp                   // N: bytes of the timestamp, 1 to 9; Value: it; Arg bit 0: a cycle count follows, in Extra 23..0, size 31..24
	TraceOn                     //
	FuncReturn                  // Armv8-M
	Exception                   // Arg: first byte (bit 0 E0, 5..1 type, 6 E1, 7: another); Extra: second byte, bit 8: it is there
	ExceptionReturn             // ETMv4
	ITE                         // instrumentation; Arg: exception level as sent; Value: 8 bytes
	TxStart                     // transaction start
	TxCommit                    // transaction commit
	CycleF2                     // Arg bit 0: as the header's; Value: byte as sent, count 3..0, commits 7..4
	CycleF1                     // Arg bit 0: count not known, bit 1: it commits; Value: count 55..0, size 63..56; Value2: commits, size
	CycleF3                     // Arg: header's low four bits: count 1..0, commits-1 3..2
	NumDataSync                 // Arg: number
	DataSync                    // Arg: number
	Commit                      // Value: how many 55..0, size 63..56
	CancelF1                    // Value as of Commit; Arg bit 0: a mispredict follows
	Mispredict                  // Arg: atoms before it: 0 none, 1 E, 2 EE, 3 N
	CancelF2                    // Arg as of Mispredict: atoms, then one is cancelled, then a mispredict
	CancelF3                    // Arg: bit 0 an E before it, 2..1: how many are cancelled, less 2; then a mispredict
	CondF2                      // Arg: 0 to 2
	CondFlush                   //
	CondResF4                   // Arg: 0 to 2
	CondResF2                   // Arg: header's low three bits
	CondResF3                   // Value: 12 bits
	CondResF1                   // Arg: header's low three bits (4: only one result); Value: result 3..0, key 41..4, size 63..56; Value2: the second one
	CondF1                      // Value: key 55..0, size 63..56
	CondF3                      // Value: byte as sent
	Ignore                      //
	Event                       // Arg: events 3..0
	ContextSame                 // the context as it was
	Context                     // Extra: information byte; N: bytes of VMID 3..0 and of context ID 7..4; Value2: VMID 31..0, context ID 63..32
	AddrCtxt32                  // Arg: IS; Value: four bytes of the address; Extra: information byte; N, Value2 as of Context
	AddrCtxt64                  // the same with eight bytes
	TSMarker                    // timestamp marker
	AddrMatch                   // Arg: entry of the address history, 0 to 2
	AddrShort                   // Arg: IS; N: bytes of the address, 1 or 2, in Value
	Addr32                      // Arg: IS; Value: four bytes of the address
	Addr64                      // the same with eight bytes
	Q                           // Arg: type, header's low four bits; N: bytes of a short address; Value: the address's bytes; Value2: count 55..0, size 63..56
	SrcMatch                    // source address; as AddrMatch
	SrcShort                    // as AddrShort
	Src32                       // as Addr32
	Src64                       // as Addr64
	AtomF1                      // N atoms in Extra, the oldest in bit N-1, 1: E
	AtomF2                      // as AtomF1
	AtomF3                      // as AtomF1
	AtomF4                      // as AtomF1
	AtomF5                      // as AtomF1
	AtomF6                      // as AtomF1
	NumKinds
)

// Info is the information byte of a context: DDI0487, "Context packet".
type Info = uint32

// The bits of an information byte.
const (
	InfoEL  Info = 3      // mask: exception level
	InfoNSE Info = 1 << 3 // realm or root, with FEAT_RME
	InfoSF  Info = 1 << 4 // AArch64
	InfoNS  Info = 1 << 5 // Non-secure
	InfoV   Info = 1 << 6 // a VMID follows
	InfoC   Info = 1 << 7 // a context ID follows
)

// Plctl is PLCTL, which says what a Trace Info holds: DDI0487, "Trace Info packet".
type Plctl = uint8

// The bits of PLCTL.
const (
	PlctlInfo   Plctl = 1 << 0
	PlctlKey    Plctl = 1 << 1 // ETMv4, data trace
	PlctlSpec   Plctl = 1 << 2
	PlctlCyct   Plctl = 1 << 3
	PlctlWindow Plctl = 1 << 4
)

// QType is the type of a Q, its Arg: DDI0487, "Q packet". 0 to 2 name an entry of the
// address history.
type QType = uint8

// The types of a Q that name no entry: they hold an address, or have none.
const (
	QShort0 QType = 0x5
	QShort1 QType = 0x6
	QLong0  QType = 0xa
	QLong1  QType = 0xb
	QCount  QType = 0xc // a count alone
	QBare   QType = 0xf // neither count nor address
)

// Packet is one packet as sent, payload still compressed, so that Append
// gives its bytes back. It is a plain value of 32 bytes.
type Packet struct {
	Kind   Kind
	N      uint8  // see Kind
	Len    uint8  // length as sent, bytes; Bad: 0, see Size
	Arg    uint8  // see Kind
	Extra  uint32 // see Kind
	Value  uint64 // see Kind
	Value2 uint64 // see Kind
	Off    int64  // offset in the stream, bytes; see Fill
}

// Number returns the number in word, a Value or Value2 that holds a number and its size: bits
// 55..0. The comments of Kind say which words do.
func Number(word uint64) uint64 { return word & (1<<sizeShift - 1) }

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

// sizeShift is where the size of a ULEB128 number lies in its word.
const sizeShift = 56

// ExceptionType returns the exception's number: five bits, ten where a second
// byte extends them.
func (p *Packet) ExceptionType() uint16 {
	t := uint16(p.Arg >> 1 & 0x1f)
	if p.Arg&0x80 != 0 {
		t |= uint16(p.Extra&0x1f) << 5
	}
	return t
}
