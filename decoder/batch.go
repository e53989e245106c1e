package decoder

import (
	"errors"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

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
	// elsewhere, and Note.Others is what the trace fits too. Note.Poke -1: what is open
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
