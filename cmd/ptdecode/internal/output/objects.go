package output

// The objects of JSON Lines, for their schemas: jsonl.go writes them by hand. All fields
// may be missing, since -F chooses them and not all is known.

// source names a stream.
type sourceKeys struct {
	Guest int32  `json:"guest,omitempty"`
	ID    string `json:"id,omitempty"`
	CPU   uint32 `json:"cpu,omitempty"`
}

// timeKeys are the bounds of a moment, ns.
type timeKeys struct {
	Time  uint64 `json:"time,omitempty"`
	Until uint64 `json:"until,omitempty"`
}

// rowKeys are the fields of what was executed.
type rowKeys struct {
	sourceKeys
	timeKeys
	TID     int32     `json:"tid,omitempty"`
	Comm    string    `json:"comm,omitempty"`
	IP      string    `json:"ip,omitempty" schema:"hex16"`
	Sym     string    `json:"sym,omitempty"`
	Off     uint64    `json:"off,omitempty"`
	DSO     string    `json:"dso,omitempty"`
	Insn    string    `json:"insn,omitempty"`
	Disasm  string    `json:"disasm,omitempty"`
	Bytes   string    `json:"bytes,omitempty" schema:"hex"`
	Verdict string    `json:"verdict,omitempty" schema:"verdict"`
	Epoch   []*uint32 `json:"epoch,omitempty" schema:"span"` // from, until; null: to the end
	Flags   string    `json:"flags,omitempty"`
	Addr    string    `json:"addr,omitempty" schema:"hex16"`
	AddrSym string    `json:"addr_sym,omitempty"`
	AddrOff uint64    `json:"addr_off,omitempty"`
	AddrDSO string    `json:"addr_dso,omitempty"`
	Count   uint64    `json:"count,omitempty"`
	Poke    *int      `json:"poke,omitempty"`

	SrcLine string       `json:"srcline,omitempty"` // FILE:LINE
	Inlines []inlineKeys `json:"inlines,omitempty"` // the innermost first
}

// inlineKeys are those of a function that was inlined.
type inlineKeys struct {
	Sym  string `json:"sym"`
	From string `json:"from,omitempty"` // FILE:LINE
}

// callKeys are those of a call.
type callKeys struct {
	rowKeys
	Depth int `json:"depth"`
}

// Trap is a breakpoint exception: a row of flow, or a line of pokes --traps.
type Trap struct {
	rowKeys
	Kind      string `json:"kind"`
	PokeTime  uint64 `json:"poke_time,omitempty"`
	Delta     int64  `json:"delta_ns,omitempty"`
	Emulated  string `json:"emulated,omitempty"`
	Resume    string `json:"resume,omitempty" schema:"hex16"`
	ResumeSym string `json:"resume_sym,omitempty"`
	ResumeOff uint64 `json:"resume_off,omitempty"` // bytes
	Depth     int    `json:"depth,omitempty"`
	EndSeen   *bool  `json:"end_seen,omitempty"`
}

// placeKeys say where in a file the byte at trace_off stands.
type placeKeys struct {
	File    string `json:"file,omitempty"`
	FileOff int64  `json:"file_off,omitempty"` // bytes
}

// gapKeys are those of a gap.
type gapKeys struct {
	sourceKeys
	timeKeys
	placeKeys
	TID    int32  `json:"tid,omitempty"`
	Reason string `json:"reason"`
	IP     string `json:"ip,omitempty" schema:"hex16"`
	Off    int64  `json:"trace_off"` // bytes
	End    int64  `json:"trace_end"` // bytes
	What   string `json:"what,omitempty"`
}

// eventKeys are those of an event.
type eventKeys struct {
	sourceKeys
	timeKeys
	TID     int32       `json:"tid,omitempty"`
	Kind    string      `json:"kind"`
	From    string      `json:"from,omitempty" schema:"hex16"`
	IP      string      `json:"ip,omitempty" schema:"hex16"`
	Value   string      `json:"value,omitempty" schema:"hex16"`
	Value2  string      `json:"value2,omitempty" schema:"hex16"`
	Trap    string      `json:"trap,omitempty"`
	Verdict string      `json:"verdict,omitempty" schema:"verdict"`
	Poke    *int        `json:"poke,omitempty"`
	Others  []otherKeys `json:"others,omitempty"`
	Off     int64       `json:"trace_off"` // bytes
}

// otherKeys are those of a stretch that may have been executed instead.
type otherKeys struct {
	IP    string `json:"ip" schema:"hex16"`
	End   string `json:"end" schema:"hex16"`
	Insns uint64 `json:"insns"`
	Epoch uint32 `json:"epoch"`
}

// elementKeys are those of an element: of each name some. What it says is as in rows.Row.Facts.
type elementKeys struct {
	sourceKeys
	timeKeys
	codeKeys
	contextKeys
	softwareKeys
	TID  int32  `json:"tid,omitempty"`
	Name string `json:"name"`
	Off  int64  `json:"trace_off,omitempty"` // bytes

	Value   any    `json:"value,omitempty" schema:"value"`
	Clock   string `json:"clock,omitempty"`
	Unknown uint64 `json:"unknown,omitempty"` // high bits of value
	Local   string `json:"local,omitempty" schema:"hex16"`
	Delta   uint64 `json:"delta,omitempty"`
	Delayed string `json:"delayed,omitempty" schema:"yes"`
	Packet  string `json:"packet-delayed,omitempty" schema:"yes"`
	Count   any    `json:"count,omitempty" schema:"count"` // cycles
	Events  uint64 `json:"events,omitempty"`               // bit n: event n
	What    string `json:"what,omitempty"`
	CR3     string `json:"cr3,omitempty" schema:"hex16"`
}

// codeKeys are those of elements that say what was executed, and where it ended.
type codeKeys struct {
	ISA     string `json:"isa,omitempty"`
	Start   string `json:"start,omitempty" schema:"hex16"`
	End     string `json:"end,omitempty" schema:"hex16"`
	Insns   uint64 `json:"insns,omitempty"`
	Verdict string `json:"verdict,omitempty" schema:"verdict"`
	IP      string `json:"ip,omitempty" schema:"hex16"`
	Reason  string `json:"reason,omitempty"`
	Number  uint64 `json:"number,omitempty"` // of an exception
	From    string `json:"from,omitempty" schema:"hex16"`
	To      string `json:"to,omitempty" schema:"hex16"`
	Trap    string `json:"trap,omitempty"`
}

// contextKeys are those of elements that say in which context the CPU is.
type contextKeys struct {
	EL       uint64 `json:"el,omitempty"`
	State    string `json:"state,omitempty"`
	Security string `json:"security,omitempty"`
	Mode     string `json:"mode,omitempty"`
	Context  uint64 `json:"context,omitempty"`
	VMID     uint64 `json:"vmid,omitempty"`
}

// softwareKeys are those of elements that software wrote, or the hardware's watch on it.
type softwareKeys struct {
	Master      uint64 `json:"master,omitempty"`
	Channel     uint64 `json:"channel,omitempty"`
	Bits        uint64 `json:"bits,omitempty"` // of value
	Marker      string `json:"marker,omitempty" schema:"yes"`
	Timestamped string `json:"timestamped,omitempty" schema:"yes"`
	Flag        string `json:"flag,omitempty" schema:"yes"`
	Trigger     string `json:"trigger,omitempty" schema:"yes"`
	Overflow    string `json:"overflow,omitempty" schema:"yes"`
	Frequency   string `json:"frequency,omitempty" schema:"yes"`
	Source      string `json:"source,omitempty"`
}

// packetKeys are those of a packet.
type packetKeys struct {
	sourceKeys
	placeKeys
	TID    int32          `json:"tid,omitempty"`
	Off    int64          `json:"trace_off"` // bytes
	Size   int64          `json:"size"`      // bytes
	Kind   string         `json:"kind"`
	Packet string         `json:"packet,omitempty"`
	Fields map[string]any `json:"fields,omitempty"` // each kind has its own
	Raw    string         `json:"raw,omitempty" schema:"hex"`
	What   string         `json:"what,omitempty"`
}

// Object is a type of objects.
type Object struct {
	Of   string // the verb that prints them
	Type any    // a value of its Go type
}

// Objects returns the objects that this package writes, by their type.
func Objects() map[string]Object {
	return map[string]Object{
		"insn": {"flow", rowKeys{}}, "block": {"flow", rowKeys{}}, "branch": {"flow", rowKeys{}}, "call": {"flow", callKeys{}},
		"trap": {"flow and pokes --traps", Trap{}}, "gap": {"flow", gapKeys{}}, "event": {"flow", eventKeys{}},
		"element": {"flow --level element", elementKeys{}}, "packet": {"packets", packetKeys{}},
	}
}
