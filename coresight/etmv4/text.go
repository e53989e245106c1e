package etmv4

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// table is the text form of packets, docs/formats/etmv4-packets.md.
var table = packettext.NewTable(specs[:], (*spec).row)

// codec returns the text form of the packets that a trace unit sends.
func codec(c coresight.Config) *packettext.Codec[Packet] {
	l := NewLexer(c, nil, 0)
	return &packettext.Codec[Packet]{
		Table:  table,
		Packet: ofNumbers,
		Encode: packettext.Encoder((*Packet).size),
		Lex: func(raw []byte, _ *Packet) (p Packet) {
			l.Reset(raw, 0)
			l.Next(&p)
			return p
		},
		Bad: func(n uint64) Packet { return Packet{Kind: Bad, Value: n} },
	}
}

// size points to the length of p, bytes.
func (p *Packet) size() *uint8 { return &p.Len }

// numbers returns p as the numbers that the table of packets counts.
func (p *Packet) numbers() packettext.Numbers {
	addr, _ := p.Address()
	return packettext.Numbers{inValue: p.Value, inValue2: p.Value2, inExtra: uint64(p.Extra), inArg: uint64(p.Arg),
		inN: uint64(p.N), inAddress: addr, inReserved: p.reserved(), inVMIDSize: uint64(p.N & 0xf), inCIDSize: uint64(p.N >> 4)}
}

// ofNumbers returns the packet that consists of n.
func ofNumbers(kind uint8, n *packettext.Numbers) (Packet, error) {
	p := Packet{Kind: Kind(kind), Value: n[inValue], Value2: n[inValue2], Extra: uint32(n[inExtra]), Arg: uint8(n[inArg]),
		N: uint8(n[inN] | n[inVMIDSize] | n[inCIDSize]<<4)}
	if size, _ := p.sent(); size == 0 {
		return p, nil
	}
	p.setAddress(n[inAddress], uint32(n[inReserved]))
	if low, _ := p.Address(); low != n[inAddress] || p.reserved() != n[inReserved] {
		return p, fmt.Errorf("no packet holds that address")
	}
	return p, nil
}

// String returns p in one line as dumps print it: the kind's name as the
// manuals write it, then the fields of the text form.
func (p Packet) String() string {
	if p.Kind == Bad {
		if p.Arg == packettext.BadOpcode {
			return fmt.Sprintf("%s %d bytes: no packet of this trace unit starts so", specs[Bad].name, p.Value)
		}
		return table.Dump(packettext.Bad{Why: p.Arg, Of: uint8(p.Extra), Size: p.Value, Need: uint64(p.N), Unit: "bytes"})
	}
	n := p.numbers()
	return string(table.AppendDump(nil, uint8(p.Kind), &n))
}

// AppendText appends p in the text form of docs/formats/etmv4-packets.md, one
// line without its end. raw is the bytes of p: the text of a Bad packet shows
// them; for other kinds it may be nil.
func (p Packet) AppendText(dst, raw []byte) []byte {
	n := p.numbers()
	return table.Append(dst, uint8(p.Kind), &n, raw)
}

// AppendFields appends the fields of p as a JSON object, by their names in the table of
// the text form (packettext.Table.AppendFields).
func (p Packet) AppendFields(dst []byte) []byte {
	n := p.numbers()
	return table.AppendFields(dst, uint8(p.Kind), &n)
}

// Assemble appends the bytes of text, in the text form, of packets that the trace
// unit which c describes sends, one packet a line. What follows a # and empty lines
// are passed over.
func Assemble(c coresight.Config, dst []byte, text string) ([]byte, error) {
	return codec(c).Assemble(dst, text)
}
