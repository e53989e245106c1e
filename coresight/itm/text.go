package itm

import (
	"fmt"
	"math/bits"

	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// codec is the text form of packets, docs/formats/itm-packets.md.
var codec = packettext.Codec[Packet]{
	Table:   packettext.NewTable(specs[:], (*spec).row),
	Numbers: Packet.numbers,
	Packet:  ofNumbers,
	Encode:  func(p *Packet) []byte { return p.Append(nil) },
	Lex: func(raw []byte, _ *Packet) (p Packet) {
		NewLexer(raw, 0).Next(&p)
		return p
	},
	Bad: func(n uint64) Packet { return Packet{Kind: Bad, Value: n} },
}

// assemble appends the bytes of text, in the text form, one packet a line.
// What follows a # and empty lines are passed over.
func assemble(dst []byte, text string) ([]byte, error) { return codec.Assemble(dst, text) }

// numbers returns the kind of p, and the numbers that the table of packets counts.
func (p Packet) numbers() (kind uint8, n packettext.Numbers) {
	n = packettext.Numbers{inValue: p.Value, inArg: uint64(p.Arg), inN: uint64(p.N)}
	if p.N != p.least() {
		n[inMore] = uint64(p.N)
	}
	return uint8(p.Kind), n
}

// ofNumbers returns the packet that consists of n.
func ofNumbers(kind uint8, n *packettext.Numbers) (Packet, error) {
	p := Packet{Kind: Kind(kind), Value: n[inValue], Arg: uint8(n[inArg]), N: uint8(n[inN])}
	switch p.Kind {
	case Sync:
		if p.Value > maxZeros {
			return p, fmt.Errorf("%d zeros, at most %d", p.Value, maxZeros)
		}
	case LTS1, GTS1, GTS2, Ext:
		if p.N = uint8(n[inMore]); p.N == 0 {
			p.N = p.least()
		}
	}
	return p, nil
}

// String returns p in one line as dumps print it: the kind's name, then the
// fields of the text form.
func (p Packet) String() string {
	if p.Kind == Bad {
		return codec.Table.Dump(packettext.Bad{Why: p.Arg, Of: uint8(p.Of), Size: p.Value, Need: uint64(p.N), Unit: "bytes"})
	}
	return codec.Dump(p)
}

// maxZeros bounds what a line of text can be made to stand for, bytes.
const maxZeros = 1 << 20

// least returns how many bytes p's value needs, where they are 7 bits each.
func (p *Packet) least() uint8 {
	n := uint8(bits.Len64(p.Value)+6) / 7
	switch {
	case p.Kind == GTS1 && p.Arg != 0:
		return 4 // the flags are in the fourth
	case p.Kind != Ext:
		n = max(n, 1)
	}
	return n
}

// AppendText appends p in the text form of docs/formats/itm-packets.md, one
// line without its end. raw is the bytes of p: the text of a Bad packet shows
// them; for other kinds it may be nil.
func (p Packet) AppendText(dst, raw []byte) []byte {
	return codec.AppendText(dst, p, raw)
}

// AppendFields appends the fields of p as a JSON object, by their names in the table of
// the text form (packettext.Table.AppendFields).
func (p Packet) AppendFields(dst []byte) []byte {
	return codec.AppendFields(dst, p)
}
