package decoder

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// v3Unit is an ETMv3.
type v3Unit struct {
	r    *rand.Rand
	cfg  etmv3.Config
	form etmv3.Format
	buf  []byte

	atoms []bool
	told  spot // the address and the instruction set told last
	n     int  // instructions since tracing went on
	open  bool // an A-sync has been written, its I-sync not yet
	asked bool // for a sync point
	whole bool // the next timestamp is to be whole
	stamp uint64
}

// v3UnitFor makes one that is set up at random.
func v3UnitFor(r *rand.Rand) *v3Unit {
	u := &v3Unit{r: r, whole: true}
	u.cfg.Trace = coresight.Config{Protocol: coresight.ETMv3, V3: coresight.ETMv3Registers{
		CR:   1<<28 | uint32(r.IntN(2))<<12 | uint32(r.IntN(4))<<14,
		CCER: uint32(r.IntN(4)) << 28,
		IDR:  0x410c0250 | uint32(r.IntN(2))<<20,
	}}
	u.cfg.Ahead = r.IntN(2) == 0
	u.form = u.cfg.Format()
	return u
}

func (u *v3Unit) put(p etmv3.Packet) { u.buf = etmv3.AppendPacket(u.buf, p) }

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
		p.N = uint8(n)
		for _, e := range u.atoms[:n] {
			p.Value <<= 1
			if e {
				p.Value |= 1
			}
		}
		u.put(p)
		u.atoms = u.atoms[n:]
	}
}

func (u *v3Unit) isync(l spot, why int) {
	p := etmv3.Packet{Kind: etmv3.ISync, Value: l.ip, Info: uint16(why<<5 | 1), N: u.form.ContextBytes, Context: 0x12}
	if l.mode == isa.ModeT32 {
		p.Value |= 1
	}
	if u.form.CycleAccurate && why != etmv3.ReasonPeriodic {
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
		u.isync(next, etmv3.ReasonPeriodic)
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
func (u *v3Unit) sync()       { u.asked = !u.open }
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
	code := now
	if !u.cfg.Trace.NaturalTimestamps() {
		code = now ^ now>>1
	}
	n, all := uint8(1), uint8(7)
	if u.form.TS64 {
		all = 9
	}
	for ; n < all && (code^u.stamp)>>(7*n) != 0; n++ {
	}
	p := etmv3.Packet{Kind: etmv3.Timestamp, N: n, Value: code & (1<<(7*n) - 1)}
	if u.whole {
		p.N, p.Value = all, code
	}
	u.put(p)
	u.stamp, u.whole = code, false
}

// TestRandomETMv3 would catch anything that is shown and was not executed, or was
// and is not, of A32 and T32 programs traced by an ETMv3: an outcome given to
// another instruction, one that was cancelled, a target that was replaced, a mode
// lost at a branch between the sets, time outside of its bounds, and a seam that
// leaves something out.
func TestRandomETMv3(t *testing.T) {
	n := 1500
	if testing.Short() {
		n = 150
	}
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 2))
		u := v3UnitFor(r)
		p := newProgram(r, 8+8*r.IntN(8))
		want := p.execute(pace(seed), u, true)
		segs, _ := etmv3.Plan(inMemory(u.buf), int64(len(u.buf)), 0, u.cfg)
		fill(segs, u.buf)
		if err := p.compare(t, want, u.cfg.Rules(), segs, etmv3.NewDecoder(u.cfg, event.Segment{})); err != nil {
			t.Fatalf("seed %d, %+v, %d segments: %v", seed, u.cfg.Trace.V3, len(segs), err)
		}
	}
}
