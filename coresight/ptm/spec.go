package ptm

import "github.com/ptdecode/ptdecode/decoder/packettext"

// spec is what there is to know of a kind of packet. The table of them drives
// printing, the text form, the table in docs/formats and the tests; the lexer
// and the encoder say the same once more, fast.
type spec struct {
	name    string // as the manual writes it
	text    string // the word of the text form
	bytes   string // the leading byte: two hex digits, or eight bits with letters where any bit may stand
	parts   []part // what follows, in order
	fields  []packettext.Field
	meaning string // for people
	section string // of IHI0035B
}

// part is a piece of a packet behind its leading byte.
type part uint8

const (
	partZeros   part = iota // zeros, four or more, and 80
	partAddress             // address bytes: 0 to 4 while bit 7 is set, the leading byte being the first; 1 to 5 where it is not
	partExc                 // exception bytes: one if bit 6 of the last of 2 to 5 address bytes is set, a second if its bit 7 is
	partUpdate              // one byte, if bit 6 of the fifth address byte is set
	partSync                // four bytes of address and the information byte
	partCycles              // cycle count: 1 to 5 bytes in cycle-accurate traces
	partReason              // the same, but none if the reason is periodic
	partAtoms               // none, or in cycle-accurate traces the cycle count that begins in the leading byte
	partContext             // context ID: 0, 1, 2 or 4 bytes as configured
	partByte                // one byte
	partTime                // 1 to 7 bytes, or 1 to 9, while bit 7 is set
)

// The numbers of a Packet that fields lie in.
const (
	inValue uint8 = iota
	inN
	inInfo
	inExc
	inCC
	inPad
	inCycles
	inContext
)

var (
	addressField = packettext.Field{Name: "address", In: inValue, Width: 36, Form: packettext.Sized, Size: packettext.Size{In: inN, Max: 5, Piece: 8, Bare: true}}
	cyclesField  = packettext.Field{Name: "cycles", In: inCycles, Width: 32, Form: packettext.Count, Size: packettext.Size{In: inCC, Max: 5, Piece: 7}}
	padField     = packettext.Field{Name: "reserved", In: inPad, Width: 4, Form: packettext.Named}
	contextField = packettext.Field{Name: "context", In: inContext, Width: 32, Form: packettext.Sized, Size: packettext.Size{In: inN, Max: 4, Piece: 8}}
)

// specs is indexed by Kind. Where the bytes of two rows can be the same, the
// first holds.
var specs = [NumKinds]spec{
	Bad: {name: "BAD", text: "bad", meaning: "bytes that are no packet, up to the next A-sync"},
	ASync: {"A-sync", "async", "00", []part{partZeros}, []packettext.Field{{Name: "zeros", In: inN, Width: 8, Form: packettext.Dec}},
		"a place where reading can begin; zeros: its zero bytes", "A-sync, alignment synchronization packet"},
	ISync: {"I-sync", "isync", "08", []part{partSync, partReason, partContext}, []packettext.Field{
		{Name: "address", In: inValue, Lo: 1, Width: 31, Shift: 1, Form: packettext.Hex},
		{Name: "thumb", In: inValue, Width: 1, Form: packettext.Word},
		{Name: "info", In: inInfo, Width: 8, Form: packettext.Hex},
		cyclesField, padField, contextField},
		"the next instruction; info: why and in what state", "I-sync, instruction synchronization packet"},
	Atom: {"Atom", "atom", "1xxxxxx0", []part{partAtoms}, []packettext.Field{
		{Name: "outcomes", In: inValue, Width: 5, Form: packettext.Letters, Size: packettext.Size{In: inN, Max: 5}, Words: []string{"n", "e", "-"}}, cyclesField, padField},
		"1 to 5 waypoints below the highest set bit after bit 7, the oldest on top, 0 = E; in cycle-accurate traces one in bit 1", "Atom packet"},
	Branch: {"Branch address", "branch", "caaaaaa1", []part{partAddress, partExc, partCycles}, []packettext.Field{
		addressField, {Name: "exception", In: inInfo, Width: 16, Form: packettext.Sized, Size: packettext.Size{In: inExc, Max: 2, Piece: 8}}, cyclesField, padField},
		"target of an indirect branch, or of an exception", "Branch address packet"},
	Waypoint: {"Waypoint update", "waypoint", "72", []part{partAddress, partUpdate}, []packettext.Field{
		addressField, {Name: "info", In: inInfo, Width: 8, Form: packettext.Sized, Size: packettext.Size{In: inExc, Max: 1, Piece: 8}}},
		"executed without a branch up to and including the instruction at the address", "Waypoint update packet"},
	Trigger: {name: "Trigger", text: "trigger", bytes: "0c", meaning: "the trigger event occurred", section: "Trigger packet"},
	ContextID: {"Context ID", "contextid", "6e", []part{partContext}, []packettext.Field{contextField},
		"context ID of what follows", "Context ID packet"},
	VMID: {"VMID", "vmid", "3c", []part{partByte}, []packettext.Field{{Name: "vmid", In: inValue, Width: 8, Form: packettext.Hex}},
		"VMID of what follows", "VMID packets"},
	Timestamp: {"Timestamp", "timestamp", "01000r10", []part{partTime, partCycles}, []packettext.Field{
		{Name: "value", In: inValue, Width: 64, Form: packettext.Sized, Size: packettext.Size{In: inN, Max: 9, Piece: 8, Bare: true}},
		{Name: "rate", In: inInfo, Width: 1, Form: packettext.Word}, cyclesField, padField},
		"low bits of the time, ticks; rate (r): the clock's rate has changed", "Timestamp packet"},
	ExceptionRet: {name: "Exception return", text: "eret", bytes: "76",
		meaning: "the last branch returns from an exception", section: "Exception return packet"},
	Ignore: {name: "Ignore", text: "ignore", bytes: "66", meaning: "nothing", section: "Ignore packet"},
}

// row is s as the table of the text form has it.
func (s *spec) row() packettext.Row {
	return packettext.Row{Name: s.name, Text: s.text, Fields: s.fields}
}

// String returns the kind's name as the manual writes it.
func (k Kind) String() string { return codec.Table.Name(uint8(k)) }
