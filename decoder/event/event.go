// Package event is the vocabulary that every floor of ptdecode speaks. It has
// words for what a trace says (Event), when (Time), and as of which code
// (Epoch, Span). It also has words for where a stream may be entered (Segment)
// and what could not be followed (Gap).
//
// It imports only the standard library and knows no protocol and no instruction
// set. A protocol's decoder turns packets into Events; the walker in
// decoder/internal/flow turns Events and code into what was executed. What executed is not
// in here: package decoder has Ranges.
//
// Start reading in this file; Kind and Detail are the contract between decoders of
// protocols and the walker. time.go has moments and epochs, gap.go what goes wrong.
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
	// (1 = taken, or a compressed return). It may be several packets: a target that
	// waited may lie among the outcomes of the last.
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
	// FlagHere: From is not stated: control leaves where the flow stands.
	// DetailException: Value is the exception's number. Without FlagIP where
	// control went is not known until an event states an address.
	Async

	// AsyncDisable is an Async whose destination is not traced; FlagIP: IP is
	// that destination.
	AsyncDisable

	// Off says that tracing was off, or lost, before here. Nothing is known to
	// have run since the last thing traced, and an Enable tells where it goes
	// on. In Arm's protocols, Off is Trace On, and the start of a stream.
	// Detail says which. The return stack is empty after it. In a walker's note
	// FlagHere says that the flow stood somewhere until then.
	Off

	// Reach says that control went straight on, through branches that were not
	// taken, up to and including the instruction at IP (PTM: waypoint update;
	// ETE: source address). FlagTaken: that one is a branch which was taken.
	Reach

	// Quiet says that Value instructions ran (FlagCount: so many; else it is not
	// known how many) for which no outcome tells which. FlagIP: IP is executed
	// after them (ETMv4 and ETE: Q).
	Quiet

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
	"async-disable", "off", "reach", "quiet", "overflow", "status", "payload", "context",
	"trouble", "end",
}

// String returns the kind's name as output prints it.
func (k Kind) String() string {
	return nameOf(kindNames[:], uint8(k))
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

	// Arm's.
	DetailNoSync          // Off: the stream could not be read before here
	DetailTraceOn         // Off: tracing starts, or goes on
	DetailException       // Async: Value: exception number as the protocol has it
	DetailExceptionRet    // an exception return (ETMv3, PTM, ETMv4; ETE has no packet of it)
	DetailFunctionRet     // a function return that changes the security state (Armv8-M)
	DetailPE              // Context: Value: context ID (31..0), VMID (63..32); Value2: PE bits
	DetailTimestamp       // Value: ticks of the trace's clock; Value2 bit 0: that clock's rate has changed; bits 15..8: how many high bits of Value are not known; and the bit SWOverflow
	DetailTimestampMarker // what the next timestamp is of
	DetailCycleCount      // Value: core cycles since the last count; Value2 bit 0: the count is not known
	DetailTraceEvent      // Value: numbered events that occurred, bit n for event n
	DetailInstrumentation // Value: payload; Value2: exception level (FEAT_ITE)
	DetailSoftware        // Value: payload; Value2: SW bits (STM, ITM stimulus ports)
	DetailHardware        // Value: payload; Value2: SW bits (DWT packets of ITM)
	DetailSTPSync         // Value: version of the protocol; the master and the channel are zero again
	DetailStreamError     // an error that the trace source itself reports; Value: as sent; STM: Value2: SW bits
	DetailLocalTimestamp  // ITM: Value: ticks since the start or the last overflow; Value2: LT bits
	DetailDataSync        // Value: number of a data synchronisation marker; Value2 bit 0: it has one
	numDetails
)

// Bits are what Value2 holds where an Event's Detail gives it a layout.
type Bits = uint64

// Value2 in a Context of DetailPE.
const (
	PELevel     Bits = 3      // mask: exception level
	PE64        Bits = 1 << 2 // AArch64
	PENonSecure Bits = 1 << 3 // NS
	PERealm     Bits = 1 << 4 // NSE: with NS realm, without root (FEAT_RME)
	PEHyp       Bits = 1 << 5 // hypervisor mode (PTM, ETMv3)
	PEHasID     Bits = 1 << 6 // the context ID is stated
	PEHasVMID   Bits = 1 << 7 // the VMID is stated
	PEHasLevel  Bits = 1 << 8 // level, PE64, PENonSecure and PERealm are stated
	PEAltISA    Bits = 1 << 9 // AltISA: ThumbEE
)

// Value2 in a Payload of DetailSoftware and DetailHardware.
const (
	SWChannelShift Bits = 0       // 15..0: channel; ITM: stimulus port; DWT: packet's discriminator
	SWMasterShift  Bits = 16      // 31..16: master
	SWSizeShift    Bits = 32      // 39..32: size of the payload, bits: 0, 4, 8, 16, 32, 64
	SWMarker       Bits = 1 << 40 // marked
	SWTimestamped  Bits = 1 << 41 // a DetailTimestamp of the same moment follows
	SWFlag         Bits = 1 << 42 // a flag, without payload
	SWTrigger      Bits = 1 << 43 // a trigger
	SWOverflow     Bits = 1 << 44 // items were lost before it
	SWFrequency    Bits = 1 << 45 // the payload is the timestamps' frequency, Hz
	SWNoID         Bits = 1 << 46 // master and channel are not known
)

// Value2 in a Payload of DetailLocalTimestamp; SWOverflow too.
const (
	LTTicks         Bits = 1<<40 - 1 // mask: ticks since the last one
	LTDelayed       Bits = 1 << 40   // it was sent late: the payload before it is older than it says
	LTPacketDelayed Bits = 1 << 41   // the payload before it was itself sent late
)

var detailNames = [numDetails]string{
	"", "cr3", "vmcs", "mode", "tx-begin", "tx-commit", "tx-abort", "tx-state",
	"ptwrite", "exstop", "mwait", "pwre", "pwrx", "block-begin", "block-item",
	"block-end", "cfe", "evd", "trigger", "cbr", "tracestop", "mnt",
	"no-sync", "trace-on", "exception", "exception-return", "function-return", "pe",
	"timestamp", "timestamp-marker", "cycle-count", "trace-event", "instrumentation",
	"software", "hardware", "stp-sync", "stream-error", "local-timestamp", "data-sync",
}

// String returns the detail's name as output prints it.
func (d Detail) String() string {
	return nameOf(detailNames[:], uint8(d))
}

// Flags refine an Event.
type Flags uint16

// The flags of an Event.
const (
	FlagIP       Flags = 1 << iota // IP is stated
	FlagMode                       // Mode is stated and holds from IP on
	FlagCR3                        // Value is the CR3 that holds from IP on
	FlagAbort                      // the Async is a transaction's abort
	FlagBreak                      // the Async is known to be a breakpoint exception (PT: CFE INTR vector 3)
	FlagIntr                       // the Async is known to be another exception or an interrupt (PT: CFE, other vector)
	FlagNextIP                     // From may be the IP after the instruction (errata of 6/92)
	FlagRestated                   // a Sync inside a walk, not at a segment's start; a Context that the segment before has told
	FlagHere                       // the Async leaves where the flow stands
	FlagTaken                      // Reach: the last instruction is a branch that was taken
	FlagCount                      // Quiet: Value is how many
	FlagNoPacket                   // Trouble: the bytes are no packet; else a packet is out of place. End: the sync point there is broken
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
	Last   uint8  // Outcomes: how many of them the last packet holds; 0: not known
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

// nameOf returns name i of names, or "?".
func nameOf(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return "?"
}
