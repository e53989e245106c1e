package decoder

import (
	"errors"

	"github.com/ptdecode/ptdecode/decoder/internal/addrfilter"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/inject"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// By these names a program meets what packages below this one declare: first what is
// opened, then what a session tells of it, then what a sink takes.

// RawTrace is a file of bare trace, at Path: the trace of CPU, in a Protocol that has
// a RawFlag, such as IntelPT. That of a CoreSight unit has its configuration, a
// coresight.Config, and its trace ID too; its CPU is -1.
type RawTrace = recording.RawTrace

// CodeFile is a file of machine code, at Path. Addr is where its first byte lies in
// memory; an ELF file's addresses are shifted by it.
type CodeFile = recording.CodeFile

// Filter is one address range by which the trace unit filtered: from Lo to Hi, both
// included. With File they are offsets in that file, bytes, else addresses of the
// kernel. Stop is set if tracing stops where the range is entered. Otherwise code
// outside of all such ranges is not traced.
type Filter = addrfilter.Filter

// Guest is the virtual machine of the process PID, and the Recording that was made inside
// of it: a perf.data file or directory, with the guest's own /proc/kcore and
// /proc/kallsyms. Its times and the Offset, ns, give the host's. Without HasOffset the
// offset is found from the trace, if it tells.
type Guest = inject.Guest

// CallError is a Config that does not fit what it names: What says how. Not the
// recording is at fault, but what was asked for.
type CallError = recording.CallError

// Protocol is a trace protocol: its Name, and RawFlag, the command's flag that names
// a file of bare trace, "" if bare trace cannot be read.
type Protocol = stream.Protocol

// IntelPT is Intel Processor Trace (Intel SDM, volume 3C, chapter "Intel Processor
// Trace").
var IntelPT = stream.IntelPT

// Meta is what a recording says of itself: host, kernel, CPU, perf's command line, how
// Intel PT was configured, how many records of each type there are.
type Meta = recording.Meta

// KindSnapshot is the Meta.Kind of an Arm snapshot: trace buffers, without records.
const KindSnapshot = recording.KindSnapshot

// Warning is something missing or doubtful that leaves the rest readable: What, and in
// Hint what to do. Doubt is set if what is decoded may be wrong or not whole, Damage if
// something is there that cannot be read.
type Warning = recording.Warning

// Buffer is a trace buffer of a snapshot: Name, File, Format, and Size in bytes. Read
// is set if Config asks for its trace, Missing if its file cannot be read.
type Buffer = recording.Buffer

// Stream is the trace of one source, a CPU or a thread: its Name, for messages; its CPU
// and TID, -1 where it has none; of CoreSight the trace ID. Its Index is what Query,
// Gap and Batch call it.
type Stream = stream.Stream

// PacketLister gives the packets of a Stream one by one, as text: Stream.EachPacket
// yields one at each packet of the stream, with the packet's first bytes.
type PacketLister = stream.PacketLister

// ErrStop, returned by a sink, ends a flow without an error.
var ErrStop = errors.New("decoder: stop")

// Sink takes flow, batch by batch: Flow(*Batch) error. A batch is lent until the call
// returns, and a sink may keep it by leaving another in its place. An error ends the
// flow, and Session.Flow returns it.
type Sink = flow.Sink

// Batch is a stretch of one stream's flow: its Ranges, the Stamps that say when these
// ran, and the Notes between them. Stream is the index of the stream. Ranges and Notes
// are in order: a Note lies before the range with the index Note.At. Reset empties a
// Batch and keeps its memory.
type Batch = flow.Batch

// BatchRange is one of Batch.Ranges: the first N instructions of Block, which ran one
// behind the other with the Verdict. Stamp is an index in Batch.Stamps. Either says
// that several versions of the code fit and do the same.
type BatchRange = flow.Range

// Block is machine code from Addr up to End that only its last instruction may leave:
// N instructions, of the lengths Lens (bytes), the last one of Class. Span has the
// epochs for which these are its bytes. It does not change.
type Block = flow.Block

// Stamp says where and when ranges ran: Off is the place in the stream of the event that
// led to them, bytes, and Time the bounds of the moment.
type Stamp = flow.Stamp

// Note is what lies between ranges: Kind says which of its fields count. Verdict is how
// sure it is, Poke an index in Session.Pokes or -1.
type Note = flow.Note

// Stretch is instructions that may have run instead of others, N of them from IP up to
// End, with the code as of epoch At. Note.Others lists such.
type Stretch = flow.Stretch

// NoteKind says what a Note tells.
type NoteKind = flow.NoteKind

// The kinds of notes.
const (
	NoteGap   NoteKind = flow.NoteGap   // Note.Gap: a stretch that could not be followed
	NoteEvent NoteKind = flow.NoteEvent // Note.Event: a payload, a context, a status, a transfer
	// NoteTrap: a breakpoint exception, Note.Event. Note.Trap says why the breakpoint
	// was there; Note.Poke is what put it there, or -1. The verdict is Ambiguous where
	// that is the likeliest of several, else Exception.
	NoteTrap NoteKind = flow.NoteTrap
	// NoteCut: Note.Poke took effect here. Where that is Ambiguous it did here or
	// elsewhere: what follows is the old code or the new, and Note.Others is what the
	// trace fits too. Note.Poke -1: what is open
	// is which outcomes belong behind the target at which the flow was taken up.
	NoteCut      NoteKind = flow.NoteCut
	NoteTrackOff NoteKind = flow.NoteTrackOff // tracing went off, Note.Event
	NoteTrackOn  NoteKind = flow.NoteTrackOn  // tracing came on, Note.Event
)

// Verdict says how it was settled which code ran.
type Verdict = flow.Verdict

// The verdicts, the surest first.
const (
	Certain   Verdict = flow.Certain   // by time: the code is the same for every moment the clock allows
	Trace     Verdict = flow.Trace     // by the trace: every other place of the change contradicts the packets
	Exception Verdict = flow.Exception // by an exception taken at the changed site
	// Unconfirmed: by time, by the trace or by an exception. But the trace stated no address
	// that the flow must reach for so long that it was handed on without one.
	Unconfirmed Verdict = flow.Unconfirmed
	// Ambiguous: not. Several places of the change fit, and this is the likeliest; or the
	// trace contradicts the code a little further on.
	Ambiguous Verdict = flow.Ambiguous
)

// TrapKind says why a breakpoint was there that raised an exception.
type TrapKind = flow.TrapKind

// The kinds of traps.
const (
	TrapUnknown TrapKind = flow.TrapUnknown // nothing recorded says
	TrapWindow  TrapKind = flow.TrapWindow  // a change to the code was in progress
	TrapArmed   TrapKind = flow.TrapArmed   // a probe's
	TrapSlot    TrapKind = flow.TrapSlot    // inside code that a record brought: behind a copied instruction
	TrapDebug   TrapKind = flow.TrapDebug   // a hardware breakpoint or a single step (Arm): the code there is no breakpoint
)
