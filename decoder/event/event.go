// Package event is the vocabulary that every floor of ptdecode speaks: what a
// trace says (Event), when (Time), as of which text (Epoch, Span), where a
// stream may be entered (Segment) and what could not be followed (Gap).
//
// It imports only the standard library and knows no protocol and no
// instruction set. A protocol's decoder turns packets into Events; the walker
// in decoder/flow turns Events and text into what was executed.
package event

// Kind says what an Event states.
type Kind uint8

// The kinds of events. The walker's contract for each stands beside it; "IP"
// and the other names are fields of Event.
const (
	// KindNone is the zero value; no decoder returns it.
	KindNone Kind = iota

	// Sync restates the state at a sync point (PT: PSB+; Arm: A-sync with its
	// address). The first event of a segment is a Sync. FlagIP: tracing is on
	// and IP is the next instruction to execute; without it tracing is off
	// until an Enable. Inside a walk a Sync moves nothing: the flow must reach
	// IP by itself. The return stack is empty after a Sync.
	Sync

	// Outcomes holds N branch outcomes, the oldest in bit 63 of Value
	// (1 = taken, or a compressed return).
	Outcomes

	// Target is the destination of the next indirect or far branch (IP).
	Target

	// Enable says that tracing starts at IP.
	Enable

	// Disable says that tracing ends with the next branch that can end it.
	// FlagIP: IP is that branch's destination. FlagAbort: it is no branch but a
	// transaction's abort, and nothing says from where.
	Disable

	// Async is a transfer that no instruction made, or one whose source is
	// stated: control leaves just before the instruction at From and goes to
	// IP. The flow must reach From first, with every earlier outcome used.
	Async

	// AsyncDisable is an Async whose destination is not traced; FlagIP: IP is
	// that destination.
	AsyncDisable

	// Overflow says that packets were lost. FlagIP: tracing is on and goes on
	// at IP; without it tracing is off until an Enable. The return stack is
	// empty after it.
	Overflow

	// Status says that the flow passes IP at this point, without a branch: the
	// IP of a payload packet, a mode change in place. Without FlagIP the address
	// is not known. Detail says which, Value holds its payload.
	Status

	// Payload is a packet that says nothing about the flow. Detail says which.
	Payload

	// Context is a change of address space, privilege or exec mode that binds
	// to the code (Detail: DetailCR3, DetailVMCS, ...). It does not move the flow.
	Context

	// Trouble is a stretch of the stream that could not be decoded: Gap
	// reason in Reason, bytes [Off, End). The walk goes on at the next event
	// that states an IP.
	Trouble

	// End closes a segment whose end no Sync states: the stream ends here.
	End

	numKinds
)

var kindNames = [numKinds]string{
	"none", "sync", "outcomes", "target", "enable", "disable", "async",
	"async-disable", "overflow", "status", "payload", "context", "trouble", "end",
}

// String returns the kind's name as output prints it.
func (k Kind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return "?"
}

// Detail refines Status, Payload and Context events.
type Detail uint8

// Details. The payload's layout in Value (and Value2) stands beside each.
const (
	DetailNone        Detail = iota
	DetailCR3                // Value: CR3; Value2 bit 0: non-root operation
	DetailVMCS               // Value: VMCS address, bytes
	DetailMode               // Mode, Value bit 0: interrupts enabled (IF), Value2 bit 0: IF is known
	DetailTxBegin            // transaction begins
	DetailTxCommit           // transaction commits
	DetailTxAbort            // transaction aborts; an Async to the fallback follows
	DetailTxState            // Value bit 0: in transaction (state restated while tracing is off)
	DetailPTWrite            // Value: operand; Value2: its size in bytes
	DetailExStop             // execution stopped
	DetailMWait              // Value: hints; Value2: extensions
	DetailPwrEnter           // Value: C-state; Value2: sub C-state (bits 3..0), hardware-forced (bit 7)
	DetailPwrExit            // Value: last core C-state; Value2: deepest (bits 3..0), wake reason (bits 11..8)
	DetailBlockBegin         // Value: block type; Value2: item size, bytes
	DetailBlockItem          // Value: item; Value2: item id
	DetailBlockEnd           // block closes
	DetailCFE                // Value: type; Value2: vector
	DetailEVD                // Value: payload; Value2: type
	DetailTrigger            // Value: trigger vector; Value2: instruction count
	DetailCBR                // Value: core:bus ratio
	DetailTraceStop          // tracing stopped by a filter
	DetailMaintenance        // Value: vendor payload
	numDetails
)

var detailNames = [numDetails]string{
	"", "cr3", "vmcs", "mode", "tx-begin", "tx-commit", "tx-abort", "tx-state",
	"ptwrite", "exstop", "mwait", "pwre", "pwrx", "block-begin", "block-item",
	"block-end", "cfe", "evd", "trigger", "cbr", "tracestop", "mnt",
}

// String returns the detail's name as output prints it.
func (d Detail) String() string {
	if d < numDetails {
		return detailNames[d]
	}
	return "?"
}

// Flags refine an Event.
type Flags uint8

// The flags of an Event.
const (
	FlagIP       Flags = 1 << iota // IP is stated
	FlagMode                       // Mode is stated and holds from IP on
	FlagCR3                        // Value is the CR3 that holds from IP on
	FlagAbort                      // the Async is a transaction's abort
	FlagBreak                      // the Async is known to be a breakpoint exception (PT: CFE INTR vector 3)
	FlagIntr                       // the Async is known to be another exception or an interrupt (PT: CFE, other vector)
	FlagNextIP                     // From may be the IP after the instruction (errata of 6/92)
	FlagRestated                   // a Sync inside a walk, not at a segment's start
)

// Event is one statement of a trace, in stream order. It is a plain value of
// 72 bytes; a decoder overwrites every field on each call of its Next.
type Event struct {
	Kind   Kind
	Detail Detail
	Flags  Flags
	N      uint8 // Outcomes: how many, 1..64
	Mode   uint8 // isa.Mode, if FlagMode
	Reason Reason
	_      [2]byte
	IP     uint64 // see Kind
	From   uint64 // Async, AsyncDisable: where control left
	Value  uint64 // see Kind and Detail
	Value2 uint64
	Off    int64 // offset of the first packet of the event in its stream, bytes
	End    int64 // offset after its last packet, bytes
	Time   Time  // when what it states happened
}

// HasIP reports whether IP is stated.
func (e *Event) HasIP() bool { return e.Flags&FlagIP != 0 }
