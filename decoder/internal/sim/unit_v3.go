package sim

import "github.com/ptdecode/ptdecode/coresight/etmv3"

// writerV3 writes ETMv3's packets: an atom is an instruction.
type writerV3 struct{ *unitA32 }

func (u *writerV3) put(p etmv3.Packet) {
	u.note(len(u.out))
	u.out = p.Append(u.out)
}

func (u *writerV3) async() { u.put(etmv3.Packet{Kind: etmv3.ASync, N: 5 + uint8(u.r.n(3))}) }

func (u *writerV3) isync(ip uint64, reason int) {
	p := etmv3.Packet{Kind: etmv3.ISync, Value: ip, Info: uint16(reason)<<5 | 1<<3}
	p.Context, p.N = u.context()
	if reason != syncPeriodic && u.reg.V3.CycleAccurate() {
		p.Kind = etmv3.ISyncCycles
		u.count(&p)
	}
	u.put(p)
}

// count gives p the cycles since the last count.
func (u *writerV3) count(p *etmv3.Packet) {
	p.Cycles, p.CC = u.counted(7)
}

// flush writes what was gathered: runs of instructions that passed, with one
// behind that failed or not, or two instructions.
func (u *writerV3) flush() {
	most := 15
	if u.reg.V3.CycleAccurate() {
		most = 7
	}
	for u.n > 0 {
		e := 0
		for e < most && e < u.n && u.atoms>>(u.n-1-e)&1 != 0 {
			e++
		}
		p := etmv3.Packet{Kind: etmv3.PHeader, Info: 1, N: uint8(e)}
		switch {
		case u.n >= 2 && (e == 0 || u.r.one(4)):
			p.Info, p.N = 2, 2
		case most == 7 && u.r.one(4):
			p.Info, p.N = 4, 1
			p.Pad = uint8(u.r.n(2))
		case most == 7 && e > 0 && u.r.one(4):
			p.Info, p.N, p.Cycles = 3, 1, 1+uint32(u.r.n(8))
		case e < u.n && u.atoms>>(u.n-1-e)&1 == 0 && (e == 0 || u.r.one(2)):
			p.N++
		}
		v, _ := u.gathered(int(p.N))
		p.Value = v
		u.put(p)
	}
}

// branch returns the packet that says that control went to to; all: with all
// address bytes.
func (u *writerV3) branch(to uint64, all bool) etmv3.Packet {
	was, wm, addr, m := u.goTo(to, all)
	return etmv3.BranchTo(etmv3.Format{Alternative: u.reg.V3.AlternativeBranches()}, was, wm, addr, m)
}

func (u *writerV3) target(to uint64) {
	u.atom(true)
	u.flush()
	if u.r.one(12) { // another first: of several the last counts
		u.put(u.branch(to^uint64(u.r.n(16))<<2, false))
	}
	u.put(u.branch(to, false))
}

func (u *writerV3) exception(_ uint64, _ bool, to uint64, number uint16, cancels bool) {
	if cancels {
		u.atoms, u.n = u.atoms<<1|1, u.n+1
	}
	u.flush()
	// The older form has room to say that more follows in the fifth byte only,
	// the alternative one in all but the first.
	p := u.branch(to, !u.reg.V3.AlternativeBranches())
	if p.N == 1 {
		p = u.branch(to, true)
	}
	p.Value |= 1 << (7*p.N - 1)
	p.Exc, p.Extra = 1, uint64(number)<<1|1
	if cancels {
		p.Extra |= 1 << 5
	}
	if u.r.one(2) {
		p.Exc, p.Extra = 2, p.Extra|1<<7
	}
	u.put(p)
}

func (u *writerV3) timestamp(v uint64, n uint8) {
	u.put(etmv3.Packet{Kind: etmv3.Timestamp, Value: v, N: n, Info: uint16(u.r.n(2))})
}

func (u *writerV3) contextID() {
	p := etmv3.Packet{Kind: etmv3.ContextID}
	p.Context, p.N = u.context()
	u.put(p)
}

func (u *writerV3) idle() {
	switch u.r.n(4) {
	case 0:
		u.put(etmv3.Packet{Kind: etmv3.Trigger})
	case 1:
		u.put(etmv3.Packet{Kind: etmv3.Ignore})
	case 2:
		if u.reg.V3.CycleAccurate() {
			p := etmv3.Packet{Kind: etmv3.CycleCount}
			u.count(&p)
			u.put(p)
		}
	default:
		u.put(etmv3.Packet{Kind: etmv3.VMID, Value: u.r.n(4)})
	}
}
