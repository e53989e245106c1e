package calls

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// function is what is called. Its public fields are those of a Call.
type function struct {
	lo, size uint64 // its code, as far as it is known
	Function int    // its number: functions count from 0 as the flow comes to them
	folded   folded
	unnamed  bool
	leadsOn  bool // a thunk
	callsOn  bool // a trampoline: it calls for the function that called it
	inner    bool // what a compiler moved out of another function
	slots    bool // slots of probes: it is nobody's first instruction
	switches bool // it leaves another thread's stack behind
	at       functionAt
	also     *function // another one that begins there; nil: there is none
	own      *function // a condenser's: the Tree's own, of which only that asks
	// A condenser's: whether a call may end right before it. 0: not looked yet; 1: yes; 2: no.
	behindCall uint8

	Sym  string // "": only its address is known
	File string // the kernel, a module or the file that a program mapped; "": not known
	Addr uint64 // of its first instruction
}

// Call is one execution of a function. These fields say which function it is:
//
//   - Sym, the symbol; "" where only the address is known
//   - File, the file of that symbol: "[kernel.kallsyms]", a module in brackets, or the path
//     of a program or library
//   - Addr, the address of its first instruction
//   - Function, its number: functions count from 0 in the order in which the flow comes to
//     them
//
// A Call is lent until it has ended: OnEnd may read it, and must not keep it.
type Call struct {
	*function
	Stream *decoder.Stream // that it began on
	TID    int32           // -1: not known
	Comm   string          // of the thread as the call began: it may have another name by now
	Caller *Call           // in progress; nil: not known, or there is none
	From   uint64          // the address that it was entered from; 0: not known
	How    Way             // how it was entered
	Depth  int             // how many calls it is inside of, of the kernel's or of the program's; behind a gap also those that may have ended

	// Begin and End bound the moments of its first and last instruction, ns. Before it
	// has ended, End is the zero value.
	Begin, End event.Time
	Ended      Way // how it ended

	Self      uint64          // instructions, without those of callees
	Ambiguous uint64          // of these, those that the trace does not settle
	Insns     uint64          // instructions, with callees, without interrupts; once it has ended
	Verdict   decoder.Verdict // the weakest of what ran in it, with callees
	Ran       bool            // its first instruction ran, or raised a breakpoint exception
	Gap       bool            // a gap lies in it: what is counted may be less than what ran

	// Cycles is how many cycles the core counted while the instructions ran that Insns
	// counts, where Counted is set. The trace tells a count now and then. Cycles goes from
	// the last count before the call's beginning to the last one before its end.
	Cycles  uint64
	Counted bool // the trace counts cycles, and did so from the call's beginning to its end

	// Times is how many calls it stands for: 1, or more with Tree.Fold. Of more than one,
	// only the function is known, that they returned, and how many instructions ran.
	Times uint64

	// Tag is for the user of the package. It is 0 when a call begins.
	Tag uint64

	ret    uint64 // where it returns to; 0: not known
	began  uint64 // the last time that the trace stated before, ns
	took   uint64 // ns
	timed  bool   // took is known
	inside uint64 // ns that callees took, interrupts too
	away   uint64 // ns that the thread did not run
	told   bool   // its end was told of already
	hidden bool   // a thunk, or a call inside of a function: nobody is told
	open   bool   // how it was entered is not known: any return may be its own
	stale  bool   // a gap came, and nothing has shown since that it goes on
	root   bool   // entered from user space
	maybe  bool   // that is likely, no more: tracing came on as it began
	async  bool   // it interrupted what lies outside of it, at left
	left   uint64
	trap   trap

	counts    bool   // its cycles are known so far
	count     uint64 // cycles.Now as it began
	uncounted uint64 // cycles that passed meanwhile and are not its own
}

// trap is the breakpoint exception that a handler serves.
type trap struct {
	here  bool
	doubt bool // poke is the likeliest of several
	kind  decoder.TrapKind
	poke  int // in Session.Pokes; -1: not known
}

// Guest returns the process that runs the virtual machine whose function it is; 0: the function is the host's.
func (c *Call) Guest() int32 { return c.at.guest }

// Space returns the address space that Addr lies in (Session.Symbol).
func (c *Call) Space() uint32 { return c.at.space }

// Total returns bounds of how long a call took that has ended, ns, from its first to its
// last instruction. That is with callees, interrupts and the time that its thread did not
// run. Hi is math.MaxUint64 where the trace states no moment before its beginning. ok is
// false where the beginning or the end is not known.
func (c *Call) Total() (ns event.Time, ok bool) {
	if !c.timed {
		return event.Always, false
	}
	if c.Begin.Lo == 0 {
		return event.Time{Lo: max(c.End.Lo, c.Begin.Hi) - c.Begin.Hi, Hi: math.MaxUint64}, true
	}
	return event.Time{Lo: max(c.End.Lo, c.Begin.Hi) - c.Begin.Hi, Hi: max(c.End.Hi, c.Begin.Lo) - c.Begin.Lo}, true
}

// Took returns how long a call most likely took that has ended, ns. That is from the last
// time that the trace states before its beginning to the last one before its end. So it needs no
// upper bounds (decoder.Query.Bounds). self leaves out callees, interrupts, and the time
// that its thread did not run. ok is false where the beginning or the end is not known.
func (c *Call) Took() (total, self uint64, ok bool) {
	return c.took, c.took - min(c.took, c.inside+c.away), c.timed
}

// times notes how long c took, which has ended: until is the last time that the trace stated
// before, ns.
func (t *Tree) times(c *Call, until uint64) {
	if c.How != Unseen && c.Ended != AtEnd && c.began != 0 {
		c.took, c.timed = t.clip(max(until, c.began))-t.clip(c.began), true
	}
}

// Way is how a call began, or how it ended.
type Way uint8

// The ways in and out of a function.
const (
	InProgress Way = iota // out: it has not ended

	Called      // in: by a call
	Jumped      // in: by a tail call, or by running on into it
	Interrupted // in: by an interrupt, an exception or a breakpoint
	FromUser    // in: from user space, by a system call, an interrupt or an exception
	Resumed     // in: where tracing came on, or behind a gap, at its first instruction
	Unseen      // in: before the trace shows it, or in a gap

	Returned // out: to where it was entered from
	Replaced // out: by the function that it jumped to
	Unwound  // out: by a return to a call outside of it, or as its thread left the kernel or became another program
	InGap    // out: in a gap, as far as anybody knows
	AtEnd    // out: with the recording; or nobody remembers so many calls
	numWays
)

// String returns the way's name.
func (w Way) String() string {
	return [numWays]string{
		"in progress",
		"call", "jump", "interrupt", "user", "resumed", "unseen",
		"return", "tail call", "unwound", "gap", "end of trace",
	}[w]
}
