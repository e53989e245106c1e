package etmv3

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// codec is the text form of packets, docs/formats/etmv3-packets.md.
var codec = v3.NewCodec(packettext.NewTable(specs[:], (*spec).row), Packet.numbers, ofNumbers, (*Packet).size, NewLexer, (*Packet).format, badPacket)

// Assemble appends the bytes of text, in the text form, one packet a line.
// What follows a # and empty lines are passed over.
func Assemble(dst []byte, text string) ([]byte, error) { return codec.Assemble(dst, text) }

// numbers returns the kind of p, and the numbers that the table of packets counts.
func (p Packet) numbers() (kind uint8, n packettext.Numbers) {
	return uint8(p.Kind), packettext.Numbers{inValue: p.Value, inExtra: p.Extra, inN: uint64(p.N), inInfo: uint64(p.Info), inExc: uint64(p.Exc), inCC: uint64(p.CC), inPad: uint64(p.Pad), inCycles: uint64(p.Cycles), inContext: uint64(p.Context)}
}

// ofNumbers returns the packet that consists of n.
func ofNumbers(kind uint8, n *packettext.Numbers) (Packet, error) {
	p := Packet{Kind: Kind(kind), Value: n[inValue], Extra: n[inExtra], N: uint8(n[inN]), Info: uint16(n[inInfo]), Exc: uint8(n[inExc]), CC: uint8(n[inCC]), Pad: uint8(n[inPad]), Cycles: uint32(n[inCycles]), Context: uint32(n[inContext])}
	return p, v3.ContextSize(p.format().ContextBytes)
}

// String returns p in one line as dumps print it: the kind's name as the
// manual writes it, the fields of the text form, and what they mean.
func (p Packet) String() string {
	return v3.Dump(&codec, p, packettext.Bad{Why: uint8(p.Info), Of: p.Exc, Size: p.Value, Need: uint64(p.N), Unit: "bytes"}, p.meaning())
}

// meaning is what the numbers of p say, for people.
func (p *Packet) meaning() string {
	var w []string
	switch p.Kind {
	case ISync, ISyncCycles:
		w = v3.StateWords([]string{v3.ReasonName(p.Reason())}, p.Info&v3.InfoNS != 0, p.Info&v3.InfoAlt != 0, p.Info&v3.InfoHyp != 0)
		if p.Info&infoJazelle != 0 {
			w = append(w, "jazelle")
		}
	case Branch:
		if p.N == 5 {
			set, _ := addressSet(p.Value)
			a, n := set.Bits(p.Value, 5, false)
			w = append(w, fmt.Sprintf("%s 0x%x", set, a&(1<<n-1)))
		}
		if !p.HasException() {
			break
		}
		w = append(w, "exception "+strconv.Itoa(int(p.Exception(true))))
		if p.Cancels() {
			w = append(w, "cancel")
		}
		if p.Exc > 0 {
			hyp := p.Exc > 1 && p.Extra&(v3.ExcHyp|excResume) == v3.ExcHyp
			w = v3.StateWords(w, p.Extra&v3.ExcNS != 0, p.Extra&v3.ExcAlt != 0, hyp)
		}
	}
	return strings.Join(w, ", ")
}

// AppendText appends p in the text form of docs/formats/etmv3-packets.md, one
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

// badPacket returns the packet of n bytes that are none.
func badPacket(n uint64) Packet { return Packet{Kind: Bad, Value: n} }

// size points to the length of p, bytes.
func (p *Packet) size() *uint8 { return &p.Len }

// format is the Format of a trace that p can be in.
func (p *Packet) format() (f Format) {
	f.CycleAccurate = p.Kind == PHeader && p.Info > 2
	f.TS64 = p.Kind == Timestamp && p.N > 7
	switch p.Kind {
	case ISync, ISyncCycles, ContextID:
		f.ContextBytes = p.N
		f.DataOnly = p.Info&infoNoAddress != 0
	case Branch:
		f.Alternative = p.N > 1 && p.N < 5 && p.Exc > 0
	case Data, OutOfOrder, Placeholder, StoreFailed, DataSuppressed, NotTraced:
		f.DataValues, f.DataAddresses = true, p.Exc > 0
	}
	return f
}
