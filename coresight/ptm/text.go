package ptm

import (
	"fmt"
	"strings"

	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// codec is the text form of packets, docs/formats/ptm-packets.md.
var codec = v3.NewCodec(packettext.NewTable(specs[:], (*spec).row), Packet.numbers, ofNumbers, (*Packet).size, NewLexer, (*Packet).format, badPacket)

// numbers returns the kind of p, and the numbers that the table of packets counts.
func (p Packet) numbers() (kind uint8, n packettext.Numbers) {
	return uint8(p.Kind), packettext.Numbers{inValue: p.Value, inN: uint64(p.N), inInfo: uint64(p.Info), inExc: uint64(p.Exc), inCC: uint64(p.CC), inPad: uint64(p.Pad), inCycles: uint64(p.Cycles), inContext: uint64(p.Context)}
}

// ofNumbers returns the packet that consists of n.
func ofNumbers(kind uint8, n *packettext.Numbers) (Packet, error) {
	p := Packet{Kind: Kind(kind), Value: n[inValue], N: uint8(n[inN]), Info: uint16(n[inInfo]), Exc: uint8(n[inExc]), CC: uint8(n[inCC]), Pad: uint8(n[inPad]), Cycles: uint32(n[inCycles]), Context: uint32(n[inContext])}
	return p, v3.ContextSize(p.format().ContextBytes)
}

// meaning is what the numbers of p say, for people.
func (p *Packet) meaning() string {
	var w []string
	switch p.Kind {
	case ISync:
		w = v3.StateWords([]string{v3.ReasonName(p.Reason())}, p.Info&v3.InfoNS != 0, p.Info&v3.InfoAlt != 0, p.Info&v3.InfoHyp != 0)
	case Branch, Waypoint:
		if p.N == 5 {
			set := v3.AddressSet(p.Value)
			a, n := set.Bits(p.Value, 5, true)
			w = append(w, fmt.Sprintf("%s 0x%x", set, a&(1<<n-1)))
		}
		if p.Kind == Branch && p.Exc > 0 {
			w = v3.StateWords(append(w, exceptionName(p.Exception())), p.Info&v3.ExcNS != 0, p.Info&v3.ExcAlt != 0, p.Exc > 1 && p.Info&v3.ExcHyp != 0)
		}
	}
	return strings.Join(w, ", ")
}

// String returns p in one line as dumps print it: the kind's name as the
// manual writes it, the fields of the text form, and what they mean.
func (p Packet) String() string {
	return v3.Dump(&codec, p, packettext.Bad{Why: uint8(p.Info), Of: p.Exc, Size: p.Value, Need: uint64(p.N), Unit: "bytes"}, p.meaning())
}

var exceptionNames = [16]string{
	v3.ExcNone: "no exception", v3.ExcHalt: "halt", v3.ExcSMC: "SMC", v3.ExcHVC: "HVC",
	v3.ExcAsyncAbort: "asynchronous abort", 5: "ThumbEE check", v3.ExcReset: "reset", v3.ExcUndef: "undefined",
	v3.ExcSVC: "SVC", v3.ExcPrefetchAbort: "prefetch abort", v3.ExcDataAbort: "data abort", v3.ExcGeneric: "generic",
	v3.ExcIRQ: "IRQ", v3.ExcFIQ: "FIQ",
}

func exceptionName(n uint16) string {
	if int(n) < len(exceptionNames) && exceptionNames[n] != "" {
		return exceptionNames[n]
	}
	return fmt.Sprintf("exception %d", n)
}

// AppendText appends p in the text form of docs/formats/ptm-packets.md, one
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

// size points to the length of p, bytes.
func (p *Packet) size() *uint8 { return &p.Len }

// format is the Format of a trace that p can be in.
func (p *Packet) format() (f Format) {
	f.CycleAccurate = p.CC != 0
	f.TS64 = p.Kind == Timestamp && p.N > 7
	if p.Kind == ISync || p.Kind == ContextID {
		f.ContextBytes = p.N
	}
	return f
}

// badPacket returns the packet of n bytes that are none.
func badPacket(n uint64) Packet { return Packet{Kind: Bad, Value: n} }

// Assemble appends the bytes of text, in the text form, one packet a line.
// What follows a # and empty lines are passed over.
func Assemble(dst []byte, text string) ([]byte, error) { return codec.Assemble(dst, text) }
