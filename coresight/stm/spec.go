package stm

// spec is what there is to know of a kind of packet. The table of them drives
// printing, the text form, the table in docs/formats and the tests; the lexer
// and the encoder say the same once more, fast.
type spec struct {
	name    string // as STPv2 writes it
	text    string // the word of the text form
	code    string // the half bytes that it starts with, as hex digits in the order sent
	data    int    // half bytes of data behind them
	stamped bool   // a timestamp follows: a half byte of length, and as many as that says
	field   string // what the data is; "": none
	decimal bool   // the text form writes the data as a decimal number
	meaning string // for people
	source  string // where it is described
}

const (
	ddi0444 = "DDI0444, Trace packets"
	opencsd = "OpenCSD 1.8.0, decoder/source/stm/trc_pkt_proc_stm.cpp"
)

// specs is indexed by Kind.
var specs = [NumKinds]spec{
	Bad:  {name: "BAD", text: "bad", meaning: "half bytes that are no packet, up to the next ASYNC"},
	Null: {"NULL", "null", "0", 0, false, "", false, "nothing", ddi0444},
	M8:   {"M8", "m8", "1", 2, false, "master", false, "what follows is of this master; its channel is 0", ddi0444},
	MERR: {"MERR", "merr", "2", 2, false, "error", false, "the master lost data; its channel is 0", ddi0444},
	C8:   {"C8", "c8", "3", 2, false, "channel", false, "bits 7..0 of the channel", ddi0444},

	D8:  {"D8", "d8", "4", 2, false, "data", false, "data", ddi0444},
	D16: {"D16", "d16", "5", 4, false, "data", false, "data", ddi0444},
	D32: {"D32", "d32", "6", 8, false, "data", false, "data", ddi0444},
	D64: {"D64", "d64", "7", 16, false, "data", false, "data", opencsd},

	D8MTS:  {"D8MTS", "d8mts", "8", 2, true, "data", false, "data, marked, with timestamp", ddi0444},
	D16MTS: {"D16MTS", "d16mts", "9", 4, true, "data", false, "data, marked, with timestamp", ddi0444},
	D32MTS: {"D32MTS", "d32mts", "a", 8, true, "data", false, "data, marked, with timestamp", ddi0444},
	D64MTS: {"D64MTS", "d64mts", "b", 16, true, "data", false, "data, marked, with timestamp", opencsd},
	D4:     {"D4", "d4", "c", 1, false, "data", false, "data", ddi0444},
	D4MTS:  {"D4MTS", "d4mts", "d", 1, true, "data", false, "data, marked, with timestamp", ddi0444},
	FlagTS: {"FLAG_TS", "flag.ts", "e", 0, true, "", false, "a mark without data, with timestamp", ddi0444},

	GERR: {"GERR", "gerr", "f2", 2, false, "error", false, "data of any master was lost; master and channel are 0", ddi0444},
	C16:  {"C16", "c16", "f3", 4, false, "channel", false, "channel", ddi0444},

	D8TS:  {"D8TS", "d8ts", "f4", 2, true, "data", false, "data, with timestamp", ddi0444},
	D16TS: {"D16TS", "d16ts", "f5", 4, true, "data", false, "data, with timestamp", ddi0444},
	D32TS: {"D32TS", "d32ts", "f6", 8, true, "data", false, "data, with timestamp", ddi0444},
	D64TS: {"D64TS", "d64ts", "f7", 16, true, "data", false, "data, with timestamp", opencsd},
	D8M:   {"D8M", "d8m", "f8", 2, false, "data", false, "data, marked", ddi0444},
	D16M:  {"D16M", "d16m", "f9", 4, false, "data", false, "data, marked", ddi0444},
	D32M:  {"D32M", "d32m", "fa", 8, false, "data", false, "data, marked", ddi0444},
	D64M:  {"D64M", "d64m", "fb", 16, false, "data", false, "data, marked", opencsd},
	D4TS:  {"D4TS", "d4ts", "fc", 1, true, "data", false, "data, with timestamp", ddi0444},
	D4M:   {"D4M", "d4m", "fd", 1, false, "data", false, "data, marked", ddi0444},
	Flag:  {"FLAG", "flag", "fe", 0, false, "", false, "a mark without data", ddi0444},

	Async: {name: "ASYNC", text: "async", code: "fffffffffffffffffffff0",
		meaning: "sync point", source: ddi0444},
	Version: {"VERSION", "version", "f00", 1, false, "version", true,
		"3: timestamps are plain numbers, 4: Gray coded; others are bad; master and channel are 0", opencsd},
	NullTS: {"NULL_TS", "null.ts", "f01", 0, true, "", false, "a timestamp alone", opencsd},
	Trig:   {"TRIG", "trig", "f06", 2, false, "trigger", false, "a trigger", ddi0444},
	TrigTS: {"TRIG_TS", "trig.ts", "f07", 2, true, "trigger", false, "a trigger, with timestamp", ddi0444},
	Freq:   {"FREQ", "freq", "f08", 8, false, "hertz", true, "frequency of the timestamps, Hz", ddi0444},
}

// String returns the kind's name as STPv2 writes it.
func (k Kind) String() string { return codec.Table.Name(uint8(k)) }
