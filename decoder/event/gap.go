package event

import "fmt"

// Segment is a stretch of a stream that starts at a sync point and decodes on
// its own. Buf holds the stream's bytes [Off, Off+len(Buf)): the segment is
// [Off, End) and what follows End is there so that the sync point which closes
// it can be read.
type Segment struct {
	Stream int    // index of the stream in its session
	Index  int    // index of the segment in its stream, where all were found at once; else 0
	Off    int64  // offset of the sync point in the stream, bytes
	End    int64  // offset of the next segment's sync point, or of the stream's end, bytes
	Buf    []byte // starts at Off; reaches past End where the stream goes on
	Time   Time   // Lo: the time stated at Off; Hi: the time stated at End, if any
	Last   bool   // no segment follows
	Host   bool   // the sync point states that it is not inside of a virtual machine
	Starts bool   // it does not continue what lies before it in the stream: that begins here, or was lost
	Ends   bool   // nothing at End continues it: the stream ends there, or is lost
}

// Own returns the bytes of Buf that lie before End, the segment's own.
func (g *Segment) Own() []byte {
	return g.Buf[:min(max(g.End-g.Off, 0), int64(len(g.Buf)))]
}

// Timed returns g with a Time: Always where that is all zero, as it is not known.
func (g Segment) Timed() Segment {
	if g.Time == (Time{}) {
		g.Time = Always
	}
	return g
}

// Reason says why a stretch could not be followed.
type Reason uint8

// The reasons of gaps.
const (
	ReasonNone      Reason = iota
	BadPacket              // bytes that are no packet, or a packet out of place
	Truncated              // the stream ends inside a packet or an event
	OverflowGap            // the trace unit ran out of buffer and dropped packets
	Lost                   // the recorder dropped trace data
	NoText                 // the machine code there is not in any text source, or not known at that moment
	BadInsn                // the bytes there are no instruction
	Mismatch               // text and trace contradict each other
	NoSync                 // no sync point in the stretch
	Loop                   // the code loops without an outcome for longer than the bound
	NoCall                 // a return whose call lies in a stretch that was not followed
	UndecidableFlow        // conditional branches are not traced (TNT disabled)
	NoPath                 // instructions ran, and not all of them are known (over branches, an ETMv4's Q element states only how many)
	NoAddress              // the trace does not say where an exception went
	// Reserved: the trace says that a branch without a condition was not taken, or
	// that an instruction that traps did not trap. That is not what ran. The flow
	// goes straight on, as a guess.
	Reserved
	NumReasons
)

var reasonNames = [NumReasons]string{
	"none", "bad-packet", "truncated", "overflow", "lost", "no-text",
	"bad-insn", "mismatch", "no-sync", "loop", "no-call", "no-outcomes", "no-path", "no-address",
	"reserved-outcome",
}

// String returns the reason's name as output prints it.
func (r Reason) String() string {
	if r < NumReasons {
		return reasonNames[r]
	}
	return "?"
}

// Contradicts reports whether a gap of reason r says that trace and code do not fit: it
// can come of wrong code.
func (r Reason) Contradicts() bool {
	switch r {
	case Mismatch, BadInsn, NoText, NoCall, Loop, Reserved:
		return true
	}
	return false
}

// Gap is a stretch of a stream that could not be followed. It is data: it
// flows to the sinks in order with the ranges.
type Gap struct {
	Reason Reason
	Stream int    // index of the stream
	Off    int64  // offset in the stream where following stopped, bytes
	End    int64  // offset in the stream where it goes on, bytes
	IP     uint64 // the last address that the flow had reached
	Time   Time
	What   string // the rule broken, for people; may be empty
}

// Error renders the gap in the grammar of errors, so that a strict reader can
// return it as one.
func (g *Gap) Error() string {
	s := fmt.Sprintf("stream %d+0x%x: %s at %#x", g.Stream, g.Off, g.Reason, g.IP)
	if g.What != "" {
		s += ": " + g.What
	}
	return s
}
