package etmv3

import "github.com/ptdecode/ptdecode/decoder/packettext"

// spec is what there is to know of a kind of packet. The table of them drives
// printing, the text form, the table in docs/formats and the tests; the lexer
// and the encoder say the same once more, fast.
type spec struct {
	name    string // as the manual writes it
	text    string // the word of the text form
	bytes   string // the leading byte: two hex digits, or eight bits with letters where any bit may stand
	needs   need   // what the trace unit must have been set up to trace
	parts   []part // what follows, in order
	fields  []packettext.Field
	meaning string // for people
	section string // of IHI0014Q
}

// need is what a trace unit must trace to send a packet.
type need uint8

const (
	needNothing need = iota
	needData         // data values or addresses
	needValues       // data values
)

// part is a piece of a packet behind its leading byte.
type part uint8

const (
	partZeros   part = iota // zeros, four or more, and 80
	partAddress             // address bytes: 0 to 4 while bit 7 is set, the leading byte being the first
	partExc                 // exception bytes, 0 to 3
	partCycles              // cycle count: 1 to 5 bytes while bit 7 is set
	partAtoms               // none, but not every leading byte is one
	partTag                 // none, but the leading byte's tag is not 0
	partContext             // context ID: 0, 1, 2 or 4 bytes as configured
	partSync                // the information byte, and four bytes of address in instruction traces
	partSecond              // a second address, 1 to 5 bytes while bit 7 is set, if bit 7 of the information byte is
	partByte                // one byte
	partTime                // 1 to 7 bytes, or 1 to 9, while bit 7 is set
	partFirst5              // data address, 1 to 5 bytes while bit 7 is set: if bit 5 of the leading byte is set and addresses are traced
	partFirst4              // the same, with bit 4
	partValue               // data value: as bits 3..2 of the leading byte say 0, 1, 2 or 4 bytes
)

// The numbers of a Packet that fields lie in.
const (
	inValue uint8 = iota
	inExtra
	inN
	inInfo
	inExc
	inCC
	inPad
	inCycles
	inContext
)

var (
	cyclesField  = packettext.Field{Name: "cycles", In: inCycles, Width: 32, Form: packettext.Count, Size: packettext.Size{In: inCC, Max: 5, Piece: 7}}
	padField     = packettext.Field{Name: "reserved", In: inPad, Width: 4, Form: packettext.Named}
	contextField = packettext.Field{Name: "context", In: inContext, Width: 32, Form: packettext.Sized, Size: packettext.Size{In: inN, Max: 4, Piece: 8}}
	firstField   = packettext.Field{Name: "first", In: inInfo, Width: 1, Form: packettext.Word}
	dataAddress  = packettext.Field{Name: "address", In: inExtra, Width: 36, Form: packettext.Sized, Size: packettext.Size{In: inExc, Max: 5, Piece: 8}}
	valueField   = packettext.Field{Name: "value", In: inValue, Width: 32, Form: packettext.Sized, Size: packettext.Size{In: inN, Max: 4, Piece: 8}}
)

var isyncFields = []packettext.Field{
	{Name: "address", In: inValue, Lo: 1, Width: 31, Shift: 1, Form: packettext.Hex},
	{Name: "thumb", In: inValue, Width: 1, Form: packettext.Word},
	{Name: "info", In: inInfo, Width: 8, Form: packettext.Hex},
	{Name: "dataonly", In: inInfo, Lo: 8, Width: 1, Form: packettext.Word},
	cyclesField, padField, contextField,
	{Name: "second", In: inExtra, Width: 36, Form: packettext.Sized, Size: packettext.Size{In: inExc, Max: 5, Piece: 8}},
}

// specs is indexed by Kind. Where the bytes of two rows can be the same, the
// first holds.
var specs = [NumKinds]spec{
	Bad: {name: "BAD", text: "bad", meaning: "bytes that are no packet, up to the next A-sync"},
	ASync: {"A-sync", "async", "00", needNothing, []part{partZeros}, []packettext.Field{{Name: "zeros", In: inN, Width: 8, Form: packettext.Dec}},
		"a place where reading can begin; zeros: its zero bytes", "A-sync, alignment synchronization"},
	CycleCount: {"Cycle count", "cyclecount", "04", needNothing, []part{partCycles}, []packettext.Field{cyclesField, padField},
		"cycles that passed", "Cycle count packet"},
	ISync: {"I-sync", "isync", "08", needNothing, []part{partContext, partSync, partSecond}, isyncFields,
		"the next instruction; info: why and in what state; second: the address of the instruction under a load or store in progress",
		"I-sync instruction synchronization"},
	ISyncCycles: {"I-sync with cycle count", "isynccycles", "70", needNothing, []part{partCycles, partContext, partSync, partSecond}, isyncFields,
		"the same, and the cycles since tracing was off", "I-sync instruction synchronization"},
	Trigger: {name: "Trigger", text: "trigger", bytes: "0c", meaning: "the trigger event occurred", section: "Trigger"},
	Branch: {"Branch address", "branch", "caaaaaa1", needNothing, []part{partAddress, partExc}, []packettext.Field{
		{Name: "address", In: inValue, Width: 36, Form: packettext.Sized, Size: packettext.Size{In: inN, Max: 5, Piece: 8, Bare: true}},
		{Name: "exception", In: inExtra, Width: 24, Form: packettext.Sized, Size: packettext.Size{In: inExc, Max: 3, Piece: 8}}},
		"target of an indirect branch, or of an exception", "Branch Packets"},
	PHeader: {"P-header", "pheader", "1xxxxxx0", needNothing, []part{partAtoms}, []packettext.Field{
		{Name: "format", In: inInfo, Width: 3, Form: packettext.Dec},
		{Name: "atoms", In: inValue, Width: 16, Form: packettext.Letters, Size: packettext.Size{In: inN, Max: 16}, Words: []string{"n", "e", "-"}},
		{Name: "cycles", In: inCycles, Width: 4, Form: packettext.Number}, padField},
		"instructions that passed their condition (e) or not (n), the oldest first; cycles: before them", "P-headers"},
	ContextID: {"Context ID", "contextid", "6e", needNothing, []part{partContext}, []packettext.Field{contextField},
		"context ID of what follows", "Context ID packets"},
	VMID: {"VMID", "vmid", "3c", needNothing, []part{partByte}, []packettext.Field{{Name: "vmid", In: inValue, Width: 8, Form: packettext.Hex}},
		"VMID of what follows", "VMID packets, ETMv3.5"},
	Timestamp: {"Timestamp", "timestamp", "01000r10", needNothing, []part{partTime}, []packettext.Field{
		{Name: "value", In: inValue, Width: 64, Form: packettext.Sized, Size: packettext.Size{In: inN, Max: 9, Piece: 8, Bare: true}},
		{Name: "rate", In: inInfo, Width: 1, Form: packettext.Word}},
		"low bits of the time, ticks; rate (r): the clock's rate has changed", "Timestamp packet, ETMv3.5"},
	ExceptionRet: {name: "Exception exit", text: "eret", bytes: "76",
		meaning: "the last instruction returns from an exception", section: "Tracing return from an exception"},
	ExceptionEntry: {name: "Exception entry", text: "entry", bytes: "7e",
		meaning: "an exception begins (Armv7-M, data traces)", section: "Packet types"},
	Ignore: {name: "Ignore", text: "ignore", bytes: "66", meaning: "nothing", section: "Ignore"},
	Data: {"Normal data", "data", "00A0SS10", needData, []part{partFirst5, partValue}, []packettext.Field{firstField, dataAddress, valueField},
		"a data transfer; first (A): of its instruction", "Normal data packet"},
	OutOfOrder: {"Out-of-order data", "ooo", "0TT0SS00", needValues, []part{partTag, partValue}, []packettext.Field{
		{Name: "tag", In: inInfo, Width: 2, Form: packettext.Dec}, valueField},
		"the value that was left open under the tag, 1 to 3", "Out-of-order data"},
	Placeholder: {"Out-of-order placeholder", "placeholder", "01A1TT00", needData, []part{partTag, partFirst5}, []packettext.Field{
		{Name: "tag", In: inInfo, Lo: 1, Width: 2, Form: packettext.Dec}, firstField, dataAddress},
		"a data transfer whose value comes later under the tag, 1 to 3", "Out-of-order placeholder"},
	StoreFailed: {name: "Store failed", text: "storefailed", bytes: "50", needs: needValues,
		meaning: "an exclusive store failed", section: "Packet types"},
	DataSuppressed: {name: "Data suppressed", text: "suppressed", bytes: "62", needs: needData,
		meaning: "data transfers were left out", section: "Data suppressed packet"},
	NotTraced: {"Value not traced", "nottraced", "011A1010", needData, []part{partFirst4}, []packettext.Field{firstField, dataAddress},
		"a data transfer without its value", "Value not traced packet"},
}

// row is s as the table of the text form has it.
func (s *spec) row() packettext.Row {
	return packettext.Row{Name: s.name, Text: s.text, Fields: s.fields}
}

// String returns the kind's name as the manual writes it.
func (k Kind) String() string { return codec.Table.Name(uint8(k)) }
