package ptm

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Config is what a stream's packets leave out. The Protocol of its Trace is PTM.
type Config coresight.DecoderConfig

// stackDepth is the number of return addresses that a decoder keeps, as many
// as OpenCSD does: decoder/include/common/trc_ret_stack.h.
const stackDepth = 16

// Rules says which instructions spend an outcome and how returns are found.
// IHI0035B, chapter "Program Flow Tracing", section "Waypoint instructions". A
// SVC is none: that it ran is told by a waypoint update and an exception.
//
// Where the trace unit takes DMB and DSB for waypoints, the instruction set must
// have them as isa.Barrier, as it does ISB; then none is known to synchronise.
func (c *Config) Rules() isa.Rules {
	r := isa.Rules{
		Waypoints:         isa.Set(isa.Jump, isa.Cond, isa.Call, isa.JumpInd, isa.CallInd, isa.Return, isa.FarReturn, isa.Barrier),
		Raises:            isa.Set(isa.Syscall),
		Syncs:             isa.Set(isa.Barrier, isa.FarReturn),
		AlwaysConditional: 1 << isa.ModeT32,
		Returns:           isa.ReturnsByTarget,
		Stack:             stackDepth,
		PopsFirst:         true,
	}
	if c.Trace.V3.BarriersAreWaypoints() {
		r.Syncs = isa.Set(isa.FarReturn)
	}
	if c.Trace.V3.ReturnStack() {
		r.Returns = isa.ReturnsByOutcome
	}
	return r
}

// stampsLate reports whether a timestamp is of when it was made, and not of the
// waypoint before it: then part of what is told next was executed before it.
// IHI0035B, "Timestamping": PFT 1.0.
func (c *Config) stampsLate() bool {
	_, minor := c.Trace.Version()
	return minor == 0
}

// Format returns what the lengths of packets depend on.
func (c *Config) Format() Format {
	r := &c.Trace.V3
	return Format{
		CycleAccurate: r.CycleAccurate(), ContextBytes: uint8(r.ContextIDBytes()), TS64: c.Trace.WideTimestamps(),
	}
}
