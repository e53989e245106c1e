package itm

import "github.com/ptdecode/ptdecode/decoder/packettext"

// spec is what there is to know of a kind of packet. The table of them drives
// printing, the text form, the table in docs/formats and the tests; the lexer
// and the encoder say the same once more, fast.
type spec struct {
	name    string // short, as the manual's sections have it
	text    string // the word of the text form
	header  string // the bits of the first byte, the highest first; letters where any bit may stand
	rule    sizeRule
	most    int                // bytes of payload at most
	fields  []packettext.Field // what is in it, in the order of the text form
	meaning string             // for people
	source  string             // the section of DDI0403, appendix D4, by its title
}

// sizeRule says how many bytes of payload follow the header.
type sizeRule uint8

const (
	sizeNone  sizeRule = iota // none
	sizeCode                  // bits 1..0 of the header: 1, 2, 3 for 1, 2, 4 bytes
	sizeMore                  // as long as bit 7 is set, but of the last; one at least
	sizeAfter                 // the same, none where bit 7 of the header is clear
	sizeZeros                 // zeros, 4 at least, and 80
)

// The numbers of a Packet that fields lie in.
const (
	inValue uint8 = iota
	inArg
	inN
	inMore // N where the value needs fewer bytes, else 0
)

// specs is indexed by Kind. No two rows have a header in common but for Sync
// and LTS2, of which the first holds.
var specs = [NumKinds]spec{
	Bad: {name: "BAD", text: "bad", meaning: "bytes that are no packet, up to the next sync point"},
	Sync: {"SYNC", "sync", "00000000", sizeZeros, 0, []packettext.Field{{Name: "zeros", Width: 63, Form: packettext.Usually, Usual: minZeros}},
		"sync point; bytes of zeros", "Synchronization packet"},
	Overflow: {"OVERFLOW", "overflow", "01110000", sizeNone, 0, nil,
		"packets were lost", "Overflow packet"},
	SWIT: {"SWIT", "swit", "ppppp0ss", sizeCode, 4, []packettext.Field{
		{Name: "port", In: inArg, Width: 5, Form: packettext.Dec}, {Name: "bytes", In: inN, Width: 3, Form: packettext.Dec}, {Name: "payload", Width: 32}},
		"written to a stimulus port", "Instrumentation packet"},
	DWT: {"DWT", "dwt", "ddddd1ss", sizeCode, 4, []packettext.Field{
		{Name: "discriminator", In: inArg, Width: 5, Form: packettext.Dec}, {Name: "bytes", In: inN, Width: 3, Form: packettext.Dec}, {Name: "payload", Width: 32}},
		"seen by the DWT; the discriminator says what", "Hardware source packet"},
	LTS1: {"LTS1", "lts1", "11tt0000", sizeMore, 4, []packettext.Field{
		{Name: "ticks", Width: 28, Form: packettext.Dec}, {Name: "delayed", In: inArg, Width: 1, Form: packettext.Word}, {Name: "packet-delayed", In: inArg, Lo: 1, Width: 1, Form: packettext.Word},
		{Name: "length", In: inMore, Width: 3, Form: packettext.Number}},
		"ticks since the last local timestamp; delayed: sent late; packet-delayed: what it is of was sent late", "Local timestamp packets"},
	LTS2: {"LTS2", "lts2", "0ttt0000", sizeNone, 0, []packettext.Field{{Name: "ticks", Width: 3, Form: packettext.Dec}},
		"the same, 1 to 6 ticks", "Local timestamp packets"},
	GTS1: {"GTS1", "gts1", "10010100", sizeMore, 4, []packettext.Field{
		{Name: "ticks", Width: 28}, {Name: "clkch", In: inArg, Width: 1, Form: packettext.Word}, {Name: "wrap", In: inArg, Lo: 1, Width: 1, Form: packettext.Word},
		{Name: "length", In: inMore, Width: 3, Form: packettext.Number}},
		"low bits of the global timestamp; clkch: its clock has changed; wrap: bits 26 and up have changed", "Global timestamp packets"},
	GTS2: {"GTS2", "gts2", "10110100", sizeMore, 6, []packettext.Field{
		{Name: "ticks", Width: 42}, {Name: "length", In: inMore, Width: 3, Form: packettext.Number}},
		"bits 26 and up of the global timestamp", "Global timestamp packets"},
	Ext: {"EXT", "ext", "ceee1h00", sizeAfter, 4, []packettext.Field{
		{Name: "ex", In: inArg, Width: 3, Form: packettext.Dec}, {Name: "hardware", In: inArg, Lo: 3, Width: 1, Form: packettext.Word}, {Name: "value", Width: 28},
		{Name: "length", In: inMore, Width: 3, Form: packettext.Number}},
		"of software and without value: the page of stimulus ports; else reserved", "Extension packet"},
}

// row is s as the table of the text form has it.
func (s *spec) row() packettext.Row {
	return packettext.Row{Name: s.name, Text: s.text, Fields: s.fields}
}

// String returns the kind's name.
func (k Kind) String() string { return codec.Table.Name(uint8(k)) }
