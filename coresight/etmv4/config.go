package etmv4

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Config is what a stream's packets leave out. The Protocol of its Trace is ETMv4 or ETE.
type Config coresight.DecoderConfig

// stackDepth is how many return addresses are kept, entries. No trace unit keeps more than
// 15 (DDI0487, "Return stack").
const stackDepth = 16

// Rules says which instructions spend an outcome and how returns are found. DDI0487,
// "Instruction and exception classification" and "Return stack". ETMv4's list of P0
// instructions is taken to be ETE's.
func (c *Config) Rules() isa.Rules {
	r := isa.Rules{
		Waypoints: isa.Set(isa.Jump, isa.Cond, isa.Call, isa.JumpInd, isa.CallInd, isa.Return, isa.FarJump,
			isa.FarReturn, isa.Barrier),
		Raises:             isa.Set(isa.Syscall),
		Syncs:              isa.Set(isa.Barrier, isa.FarReturn),
		AlwaysConditional:  1 << isa.ModeT32,
		Returns:            isa.ReturnsByTarget,
		Stack:              stackDepth,
		SilentBranches:     true,
		DebugsToo:          true,
		StraightOnReserved: 1 << isa.ModeA64,
	}
	if c.Trace.WaitsP0() {
		r.Waypoints |= isa.Set(isa.Wait)
	}
	if c.Trace.V4.ReturnStack() {
		r.Returns = isa.ReturnsByOutcome
	}
	return r
}
