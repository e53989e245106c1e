package decoder

import (
	"errors"

	"github.com/ptdecode/ptdecode/decoder/internal/addrfilter"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/inject"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// These are the public names of types that packages below this one declare. First comes
// what is opened, then what a session tells of it, then what a sink takes. Documentation
// does not show the fields of such types, so each comment lists those that are for callers.

// RawTrace is a file of bare trace, at Path, that some CPU traced (-1: not known). Its
// Protocol is one that has a RawFlag, such as IntelPT. For the trace of a CoreSight unit,
// Unit is the coresight.Config of that unit, ID its trace ID in hexadecimal digits, and CPU
// is -1.
type RawTrace = recording.RawTrace

// CodeFile is a file of machine code, at Path. Addr is where its first byte lies in
// memory; an ELF file's addresses are shifted by it.
type CodeFile = recording.CodeFile

// Filter is one address range by which the trace unit filtered: from Lo to Hi, both
// included. With File they are offsets in that file, bytes. Without it they are addresses
// of the kernel. Stop is set if tracing stops where the range is entered. If it is not set,
// code outside of all such ranges is not traced.
type Filter = addrfilter.Filter

// Guest is the virtual machine that the process PID runs, and the Recording that was made
// inside of it. That is a perf.data file or directory, with the guest's own /proc/kcore and
// /proc/kallsyms. A time of the guest plus Offset, ns, is the host's time of that moment.
// Unless HasOffset is set, the offset is found from the trace, where the trace shows it.
type Guest = inject.Guest

// CallError is a Config or a Query that does not fit the recording: the recording is whole,
// but something was asked for that it does not have. What says what that is.
type CallError = recording.CallError

// Protocol is a trace protocol: its Name, and RawFlag, the flag of the command ptdecode that
// names a file of bare trace. RawFlag is "" if bare trace of the protocol cannot be read.
type Protocol = stream.Protocol

// IntelPT is Intel Processor Trace (Intel SDM, volume 3C, chapter "Intel Processor
// Trace").
var IntelPT = stream.IntelPT

// Meta is what a recording says of itself:
//
//   - Kind is "perf.data", "snapshot" or "raw"; Command is perf's command line.
//   - Host, Release and Machine are the names of the host, of the kernel's release, and of
//     the architecture (as uname -m prints it).
//   - CPUModel is the processor's name, and Model its family, model and stepping.
//   - PT is how Intel PT was configured; Filter are the address filters, as perf writes
//     them.
//   - Records counts the records of each type; Attrs are the events that were recorded.
//   - Guest is the process that runs the virtual machine in which this was recorded; 0 if
//     none is known.
//   - Snapshot is set if perf recorded the trace of CoreSight in snapshots.
//   - Watched says where samples tell of changes to the kernel's code.
//   - Programs is set if programs alone were traced, and no changes to the kernel's code
//     were asked for.
//
// A field is empty where the recording does not say it.
type Meta = recording.Meta

// KindSnapshot is the Meta.Kind of an Arm snapshot: trace buffers, without records.
const KindSnapshot = recording.KindSnapshot

// Warning is something missing or doubtful that leaves the rest readable. What says what it
// is, and Hint what to do about it, or nothing. Doubt is set if what is decoded may be wrong
// or not whole, Damage if something is there that cannot be read.
type Warning = recording.Warning

// Buffer is a trace buffer of a snapshot: Name, File and Format, and Size in bytes. Read
// is set if Config asks for its trace, Missing if its file cannot be read. Unowned is how
// many of its bytes have no source, since no trace ID stands before them.
type Buffer = recording.Buffer

// Stream is the trace of one source, which is a CPU, a thread or a CoreSight unit. Index is
// its place in Session.Streams, by which Query, Gap and Batch name it. Name is for
// messages. CPU and TID are those that were traced, each -1 where there is none. ID is the
// trace ID of CoreSight in hexadecimal digits, else "". Size is in bytes.
type Stream = stream.Stream

// PacketLister is a place among the packets of a Stream: its methods tell of the packet
// there. Stream.EachPacket yields it once for each packet, with the packet's first bytes. It
// is lent until the next packet.
type PacketLister = stream.PacketLister

// ErrStop, returned by a sink, ends a flow without an error.
var ErrStop = errors.New("decoder: stop")

// Sink takes flow, batch by batch, by its one method Flow(*Batch) error. A batch is lent
// until the call returns. A sink may keep it by leaving another in its place (*b =
// Batch{}), unless the flow is Query.Merged. An error ends the flow, and Session.Flow
// returns it.
type Sink = flow.Sink

// Batch is a stretch of one stream's flow: its Ranges, the Stamps that say when these
// ran, and the Notes between them. Stream is the index of the stream. Ranges and Notes
// are in order: a Note lies before the range with the index Note.At. All and Backward go
// over both at once. Part says whether it is of the shard's own part of the flow (0) or
// beside it (Query.Lead). Reset empties a Batch and keeps its memory.
type Batch = flow.Batch

// BatchRange is one of Batch.Ranges: the first N instructions of Block, which ran one
// behind the other, as surely as Verdict says. Stamp is an index in Batch.Stamps. The
// method End gives the address behind them. The method Either reports whether the trace
// fits several versions of the code, which do the same.
type BatchRange = flow.Range

// Block is machine code from Addr up to End that only its last instruction may leave.
// Those are N instructions, of the lengths Lens (bytes), in an isa.Mode. The last one is of
// Class, and Target is where it leads if that is fixed. Span has the epochs for which these
// are its bytes. Space is the address space, 0 being the kernel's. A Block does not change.
type Block = flow.Block

// Stamp says where and when ranges ran. Off is the offset in the stream of the event that
// led to them, bytes. Time bounds the moment, ns.
type Stamp = flow.Stamp

// Note is what lies between ranges. Kind says what it tells, and which of the fields Gap,
// Event, Trap, Poke and Others count for that. It lies before the range with the index At.
// IP is where the flow was, in the address space Space. Verdict is how sure the note is.
// Poke is the PokeInfo.Index of a change, or -1.
type Note = flow.Note

// Stretch is N instructions that may have run instead of others, from IP up to End, with
// the code as of epoch At. Note.Others lists them.
type Stretch = flow.Stretch

// NoteKind says what a Note tells.
type NoteKind = flow.NoteKind

// The kinds of notes.
const (
	NoteGap   NoteKind = flow.NoteGap   // Note.Gap: a stretch that could not be followed
	NoteEvent NoteKind = flow.NoteEvent // Note.Event: a payload, a context, a status, a transfer
	// NoteTrap: a breakpoint exception, Note.Event. Note.Trap says why the breakpoint
	// was there; Note.Poke is the change that put it there, or -1. The verdict is Ambiguous
	// where that is only the likeliest of several changes, else Exception.
	NoteTrap NoteKind = flow.NoteTrap
	// NoteCut: the change Note.Poke took effect here. With the verdict Ambiguous it may
	// have been here or elsewhere: what follows is the old code or the new, and
	// Note.Others is what else the trace fits. With Note.Poke -1 it is no change that is
	// open. The flow goes on behind a gap, at a target, and the trace does not say which
	// branch outcomes come behind that target.
	NoteCut      NoteKind = flow.NoteCut
	NoteTrackOff NoteKind = flow.NoteTrackOff // tracing went off, Note.Event
	NoteTrackOn  NoteKind = flow.NoteTrackOn  // tracing came on, Note.Event
)

// Verdict says how sure it is that a piece of code ran: how it was settled which version
// of it did.
type Verdict = flow.Verdict

// The verdicts, the surest first.
const (
	Certain   Verdict = flow.Certain   // by time: the code is the same for every moment the clock allows
	Trace     Verdict = flow.Trace     // by the trace: every other place of the change contradicts the packets
	Exception Verdict = flow.Exception // by an exception taken at the changed site
	// Unconfirmed: as one of those above, but without a check behind it. The trace states
	// addresses now and then which the flow must reach. Here it stated none for so long
	// that the flow was handed on before one came.
	Unconfirmed Verdict = flow.Unconfirmed
	// Ambiguous: not settled. The change may have taken effect at several places, and this
	// is the likeliest; or the trace contradicts the code a little further on.
	Ambiguous Verdict = flow.Ambiguous
)

// TrapKind says why a breakpoint exception was raised: what the breakpoint was there for.
type TrapKind = flow.TrapKind

// The kinds of traps.
const (
	TrapUnknown TrapKind = flow.TrapUnknown // nothing recorded says
	TrapWindow  TrapKind = flow.TrapWindow  // a change to the code was in progress
	TrapArmed   TrapKind = flow.TrapArmed   // a probe's
	TrapSlot    TrapKind = flow.TrapSlot    // inside code that a record brought: behind a copied instruction
	TrapDebug   TrapKind = flow.TrapDebug   // a hardware breakpoint or a single step (Arm): the code there is no breakpoint
)
