package output

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// RowKind says what a Row tells.
type RowKind uint8

// The kinds of rows.
const (
	RowInsn RowKind = iota
	RowBlock
	RowBranch
	RowCall
	RowTrap    // a breakpoint exception, from Addr on as it goes on
	RowGap     // Event.Gap
	RowEvent   // Event
	RowElement // an element of the protocol, called Word: of Event, or a range
	numRowKinds
)

var rowKindNames = [numRowKinds]string{"insn", "block", "branch", "call", "trap", "gap", "event", "element"}

// String returns the row's type as JSON objects name it.
func (k RowKind) String() string { return rowKindNames[k] }

// Row is one line to be: the facts, not yet their names.
type Row struct {
	Kind    RowKind
	Class   isa.Class // of the instruction, or of the last one
	Mode    isa.Mode
	Verdict flow.Verdict
	HasAddr bool
	Len     uint8 // of one instruction, bytes
	Flags   string
	Word    string // RowElement: its name
	Stream  *Stream
	Time    event.Time
	Space   uint32 // address space of IP and Addr
	N       int    // instructions
	Depth   int    // of a call
	Trap    flow.TrapKind
	Poke    int // of a trap, as an index in the journal, or -1
	Span    event.Span
	IP      uint64 // a branch's source
	Addr    uint64 // a branch's destination, a block's end
	Event   *flow.Note
}

// clone returns a copy of r that may be kept.
func (r *Row) clone() Row {
	c := *r
	if c.Event != nil {
		n := *c.Event
		c.Event = &n
	}
	return c
}

// at is the epoch as of which the row's text is read.
func (r *Row) at() event.Epoch { return r.Span.From }
