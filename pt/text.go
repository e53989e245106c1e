package pt

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// codec is the text form of packets, docs/formats/intel-pt-packets.md.
var codec = packettext.Codec[Packet]{
	Table:   packettext.NewTable(specs[:], (*spec).row),
	Numbers: Packet.numbers,
	Packet:  ofNumbers,
	Encode:  packettext.Encoder((*Packet).size),
	Lex: func(raw []byte, like *Packet) (p Packet) {
		l := NewLexer(raw, 0)
		if like.Kind == BIP {
			l.block(like.N)
		}
		l.Next(&p)
		return p
	},
	Bad: func(n uint64) Packet { return Packet{Kind: Bad, Value: n} },
}

// Assemble appends the bytes of text, in the text form, one packet a line.
// What follows a # and empty lines are passed over.
func Assemble(dst []byte, text string) ([]byte, error) { return codec.Assemble(dst, text) }

// size points to the length of p, bytes.
func (p *Packet) size() *uint8 { return &p.Len }

// numbers returns the kind of p, and the numbers that the table of packets counts.
func (p Packet) numbers() (kind uint8, n packettext.Numbers) {
	n = packettext.Numbers{inValue: p.Value, inArg: uint64(p.Arg), inExtra: uint64(p.Extra), inN: uint64(p.N), inLen: uint64(p.Len)}
	if p.Flag {
		n[inFlag] = 1
	}
	return uint8(p.Kind), n
}

// ofNumbers returns the packet that consists of n.
func ofNumbers(kind uint8, n *packettext.Numbers) (Packet, error) {
	p := Packet{Kind: Kind(kind), Value: n[inValue], Arg: uint16(n[inArg]), Extra: uint16(n[inExtra]),
		N: uint8(n[inN]), Len: uint8(n[inLen]), Flag: n[inFlag] != 0}
	switch {
	case p.Kind == PAD && p.Len == 0:
		return p, fmt.Errorf("count: 0, need 1 at least")
	case p.Kind == BIP && p.N != 4 && p.N != 8:
		return p, fmt.Errorf("size: %d, need 4 or 8", p.N)
	}
	return p, nil
}

// String returns p in one line as dumps print it: the kind's name as the SDM
// writes it, then the fields of the text form.
func (p Packet) String() string {
	if p.Kind == Bad {
		return codec.Table.Dump(packettext.Bad{Why: uint8(p.Arg), Of: uint8(p.Extra), Size: p.Value, Need: uint64(p.N), Unit: "bytes"})
	}
	return codec.Dump(p)
}

// AppendText appends p in the text form of docs/formats/intel-pt-packets.md,
// one line without its end. raw is the bytes of p: the text of a Bad packet
// shows them; for other kinds it may be nil.
func (p Packet) AppendText(dst, raw []byte) []byte {
	return codec.AppendText(dst, p, raw)
}

// AppendFields appends the fields of p as a JSON object, by their names in the table of
// the text form (packettext.Table.AppendFields).
func (p Packet) AppendFields(dst []byte) []byte {
	return codec.AppendFields(dst, p)
}
