package stm

import "github.com/ptdecode/ptdecode/decoder/packettext"

// codec is the text form of packets, docs/formats/stm-packets.md.
var codec = packettext.Codec[Packet]{
	Table:   textTable(),
	Numbers: Packet.numbers,
	Packet:  ofNumbers,
	Encode: func(p *Packet) []byte {
		raw := p.Append(nil)
		var q Packet
		NewLexer(raw, 0).Next(&q)
		p.Len = q.Len
		return unpack(raw)[:p.Len]
	},
	Lex: func(halves []byte, _ *Packet) (p Packet) {
		NewLexer(pack(halves), 0).Next(&p)
		return p
	},
	Bad:  func(n uint64) Packet { return Packet{Kind: Bad, Value: n} },
	Pack: pack,
}

// The numbers of a Packet that fields lie in.
const (
	inValue uint8 = iota
	inTS
	inTSLen
)

func textTable() (t packettext.Table) {
	for i := range specs {
		s := &specs[i]
		row := packettext.Row{Name: s.name, Text: s.text}
		if s.field != "" {
			f := packettext.Field{Name: s.field, Width: uint8(4 * s.data)}
			if s.decimal {
				f.Form = packettext.Dec
			}
			row.Fields = append(row.Fields, f)
		}
		if s.stamped {
			row.Fields = append(row.Fields, packettext.Field{Name: "ts", In: inTS, Width: 64, Form: packettext.Sized,
				Size: packettext.Size{Name: "n", In: inTSLen, Max: 16, Piece: 4, Zero: true}})
		}
		t = append(t, row)
	}
	return t
}

// numbers returns the kind of p, and the numbers that its fields lie in.
func (p Packet) numbers() (kind uint8, n packettext.Numbers) {
	return uint8(p.Kind), packettext.Numbers{inValue: p.Value, inTS: p.TS, inTSLen: uint64(p.TSLen)}
}

// ofNumbers returns the packet that consists of n.
func ofNumbers(kind uint8, n *packettext.Numbers) (Packet, error) {
	return Packet{Kind: Kind(kind), Value: n[inValue], TS: n[inTS], TSLen: uint8(n[inTSLen])}, nil
}

// String returns p in one line as dumps print it: the kind's name as STPv2
// writes it, then the fields of the text form.
func (p Packet) String() string {
	if p.Kind == Bad {
		return codec.Table.Dump(packettext.Bad{Why: p.Why, Of: uint8(p.Of), Size: p.Value, Need: uint64(p.Need), Unit: "half bytes"})
	}
	return codec.Dump(p)
}

// AppendText appends p in the text form of docs/formats/stm-packets.md, one
// line without its end. raw is the stream's bytes [Off, End) of p: the text of
// a Bad packet shows them; for other kinds it may be nil.
func (p Packet) AppendText(dst, raw []byte) []byte {
	if p.Kind != Bad {
		return codec.AppendText(dst, p, raw)
	}
	dst = append(append(dst, specs[Bad].text...), ' ')
	for i := int(p.Half); i < int(p.Half)+int(p.Value) && i/2 < len(raw); i++ {
		dst = append(dst, "0123456789abcdef"[raw[i/2]>>(i%2*4)&15])
	}
	return dst
}

// AppendFields appends the fields of p as a JSON object, by their names in the table of
// the text form (packettext.Table.AppendFields).
func (p Packet) AppendFields(dst []byte) []byte {
	return codec.AppendFields(dst, p)
}

// pack returns the bytes of half bytes. Where the last one is a lower half, the upper
// one is zero.
func pack(halves []byte) []byte {
	var w writer
	for _, h := range halves {
		w.put(uint64(h), 1)
	}
	return w.dst
}

// unpack returns the half bytes of raw in the order sent.
func unpack(raw []byte) (halves []byte) {
	for _, b := range raw {
		halves = append(halves, b&15, b>>4)
	}
	return halves
}

// assemble appends the bytes of text, in the text form, one packet a line.
// What follows a # and empty lines are passed over. Where the last packet ends
// in a lower half, the upper one is zero.
func assemble(dst []byte, text string) ([]byte, error) { return codec.Assemble(dst, text) }
