package etmv4

// spec is what there is to know of a kind of packet. The table of them drives
// printing, the text form, the table in docs/formats and the tests; the lexer
// and the encoder say the same once more, fast.
type spec struct {
	name    string // as the manuals write it
	text    string // the word of the text form
	layouts []layout
	fields  []bitField // what is in it, in the order of the text form
	meaning string     // for people
	source  string     // the manual's section, or where else it is described
}

// layout is one form of a packet.
//
// lead is the leading bytes in hex: "95-96" is one of a range, several ranges
// stand side by side, "00.05" is two bytes. Behind a colon stands what the
// trace unit must have (see needs).
//
// tail is what follows, item by item: a number of bytes; "uleb:n", a ULEB128
// number of n bytes at most; "stamp", up to nine bytes, of which the first
// eight say with bit 7 that another follows; "short", one byte or two in the
// same way; "info", the information byte of a context and the IDs that it
// names; "type", an exception's byte or two; "plctl", a byte with bit 7 clear.
// "b2?" before an item: it is there if bit 2 of the byte after the header is
// set.
type layout struct{ lead, tail string }

// needs are the words behind a lead's colon and what they say.
var needs = []struct {
	word string
	on   need
	says string
}{
	{"ete", needETE, "ETE"},
	{"etmv4", needETMv4, "ETMv4"},
	{"m", needM, "Armv8-M, ETMv4.2"},
	{"ite", needITE, "ETE 1.3"},
	{"ignore", needIgnore, "ETMv4.3, ETE"},
	{"marker", needMarker, "ETMv4.6, ETE"},
	{"q", needQ, "TRCIDR0.QSUPP"},
	{"cond", needCond, "TRCCONFIGR.COND"},
	{"data", needData, "TRCCONFIGR.DA, DV"},
	{"commits", needCommits, "counts commit"},
	{"plain", needPlain, "counts do not commit"},
}

// source is a field of Packet that a bitField lies in, or what is made of it.
type source uint8

const (
	inValue source = iota
	inValue2
	inExtra
	inArg
	inN
	inAddress  // the address whose bytes are in Value
	inReserved // bits of these that have no place in it: see long
)

// form is how the text form writes a bitField.
type form uint8

const (
	asHex     form = iota // 0x1f, always there
	asDec                 // 31, always there
	asNamed               // name 0x1f, where it is not zero
	asCount               // name 31, where it is not zero
	asWord                // name, where the bit is set
	asFlagged             // name 31, where the flag is set: bit flag of Arg, or bit flag-8 of Extra
	asBytes               // 2: 0x1f, N bytes
	asAtoms               // een: the atoms, oldest first
	asBefore              // e, ee or n: the atoms before a mispredict
	asID                  // name 4: 0x1f, where bit flag-8 of Extra is set: N's half, flag-14, is how many bytes
)

// bitField is a piece of a packet: width bits from bit lo of a field of
// Packet.
type bitField struct {
	name  string
	in    source
	lo    uint8
	width uint8
	flag  uint8 // asFlagged, asID
	form  form
}

// before are the atoms that Mispredict and CancelF2 put before themselves, by
// their Arg.
var before = [4]string{"", "e", "ee", "n"}

var (
	atomFields  = []bitField{{"atoms", inExtra, 0, 24, 0, asAtoms}}
	headFields  = []bitField{{"number", inArg, 0, 4, 0, asDec}}
	entryFields = []bitField{{"entry", inArg, 0, 2, 0, asDec}}
	shortFields = []bitField{{"address", inAddress, 0, 17, 0, asBytes}, {"is1", inArg, 0, 1, 0, asWord}}
	longFields  = []bitField{{"address", inAddress, 0, 64, 0, asHex}, {"is1", inArg, 0, 1, 0, asWord},
		{"reserved", inReserved, 0, 2, 0, asNamed}}
	contextFields = []bitField{
		{"el", inExtra, 0, 2, 0, asDec}, {"sf", inExtra, 4, 1, 0, asWord}, {"ns", inExtra, 5, 1, 0, asWord},
		{"nse", inExtra, 3, 1, 0, asWord}, {"bit2", inExtra, 2, 1, 0, asWord},
		{"vmid", inValue2, 0, 32, 14, asID}, {"cid", inValue2, 32, 32, 15, asID}}
	ulebFields = []bitField{{"number", inValue, 0, sizeShift, 0, asDec}, {"length", inValue, sizeShift, 8, 0, asCount}}
)

// Sections of manuals. Those of ETMv4 alone are known from OpenCSD only.
const (
	ete     = "DDI0487 "
	opencsd = "OpenCSD, trc_pkt_proc_etmv4i.cpp"
)

// specs is indexed by Kind.
var specs = [NumKinds]spec{
	Bad: {name: "BAD", text: "bad", meaning: "bytes that are no packet, up to the next A-Sync"},
	ASync: {name: "A-Sync", text: "async", layouts: []layout{{"00.00.00.00.00.00.00.00.00.00.00.80", ""}},
		meaning: "sync point", source: ete + "Alignment Synchronization packet"},
	Discard: {name: "Discard", text: "discard", layouts: []layout{{"00.03", ""}},
		meaning: "what is not committed is dropped", source: ete + "Discard packet"},
	Overflow: {name: "Overflow", text: "overflow", layouts: []layout{{"00.05", ""}},
		meaning: "the trace unit lost packets; a discard too", source: ete + "Overflow packet"},
	TraceInfo: {"Trace Info", "info", []layout{{"01", "plctl b0?uleb:2 b1?uleb:4 b2?uleb:4 b3?uleb:3 b4?uleb:4"}}, []bitField{
		{"plctl", inArg, 0, 8, 0, asHex}, {"info", inValue, 0, 14, 0, asNamed}, {"key", inValue2, 0, 28, 0, asCount},
		{"spec", inValue2, 32, 28, 0, asCount}, {"cyct", inValue, 16, 21, 0, asCount},
		{"window", inExtra, 0, 28, 0, asCount}, {"lengths", inValue, 48, 15, 0, asNamed}},
		"plctl: which fields are there; info: bit 0 cycles are counted, 6 in a transaction; spec: P0 elements not committed; cyct: cycle threshold; lengths: of the five, 3 bits each, bytes, where more than needed",
		ete + "Trace Info packet"},
	Timestamp: {"Timestamp", "timestamp", []layout{{"02", "stamp"}, {"03", "stamp uleb:3"}}, []bitField{
		{"ticks", inValue, 0, 64, 0, asBytes}, {"cycles", inExtra, 0, 24, 0, asFlagged}, {"length", inExtra, 24, 8, 0, asCount}},
		"replaces the low bits of the last one, 7 a byte; cycles since the last count", ete + "Timestamp packet"},
	TraceOn: {name: "Trace On", text: "on", layouts: []layout{{"04", ""}},
		meaning: "tracing starts, or goes on after a gap", source: ete + "Trace On packet"},
	FuncReturn: {name: "Function Return", text: "fret", layouts: []layout{{"05:m", ""}},
		meaning: "a function return that changed the security state", source: opencsd},
	Exception: {"Exception", "exception", []layout{{"06", "type"}}, []bitField{
		{"type", inArg, 1, 5, 0, asDec}, {"e0", inArg, 0, 1, 0, asWord}, {"e1", inArg, 6, 1, 0, asWord},
		{"more", inArg, 7, 1, 0, asWord}, {"second", inExtra, 0, 8, 16, asFlagged}},
		"e0: the address behind it is the preferred return address; e1: it is a target too; second: another byte, as more says, or 112 for a PE reset (0) and a failed transaction (24) of ETE",
		ete + "Exception packets"},
	ExceptionReturn: {name: "Exception Return", text: "eret", layouts: []layout{{"07:etmv4", ""}},
		meaning: "behind the atom of an exception return", source: opencsd},
	ITE: {"Instrumentation", "ite", []layout{{"09:ite", "1 8"}}, []bitField{
		{"el", inArg, 0, 8, 0, asDec}, {"value", inValue, 0, 64, 0, asHex}},
		"what software wrote", ete + "Instrumentation packet"},
	TxStart: {name: "Transaction Start", text: "txstart", layouts: []layout{{"0a:ete", ""}},
		meaning: "a transaction starts", source: ete + "Transaction Start packet"},
	TxCommit: {name: "Transaction Commit", text: "txcommit", layouts: []layout{{"0b:ete", ""}},
		meaning: "a transaction is done", source: ete + "Transaction Commit packet"},
	CycleF2: {"Cycle Count format 2", "cycle.f2", []layout{{"0c-0d", "1"}}, []bitField{
		{"count", inValue, 0, 4, 0, asDec}, {"commit", inValue, 4, 4, 0, asDec}, {"high", inArg, 0, 1, 0, asWord}},
		"count + threshold cycles; commit + 1 P0 elements are committed, high: commit + TRCIDR8 - 15", ete + "Cycle Count packets"},
	CycleF1: {"Cycle Count format 1", "cycle.f1", []layout{
		{"0e:commits", "uleb:5 uleb:3"}, {"0f:commits", "uleb:5"}, {"0e:plain", "uleb:3"}, {"0f:plain", ""}}, []bitField{
		{"count", inValue, 0, sizeShift, 0, asDec}, {"unknown", inArg, 0, 1, 0, asWord},
		{"commit", inValue2, 0, sizeShift, 1, asFlagged},
		{"length", inValue, sizeShift, 8, 0, asCount}, {"length2", inValue2, sizeShift, 8, 0, asCount}},
		"count + threshold cycles; commit P0 elements are committed", ete + "Cycle Count packets"},
	CycleF3: {"Cycle Count format 3", "cycle.f3", []layout{{"10-13", ""}, {"14-1f:commits", ""}}, []bitField{
		{"count", inArg, 0, 2, 0, asDec}, {"commit", inArg, 2, 2, 0, asCount}},
		"count + threshold cycles; commit + 1 P0 elements are committed, if counts commit", ete + "Cycle Count packets"},
	NumDataSync: {"Numbered Data Sync Marker", "sync.num", []layout{{"20-27:data", ""}}, headFields,
		"ties the data trace to the instruction trace", opencsd},
	DataSync: {"Unnumbered Data Sync Marker", "sync", []layout{{"28-2c:data", ""}}, headFields,
		"ties the data trace to the instruction trace", opencsd},
	Commit: {"Commit", "commit", []layout{{"2d", "uleb:5"}}, ulebFields,
		"so many of the oldest P0 elements are committed", ete + "Commit packet"},
	CancelF1: {"Cancel format 1", "cancel.f1", []layout{{"2e-2f", "uleb:5"}}, []bitField{
		ulebFields[0], {"mispredict", inArg, 0, 1, 0, asWord}, ulebFields[1]},
		"so many of the newest P0 elements are cancelled, then a mispredict", ete + "Cancel packets"},
	Mispredict: {"Mispredict", "mispredict", []layout{{"30-33", ""}}, []bitField{{"atoms", inArg, 0, 2, 0, asBefore}},
		"atoms, then the newest atom is turned round", ete + "Mispredict packet"},
	CancelF2: {"Cancel format 2", "cancel.f2", []layout{{"34-37", ""}}, []bitField{{"atoms", inArg, 0, 2, 0, asBefore}},
		"atoms, then the newest P0 element is cancelled, then a mispredict", ete + "Cancel packets"},
	CancelF3: {"Cancel format 3", "cancel.f3", []layout{{"38-3f", ""}}, []bitField{
		{"number", inArg, 1, 2, 0, asDec}, {"e", inArg, 0, 1, 0, asWord}},
		"an E atom, then number + 2 of the newest P0 elements are cancelled, then a mispredict", ete + "Cancel packets"},
	CondF2: {"Conditional Instruction format 2", "cond.f2", []layout{{"40-42:cond", ""}}, headFields,
		"conditional instructions", opencsd},
	CondFlush: {name: "Conditional Flush", text: "cond.flush", layouts: []layout{{"43:cond", ""}},
		meaning: "no result is outstanding", source: opencsd},
	CondResF4: {"Conditional Result format 4", "result.f4", []layout{{"44-46:cond", ""}},
		[]bitField{{"token", inArg, 0, 2, 0, asDec}}, "their results", opencsd},
	CondResF2: {"Conditional Result format 2", "result.f2", []layout{{"48-4a 4c-4e:cond", ""}},
		[]bitField{{"token", inArg, 0, 3, 0, asDec}}, "their results", opencsd},
	CondResF3: {"Conditional Result format 3", "result.f3", []layout{{"50-5f:cond", "1"}},
		[]bitField{{"tokens", inValue, 0, 12, 0, asHex}}, "their results", opencsd},
	CondResF1: {"Conditional Result format 1", "result.f1", []layout{{"68-6b:cond", "uleb:6 uleb:6"}, {"6e-6f:cond", "uleb:6"}}, []bitField{
		{"form", inArg, 0, 3, 0, asDec}, {"result", inValue, 0, sizeShift, 0, asHex}, {"result2", inValue2, 0, sizeShift, 0, asNamed},
		{"length", inValue, sizeShift, 8, 0, asCount}, {"length2", inValue2, sizeShift, 8, 0, asCount}},
		"their results: 4 bits, and the key above them", opencsd},
	CondF1: {"Conditional Instruction format 1", "cond.f1", []layout{{"6c:cond", "uleb:5"}}, ulebFields,
		"a conditional instruction by its key", opencsd},
	CondF3: {"Conditional Instruction format 3", "cond.f3", []layout{{"6d:cond", "1"}},
		[]bitField{{"number", inValue, 0, 8, 0, asHex}}, "conditional instructions", opencsd},
	Ignore: {name: "Ignore", text: "ignore", layouts: []layout{{"70:ignore", ""}},
		meaning: "nothing", source: ete + "Ignore packet"},
	Event: {"Event", "event", []layout{{"71-7f", ""}}, []bitField{{"events", inArg, 0, 4, 0, asHex}},
		"events 0 to 3, a bit each", ete + "Event packet"},
	ContextSame: {name: "Context", text: "context.same", layouts: []layout{{"80", ""}},
		meaning: "the context as it was", source: ete + "Context packet"},
	Context: {"Context", "context", []layout{{"81", "info"}}, contextFields,
		"exception level; sf: AArch64; ns: Non-secure; nse: realm, without ns root; IDs with their size, bytes", ete + "Context packet"},
	AddrCtxt32: {"Target Address with Context, 32-bit", "addrctxt.32", []layout{{"82-83", "4 info"}}, addrContext,
		"both; bits 63..32 stay as they were", ete + "Target Address with Context packets"},
	AddrCtxt64: {"Target Address with Context, 64-bit", "addrctxt.64", []layout{{"85-86", "8 info"}}, addrContext,
		"both", ete + "Target Address with Context packets"},
	TSMarker: {name: "Timestamp Marker", text: "marker", layouts: []layout{{"88:marker", ""}},
		meaning: "what the next timestamp belongs to", source: ete + "Timestamp Marker packet"},
	AddrMatch: {"Target Address exact match", "addr.match", []layout{{"90-92", ""}}, entryFields,
		"an address of the history, 0 the newest", ete + "Target Address packets"},
	AddrShort: {"Target Address short", "addr.short", []layout{{"95-96", "short"}}, shortFields,
		"replaces 9 or 17 bits of the newest address (is1: 8 or 16); is1: T32", ete + "Target Address packets"},
	Addr32: {"Target Address 32-bit", "addr.32", []layout{{"9a-9b", "4"}}, longFields,
		"bits 63..32 stay as they were", ete + "Target Address packets"},
	Addr64: {"Target Address 64-bit", "addr.64", []layout{{"9d-9e", "8"}}, longFields,
		"the whole address", ete + "Target Address packets"},
	Q: {"Q", "q", []layout{{"a0-a2:q", "uleb:5"}, {"a5-a6:q", "short uleb:5"}, {"aa-ab:q", "4 uleb:5"},
		{"ac:q", "uleb:5"}, {"af:q", ""}}, []bitField{
		{"type", inArg, 0, 4, 0, asDec}, {"bytes", inN, 0, 2, 0, asCount}, {"address", inAddress, 0, 32, 0, asNamed},
		{"reserved", inReserved, 0, 2, 0, asNamed}, {"count", inValue2, 0, sizeShift, 0, asCount},
		{"length", inValue2, sizeShift, 8, 0, asCount}},
		"so many instructions ran without atoms; type 0 to 2: then at an address of the history, 5 and 6: at a short one, 10 and 11: at a 32-bit one (5, 10: IS0), 12: at the one that follows, 15: that too, and no count", ete + "Q packet"},
	SrcMatch: {"Source Address exact match", "src.match", []layout{{"b0-b2:ete", ""}}, entryFields,
		"all up to and including that address ran", ete + "Source Address packets"},
	SrcShort: {"Source Address short", "src.short", []layout{{"b4-b5:ete", "short"}}, shortFields,
		"all up to and including that address ran", ete + "Source Address packets"},
	Src32: {"Source Address 32-bit", "src.32", []layout{{"b6-b7:ete", "4"}}, longFields,
		"all up to and including that address ran", ete + "Source Address packets"},
	Src64: {"Source Address 64-bit", "src.64", []layout{{"b8-b9:ete", "8"}}, longFields,
		"all up to and including that address ran", ete + "Source Address packets"},
	AtomF1: {"Atom format 1", "atom.f1", []layout{{"f6-f7", ""}}, atomFields, "one, bit 0", ete + "Atom packets"},
	AtomF2: {"Atom format 2", "atom.f2", []layout{{"d8-db", ""}}, atomFields, "two, bit 0 the oldest", ete + "Atom packets"},
	AtomF3: {"Atom format 3", "atom.f3", []layout{{"f8-ff", ""}}, atomFields, "three, bit 0 the oldest", ete + "Atom packets"},
	AtomF4: {"Atom format 4", "atom.f4", []layout{{"dc-df", ""}}, atomFields, "neee, nnnn, nene, enen", ete + "Atom packets"},
	AtomF5: {"Atom format 5", "atom.f5", []layout{{"d5-d7 f5", ""}}, atomFields, "nnnnn, nenen, enene, neeee", ete + "Atom packets"},
	AtomF6: {"Atom format 6", "atom.f6", []layout{{"c0-d4 e0-f4", ""}}, atomFields,
		"bits 4..0 + 3 times e, then e, or n with bit 5", ete + "Atom packets"},
}

var addrContext = append(append([]bitField{}, longFields...), contextFields...)

// String returns the kind's name as the manuals write it.
func (k Kind) String() string {
	if k < NumKinds {
		return specs[k].name
	}
	return "?"
}
