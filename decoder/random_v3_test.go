package decoder

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// v3Unit is an ETMv3.
type v3Unit struct {
	baseUnit
	form etmv3.Format

	n int // instructions since tracing went on
}

// v3UnitFor makes one that is set up at random.
func v3UnitFor(r *rand.Rand) randomUnit {
	u := &v3Unit{baseUnit: baseUnit{r: r, whole: true}}
	u.st = stream.Stream{Protocol: stream.ETMv3, Unit: coresight.Config{Protocol: coresight.ETMv3, V3: coresight.ETMv3Registers{
		CR:   1<<28 | uint32(r.IntN(2))<<12 | uint32(r.IntN(4))<<14,
		CCER: uint32(r.IntN(4)) << 28,
		IDR:  0x410c0250 | uint32(r.IntN(2))<<20,
	}}}
	u.near = r.IntN(2) == 0
	c := etmv3.Config{Trace: u.st.CoreSight(), TimeConv: u.st.Clock, Ahead: u.near}
	u.form = c.Format()
	return u
}

func (u *v3Unit) put(p etmv3.Packet) { u.buf = p.Append(u.buf) }

// flush writes the atoms held back, in whatever P-headers hold them.
func (u *v3Unit) flush() {
	for len(u.atoms) > 0 {
		p := etmv3.Packet{Kind: etmv3.PHeader, Info: 1}
		most := 15
		if u.form.CycleAccurate {
			most = 7
			if u.r.IntN(4) == 0 {
				u.put(etmv3.Packet{Kind: etmv3.PHeader, Info: 3, Cycles: uint32(1 + u.r.IntN(8))})
			}
		}
		e := 0
		for e < min(most, len(u.atoms)) && u.atoms[e] {
			e++
		}
		n := e
		if n < len(u.atoms) && !u.atoms[n] {
			n++
		}
		switch {
		case len(u.atoms) >= 2 && u.r.IntN(3) == 0:
			p.Info, n = 2, 2
		case u.form.CycleAccurate && u.r.IntN(3) == 0:
			p.Info, n = 4, 1
			if u.atoms[0] && u.r.IntN(2) == 0 {
				p.Info, p.Cycles = 3, uint32(1+u.r.IntN(8))
			}
		}
		p.N, p.Value = uint8(n), u.take(n)
		u.put(p)
	}
}

func (u *v3Unit) isync(l spot, why int) {
	p := etmv3.Packet{Kind: etmv3.ISync, Value: l.target(), Info: uint16(why<<5 | 1), N: u.form.ContextBytes, Context: 0x12}
	if u.form.CycleAccurate && why != periodicSync {
		p.Kind, p.CC, p.Cycles = etmv3.ISyncCycles, 2, uint32(u.r.IntN(10_000))
	}
	u.put(p)
	u.told = l
}

func (u *v3Unit) on(l spot, why int) {
	if len(u.buf) == 0 {
		u.put(etmv3.Packet{Kind: etmv3.ASync, N: 5})
	}
	u.isync(l, why)
	u.n, u.open, u.asked = 0, false, false
}

func (u *v3Unit) ran(_ spot, in *isa.Insn, passed bool, _ uint64, next spot) {
	u.n++
	if u.atoms = append(u.atoms, passed); len(u.atoms) > 20 {
		newest := u.atoms[20:]
		u.atoms = u.atoms[:20]
		u.flush()
		u.atoms = append(u.atoms, newest...)
	}
	if passed {
		switch in.Class {
		case isa.FarReturn:
			u.flush()
			u.put(etmv3.Packet{Kind: etmv3.ExceptionRet})
			fallthrough
		case isa.JumpInd, isa.CallInd, isa.Return:
			u.flush()
			if u.r.IntN(4) == 0 { // one that the next replaces
				other := spot{next.ip ^ 8, next.mode}
				u.put(etmv3.BranchTo(u.form, uint32(u.told.ip), u.told.mode, uint32(other.ip), other.mode))
				u.told = other
			}
			u.put(etmv3.BranchTo(u.form, uint32(u.told.ip), u.told.mode, uint32(next.ip), next.mode))
			u.told = next
		}
	}
	if in.Class == isa.Syscall && passed || in.Class == isa.Other {
		return // an exception may come first
	}
	switch {
	case u.asked && u.r.IntN(4) == 0:
		u.flush()
		u.put(etmv3.Packet{Kind: etmv3.ASync, N: 5})
		u.open, u.asked = true, false
	case u.open && u.r.IntN(4) == 0:
		u.flush()
		u.isync(next, periodicSync)
		u.open, u.whole = false, true
	}
}

func (u *v3Unit) exception(_ spot, number uint16, undone bool, vector spot) {
	u.flush()
	p := etmv3.BranchTo(u.form, uint32(vector.ip), isa.ModeUnknown, uint32(vector.ip), vector.mode)
	if u.r.IntN(4) == 0 && vector.mode == isa.ModeA32 && number != 10 && number != 12 {
		// In the older form: IRQ is 1.
		p.Value = p.Value&^(0xff<<28) | uint64(0x80|1<<3)<<28 | p.Value&(7<<28)
	} else {
		p.Value |= 1 << (28 + 6)
		p.Exc, p.Extra = 1, uint64(number)<<1
		if undone {
			p.Extra |= 1 << 5
		}
	}
	if undone {
		u.n--
	}
	u.put(p)
	u.told = vector
}

func (u *v3Unit) off()        { u.flush() }
func (u *v3Unit) traced() int { return u.n }

func (u *v3Unit) tick(now uint64) {
	if n := len(u.atoms); n > 1 && u.r.IntN(2) == 0 {
		newest := u.atoms[n-1] // which is in the P-header behind it
		u.atoms = u.atoms[:n-1]
		u.flush()
		u.atoms = append(u.atoms, newest)
	} else {
		u.flush()
	}
	p := etmv3.Packet{Kind: etmv3.Timestamp}
	p.N, p.Value = u.timestamp(now, u.form.TS64)
	u.put(p)
}

// TestRandomETMv3 would catch what is shown and was not executed, and what was
// executed and is not shown, of A32 and T32 programs traced by an ETMv3.
// Examples are an outcome given to another instruction, a cancelled
// instruction, and a target that was replaced. Others are a mode lost at a
// branch between the sets, time outside of its bounds, and a seam that leaves
// something out.
func TestRandomETMv3(t *testing.T) { testRandom(t, 2, true, v3UnitFor) }
