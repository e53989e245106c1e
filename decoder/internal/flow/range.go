package flow

import (
	"iter"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Verdict says how the text that a range was read from was settled.
type Verdict uint8

// The verdicts.
const (
	Certain     Verdict = iota // by time: the text is the same for every moment the clock allows
	Trace                      // by the trace: every other cut contradicts the packets
	Exception                  // by an exception taken at the poked site
	Unconfirmed                // nothing confirmed it, or contradicted it, for so long that it was handed on
	Ambiguous                  // several cuts fit, and this is the likeliest; or the trace contradicts the code
	numVerdicts
)

var verdictNames = [numVerdicts]string{"certain", "trace", "exception", "unconfirmed", "ambiguous"}

// String returns the verdict's name as output prints it.
func (v Verdict) String() string { return named(verdictNames[:], uint8(v)) }

// named returns the name of a kind, "?" if it has none.
func named(names []string, kind uint8) string {
	if int(kind) < len(names) {
		return names[kind]
	}
	return "?"
}

// Range is a block as executed: the first N instructions of Block retired, in
// address order. It is 16 bytes.
type Range struct {
	Block   *Block
	Stamp   uint32 // index in Batch.Stamps
	N       uint16 // instructions retired, 1..Block.N
	Verdict Verdict
	flags   rangeFlags
}

// rangeFlags is what else is known of a range.
type rangeFlags uint8

const (
	either rangeFlags = 1 << iota // see Range.Either
	// When its last instruction was executed, outcomes of what came later were in hand or told next, or
	// it was a guess that was refuted. What fast knows it sets only where the trace states the target.
	// Or the return stack said where it led.
	ahead
	detour // see IsDetour
	// It returned to where an exception came from, and that tells nothing until the flow has gone on (interrupted).
	homeward
)

// Either reports whether the trace fits several versions of the text, which do the same:
// Block is the likeliest.
func (r *Range) Either() bool { return r.flags&either != 0 }

// MarkEither says that the trace fits several versions of the text: of r, which was handed on
// as numbers.
func (r *Range) MarkEither() { r.flags |= either }

// End returns the address behind the last instruction of r that retired.
func (r *Range) End() uint64 {
	if r.N == r.Block.N {
		return r.Block.End
	}
	a := r.Block.Addr
	for _, l := range r.Block.Lens[:r.N] {
		a += uint64(l)
	}
	return a
}

// Stamp is where and when ranges were executed: shared by all ranges up to
// the next event.
type Stamp struct {
	Off  int64      // offset in the stream of the event whose outcome the ranges lead to, bytes
	Time event.Time // bounds of the moment
}

// NoteKind says what a Note tells.
type NoteKind uint8

// The kinds of notes.
const (
	NoteGap   NoteKind = iota // Gap is set
	NoteEvent                 // Event is set: a payload, a context, a status, a transfer
	// NoteTrap has Event set: an Async with a breakpoint exception as its source.
	// Trap says why the breakpoint was there; Poke is the poke that put it there,
	// or -1. Verdict is Ambiguous where that is the likeliest of several, else
	// Exception.
	NoteTrap
	NoteCut      // a poke took effect here: Poke, Verdict; Ambiguous: here or elsewhere, Others is what the trace fits too; Poke -1: which outcomes were in hand is open
	NoteTrackOff // tracing went off (Event)
	NoteTrackOn  // tracing came on (Event)
)

// Note is what lies between ranges.
type Note struct {
	At      int // index in Batch.Ranges before which it belongs
	Kind    NoteKind
	Verdict Verdict
	Trap    TrapKind
	Poke    int // index in the journal, or -1
	IP      uint64
	Event   event.Event
	Gap     event.Gap
	Space   uint32    // address space of the flow there
	doubts  reach     // NoteGap: how much of what lies before it may not have run
	rough   bool      // NoteGap: what follows is in doubt too (rough.go)
	Others  []Stretch // NoteCut, Ambiguous: what may have been executed instead of what is ambiguous from here on
}

// Stretch is instructions that lie one behind the other, as executed.
type Stretch struct {
	IP, End uint64      // of the first instruction, and behind the last
	N       int         // instructions
	At      event.Epoch // as of which they are read
}

// Batch is a stretch of flow. Ranges and Notes are in order; a Note lies
// before the range with index At.
type Batch struct {
	Stream int
	Part   Part // of a shard's flow; 0: its own part, or there are no shards
	Ranges []Range
	Stamps []Stamp
	Notes  []Note
	// Onward is the block that the stream's flow goes on with directly behind the last range; nil
	// where that is not known, or a note lies between.
	Onward *Block
	// Walked is which ranges were walked as paths, in order. Only a PathSink has it.
	Walked []Walked

	condensed condensed
}

// addEvent appends a note of e, of a flow in an address space, in place: a note is large. Another
// may have been there.
func (b *Batch) addEvent(k NoteKind, e *event.Event, ip uint64, space uint32) {
	at := len(b.Notes)
	if at == cap(b.Notes) {
		b.Notes = slices.Grow(b.Notes, 1)
	}
	b.Notes = b.Notes[:at+1]
	n := &b.Notes[at]
	n.At, n.Kind, n.Verdict, n.Trap, n.Poke, n.IP = len(b.Ranges), k, Certain, 0, -1, ip
	n.Event, n.Gap, n.Others = *e, event.Gap{}, nil
	n.Space, n.doubts, n.rough = space, noDoubt, false
}

// After returns the block that the flow went on with behind range i; nil where b does not say.
func (b *Batch) After(i int) *Block {
	if i+1 < len(b.Ranges) {
		return b.Ranges[i+1].Block
	}
	return b.Onward
}

// Another returns a batch in which nothing is, with room for as much as b has: the next
// stretch is mostly like this one. Growing from nothing touches twice the memory.
func (b *Batch) Another() *Batch {
	return &Batch{Ranges: make([]Range, 0, len(b.Ranges)), Stamps: make([]Stamp, 0, len(b.Stamps)), Notes: make([]Note, 0, len(b.Notes))}
}

// Copy has b be what x is, in memory of its own.
func (b *Batch) Copy(x *Batch) {
	b.Stream, b.Part, b.Onward, b.Walked = x.Stream, x.Part, x.Onward, append(b.Walked[:0], x.Walked...)
	b.Ranges, b.Stamps, b.Notes = append(b.Ranges[:0], x.Ranges...), append(b.Stamps[:0], x.Stamps...), append(b.Notes[:0], x.Notes...)
}

// Part says where a batch lies that is not of a shard's own part. Such a batch tells a
// sink what leads to that part, or what became of it. It is a set of bits.
type Part uint8

// The bits of a Part.
const (
	Before Part = 1 << iota // before the shard's part
	Early                   // Before, and only of some streams is there flow here
	Entire                  // Before, and all of the stream's flow is given, from its start
	After                   // behind the shard's part
)

// All gives what b holds in order: notes and ranges, of which one is nil each time. It is
// for sinks that take either as it comes; those that must be fast walk over both lists.
func (b *Batch) All() iter.Seq2[*Note, *Range] {
	return func(yield func(*Note, *Range) bool) {
		n := 0
		for i := 0; i <= len(b.Ranges); i++ {
			for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
				if !yield(&b.Notes[n], nil) {
					return
				}
			}
			if i < len(b.Ranges) && !yield(nil, &b.Ranges[i]) {
				return
			}
		}
	}
}

// Backward is All from the end.
func (b *Batch) Backward() iter.Seq2[*Note, *Range] {
	return func(yield func(*Note, *Range) bool) {
		n := len(b.Notes) - 1
		for i := len(b.Ranges); i >= 0; i-- {
			if i < len(b.Ranges) && !yield(nil, &b.Ranges[i]) {
				return
			}
			for ; n >= 0 && b.Notes[n].At >= i; n-- {
				if !yield(&b.Notes[n], nil) {
					return
				}
			}
		}
	}
}

// Reset empties b and keeps its memory.
func (b *Batch) Reset() {
	b.Part, b.Onward, b.condensed.here = 0, nil, false
	b.Ranges, b.Stamps, b.Notes, b.Walked = b.Ranges[:0], b.Stamps[:0], b.Notes[:0], b.Walked[:0]
}

// Sink takes flow. The batch is lent until the call returns; a sink may keep it
// by leaving another in its place. An error ends the walk and is returned by Run.
type Sink interface {
	Flow(*Batch) error
}

// TellGaps gives gaps of a stream to a sink.
func TellGaps(stream int, list []event.Gap, out Sink) error {
	if len(list) == 0 {
		return nil
	}
	b := Batch{Stream: stream}
	for _, g := range list {
		b.Notes = append(b.Notes, Note{Kind: NoteGap, Poke: -1, IP: g.IP, Gap: g})
	}
	return out.Flow(&b)
}

// Source gives events in stream order. Next overwrites every field of e and
// reports false at the segment's end.
type Source interface {
	Next(e *event.Event) bool
}

// Filler is a Source that can give events in one go. Fill gives what as many
// calls of Next would, and less than q holds only at the segment's end.
type Filler interface {
	Fill(q []event.Event) int
}

// Poke is what the walker needs to know of one change to text.
type Poke struct {
	Addr    uint64
	Len     int    // bytes changed
	Time    uint64 // the likeliest moment, ns
	Begin   uint64 // no CPU has executed its new text before, ns
	From    uint64 // ns: no part of it was done before
	Until   uint64 // ns: all of it was done then
	Trap    bool   // a breakpoint taken at Addr is evidence that the poke had begun: its old text is no breakpoint
	Appears bool   // there was no text before it
	Goes    bool   // there is no text after it
	Window  bool   // a breakpoint stands at Addr while it is made, and no longer
	DoesNew bool   // the handler of that breakpoint does what the new text does
	Guarded bool   // it waited for every guarded poke before its batch to be complete
	Mark    bool   // no poke: there text becomes unknown, or known again, as records were lost
	Free    bool   // no order between fetches: each visit in the window may see either text
	Unsafe  bool   // a visit in the window may have executed anything
}

// Text answers machine code at an address and an epoch. It is immutable and
// may be shared between goroutines.
type Text interface {
	// Fetch copies the known bytes at addr as of epoch at to dst and returns
	// how many, with the epochs for which exactly that is the answer. space
	// names the address space of user addresses; 0 where there is only one.
	Fetch(dst []byte, space uint32, addr uint64, at event.Epoch) (n int, span event.Span)

	// Epochs returns the bounds of the epoch at a moment: every poke below lo
	// is in effect on every CPU, no poke from hi on is in effect on any.
	Epochs(t event.Time) (lo, hi event.Epoch)

	// Edges returns until when the epochs that Epochs gave stay so: lo while a
	// moment's lower bound is below loEnd, hi while its upper bound is below
	// hiEnd, both ns.
	Edges(lo, hi event.Epoch) (loEnd, hiEnd uint64)

	// Between appends the indices, ascending, of the pokes in [lo, hi) that
	// change any of the n bytes at addr. One of no length (Poke.Len) changes
	// only whether they are known.
	Between(dst []int, addr uint64, n int, lo, hi event.Epoch) []int

	// Poke returns what is known of poke i.
	Poke(i int) Poke

	// Floor returns the epoch below which every poke is in effect on a CPU
	// that has seen poke i.
	Floor(i int) event.Epoch
}
