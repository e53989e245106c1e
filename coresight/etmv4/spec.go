package etmv4

import "github.com/ptdecode/ptdecode/decoder/packettext"

// spec is what there is to know of a kind of packet. The table of them drives
// printing, the text form, the table in docs/formats and the tests; the lexer
// and the encoder say the same once more, fast.
type spec struct {
	name    string // as the manuals write it
	text    string // the word of the text form
	layouts []layout
	fields  []packettext.Field // what is in it, in the order of the text form
	meaning string             // for people
	source  string             // the manual's section, or where else it is described
}

// layout is one form of a packet.
//
// lead is the leading bytes in hex: "95-96" is one of a range, several ranges
// stand side by side, "00.05" is two bytes. Behind a colon stands what the
// trace unit must have (see needs).
//
// tail is what follows, item by item: a number of bytes; "uleb:n", a ULEB128 number
// of n bytes at most. "stamp" is up to nine bytes, of which the first eight say
// with bit 7 that another follows. "short" is one byte or two in the same way.
// Others are "info", the information byte of a context and the IDs that it names;
// "type", an exception's byte or two; "plctl", a byte with bit 7 clear. "b2?"
// before an item: it is there if bit 2 of the byte after the header is set.
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

// The numbers of a Packet that fields lie in.
const (
	inValue uint8 = iota
	inValue2
	inExtra
	inArg
	inN
	inAddress  // the address whose bytes are in Value
	inReserved // bits of these that have no place in it: see long
	inVMIDSize // bytes, the lower half of N
	inCIDSize  // bytes, the upper half
)

// before are the atoms that Mispredict and CancelF2 put before themselves, by
// their Arg.
var before = []string{"", "e", "ee", "n"}

var (
	atomFields  = []packettext.Field{{Name: "atoms", In: inExtra, Width: 24, Form: packettext.Letters, Size: packettext.Size{In: inN, Max: 24}, Words: []string{"n", "e"}}}
	headFields  = []packettext.Field{{Name: "number", In: inArg, Width: 4, Form: packettext.Dec}}
	entryFields = []packettext.Field{{Name: "entry", In: inArg, Width: 2, Form: packettext.Dec}}
	shortFields = []packettext.Field{{Name: "address", In: inAddress, Width: 17, Form: packettext.Sized, Size: packettext.Size{In: inN, Max: 2, Piece: 9, Bare: true}}, {Name: "is1", In: inArg, Width: 1, Form: packettext.Word}}
	longFields  = []packettext.Field{{Name: "address", In: inAddress, Width: 64}, {Name: "is1", In: inArg, Width: 1, Form: packettext.Word},
		{Name: "reserved", In: inReserved, Width: 2, Form: packettext.Named}}
	contextFields = []packettext.Field{
		{Name: "el", In: inExtra, Width: 2, Form: packettext.Dec}, {Name: "sf", In: inExtra, Lo: 4, Width: 1, Form: packettext.Word}, {Name: "ns", In: inExtra, Lo: 5, Width: 1, Form: packettext.Word},
		{Name: "nse", In: inExtra, Lo: 3, Width: 1, Form: packettext.Word}, {Name: "bit2", In: inExtra, Lo: 2, Width: 1, Form: packettext.Word},
		{Name: "vmid", In: inValue2, Width: 32, Form: packettext.Sized,
			Flag: packettext.Flag{In: inExtra, Bit: 6, On: true}, Size: packettext.Size{In: inVMIDSize, Max: 4, Piece: 8}}, {Name: "cid", In: inValue2, Lo: 32, Width: 32, Form: packettext.Sized,
			Flag: packettext.Flag{In: inExtra, Bit: 7, On: true}, Size: packettext.Size{In: inCIDSize, Max: 4, Piece: 8}}}
	ulebFields = []packettext.Field{{Name: "number", Width: sizeShift, Form: packettext.Dec}, {Name: "length", Lo: sizeShift, Width: 8, Form: packettext.Number}}
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
	TraceInfo: {"Trace Info", "info", []layout{{"01", "plctl b0?uleb:2 b1?uleb:4 b2?uleb:4 b3?uleb:3 b4?uleb:4"}}, []packettext.Field{
		{Name: "plctl", In: inArg, Width: 8}, {Name: "info", Width: 14, Form: packettext.Named}, {Name: "key", In: inValue2, Width: 28, Form: packettext.Number},
		{Name: "spec", In: inValue2, Lo: 32, Width: 28, Form: packettext.Number}, {Name: "cyct", Lo: 16, Width: 21, Form: packettext.Number},
		{Name: "window", In: inExtra, Width: 28, Form: packettext.Number}, {Name: "lengths", Lo: 48, Width: 15, Form: packettext.Named}},
		"plctl: which fields are there; info: bit 0 cycles are counted, 6 in a transaction; spec: P0 elements not committed; cyct: cycle threshold; lengths: of the five, 3 bits each, bytes, where more than needed",
		ete + "Trace Info packet"},
	Timestamp: {"Timestamp", "timestamp", []layout{{"02", "stamp"}, {"03", "stamp uleb:3"}}, []packettext.Field{
		{Name: "ticks", Width: 64, Form: packettext.Sized, Size: packettext.Size{In: inN, Max: 9, Piece: 8, Bare: true}}, {Name: "cycles", In: inExtra, Width: 24, Form: packettext.Flagged, Flag: packettext.Flag{In: inArg, Bit: 0, On: true}}, {Name: "length", In: inExtra, Lo: 24, Width: 8, Form: packettext.Number}},
		"replaces the low bits of the last one, 7 a byte; cycles since the last count", ete + "Timestamp packet"},
	TraceOn: {name: "Trace On", text: "on", layouts: []layout{{"04", ""}},
		meaning: "tracing starts, or goes on after a gap", source: ete + "Trace On packet"},
	FuncReturn: {name: "Function Return", text: "fret", layouts: []layout{{"05:m", ""}},
		meaning: "a function return that changed the security state", source: opencsd},
	Exception: {"Exception", "exception", []layout{{"06", "type"}}, []packettext.Field{
		{Name: "type", In: inArg, Lo: 1, Width: 5, Form: packettext.Dec}, {Name: "e0", In: inArg, Width: 1, Form: packettext.Word}, {Name: "e1", In: inArg, Lo: 6, Width: 1, Form: packettext.Word},
		{Name: "more", In: inArg, Lo: 7, Width: 1, Form: packettext.Word}, {Name: "second", In: inExtra, Width: 8, Form: packettext.Flagged, Flag: packettext.Flag{In: inExtra, Bit: 8, On: true}}},
		"e0: the address behind it is the preferred return address; e1: it is a target too; second: another byte, as more says, or 112 for a PE reset (0) and a failed transaction (24) of ETE",
		ete + "Exception packets"},
	ExceptionReturn: {name: "Exception Return", text: "eret", layouts: []layout{{"07:etmv4", ""}},
		meaning: "behind the atom of an exception return", source: opencsd},
	ITE: {"Instrumentation", "ite", []layout{{"09:ite", "1 8"}}, []packettext.Field{
		{Name: "el", In: inArg, Width: 8, Form: packettext.Dec}, {Name: "value", Width: 64}},
		"what software wrote", ete + "Instrumentation packet"},
	TxStart: {name: "Transaction Start", text: "txstart", layouts: []layout{{"0a:ete", ""}},
		meaning: "a transaction starts", source: ete + "Transaction Start packet"},
	TxCommit: {name: "Transaction Commit", text: "txcommit", layouts: []layout{{"0b:ete", ""}},
		meaning: "a transaction is done", source: ete + "Transaction Commit packet"},
	CycleF2: {"Cycle Count format 2", "cycle.f2", []layout{{"0c-0d", "1"}}, []packettext.Field{
		{Name: "count", Width: 4, Form: packettext.Dec}, {Name: "commit", Lo: 4, Width: 4, Form: packettext.Dec}, {Name: "high", In: inArg, Width: 1, Form: packettext.Word}},
		"count + threshold cycles; commit + 1 P0 elements are committed, high: commit + TRCIDR8 - 15", ete + "Cycle Count packets"},
	CycleF1: {"Cycle Count format 1", "cycle.f1", []layout{
		{"0e:commits", "uleb:5 uleb:3"}, {"0f:commits", "uleb:5"}, {"0e:plain", "uleb:3"}, {"0f:plain", ""}}, []packettext.Field{
		{Name: "count", Width: sizeShift, Form: packettext.Dec}, {Name: "unknown", In: inArg, Width: 1, Form: packettext.Word},
		{Name: "commit", In: inValue2, Width: sizeShift, Form: packettext.Flagged, Flag: packettext.Flag{In: inArg, Bit: 1, On: true}},
		{Name: "length", Lo: sizeShift, Width: 8, Form: packettext.Number}, {Name: "length2", In: inValue2, Lo: sizeShift, Width: 8, Form: packettext.Number}},
		"count + threshold cycles; commit P0 elements are committed", ete + "Cycle Count packets"},
	CycleF3: {"Cycle Count format 3", "cycle.f3", []layout{{"10-13", ""}, {"14-1f:commits", ""}}, []packettext.Field{
		{Name: "count", In: inArg, Width: 2, Form: packettext.Dec}, {Name: "commit", In: inArg, Lo: 2, Width: 2, Form: packettext.Number}},
		"count + threshold cycles; commit + 1 P0 elements are committed, if counts commit", ete + "Cycle Count packets"},
	NumDataSync: {"Numbered Data Sync Marker", "sync.num", []layout{{"20-27:data", ""}}, headFields,
		"ties the data trace to the instruction trace", opencsd},
	DataSync: {"Unnumbered Data Sync Marker", "sync", []layout{{"28-2c:data", ""}}, headFields,
		"ties the data trace to the instruction trace", opencsd},
	Commit: {"Commit", "commit", []layout{{"2d", "uleb:5"}}, ulebFields,
		"so many of the oldest P0 elements are committed", ete + "Commit packet"},
	CancelF1: {"Cancel format 1", "cancel.f1", []layout{{"2e-2f", "uleb:5"}}, []packettext.Field{
		ulebFields[0], {Name: "mispredict", In: inArg, Width: 1, Form: packettext.Word}, ulebFields[1]},
		"so many of the newest P0 elements are cancelled, then a mispredict", ete + "Cancel packets"},
	Mispredict: {"Mispredict", "mispredict", []layout{{"30-33", ""}}, []packettext.Field{{Name: "atoms", In: inArg, Width: 2, Form: packettext.OneOf, Words: before}},
		"atoms, then the newest atom is turned round", ete + "Mispredict packet"},
	CancelF2: {"Cancel format 2", "cancel.f2", []layout{{"34-37", ""}}, []packettext.Field{{Name: "atoms", In: inArg, Width: 2, Form: packettext.OneOf, Words: before}},
		"atoms, then the newest P0 element is cancelled, then a mispredict", ete + "Cancel packets"},
	CancelF3: {"Cancel format 3", "cancel.f3", []layout{{"38-3f", ""}}, []packettext.Field{
		{Name: "number", In: inArg, Lo: 1, Width: 2, Form: packettext.Dec}, {Name: "e", In: inArg, Width: 1, Form: packettext.Word}},
		"an E atom, then number + 2 of the newest P0 elements are cancelled, then a mispredict", ete + "Cancel packets"},
	CondF2: {"Conditional Instruction format 2", "cond.f2", []layout{{"40-42:cond", ""}}, headFields,
		"conditional instructions", opencsd},
	CondFlush: {name: "Conditional Flush", text: "cond.flush", layouts: []layout{{"43:cond", ""}},
		meaning: "no result is outstanding", source: opencsd},
	CondResF4: {"Conditional Result format 4", "result.f4", []layout{{"44-46:cond", ""}},
		[]packettext.Field{{Name: "token", In: inArg, Width: 2, Form: packettext.Dec}}, "their results", opencsd},
	CondResF2: {"Conditional Result format 2", "result.f2", []layout{{"48-4a 4c-4e:cond", ""}},
		[]packettext.Field{{Name: "token", In: inArg, Width: 3, Form: packettext.Dec}}, "their results", opencsd},
	CondResF3: {"Conditional Result format 3", "result.f3", []layout{{"50-5f:cond", "1"}},
		[]packettext.Field{{Name: "tokens", Width: 12}}, "their results", opencsd},
	CondResF1: {"Conditional Result format 1", "result.f1", []layout{{"68-6b:cond", "uleb:6 uleb:6"}, {"6e-6f:cond", "uleb:6"}}, []packettext.Field{
		{Name: "form", In: inArg, Width: 3, Form: packettext.Dec}, {Name: "result", Width: sizeShift}, {Name: "result2", In: inValue2, Width: sizeShift, Form: packettext.Named},
		{Name: "length", Lo: sizeShift, Width: 8, Form: packettext.Number}, {Name: "length2", In: inValue2, Lo: sizeShift, Width: 8, Form: packettext.Number}},
		"their results: 4 bits, and the key above them", opencsd},
	CondF1: {"Conditional Instruction format 1", "cond.f1", []layout{{"6c:cond", "uleb:5"}}, ulebFields,
		"a conditional instruction by its key", opencsd},
	CondF3: {"Conditional Instruction format 3", "cond.f3", []layout{{"6d:cond", "1"}},
		[]packettext.Field{{Name: "number", Width: 8}}, "conditional instructions", opencsd},
	Ignore: {name: "Ignore", text: "ignore", layouts: []layout{{"70:ignore", ""}},
		meaning: "nothing", source: ete + "Ignore packet"},
	Event: {"Event", "event", []layout{{"71-7f", ""}}, []packettext.Field{{Name: "events", In: inArg, Width: 4}},
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
		{"ac:q", "uleb:5"}, {"af:q", ""}}, []packettext.Field{
		{Name: "type", In: inArg, Width: 4, Form: packettext.Dec}, {Name: "bytes", In: inN, Width: 2, Form: packettext.Number}, {Name: "address", In: inAddress, Width: 32, Form: packettext.Named},
		{Name: "reserved", In: inReserved, Width: 2, Form: packettext.Named}, {Name: "count", In: inValue2, Width: sizeShift, Form: packettext.Number},
		{Name: "length", In: inValue2, Lo: sizeShift, Width: 8, Form: packettext.Number}},
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

var addrContext = append(append([]packettext.Field{}, longFields...), contextFields...)

// row is s as the table of the text form has it.
func (s *spec) row() packettext.Row {
	return packettext.Row{Name: s.name, Text: s.text, Fields: s.fields}
}

// String returns the kind's name as the manuals write it.
func (k Kind) String() string { return table.Name(uint8(k)) }
