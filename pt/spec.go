package pt

// spec is what there is to know of a kind of packet. The table of them drives
// printing, the text form, the table in docs/formats and the tests; the lexer
// and the encoder say the same once more, fast.
type spec struct {
	name    string // as the SDM writes it
	text    string // the word of the text form
	bytes   string // the leading bytes: two hex digits, or eight bits with letters where any bit may stand
	rule    sizeRule
	tail    int        // bytes after the leading ones, by the rule; see sizeRule
	fields  []bitField // what is in it, in the order of the text form
	meaning string     // for people
	source  string     // the table or section of the manual, or where else it is described
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

// source is a field of Packet that a bitField lies in.
type source uint8

const (
	inValue source = iota
	inArg
	inExtra
	inN
	inLen
	inFlag
)

// form is how the text form writes a bitField.
type form uint8

const (
	asHex     form = iota // 0x1f, always there
	asDec                 // 31, always there
	asNamed               // name 0x1f, where it is not zero
	asCount               // name 31, where it is not zero
	asWord                // name, where the bit is set
	asSize                // 4 or 8, for 0 or 1
	asRepeat              // 31, where it is not 1
	asResults             // tnnt: the branches, oldest first, t taken
	asIP                  // IPBytes: 0x1f, or nothing where there is no IP
)

// bitField is a piece of a packet: width bits from bit lo of a field of
// Packet, times 1<<shift.
type bitField struct {
	name  string
	in    source
	lo    uint8
	width uint8
	shift uint8
	form  form
}

const perfSource = "Linux, tools/perf/util/intel-pt-decoder/intel-pt-pkt-decoder.c"
const libiptSource = "libipt, libipt/src/pt_packet.c"

var (
	ipFields  = []bitField{{"ip", inValue, 0, 64, 0, asIP}}
	tntFields = []bitField{{"results", inValue, 0, 47, 0, asResults}}
	flagIP    = []bitField{{"ip", inFlag, 0, 1, 0, asWord}}
)

// specs is indexed by Kind. Where the bytes of two rows can be the same, the
// first holds, but BIP goes before all where a block is open.
var specs = [NumKinds]spec{
	Bad: {name: "BAD", text: "bad", meaning: "bytes that are no packet, up to the next PSB"},
	PAD: {"PAD", "pad", "00", sizePads, maxPAD - 1, []bitField{{"count", inLen, 0, 8, 0, asRepeat}},
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
	PIP: {"PIP", "pip", "02 43", sizeFixed, 6, []bitField{
		{"cr3", inValue, 1, 47, 5, asHex}, {"nr", inValue, 0, 1, 0, asWord}},
		"CR3; nr: in non-root operation", "PIP Packet Definition"},
	VMCS: {"VMCS", "vmcs", "02 c8", sizeFixed, 5, []bitField{{"address", inValue, 0, 40, 12, asHex}},
		"address of the VMCS", "VMCS Packet Definition"},
	ModeExec: {"MODE.Exec", "mode.exec", "99 000mmmmm", sizeFixed, 0, []bitField{
		{"l", inValue, 0, 1, 0, asWord}, {"d", inValue, 1, 1, 0, asWord}, {"if", inValue, 2, 1, 0, asWord},
		{"reserved", inValue, 3, 2, 0, asNamed}},
		"l: 64-bit; d: 32-bit; neither: 16-bit; if: interrupts enabled", "MODE.Exec Packet Definition"},
	ModeTSX: {"MODE.TSX", "mode.tsx", "99 001mmmmm", sizeFixed, 0, []bitField{
		{"intx", inValue, 0, 1, 0, asWord}, {"abort", inValue, 1, 1, 0, asWord},
		{"reserved", inValue, 2, 3, 0, asNamed}},
		"intx: in a transaction; abort: it was aborted", "MODE.TSX Packet Definition"},
	ModeOther: {"MODE", "mode", "99 lllmmmmm", sizeFixed, 0, []bitField{
		{"leaf", inArg, 0, 3, 0, asDec}, {"mode", inValue, 0, 5, 0, asHex}},
		"a leaf that is reserved, 2 to 7", "General Form of MODE Packets"},
	TSC: {"TSC", "tsc", "19", sizeFixed, 7, []bitField{{"tsc", inValue, 0, 56, 0, asHex}},
		"time stamp counter, ticks, bits 55..0", "TSC Packet Definition"},
	MTC: {"MTC", "mtc", "59", sizeFixed, 1, []bitField{{"ctc", inValue, 0, 8, 0, asHex}},
		"8 bits of the crystal clock, from bit MTCFreq up", "MTC Packet Definition"},
	TMA: {"TMA", "tma", "02 73", sizeFixed, 5, []bitField{
		{"ctc", inValue, 0, 16, 0, asHex}, {"fc", inArg, 0, 9, 0, asHex}, {"reserved", inExtra, 0, 15, 0, asNamed}},
		"crystal clock, bits 15..0, and time stamp ticks since its edge", "TMA Packet Definition"},
	CYC: {"CYC", "cyc", "vvvvve11", sizeCYC, maxCYC - 1, []bitField{
		{"cycles", inValue, 0, 64, 0, asDec}, {"length", inArg, 0, 4, 0, asCount}},
		"core cycles since the last; length: bytes, where more than needed", "Cycle Count Packet Definition"},
	CBR: {"CBR", "cbr", "02 03", sizeFixed, 2, []bitField{
		{"ratio", inValue, 0, 8, 0, asDec}, {"reserved", inArg, 0, 8, 0, asNamed}},
		"core clock, times the bus clock", "CBR Packet Definition"},
	TraceStop: {name: "TraceStop", text: "tracestop", bytes: "02 83",
		meaning: "tracing was stopped by a range", source: "TraceStop Packet Definition"},
	OVF: {name: "OVF", text: "ovf", bytes: "02 f3",
		meaning: "packets were lost", source: "OVF Packet Definition"},
	PSB: {name: "PSB", text: "psb", bytes: "02 82 02 82 02 82 02 82 02 82 02 82 02 82 02 82",
		meaning: "sync point", source: "PSB Packet Definition"},
	PSBEND: {name: "PSBEND", text: "psbend", bytes: "02 23",
		meaning: "end of what a sync point restates", source: "PSBEND Packet Definition"},
	MNT: {"MNT", "mnt", "02 c3 88", sizeFixed, 8, []bitField{{"payload", inValue, 0, 64, 0, asHex}},
		"of the model", "MNT Packet Definition"},
	PTW: {"PTW", "ptw", "02 i0s10010", sizePTW, 0, []bitField{
		{"size", inArg, 0, 1, 0, asSize}, {"operand", inValue, 0, 64, 0, asHex}, {"ip", inFlag, 0, 1, 0, asWord}},
		"operand of a PTWRITE, 4 or 8 bytes; ip: a FUP follows", "PTW Packet Definition"},
	EXSTOP: {"EXSTOP", "exstop", "02 i1100010", sizeFixed, 0, flagIP,
		"execution stopped; ip: a FUP follows", "EXSTOP Packet Definition"},
	MWAIT: {"MWAIT", "mwait", "02 c2", sizeFixed, 8, []bitField{
		{"hints", inValue, 0, 8, 0, asHex}, {"ext", inValue, 32, 2, 0, asHex},
		{"reserved", inValue, 8, 24, 0, asNamed}, {"reserved2", inValue, 34, 30, 0, asNamed}},
		"hints and extensions of an MWAIT", "MWAIT Packet Definition"},
	PWRE: {"PWRE", "pwre", "02 22", sizeFixed, 2, []bitField{
		{"state", inValue, 12, 4, 0, asDec}, {"sub", inValue, 8, 4, 0, asDec}, {"hw", inValue, 7, 1, 0, asWord},
		{"reserved", inValue, 0, 7, 0, asNamed}},
		"a C-state begins; hw: by the hardware's choice", "PWRE Packet Definition"},
	PWRX: {"PWRX", "pwrx", "02 a2", sizeFixed, 5, []bitField{
		{"last", inValue, 4, 4, 0, asDec}, {"deepest", inValue, 0, 4, 0, asDec}, {"wake", inValue, 8, 4, 0, asHex},
		{"reserved", inValue, 12, 28, 0, asNamed}},
		"C-states that end; wake: 1 interrupt, 4 store, 8 hardware", "PWRX Packet Definition"},
	BBP: {"BBP", "bbp", "02 63", sizeFixed, 1, []bitField{
		{"type", inValue, 0, 5, 0, asHex}, {"short", inValue, 7, 1, 0, asWord}, {"reserved", inValue, 5, 2, 0, asNamed}},
		"a block begins; short: its items have 4 bytes, else 8", perfSource},
	BIP: {"BIP", "bip", "iiiii100", sizeItem, 0, []bitField{
		{"size", inN, 0, 4, 0, asDec}, {"id", inArg, 0, 5, 0, asDec}, {"item", inValue, 0, 64, 0, asHex}},
		"an item, 4 or 8 bytes, where a block is open", perfSource},
	BEP: {"BEP", "bep", "02 i0110011", sizeFixed, 0, flagIP,
		"the block ends; ip: a FUP follows", perfSource},
	CFE: {"CFE", "cfe", "02 13", sizeFixed, 2, []bitField{
		{"type", inValue, 0, 5, 0, asDec}, {"vector", inArg, 0, 8, 0, asDec}, {"ip", inValue, 7, 1, 0, asWord},
		{"reserved", inValue, 5, 2, 0, asNamed}},
		"event of a type; ip: a FUP follows", perfSource},
	EVD: {"EVD", "evd", "02 53", sizeFixed, 9, []bitField{
		{"type", inArg, 0, 6, 0, asDec}, {"payload", inValue, 0, 64, 0, asHex}, {"reserved", inArg, 6, 2, 0, asNamed}},
		"data of the event that follows", perfSource},
	TRIG: {"TRIG", "trig", "d9", sizeICNT, 2, []bitField{
		{"vector", inExtra, 0, 8, 0, asHex}, {"icntv", inArg, 6, 1, 0, asWord}, {"icnt", inValue, 0, 16, 0, asCount},
		{"mult", inArg, 5, 1, 0, asWord}, {"ip", inArg, 7, 1, 0, asWord}, {"reserved", inArg, 0, 5, 0, asNamed}},
		"triggers; icntv: icnt instructions since the last IP or TNT; mult: more than one; ip: a FUP follows", libiptSource},
}

// String returns the kind's name as the SDM writes it.
func (k Kind) String() string {
	if k < NumKinds {
		return specs[k].name
	}
	return "?"
}
