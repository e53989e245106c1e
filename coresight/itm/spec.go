package itm

// spec is what there is to know of a kind of packet. The table of them drives
// printing, the text form, the table in docs/formats and the tests; the lexer
// and the encoder say the same once more, fast.
type spec struct {
	name    string // short, as the manual's sections have it
	text    string // the word of the text form
	header  string // the bits of the first byte, the highest first; letters where any bit may stand
	rule    sizeRule
	most    int        // bytes of payload at most
	fields  []bitField // what is in it, in the order of the text form
	meaning string     // for people
	source  string     // the section of DDI0403, appendix D4, by its title
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

// source is a field of Packet that a bitField lies in.
type source uint8

const (
	inValue source = iota
	inArg
	inN
)

// form is how the text form writes a bitField.
type form uint8

const (
	asHex  form = iota // 0x1f, always there
	asDec              // 31, always there
	asWord             // name, where the bit is set
	asMore             // name N, where it is not the number of bytes that the value needs
	asRun              // 31, where it is not 5
)

// bitField is a piece of a packet: width bits from bit lo of a field of
// Packet.
type bitField struct {
	name  string
	in    source
	lo    uint8
	width uint8
	form  form
}

// specs is indexed by Kind. No two rows have a header in common but for Sync
// and LTS2, of which the first holds.
var specs = [NumKinds]spec{
	Bad: {name: "BAD", text: "bad", meaning: "bytes that are no packet, up to the next sync point"},
	Sync: {"SYNC", "sync", "00000000", sizeZeros, 0, []bitField{{"zeros", inValue, 0, 63, asRun}},
		"sync point; bytes of zeros", "Synchronization packet"},
	Overflow: {"OVERFLOW", "overflow", "01110000", sizeNone, 0, nil,
		"packets were lost", "Overflow packet"},
	SWIT: {"SWIT", "swit", "ppppp0ss", sizeCode, 4, []bitField{
		{"port", inArg, 0, 5, asDec}, {"bytes", inN, 0, 3, asDec}, {"payload", inValue, 0, 32, asHex}},
		"written to a stimulus port", "Instrumentation packet"},
	DWT: {"DWT", "dwt", "ddddd1ss", sizeCode, 4, []bitField{
		{"discriminator", inArg, 0, 5, asDec}, {"bytes", inN, 0, 3, asDec}, {"payload", inValue, 0, 32, asHex}},
		"seen by the DWT; the discriminator says what", "Hardware source packet"},
	LTS1: {"LTS1", "lts1", "11tt0000", sizeMore, 4, []bitField{
		{"ticks", inValue, 0, 28, asDec}, {"delayed", inArg, 0, 1, asWord}, {"packet-delayed", inArg, 1, 1, asWord},
		{"length", inN, 0, 3, asMore}},
		"ticks since the last local timestamp; delayed: sent late; packet-delayed: what it is of was sent late", "Local timestamp packets"},
	LTS2: {"LTS2", "lts2", "0ttt0000", sizeNone, 0, []bitField{{"ticks", inValue, 0, 3, asDec}},
		"the same, 1 to 6 ticks", "Local timestamp packets"},
	GTS1: {"GTS1", "gts1", "10010100", sizeMore, 4, []bitField{
		{"ticks", inValue, 0, 28, asHex}, {"clkch", inArg, 0, 1, asWord}, {"wrap", inArg, 1, 1, asWord},
		{"length", inN, 0, 3, asMore}},
		"low bits of the global timestamp; clkch: its clock has changed; wrap: bits 26 and up have changed", "Global timestamp packets"},
	GTS2: {"GTS2", "gts2", "10110100", sizeMore, 6, []bitField{
		{"ticks", inValue, 0, 42, asHex}, {"length", inN, 0, 3, asMore}},
		"bits 26 and up of the global timestamp", "Global timestamp packets"},
	Ext: {"EXT", "ext", "ceee1h00", sizeAfter, 4, []bitField{
		{"ex", inArg, 0, 3, asDec}, {"hardware", inArg, 3, 1, asWord}, {"value", inValue, 0, 28, asHex},
		{"length", inN, 0, 3, asMore}},
		"of software and without value: the page of stimulus ports; else reserved", "Extension packet"},
}

// String returns the kind's name.
func (k Kind) String() string {
	if k < NumKinds {
		return specs[k].name
	}
	return "?"
}
