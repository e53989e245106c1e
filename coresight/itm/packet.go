package itm

// Kind is a packet type of DDI0403, appendix D4.
type Kind uint8

// The packet kinds. What Packet.Value, Packet.Arg and Packet.N hold stands
// beside each; fields not named are zero.
const (
	Bad      Kind = iota // bytes that are no packet; Value: how many were passed over; Arg: 1 no opcode, 2 reserved, 3 cut short; Of: Kind that began; N: bytes that 3 needs
	Sync                 // sync point; Value: how many bytes of zeros, 5 at least; 80 follows
	Overflow             // packets were lost
	SWIT                 // Arg: stimulus port in its page, 0..31; N: 1, 2 or 4; Value: payload
	DWT                  // Arg: discriminator, 0..31; N: 1, 2 or 4; Value: payload
	LTS1                 // local timestamp; Arg: TC (ltsDelayed, ltsPacketDelayed); N: 1..4; Value: ticks since the last
	LTS2                 // the same in one byte; Value: 1..6
	GTS1                 // low bits of the global timestamp; N: 1..4; Value: 7 × N bits, 26 with N 4; Arg: gtsClkCh, gtsWrap
	GTS2                 // its upper bits, from bit 26; N: 1..6; Value: 7 × N bits
	Ext                  // Arg: EX, bits 2..0, and extHardware; N: 0..4; Value: the 7 × N bits above EX
	NumKinds
)

// Bits of the Arg of an LTS1: what was late. DDI0403,
// appendix D4, "Local timestamp packets".
const (
	ltsDelayed       = 1 << iota // the timestamp, behind the payload before it
	ltsPacketDelayed             // the payload before it, behind its event
)

// Bits of the Arg of a GTS1 with four bytes. DDI0403, appendix D4,
// "Global timestamp packets".
const (
	gtsClkCh = 1 << iota // the clock's rate has changed since the last one
	gtsWrap              // bits 26 and up have changed since the last GTS2
)

// extHardware is the bit of the Arg of an Ext that says that it is about the
// DWT and not about stimulus ports (SH).
const extHardware = 1 << 3

// minZeros is how many bytes of zeros a Sync has at least: with the zeros of
// the 80 behind them 47 bits. DDI0403, appendix D4,
// "Synchronization packet".
const minZeros = 5

// Packet is one packet as sent, so that Append gives its bytes back. It
// is a plain value of 24 bytes.
type Packet struct {
	Kind  Kind
	Arg   uint8 // see Kind
	N     uint8 // bytes of payload
	Of    Kind  // Bad: the kind that began, Bad where that is not known
	Value uint64
	Off   int64 // offset in the stream, bytes
}

// Size returns the length of p in its stream, bytes.
func (p *Packet) Size() int64 {
	switch p.Kind {
	case Bad:
		return int64(p.Value)
	case Sync:
		return int64(p.Value) + 1
	}
	return 1 + int64(p.N)
}

// End returns the offset in the stream of what follows p, bytes.
func (p *Packet) End() int64 { return p.Off + p.Size() }
