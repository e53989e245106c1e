package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// A lead is where a block leads: what its last instruction does to the flow, and
// what the trace says of that. It follows from the instruction's class and the
// protocol's rules. leadOf says it once, when the block is read; whoever follows a
// flow, or asks where one would go, asks the block's lead.
//
// Its low bits are one of the places below: where the flow goes if the
// instruction's condition holds.
type lead uint8

const (
	toNext   lead = iota // to the address behind the block
	toTarget             // to the static target
	toStated             // where the trace states or the return stack has it: an indirect branch
	toFar                // where the trace states, maybe in another mode or address space
	toTrap               // to the handler of an exception at the instruction's own address
	toRaised             // to the handler of an exception from the address behind the block
	toUnread             // to the address behind the block, where nothing can be read
	place    lead = 7    // the bits that hold one of these
)

const (
	spends  lead = 8 << iota // the trace has an outcome for it: the instruction is a waypoint
	mayFail                  // it has a condition: without it the flow goes to the address behind the block
	calls                    // it pushes the address behind the block on the return stack
	returns                  // it pops the return stack, or may be told by what that holds
	syncs                    // it synchronises the CPU with what was written to code
)

// trapping is the classes that leave by an exception at their own address.
const trapping = isa.ClassSet(1<<isa.SoftInt | 1<<isa.Break | 1<<isa.Undefined)

// leaving is the classes whose destination the trace states, where they spend no
// outcome.
const leaving = isa.ClassSet(1<<isa.JumpInd | 1<<isa.CallInd | 1<<isa.Return | 1<<isa.FarJump |
	1<<isa.FarReturn | 1<<isa.Syscall | 1<<isa.VMEnter | 1<<isa.JumpAbs)

// leadOf returns the lead of a block whose last instruction has class c and flags
// f, in mode m. A stop says why the block ends before a branch.
//
// Which classes spend an outcome is isa.Rules.Waypoints. In Intel PT those are the
// conditional branches alone, in ETMv3 all instructions. In ETMv4 and ETE they are
// every branch and ISB (DDI0487, "Instruction and exception classification").
func leadOf(r *isa.Rules, c isa.Class, f isa.Flags, m isa.Mode, stop event.Reason) (l lead) {
	if r.Waypoints.Has(c) {
		l |= spends
	}
	// INTO, and A32 instructions with a condition, say so. A T32 instruction may
	// stand in an IT block, but BKPT executes there all the same (DDI0487, "BKPT").
	if c == isa.Cond || f&isa.FlagConditional != 0 || r.AlwaysConditional.Has(m) && c != isa.Break {
		l |= mayFail
	}
	// TSTART is told as ISB is, but is no context synchronization event (DDI0487,
	// Glossary).
	if r.Syncs.Has(c) && f&isa.FlagTx == 0 {
		l |= syncs
	}
	switch {
	case l&spends == 0 && r.Raises.Has(c): // SVC: its exception returns behind it
		return l | toRaised
	case c == isa.Jump, c == isa.Cond && l&spends != 0:
		return l | toTarget
	case c == isa.Call && l&spends == 0 && f&isa.FlagZeroCall != 0: // Intel PT pushes nothing
		return l | toTarget
	case c == isa.Call:
		return l | toTarget | calls
	case c == isa.JumpInd:
		return l | toStated
	case c == isa.CallInd:
		return l | toStated | calls
	case c == isa.Return:
		return l | toStated | returns
	case c == isa.Syscall && l&spends != 0: // an exception of its own follows
		return l | toNext
	case leaving.Has(c):
		return l | toFar
	case trapping.Has(c):
		return l | toTrap
	case stop != event.ReasonNone:
		return l | toUnread
	}
	return l | toNext
}

// silentNext returns where b leads if the trace need not say so: its code alone
// does, and it spends no outcome.
func (b *Block) silentNext() (ip uint64, ok bool) {
	if b.N == 0 || b.lead&spends != 0 {
		return 0, false
	}
	switch b.lead & place {
	case toNext:
		return b.End, true
	case toTarget:
		return b.Target, true
	case toTrap: // if it did not trap
		return b.End, b.lead&mayFail != 0
	}
	return 0, false
}

// goesOn reports whether the block's last instruction is no branch, and enters
// no exception: the flow goes on behind it.
func (l lead) goesOn() bool { return l&place == toNext || l&place == toUnread }

// modeAhead returns the mode at b's static target.
func (b *Block) modeAhead() isa.Mode {
	if b.Flags&isa.FlagInterwork == 0 {
		return b.Mode
	}
	return isa.ModeA32 + isa.ModeT32 - b.Mode
}
