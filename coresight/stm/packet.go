package stm

// Kind is a packet type of STPv2: one an opcode. A name that ends in TS has a
// timestamp, one with an M before that, or at its end, is marked.
type Kind uint8

// The packet kinds. What Packet.Value holds stands beside each; fields not
// named are zero.
const (
	Bad     Kind = iota // half bytes that are no packet; Value: how many were passed over; Why: 1 no opcode, 2 reserved, 3 cut short; Of: Kind that began; Need: what 3 needs
	Null                // nothing
	M8                  // Value: master; its channel is 0
	MERR                // Value: error of the present master, as sent; its channel is 0
	C8                  // Value: bits 7..0 of the channel
	D8                  // Value: 8 bits of data
	D16                 // Value: 16 bits
	D32                 // Value: 32 bits
	D64                 // Value: 64 bits
	D8MTS               // as D8
	D16MTS              // as D16
	D32MTS              // as D32
	D64MTS              // as D64
	D4                  // Value: 4 bits
	D4MTS               // as D4
	FlagTS              // as Flag
	GERR                // Value: error of the trace source as a whole, as sent; master and channel are 0
	C16                 // Value: channel
	D8TS                // as D8
	D16TS               // as D16
	D32TS               // as D32
	D64TS               // as D64
	D8M                 // as D8
	D16M                // as D16
	D32M                // as D32
	D64M                // as D64
	D4TS                // as D4
	D4M                 // as D4
	Flag                // a mark without data
	Async               // sync point: 21 half bytes F and one 0
	Version             // Value: 3 timestamps are plain numbers, 4 they are Gray coded; master and channel are 0
	NullTS              // nothing but a timestamp
	Trig                // Value: trigger, 8 bits
	TrigTS              // as Trig
	Freq                // Value: frequency of the timestamps, Hz
	NumKinds
)

// asyncLen is the length of an Async, half bytes: 21 F and a 0.
const asyncLen = 22

// Packet is one packet as sent, so that Append gives its half bytes
// back. It is a plain value of 32 bytes.
//
// Places are counted in bytes, as everywhere, and Half says which half of the
// byte at Off the packet starts in; lengths are counted in half bytes. The
// byte in which one packet ends may be the byte in which the next one starts.
type Packet struct {
	Kind  Kind
	Half  uint8  // 0: it starts in the lower half of the byte at Off; 1: in the upper
	Len   uint8  // length as sent, half bytes; Bad: 0, see Size
	TSLen uint8  // half bytes that the timestamp replaces, 0 to 12, 14 or 16; kinds in TS only
	Why   uint8  // Bad: why
	Of    Kind   // Bad: the kind that began, Bad where that is not known
	Need  uint8  // Bad: half bytes that it needs, where they are not there
	Value uint64 // see Kind
	TS    uint64 // the low 4 × TSLen bits of the timestamp, as sent (Gray coded or not)
	Off   int64  // offset in the stream of the byte that it starts in, bytes
}

// Size returns the length of p in its stream, half bytes.
func (p *Packet) Size() int64 {
	if p.Kind == Bad {
		return int64(p.Value)
	}
	return int64(p.Len)
}

// End returns the offset in the stream behind the byte that p ends in, bytes.
func (p *Packet) End() int64 {
	return p.Off + (int64(p.Half)+p.Size()+1)/2
}
