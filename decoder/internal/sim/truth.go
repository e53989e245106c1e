package sim

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Run is what happened: what a decoder is given, and what it must find.
type Run struct {
	Config  Config
	Symbols []Symbol
	CPUs    []CPU
	Codes   []Code // what Retired.Code indexes
	Pokes   []Poke // in order of time
	Traps   []Trap // in order of time

	Switches []Switch // of threads, by CPU in order of time

	Ksyms    []Ksym         // in order of time
	Losses   []Loss         // in order of time
	Branches []StaticBranch // x86: by address

	Start  []Piece // text before the first poke
	Middle []Piece // text at one moment in between
	During []Piece // text copied page by page while pokes went on
	End    []Piece // text after the last poke

	DuringFrom, DuringTo uint64 // when the first and the last page were copied, ticks
	MiddleAt             uint64 // when Middle was taken, ticks
}

// Piece is a stretch of an image.
type Piece struct {
	Addr  uint64
	Bytes []byte
}

// StaticBranch is a place that holds a NOP or a jump to Target.
type StaticBranch struct {
	Addr, Target uint64
	Len          int // bytes
}

// CPU is one CPU's trace and what it did.
type CPU struct {
	PT       []byte
	Sent     []Sent           // the packets of PT that tell where the flow went, or all of Trace, in order
	Script   [][]event.Event  // A64: by segment, what a trace unit's decoder would state
	Trace    []byte           // Arm: the trace unit's stream
	Source   coresight.Config // Arm: how the trace unit was set up
	Starts   []int            // Arm: by sync point, the index in Insns of the first instruction behind it
	StartOff []int64          // by sync point in Trace: its offset, bytes
	Bare     map[int64]int    // Arm: by offset of a Q element that has no count, the instructions retired up to its end
	Insns    []Retired        // every instruction that retired while it was traced, in order
	Lost     []Lost           // stretches of Insns that overflows may have kept out of the trace
	Entries  []Entry          // interrupts, exceptions and breakpoints taken, in order
	Final    Retired          // what was on its stack when its tracing stopped
	Stop     uint64           // when its tracing stopped, ticks
}

// Sent is when a packet was sent. What it tells of happened when From instructions
// had retired or more. It left when To had, without the one that sent it.
type Sent struct {
	Off      int64 // bytes
	From, To int   // instructions
}

// Lost is a stretch [From, To) of a CPU's Insns: the overflow packet stands
// for outcomes in it, and the flow goes on at To.
type Lost struct{ From, To int }

// Retired is one instruction that retired. An instruction that faults or
// traps (INT3 and INT n included) does not; a repeated string instruction
// does once.
type Retired struct {
	IP   uint64
	Time uint64 // when it executed, ticks
	Code uint32 // index in Run.Codes

	// What was on the stack before it executed.
	Depth uint16 // return addresses
	Level uint8  // interrupted flows
}

// Code is an instruction as some CPU fetched it.
type Code struct {
	IP    uint64
	Len   uint8 // bytes
	Bytes [15]byte
}

// Fetched returns the instruction's bytes.
func (c *Code) Fetched() []byte { return c.Bytes[:c.Len] }

// Poke is one change to text and its record.
type Poke struct {
	Time   uint64 // of the record, ticks
	Stamp  uint64 // what the record says its time is, ticks
	Fate   Fate
	CPU    int // in whose buffer the record is
	Addr   uint64
	Old    []byte // empty: code appeared
	New    []byte // empty: code went
	Scheme Scheme
	Begin  uint64 // first write of the change, ticks
	End    uint64 // when every CPU had synchronised after the last, ticks
	Batch  int    // pokes of one batch share it
	Seen   []Seen // by CPU; empty for SchemeSlot
}

// Fate is what became of a poke's record.
type Fate uint8

// The fates of records.
const (
	FateRecorded Fate = iota
	FateNone          // the kernel made none
	FateLost          // the buffer was full
)

// Loss is a record of lost records in one CPU's buffer.
type Loss struct {
	CPU  int
	Time uint64 // of the record that says so, ticks
	From uint64 // time of the last record before, ticks; 0: none
	N    int    // records lost
}

// Ksym is a record that code got a name, or lost it.
type Ksym struct {
	Name string
	Addr uint64
	Len  uint64 // bytes
	Time uint64 // ticks
	CPU  int
	Gone bool
}

// Seen is when one CPU came to see a poke.
type Seen struct {
	Trap     int    // instructions retired when it first saw the breakpoint; -1: never
	New      int    // the true cut: instructions retired when it first saw the new text
	TrapTime uint64 // ticks
	NewTime  uint64 // ticks
}

// TrapKind says why a breakpoint was there.
type TrapKind uint8

// The kinds of traps.
const (
	TrapWindow TrapKind = iota // a patch was in progress
	TrapArmed                  // a kprobe
	TrapSlot                   // the breakpoint behind a single-stepped copy
	TrapOwn                    // the program always had it
)

// String returns the kind's name.
func (k TrapKind) String() string {
	return [...]string{"window", "armed", "slot", "own"}[k]
}

// Trap is one breakpoint (INT3, BRK) taken.
type Trap struct {
	CPU   int
	IP    uint64
	Time  uint64 // ticks
	Kind  TrapKind
	Index int  // instructions that the CPU had retired before it
	Poke  int  // index in Run.Pokes of the poke whose breakpoint it was; -1: none
	Emu   bool // the handler emulates; To is then where it resumes, unless that is drawn or popped
	To    uint64
}
