package stream

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Protocol is all that a decoder needs to know of a trace protocol. The values of
// protocols.go are the rows of the table; nothing outside of them asks which
// protocol a stream has. Fields that may be nil say what that means.
type Protocol struct {
	Name     string // as info prints it
	Sync     string // what a segment begins with, for messages
	SyncHint string // what to do about a stream that holds no Sync
	Oftener  string // what to do for sync points more often; "": the recorder says
	RawFlag  string // the command's flag that names a file of bare trace; "": none

	// AuxType is the type of perf's AUX areas that hold such trace as it is (enum
	// auxtrace_type: Linux, tools/perf/util/auxtrace.h, v6.12); 0: none does.
	AuxType uint32

	// Unit is the trace unit that CoreSight's configurations call so.
	Unit coresight.Protocol

	Set      *InstructionSet // that the traced core executes
	Mode     isa.Mode        // until the trace states one, and of the kernel's code
	Executes bool            // the trace says what a CPU executed; that of software does not
	Silent   bool            // no packet tells of an exception return: an executed ERET is one
	TraceIDs bool            // several sources may share a buffer, each with a trace ID

	// RecorderTime: what the recorder says of when it stored the trace bounds the
	// times that the trace states.
	RecorderTime bool

	// Pieces: what lies on both sides of a loss, or of a place where the trace unit
	// began anew, does not continue each other.
	Pieces bool

	// Margin is how many bytes behind a segment's end its Buf should hold.
	Margin int64

	// Ignored is the packet that says nothing, with which a buffer may be padded; a byte.
	Ignored string
	// ASync is how many null bytes an A-Sync has at least, before its 0x80; 0: the
	// protocol's sync points have another form.
	ASync int

	// ElementNames are names of elements that differ from those of other protocols.
	ElementNames map[string]string

	// Points finds sync points in a stretch of the stream, of size bytes.
	Points func(st *Stream, src event.Bytes, size int64) Points
	// Rules is how the stream's events are walked.
	Rules func(st *Stream) isa.Rules
	// Events makes a decoder of the stream; near asks for near upper bounds on
	// every event's time.
	Events func(st *Stream, near bool) Decoder
	// Packets makes what lists the stream's packets.
	Packets func(st *Stream) PacketLister

	// Accepts reports whether unit, which a recording states for all its streams, is
	// what this protocol's packets leave out; nil: each stream has its own.
	Accepts func(unit any) bool
	// Instructions returns how the stream's code is read; nil: as Set.Decoder. With
	// check, an A64 instruction whose upper half is zero is none.
	Instructions func(st *Stream, check bool) isa.Decoder
	// FirstMode is the mode of code that no trace leads through, asked the one that
	// the caller wants; nil: Mode.
	FirstMode func(st *Stream, asked isa.Mode) isa.Mode
	// LastMode returns the mode that buf, which begins with a packet, states
	// last, isa.ModeUnknown if it states none; nil: segments state theirs.
	LastMode func(buf []byte) isa.Mode
	// GoesOn reports whether buf, what a trace unit sent from a sync point on, continues what it
	// sent before: nothing says that tracing was switched on before something is traced.
	// nil: what is sent does not tell.
	GoesOn func(st *Stream, buf []byte) bool
	// Stamps returns what the first and the last timestamp of a segment of st say,
	// ns. What comes before the segment happened by first, what comes after it not
	// before last; 0: nothing says. last is asked for with all. nil: segments state
	// their times.
	Stamps func(st *Stream, buf []byte, all bool) (first, last uint64)
	// Timed reports whether the trace has timestamps, as far as its configuration
	// tells; nil: it has.
	Timed func(st *Stream) bool
	// Narrow reports whether the traced core knows addresses of 32 bits only; nil:
	// it does not.
	Narrow func(st *Stream) bool
	// Identity is what the trace states of the process that runs; nil: nothing.
	Identity func(st *Stream) event.Identity
	// Memories finds the memory spaces in which the trace says that something
	// was executed; nil: it says nothing, so any.
	Memories func(st *Stream, data []byte, s *MemorySearch)
}

// String returns the protocol's name as info prints it.
func (p *Protocol) String() string {
	if p == nil {
		return "?"
	}
	return p.Name
}

// ForUnit returns the protocol of a CoreSight trace source; nil if there is none.
func ForUnit(u coresight.Protocol) *Protocol {
	for _, p := range Protocols() {
		if p.Unit == u && u != coresight.NoProtocol {
			return p
		}
	}
	return nil
}

// FromAux makes the stream one that lies as it is in perf's AUX areas of a type. Where
// no row has the type it is of the first row that has one: a recording that lost
// its AUXTRACE_INFO may still be read.
func (st *Stream) FromAux(auxType uint32) {
	for _, p := range Protocols() {
		if p.AuxType != 0 && (st.Protocol == nil || p.AuxType == auxType) {
			st.Protocol = p
		}
	}
}

// Configure gives the stream what a recording states for all, unless it has a
// configuration of its own or is of another protocol.
func (st *Stream) Configure(unit any) {
	if st.Unit == nil && st.Protocol.Accepts != nil && st.Protocol.Accepts(unit) {
		st.Unit = unit
	}
}

// SilentReturns reports whether no packet of the stream tells of an exception
// return: an executed ERET is one.
func (st *Stream) SilentReturns() bool { return st.Protocol.Silent }

// Decoder returns what gives the stream's events; near asks for near upper
// bounds on every event's time.
func (st *Stream) Decoder(near bool) Decoder {
	d := st.Protocol.Events(st, near)
	if st.Part != nil {
		d = st.Part(d)
	}
	return d
}

// Packets returns what lists the stream's packets.
func (st *Stream) Packets() PacketLister { return st.Protocol.Packets(st) }

// Executes reports whether the trace says what a CPU executed; software trace
// does not.
func (st *Stream) Executes() bool { return st.Protocol.Executes }

// Timed reports whether the trace has timestamps, as far as its configuration
// tells.
func (st *Stream) Timed() bool { return st.Protocol.Timed == nil || st.Protocol.Timed(st) }

// Narrow reports whether the traced core knows addresses of 32 bits only.
func (st *Stream) Narrow() bool { return st.Protocol.Narrow != nil && st.Protocol.Narrow(st) }

// Identity is what the trace states of the process that runs.
func (st *Stream) Identity() event.Identity {
	if st.Protocol.Identity == nil {
		return event.NoIdentity
	}
	return st.Protocol.Identity(st)
}

// Instructions returns how the code that the stream leads through is read. With
// check, an A64 instruction whose upper half is zero is none.
func (st *Stream) Instructions(check bool) isa.Decoder {
	if st.Protocol.Instructions == nil {
		return st.Protocol.Set.Decoder
	}
	return st.Protocol.Instructions(st, check)
}

// FirstMode is the mode of code that no trace leads through. It is the one asked
// for, if the stream leaves a choice. Else it is the protocol's own, or the only one
// that the core knows.
func (st *Stream) FirstMode(asked isa.Mode) isa.Mode {
	if st.Protocol.FirstMode == nil {
		return st.Protocol.Mode
	}
	return st.Protocol.FirstMode(st, asked)
}

// Decoder gives the events of one segment after another.
type Decoder interface {
	// Next gives the segment's next event; false at its end.
	Next(*event.Event) bool
	// Reset begins a segment.
	Reset(event.Segment)
}
