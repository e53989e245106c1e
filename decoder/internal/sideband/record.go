package sideband

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// The types of stream events. docs/formats/events.md has the fields of each.
const (
	TypeStream      = "stream"           // the first line: version of the schema
	TypePoke        = "text_poke"        // a change to text
	TypeKsymbol     = "ksymbol"          // a kernel symbol came or went
	TypeBPF         = "bpf"              // a BPF program was loaded or unloaded
	TypeText        = "text"             // bytes of text that a record states, such as a BPF program's
	TypeMmap        = "mmap"             // a file or text was mapped
	TypeComm        = "comm"             // a thread has a new name
	TypeFork        = "fork"             // a thread began
	TypeExit        = "exit"             // a thread ended
	TypeSwitch      = "switch"           // a thread was switched in or out
	TypeNamespaces  = "namespaces"       // a thread's namespaces
	TypeCgroup      = "cgroup"           // a control group's path
	TypeLost        = "lost"             // records were lost
	TypeLostSamples = "lost_samples"     // samples were lost
	TypeAux         = "aux"              // trace data was written
	TypeAuxtrace    = "auxtrace"         // a piece of a stream in the recording
	TypeItraceStart = "itrace_start"     // tracing of a thread began
	TypeHwID        = "aux_output_hw_id" // a trace source's hardware number
	TypeTraceError  = "auxtrace_error"   // the recorder's own decoding error
	TypeTraceConfig = "auxtrace_info"    // trace configuration
	TypeAttr        = "attr"             // an event's attributes
	TypeTimeConv    = "time_conv"        // timestamp counter to ns
	TypeCPUModel    = "cpu_model"        // family, model, stepping
	TypeMeta        = "meta"             // facts of the recording as strings
	TypeBuildID     = "build_id"         // the build ID that the recording lists for a file
	TypeAuxLoss     = "aux_loss"         // a place of a stream where trace was lost
	TypeBreakEntry  = "break_entry"      // the breakpoint exception's handler
	TypeRaw         = "record"           // any other record, raw
)

// Version is the version of the schema that is written and understood.
const Version = 1

// Hex is a 64-bit value that the stream writes as a string of hexadecimal
// digits; it also reads 0x before them, and a decimal number.
type Hex uint64

// MarshalJSON writes the digits as a string.
func (h Hex) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatUint(uint64(h), 16)), nil
}

// UnmarshalJSON reads digits in a string, or a decimal number.
func (h *Hex) UnmarshalJSON(b []byte) error {
	s, base := string(b), 10
	if len(s) >= 2 && s[0] == '"' {
		s, base = strings.TrimPrefix(s[1:len(s)-1], "0x"), 16
	}
	v, err := strconv.ParseUint(s, base, 64)
	if err != nil {
		return fmt.Errorf("want 1 to 16 hexadecimal digits in quotes, or a number")
	}
	*h = Hex(v)
	return nil
}

// HexBytes are bytes that the stream writes as a string, two hexadecimal digits
// each; it also reads spaces between them.
type HexBytes []byte

// MarshalJSON writes the digits as a string.
func (h HexBytes) MarshalJSON() ([]byte, error) {
	b := make([]byte, 2+hex.EncodedLen(len(h)))
	hex.Encode(b[1:], h)
	b[0], b[len(b)-1] = '"', '"'
	return b, nil
}

// UnmarshalJSON reads digits in a string.
func (h *HexBytes) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("want bytes as hexadecimal digits in quotes")
	}
	v, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		return fmt.Errorf("want bytes as hexadecimal digits: %v", err)
	}
	*h = nil
	if len(v) > 0 {
		*h = v
	}
	return nil
}

// Str is a name out of a record: any bytes. The stream writes it as a string,
// or, where it is no UTF-8 and a string would lose bytes, as {"hex":"..."}.
type Str string

// MarshalJSON writes a string, or an object.
func (s Str) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(s)) {
		return marshal(string(s))
	}
	return marshal(hexStr{HexBytes(s)})
}

// hexStr is the object that stands for a name that is no UTF-8.
type hexStr struct {
	Hex HexBytes `json:"hex"`
}

// UnmarshalJSON reads either.
func (s *Str) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var h hexStr
		err := json.Unmarshal(b, &h)
		*s = Str(h.Hex)
		return err
	}
	return json.Unmarshal(b, (*string)(s))
}

// Namespace is one namespace of a thread.
type Namespace struct {
	Dev uint64 `json:"dev"`
	Ino uint64 `json:"ino"`
}

// Record is one line of the event stream: a record of the recording, or
// what a decoder must know of it besides.
type Record struct {
	Type  string
	Time  uint64 // ns, if Timed
	Timed bool
	CPU   int // -1: not stated
	Fields
	// Extra holds the fields that this version does not know, as read; they
	// are written again.
	Extra map[string]json.RawMessage
}

// Fields are the fields of Record that depend on its type. One that
// is zero is not written.
type Fields struct {
	Version int `json:"version,omitzero"` // stream

	// Who. ByPID and ByTID are the thread in whose context the record was
	// made, where the record also names another; ID and StreamID are the event's.
	PID      int32  `json:"pid,omitzero"`
	TID      int32  `json:"tid,omitzero"`
	PPID     int32  `json:"ppid,omitzero"` // fork, exit
	PTID     int32  `json:"ptid,omitzero"`
	ByPID    int32  `json:"by_pid,omitzero"`
	ByTID    int32  `json:"by_tid,omitzero"`
	ID       uint64 `json:"id,omitzero"`
	StreamID uint64 `json:"stream_id,omitzero"`
	Misc     uint16 `json:"misc,omitzero"` // the record header's misc

	// text_poke; addr also ksymbol, mmap, text.
	Addr   Hex      `json:"addr,omitzero"`
	Old    HexBytes `json:"old,omitempty"`
	New    HexBytes `json:"new,omitempty"`
	Scheme string   `json:"scheme,omitzero"`
	Under  string   `json:"under,omitzero"` // a scheme that holds CPUs back while that is done
	Begin  *uint64  `json:"begin,omitzero"` // ns; nil: as time
	End    *uint64  `json:"end,omitzero"`   // ns; nil: as time

	// ksymbol, bpf, text; len also mmap, and a text_poke that says neither text.
	Len   uint64   `json:"len,omitzero"` // bytes
	Name  Str      `json:"name,omitzero"`
	Kind  string   `json:"kind,omitzero"` // ksymbol: bpf, ool or a number; bpf: load, unload or a number
	Gone  bool     `json:"gone,omitzero"`
	Flags uint64   `json:"flags,omitzero"` // ksymbol, bpf, mmap, aux: as in the record
	BPFID uint32   `json:"bpf_id,omitzero"`
	Tag   HexBytes `json:"tag,omitempty"`
	Bytes HexBytes `json:"bytes,omitempty"`

	// mmap.
	PgOff   Hex      `json:"pgoff,omitzero"` // bytes
	File    Str      `json:"file,omitzero"`
	Prot    uint32   `json:"prot,omitzero"`
	Major   uint32   `json:"major,omitzero"`
	Minor   uint32   `json:"minor,omitzero"`
	Ino     uint64   `json:"ino,omitzero"`
	InoGen  uint64   `json:"ino_gen,omitzero"`
	BuildID HexBytes `json:"build_id,omitempty"`

	// comm, switch.
	Comm     Str   `json:"comm,omitzero"`
	Exec     bool  `json:"exec,omitzero"`
	Out      bool  `json:"out,omitzero"`
	Preempt  bool  `json:"preempt,omitzero"`
	OtherPID int32 `json:"other_pid,omitzero"` // switch: the thread that comes next, or came before
	OtherTID int32 `json:"other_tid,omitzero"`

	Namespaces []Namespace `json:"namespaces,omitempty"`
	CgroupID   uint64      `json:"cgroup_id,omitzero"`
	Path       Str         `json:"path,omitzero"`

	// lost, lost_samples.
	LostID uint64 `json:"lost_id,omitzero"`
	Lost   uint64 `json:"lost,omitzero"` // records

	// aux, auxtrace, aux_output_hw_id, auxtrace_error. Offset counts in the
	// stream, FileOffset in the recording's file.
	Offset     Hex    `json:"offset,omitzero"` // bytes
	Size       uint64 `json:"size,omitzero"`   // bytes
	FileOffset Hex    `json:"file_offset,omitzero"`
	Index      uint32 `json:"index,omitzero"`
	Reference  Hex    `json:"reference,omitzero"`
	HwID       Hex    `json:"hw_id,omitzero"`
	IP         Hex    `json:"ip,omitzero"`
	Code       int64  `json:"code,omitzero"`
	Message    Str    `json:"message,omitzero"`

	// auxtrace_info, attr.
	PMU    uint32   `json:"pmu,omitzero"`    // the type of perf_event_attr, or of AUXTRACE_INFO
	Config Hex      `json:"config,omitzero"` // perf_event_attr.config
	Priv   []Hex    `json:"priv,omitempty"`  // AUXTRACE_INFO: the words behind the header
	Attr   HexBytes `json:"attr,omitempty"`  // perf_event_attr as recorded
	IDs    []uint64 `json:"ids,omitempty"`   // of the attr's events
	Filter Str      `json:"filter,omitzero"` // address filter
	// time_conv: ns = zero + (ticks * mult >> shift).
	Shift     uint16 `json:"shift,omitzero"`
	Mult      uint32 `json:"mult,omitzero"`
	Zero      uint64 `json:"zero,omitzero"`   // ns, modulo 2^64
	Cycles    uint64 `json:"cycles,omitzero"` // ticks
	Mask      Hex    `json:"mask,omitzero"`
	CapZero   bool   `json:"cap_zero,omitzero"`
	CapShort  bool   `json:"cap_short,omitzero"`
	HasCycles bool   `json:"has_cycles,omitzero"` // cycles and mask were in the record

	// cpu_model.
	Vendor   Str `json:"vendor,omitzero"`
	Family   int `json:"family,omitzero"`
	Model    int `json:"model,omitzero"`
	Stepping int `json:"stepping,omitzero"`

	Meta map[string]Str `json:"meta,omitempty"`

	// record: type number and bytes behind the header.
	Record uint32   `json:"record,omitzero"`
	Raw    HexBytes `json:"raw,omitempty"`
}

// Poke returns the poke that a text_poke event states. Without a scheme it is
// that of a TEXT_POKE record; without begin or end the poke's time is exact.
func (e *Record) Poke() (kcore.Poke, error) {
	p := kcore.RecordedPoke(e.Time, e.CPU, uint64(e.Addr), e.Old, e.New)
	p.TID = max(e.TID, 0)
	switch {
	case e.Type != TypePoke:
		return p, fmt.Errorf("a %s event is no poke", e.Type)
	case !e.Timed:
		return p, fmt.Errorf("poke at %#x: no time", p.Addr)
	}
	if e.Scheme != "" {
		s, err := kcore.ParseScheme(e.Scheme)
		if err != nil {
			return p, fmt.Errorf("poke at %#x: %w", p.Addr, err)
		}
		p.Scheme = s
	}
	if e.Under != "" {
		s, err := kcore.ParseScheme(e.Under)
		if err != nil {
			return p, fmt.Errorf("poke at %#x: under: %w", p.Addr, err)
		}
		p.Scheme, p.Stored = s, p.Scheme
	}
	if len(p.Old)+len(p.New) == 0 {
		p.Len = int(min(e.Len, math.MaxUint16+1))
	}
	if e.Begin != nil {
		p.Begin = *e.Begin
	}
	if e.End != nil {
		p.End = *e.End
	}
	return p, p.Check()
}

// Ksymbol returns what a ksymbol event states.
func (e *Record) Ksymbol() symbols.KsymbolRecord {
	return symbols.KsymbolRecord{Time: e.Time, Name: string(e.Name), Addr: uint64(e.Addr), Len: e.Len, Gone: e.Gone}
}

// UnknownPokes is the event that says that pokes may be missing, from begin
// (nil: just then) to a time, ns.
func UnknownPokes(to uint64, begin *uint64) *Record {
	if begin == nil {
		begin = &to
	}
	e := &Record{Type: TypeLost, Time: to, Timed: true, CPU: -1}
	e.Begin = begin
	return e
}
