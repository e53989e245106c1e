package pt

// Kind is a packet type of the Intel SDM, volume 3C, chapter "Intel Processor
// Trace", section "Packet Definitions".
type Kind uint8

// The packet kinds. What Packet.Value and Packet.Arg hold stands beside each;
// fields not named are zero.
const (
	Bad       Kind = iota // bytes that are no packet; Value: how many were passed over; Arg: 1 no opcode, 2 reserved, 3 cut short; Extra: Kind that began; N: bytes that 3 needs
	PAD                   // Len: how many side by side, 1 to 7
	TNTShort              // N results in Value, the oldest in bit N-1
	TNTLong               // the same, 8 bytes; N 0..47
	TIP                   // Arg: IPBytes; Value: the compressed payload as sent
	PGE                   // TIP.PGE, as TIP
	PGD                   // TIP.PGD, as TIP
	FUP                   // as TIP
	PIP                   // Value: 48-bit payload as sent (bit 0 NR, bits 47..1 CR3[51:5])
	VMCS                  // Value: payload as sent, address >> 12
	ModeExec              // Value: the low five bits
	ModeTSX               // Value: the low five bits
	ModeOther             // a reserved leaf: Arg: leaf, Value: the low five bits
	TSC                   // Value: TSC[55:0]
	MTC                   // Value: 8 bits
	TMA                   // Value: CTC[15:0]; Arg: FC[8:0]; Extra: reserved bits as sent
	CYC                   // Value: cycles; Arg: length as sent where longer than needed, else 0
	CBR                   // Value: ratio; Arg: reserved byte
	TraceStop             //
	OVF                   //
	PSB                   //
	PSBEND                //
	MNT                   // Value: 8 bytes
	PTW                   // Value: operand; Arg: 0 4 bytes, 1 8 bytes; Flag: IP
	EXSTOP                // Flag: IP
	MWAIT                 // Value: 8 bytes as sent
	PWRE                  // Value: 2 bytes as sent
	PWRX                  // Value: 5 bytes as sent
	BBP                   // Value: payload byte as sent (bit 7 SZ, 4..0 type)
	BIP                   // Arg: id; Value: item; N: 4 or 8 bytes
	BEP                   // Flag: IP
	CFE                   // Value: type byte as sent (bit 7 IP, 4..0 type); Arg: vector
	EVD                   // Arg: type byte as sent; Value: 8 bytes
	TRIG                  // Arg: flag byte as sent; Extra: vector byte; Value: instruction count (if ICNTV)
	NumKinds
)

// Flags in the flag byte (Arg) of a TRIG.
const (
	trigMULT  = 1 << 5 // more than one trigger
	trigICNTV = 1 << 6 // the instruction count is there
	trigIP    = 1 << 7 // an IP (FUP) follows
)

// Packet is one packet as sent, payload still compressed, so that Append
// gives its bytes back. It is a plain value of 24 bytes.
type Packet struct {
	Kind  Kind
	N     uint8  // TNT: results; BIP: item bytes
	Flag  bool   // PTW, EXSTOP, BEP: an IP (FUP) follows
	Len   uint8  // length as sent, bytes (PSB 16, CYC up to 15, PAD 1 to 7); Bad: 0, see Size
	Arg   uint16 // see Kind
	Extra uint16 // see Kind: bits that mean nothing but must come back
	Value uint64 // see Kind
	Off   int64  // offset in the stream, bytes
}

// Size returns the length of p in its stream, bytes.
func (p *Packet) Size() int64 {
	if p.Kind == Bad {
		return int64(p.Value)
	}
	return int64(p.Len)
}

// End returns the offset in the stream of what follows p, bytes.
func (p *Packet) End() int64 { return p.Off + p.Size() }
