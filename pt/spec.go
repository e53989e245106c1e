package pt

import "github.com/ptdecode/ptdecode/decoder/packettext"

// spec is what there is to know of a kind of packet. The table of them drives
// printing, the text form, the table in docs/formats and the tests; the lexer
// and the encoder say the same once more, fast.
type spec struct {
	name    string // as the SDM writes it
	text    string // the word of the text form
	bytes   string // the leading bytes: two hex digits, or eight bits with letters where any bit may stand
	rule    sizeRule
	tail    int                // bytes after the leading ones, by the rule; see sizeRule
	fields  []packettext.Field // what is in it, in the order of the text form
	meaning string             // for people
	source  string             // the table or section of the manual, or where else it is described
}

// sizeRule says how many bytes follow the leading ones.
type sizeRule uint8

const (
	sizeFixed sizeRule = iota // tail
	sizePads                  // as many zeros as follow, up to tail
	sizeShort                 // none; the leading byte must have a bit set above bit 1
	sizeStop                  // tail, of which one bit at least is set
	sizeIP                    // by IPBytes, the upper three bits of the leading byte
	sizeCYC                   // up to tail, while the lowest bit (of the first byte bit 2) is set; 64 bits of count
	sizePTW                   // 4, or 8 with bit 5 of the second byte set
	sizeItem                  // as the block that is open says: 4 or 8; no packet outside of blocks
	sizeICNT                  // tail, and 2 more with bit 6 of the second byte set
)

// The numbers of a Packet that fields lie in.
const (
	inValue uint8 = iota
	inArg
	inExtra
	inN
	inLen
	inFlag
)

// ipBits is how many bits of an IP are sent, by IPBytes; 0 where there is no such
// form.
var ipBits = []uint8{1: 16, 2: 32, 3: 48, 4: 48, 6: 64}

const perfSource = "Linux, tools/perf/util/intel-pt-decoder/intel-pt-pkt-decoder.c"
const libiptSource = "libipt, libipt/src/pt_packet.c"

var (
	ipFields = []packettext.Field{{Name: "address", Width: 64, Form: packettext.Sized,
		Size: packettext.Size{Name: "ipbytes", In: inArg, Bits: ipBits, Bare: true}}}
	tntFields = []packettext.Field{{Name: "results", Width: 47, Form: packettext.Letters, Size: packettext.Size{In: inN, Max: 47}, Words: []string{"n", "t"}}}
	flagIP    = []packettext.Field{{Name: "ip", In: inFlag, Width: 1, Form: packettext.Word}}
)

// specs is indexed by Kind. Where the bytes of two rows can be the same, the
// first holds, but BIP goes before all where a block is open.
var specs = [NumKinds]spec{
	Bad: {name: "BAD", text: "bad", meaning: "bytes that are no packet, up to the next PSB"},
	PAD: {"PAD", "pad", "00", sizePads, maxPAD - 1, []packettext.Field{{Name: "count", In: inLen, Width: 8, Form: packettext.Usually, Usual: 1}},
		"nothing", "PAD Packet Definition"},
	TNTShort: {"TNT", "tnt", "bbbbbbb0", sizeShort, 0, tntFields,
		"1 to 6 branches below the highest set bit, the oldest on top", "TNT Packet Definition"},
	TNTLong: {"TNT.long", "tnt.long", "02 a3", sizeStop, 6, tntFields,
		"0 to 47 branches, in the same way", "TNT Packet Definition"},
	TIP: {"TIP", "tip", "ccc01101", sizeIP, 0, ipFields,
		"target of a branch; c: IPBytes", "IP Packet Definition"},
	PGE: {"TIP.PGE", "tip.pge", "ccc10001", sizeIP, 0, ipFields,
		"tracing starts at", "TIP.PGE Packet Definition"},
	PGD: {"TIP.PGD", "tip.pgd", "ccc00001", sizeIP, 0, ipFields,
		"tracing ends, at", "TIP.PGD Packet Definition"},
	FUP: {"FUP", "fup", "ccc11101", sizeIP, 0, ipFields,
		"source of an event", "FUP Packet Definition"},
	PIP: {"PIP", "pip", "02 43", sizeFixed, 6, []packettext.Field{
		{Name: "cr3", Lo: 1, Width: 47, Shift: 5}, {Name: "nr", Width: 1, Form: packettext.Word}},
		"CR3; nr: in non-root operation", "PIP Packet Definition"},
	VMCS: {"VMCS", "vmcs", "02 c8", sizeFixed, 5, []packettext.Field{{Name: "address", Width: 40, Shift: 12}},
		"address of the VMCS", "VMCS Packet Definition"},
	ModeExec: {"MODE.Exec", "mode.exec", "99 000mmmmm", sizeFixed, 0, []packettext.Field{
		{Name: "l", Width: 1, Form: packettext.Word}, {Name: "d", Lo: 1, Width: 1, Form: packettext.Word}, {Name: "if", Lo: 2, Width: 1, Form: packettext.Word},
		{Name: "reserved", Lo: 3, Width: 2, Form: packettext.Named}},
		"l: 64-bit; d: 32-bit; neither: 16-bit; if: interrupts enabled", "MODE.Exec Packet Definition"},
	ModeTSX: {"MODE.TSX", "mode.tsx", "99 001mmmmm", sizeFixed, 0, []packettext.Field{
		{Name: "intx", Width: 1, Form: packettext.Word}, {Name: "abort", Lo: 1, Width: 1, Form: packettext.Word},
		{Name: "reserved", Lo: 2, Width: 3, Form: packettext.Named}},
		"intx: in a transaction; abort: it was aborted", "MODE.TSX Packet Definition"},
	ModeOther: {"MODE", "mode", "99 lllmmmmm", sizeFixed, 0, []packettext.Field{
		{Name: "leaf", In: inArg, Width: 3, Form: packettext.Dec}, {Name: "mode", Width: 5}},
		"a leaf that is reserved, 2 to 7", "General Form of MODE Packets"},
	TSC: {"TSC", "tsc", "19", sizeFixed, 7, []packettext.Field{{Name: "tsc", Width: 56}},
		"time stamp counter, ticks, bits 55..0", "TSC Packet Definition"},
	MTC: {"MTC", "mtc", "59", sizeFixed, 1, []packettext.Field{{Name: "ctc", Width: 8}},
		"8 bits of the crystal clock, from bit MTCFreq up", "MTC Packet Definition"},
	TMA: {"TMA", "tma", "02 73", sizeFixed, 5, []packettext.Field{
		{Name: "ctc", Width: 16}, {Name: "fc", In: inArg, Width: 9}, {Name: "reserved", In: inExtra, Width: 15, Form: packettext.Named}},
		"crystal clock, bits 15..0, and time stamp ticks since its edge", "TMA Packet Definition"},
	CYC: {"CYC", "cyc", "vvvvve11", sizeCYC, maxCYC - 1, []packettext.Field{
		{Name: "cycles", Width: 64, Form: packettext.Dec}, {Name: "length", In: inArg, Width: 4, Form: packettext.Number}},
		"core cycles since the last; length: bytes, where more than needed", "Cycle Count Packet Definition"},
	CBR: {"CBR", "cbr", "02 03", sizeFixed, 2, []packettext.Field{
		{Name: "ratio", Width: 8, Form: packettext.Dec}, {Name: "reserved", In: inArg, Width: 8, Form: packettext.Named}},
		"core clock, times the bus clock", "CBR Packet Definition"},
	TraceStop: {name: "TraceStop", text: "tracestop", bytes: "02 83",
		meaning: "tracing was stopped by a range", source: "TraceStop Packet Definition"},
	OVF: {name: "OVF", text: "ovf", bytes: "02 f3",
		meaning: "packets were lost", source: "OVF Packet Definition"},
	PSB: {name: "PSB", text: "psb", bytes: "02 82 02 82 02 82 02 82 02 82 02 82 02 82 02 82",
		meaning: "sync point", source: "PSB Packet Definition"},
	PSBEND: {name: "PSBEND", text: "psbend", bytes: "02 23",
		meaning: "end of what a sync point restates", source: "PSBEND Packet Definition"},
	MNT: {"MNT", "mnt", "02 c3 88", sizeFixed, 8, []packettext.Field{{Name: "payload", Width: 64}},
		"of the model", "MNT Packet Definition"},
	PTW: {"PTW", "ptw", "02 i0s10010", sizePTW, 0, []packettext.Field{
		{Name: "size", In: inArg, Width: 1, Form: packettext.OneOf, Words: []string{"4", "8"}}, {Name: "operand", Width: 64}, {Name: "ip", In: inFlag, Width: 1, Form: packettext.Word}},
		"operand of a PTWRITE, 4 or 8 bytes; ip: a FUP follows", "PTW Packet Definition"},
	EXSTOP: {"EXSTOP", "exstop", "02 i1100010", sizeFixed, 0, flagIP,
		"execution stopped; ip: a FUP follows", "EXSTOP Packet Definition"},
	MWAIT: {"MWAIT", "mwait", "02 c2", sizeFixed, 8, []packettext.Field{
		{Name: "hints", Width: 8}, {Name: "ext", Lo: 32, Width: 2},
		{Name: "reserved", Lo: 8, Width: 24, Form: packettext.Named}, {Name: "reserved2", Lo: 34, Width: 30, Form: packettext.Named}},
		"hints and extensions of an MWAIT", "MWAIT Packet Definition"},
	PWRE: {"PWRE", "pwre", "02 22", sizeFixed, 2, []packettext.Field{
		{Name: "state", Lo: 12, Width: 4, Form: packettext.Dec}, {Name: "sub", Lo: 8, Width: 4, Form: packettext.Dec}, {Name: "hw", Lo: 7, Width: 1, Form: packettext.Word},
		{Name: "reserved", Width: 7, Form: packettext.Named}},
		"a C-state begins; hw: by the hardware's choice", "PWRE Packet Definition"},
	PWRX: {"PWRX", "pwrx", "02 a2", sizeFixed, 5, []packettext.Field{
		{Name: "last", Lo: 4, Width: 4, Form: packettext.Dec}, {Name: "deepest", Width: 4, Form: packettext.Dec}, {Name: "wake", Lo: 8, Width: 4},
		{Name: "reserved", Lo: 12, Width: 28, Form: packettext.Named}},
		"C-states that end; wake: 1 interrupt, 4 store, 8 hardware", "PWRX Packet Definition"},
	BBP: {"BBP", "bbp", "02 63", sizeFixed, 1, []packettext.Field{
		{Name: "type", Width: 5}, {Name: "short", Lo: 7, Width: 1, Form: packettext.Word}, {Name: "reserved", Lo: 5, Width: 2, Form: packettext.Named}},
		"a block begins; short: its items have 4 bytes, else 8", perfSource},
	BIP: {"BIP", "bip", "iiiii100", sizeItem, 0, []packettext.Field{
		{Name: "size", In: inN, Width: 4, Form: packettext.Dec}, {Name: "id", In: inArg, Width: 5, Form: packettext.Dec}, {Name: "item", Width: 64}},
		"an item, 4 or 8 bytes, where a block is open", perfSource},
	BEP: {"BEP", "bep", "02 i0110011", sizeFixed, 0, flagIP,
		"the block ends; ip: a FUP follows", perfSource},
	CFE: {"CFE", "cfe", "02 13", sizeFixed, 2, []packettext.Field{
		{Name: "type", Width: 5, Form: packettext.Dec}, {Name: "vector", In: inArg, Width: 8, Form: packettext.Dec}, {Name: "ip", Lo: 7, Width: 1, Form: packettext.Word},
		{Name: "reserved", Lo: 5, Width: 2, Form: packettext.Named}},
		"event of a type; ip: a FUP follows", perfSource},
	EVD: {"EVD", "evd", "02 53", sizeFixed, 9, []packettext.Field{
		{Name: "type", In: inArg, Width: 6, Form: packettext.Dec}, {Name: "payload", Width: 64}, {Name: "reserved", In: inArg, Lo: 6, Width: 2, Form: packettext.Named}},
		"data of the event that follows", perfSource},
	TRIG: {"TRIG", "trig", "d9", sizeICNT, 2, []packettext.Field{
		{Name: "vector", In: inExtra, Width: 8}, {Name: "icntv", In: inArg, Lo: 6, Width: 1, Form: packettext.Word}, {Name: "icnt", Width: 16, Form: packettext.Number},
		{Name: "mult", In: inArg, Lo: 5, Width: 1, Form: packettext.Word}, {Name: "ip", In: inArg, Lo: 7, Width: 1, Form: packettext.Word}, {Name: "reserved", In: inArg, Width: 5, Form: packettext.Named}},
		"triggers; icntv: icnt instructions since the last IP or TNT; mult: more than one; ip: a FUP follows", libiptSource},
}

// row is s as the table of the text form has it.
func (s *spec) row() packettext.Row {
	return packettext.Row{Name: s.name, Text: s.text, Fields: s.fields}
}

// String returns the kind's name as the SDM writes it.
func (k Kind) String() string { return codec.Table.Name(uint8(k)) }
