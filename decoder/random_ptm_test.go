package decoder

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// periodicSync is the reason of an I-sync that trace units of version 3 and PTM repeat.
const periodicSync = 0

// ptmUnit is a Program Trace Macrocell.
type ptmUnit struct {
	baseUnit
	form ptm.Format

	last      spot // the instruction executed last
	since     int  // instructions since the last waypoint
	n, shown  int  // instructions since tracing went on; what of them the trace can show
	stack     []spot
	tickAsked bool
	way       uint64
}

// ptmUnitFor makes one that is set up at random.
func ptmUnitFor(r *rand.Rand) randomUnit {
	u := &ptmUnit{baseUnit: baseUnit{r: r, whole: true}}
	u.st = stream.Stream{Protocol: stream.PTM, Unit: coresight.Config{Protocol: coresight.PTM, V3: coresight.ETMv3Registers{
		CR:   1<<28 | uint32(r.IntN(2))<<29 | uint32(r.IntN(2))<<12 | uint32(r.IntN(4))<<14,
		CCER: 1<<23 | uint32(r.IntN(4))<<28 | uint32(r.IntN(2))<<24,
		IDR:  0x411cf301 | uint32(r.IntN(2))<<4,
	}}}
	u.near = r.IntN(2) == 0
	c := ptm.Config{Trace: u.st.CoreSight(), TimeConv: u.st.Clock, Ahead: u.near}
	u.form = c.Format()
	return u
}

func (u *ptmUnit) put(p ptm.Packet) {
	if u.form.CycleAccurate && (p.Kind == ptm.Branch || p.Kind == ptm.Timestamp || p.Kind == ptm.ISync && p.Reason() != periodicSync) {
		p.CC, p.Cycles = 1, uint32(u.r.IntN(16))
	}
	u.buf = p.Append(u.buf)
}

// flush writes the atoms held back.
func (u *ptmUnit) flush() {
	for len(u.atoms) > 0 {
		n := min(len(u.atoms), 1+u.r.IntN(5))
		p := ptm.Packet{Kind: ptm.Atom}
		if u.form.CycleAccurate {
			n, p.CC, p.Cycles = 1, 2, uint32(u.r.IntN(2048))
		}
		p.N, p.Value = uint8(n), u.take(n)
		u.buf = p.Append(u.buf)
	}
}

func (u *ptmUnit) isync(l spot, why int) {
	p := ptm.Packet{Kind: ptm.ISync, Value: l.target(), Info: uint16(why<<5 | 1), N: u.form.ContextBytes, Context: 0x12}
	u.put(p)
	u.told, u.stack = l, nil
}

func (u *ptmUnit) on(l spot, why int) {
	if len(u.buf) == 0 {
		u.buf = ptm.Packet{Kind: ptm.ASync, N: 5}.Append(u.buf)
	}
	u.isync(l, why)
	u.n, u.shown, u.since, u.open, u.asked = 0, 0, 0, false, false
}

// branchTo writes a packet to l: a branch, or a waypoint update.
func (u *ptmUnit) branchTo(k ptm.Kind, l spot) {
	u.flush()
	p := ptm.BranchTo(uint32(u.told.ip), u.told.mode, uint32(l.ip), l.mode)
	p.Kind = k
	u.put(p)
	u.told = l
}

func (u *ptmUnit) waypoint(in *isa.Insn) bool {
	switch in.Class {
	case isa.Jump, isa.Cond, isa.Call, isa.JumpInd, isa.CallInd, isa.Return, isa.FarReturn, isa.Barrier:
		return true
	}
	return false
}

func (u *ptmUnit) ran(l spot, in *isa.Insn, passed bool, at uint64, next spot) {
	u.n++
	u.since++
	u.last = l
	if !u.waypoint(in) {
		return
	}
	u.shown, u.since, u.way = u.n, 0, at
	after := spot{l.ip + uint64(in.Len), l.mode}
	calls := in.Class == isa.Call || in.Class == isa.CallInd
	switch {
	case !passed:
		u.atoms = append(u.atoms, false)
		calls = false
	case in.Class == isa.Jump, in.Class == isa.Cond, in.Class == isa.Call, in.Class == isa.Barrier:
		u.atoms = append(u.atoms, true)
	case u.returnStack() && len(u.stack) > 0 && u.stack[len(u.stack)-1] == next:
		u.stack = u.stack[:len(u.stack)-1]
		u.atoms = append(u.atoms, true)
	default:
		u.branchTo(ptm.Branch, next)
		if in.Class == isa.FarReturn {
			u.put(ptm.Packet{Kind: ptm.ExceptionRet})
		}
	}
	if calls && u.returnStack() {
		if u.stack = append(u.stack, after); len(u.stack) > 12 {
			u.stack = u.stack[1:]
		}
	}
	switch {
	case u.asked:
		u.flush()
		u.put(ptm.Packet{Kind: ptm.ASync, N: 5})
		u.open, u.asked = true, false
	case u.open:
		u.flush()
		u.isync(next, periodicSync)
		u.open, u.whole = false, true
	}
	if u.tickAsked || u.whole && u.prompt() {
		u.stampNow(at)
	}
}

// returnStack reports whether the unit keeps a return stack.
func (u *ptmUnit) returnStack() bool { c := u.st.CoreSight(); return c.V3.ReturnStack() }

// prompt: PFT 1.1, whose timestamps are of the last waypoint.
func (u *ptmUnit) prompt() bool { return u.st.CoreSight().V3.IDR>>4&0xf != 0 }

// stampNow writes a timestamp; now is later than all that was executed.
func (u *ptmUnit) stampNow(now uint64) {
	u.flush()
	t := now
	if u.prompt() {
		t = u.way
	}
	u.tickAsked = false
	p := ptm.Packet{Kind: ptm.Timestamp}
	p.N, p.Value = u.timestamp(t, u.form.TS64)
	u.put(p)
}

func (u *ptmUnit) exception(_ spot, number uint16, _ bool, vector spot) {
	if u.since > 0 {
		u.branchTo(ptm.Waypoint, u.last)
		u.shown, u.since = u.n, 0
	}
	u.flush()
	p := ptm.BranchTo(uint32(vector.ip), isa.ModeUnknown, uint32(vector.ip), vector.mode)
	p.Value |= 1 << (7*5 - 1)
	p.Exc, p.Info = 1, number<<1
	u.put(p)
	u.told = vector
}

func (u *ptmUnit) off()        { u.flush() }
func (u *ptmUnit) traced() int { return u.shown }
func (u *ptmUnit) tick(now uint64) {
	if u.tickAsked = u.prompt(); !u.tickAsked {
		u.stampNow(now) // between two waypoints
	}
}

// TestRandomPTM would catch what is shown and was not executed, and what was
// executed and is not shown, of A32 and T32 programs traced by a PTM. Examples
// are an outcome given to another waypoint, a return stack out of step, and a
// mode lost at a branch between the sets. Others are a waypoint update that is
// taken too far, time outside of its bounds, and a seam that leaves something
// out.
func TestRandomPTM(t *testing.T) { testRandom(t, 1, false, ptmUnitFor) }
