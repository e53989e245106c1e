package rows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Level says how fine the flow is listed.
type Level uint8

// The levels.
const (
	LevelInsn    Level = iota // a row for each instruction
	LevelBlock                // a row for each range: instructions in a row up to one that may branch
	LevelBranch               // a row for each taken branch, interrupt and trap, and where tracing goes on and off
	LevelCall                 // a row for each call: the tree of calls
	LevelElement              // a row for each element of the protocol, ranges among them
	numLevels
)

var levelNames = [numLevels]string{"insn", "block", "branch", "call", "element"}

// String returns the level's name. Rows of what was executed have the kind of
// the same name.
func (l Level) String() string { return levelNames[l] }

// LevelNames returns the names of all levels, the finest first.
func LevelNames() []string { return slices.Clone(levelNames[:]) }

// ParseLevel is the inverse of String.
func ParseLevel(s string) (Level, error) {
	i := slices.Index(levelNames[:], s)
	if i < 0 {
		return 0, fmt.Errorf("level %q: need one of %s", s, strings.Join(levelNames[:], ", "))
	}
	return Level(i), nil
}

// Kind says what a Row tells.
type Kind uint8

// The kinds of rows.
const (
	KindInsn    Kind = iota // one instruction
	KindBlock               // a range
	KindBranch              // a transfer of the flow
	KindCall                // a function entered
	KindTrap                // a breakpoint exception with its handler: Addr is where the flow goes on
	KindGap                 // Note.Gap
	KindEvent               // Note
	KindElement             // an element of the protocol, by the name Row.Element: a note, or a range
	numKinds
)

var kindNames = [numKinds]string{"insn", "block", "branch", "call", "trap", "gap", "event", "element"}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// Row is one thing to list: the facts, not yet their names, which Names finds.
type Row struct {
	Kind     Kind
	Class    isa.Class // of the instruction, or of the last one
	Mode     isa.Mode
	Verdict  flow.Verdict
	HasAddr  bool     // Addr is known
	Len      uint8    // of one instruction, bytes
	Transfer Transfer // KindBranch, KindCall
	Element  string   // KindElement: its name
	Stream   *Stream
	Time     event.Time
	Space    uint32 // address space of IP and Addr
	N        int    // instructions
	Depth    int    // KindCall, KindTrap: calls that it is inside of
	Trap     flow.TrapKind
	Number   uint16     // of a row that Options.Calls is given: below 32,768, and others may have the same
	Poke     int        // of a trap, as an index in the journal, or -1
	Span     event.Span // epochs for which the machine code is what was executed
	IP       uint64     // a branch's source, a function's first address
	Addr     uint64     // a branch's destination, a block's end, where a function was entered from
	Note     *flow.Note // KindGap, KindEvent, KindElement

	lacks *int // what Depth lacks, as it turns out by the end; nil: nothing
}

// Clone returns a copy of r that may be kept.
func (r *Row) Clone() Row {
	c := *r
	if c.Note != nil {
		n := *c.Note
		c.Note = &n
	}
	return c
}

// epoch is the epoch as of which the row's machine code is read.
func (r *Row) epoch() event.Epoch { return r.Span.From }

// ISAName returns the name of the instruction set of a mode, as Arm's manuals
// write it: "A64", "A32", "T32"; else the mode's own name.
func ISAName(m isa.Mode) string {
	switch m {
	case isa.ModeA64:
		return "A64"
	case isa.ModeA32:
		return "A32"
	case isa.ModeT32:
		return "T32"
	}
	return m.String()
}
