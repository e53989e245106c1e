package sim

import "github.com/ptdecode/ptdecode/coresight/ptm"

// writerPTM writes PTM's packets: an atom is a waypoint.
type writerPTM struct{ *unitA32 }

func (u *writerPTM) put(p ptm.Packet) {
	u.note(len(u.out))
	u.out = p.Append(u.out)
}

// count gives p the cycles since the last count, where such are traced.
func (u *writerPTM) count(p *ptm.Packet) {
	if !u.reg.V3.CycleAccurate() {
		return
	}
	p.Cycles, p.CC = u.counted(4)
}

func (u *writerPTM) async() { u.put(ptm.Packet{Kind: ptm.ASync, N: 5 + uint8(u.r.n(3))}) }

func (u *writerPTM) isync(ip uint64, reason int) {
	p := ptm.Packet{Kind: ptm.ISync, Value: ip, Info: uint16(reason)<<5 | 1<<3}
	p.Context, p.N = u.context()
	if reason != syncPeriodic {
		u.count(&p)
	}
	u.put(p)
}

func (u *writerPTM) flush() {
	for u.n > 0 {
		most := 5
		if u.reg.V3.CycleAccurate() {
			most = 1
		}
		p := ptm.Packet{Kind: ptm.Atom}
		v, n := u.gathered(most)
		p.Value, p.N = v, uint8(n)
		u.count(&p)
		u.put(p)
	}
}

// branch returns the packet that says that control went to to; all: with all
// address bytes.
func (u *writerPTM) branch(to uint64, all bool) ptm.Packet {
	was, wm, addr, m := u.goTo(to, all)
	return ptm.BranchTo(was, wm, addr, m)
}

func (u *writerPTM) target(to uint64) {
	u.flush()
	p := u.branch(to, u.r.one(16))
	u.count(&p)
	u.put(p)
	u.told = len(*u.insns)
}

func (u *writerPTM) exception(last uint64, more bool, to uint64, number uint16, _ bool) {
	u.flush()
	if more {
		p := u.branch(last, false)
		p.Kind = ptm.Waypoint
		u.put(p)
	}
	p := u.branch(to, false)
	if p.N == 1 { // has no room to say that more follows
		p = u.branch(to, true)
	}
	p.Value |= 1 << (7*p.N - 1)
	p.Exc, p.Info = 1, number<<1|1
	if u.r.one(2) {
		p.Exc, p.Info = 2, p.Info|1<<7
	}
	u.count(&p)
	u.put(p)
}

func (u *writerPTM) timestamp(v uint64, n uint8) {
	p := ptm.Packet{Kind: ptm.Timestamp, Value: v, N: n, Info: uint16(u.r.n(2))}
	u.count(&p)
	u.put(p)
}

func (u *writerPTM) contextID() {
	p := ptm.Packet{Kind: ptm.ContextID}
	p.Context, p.N = u.context()
	u.put(p)
}

func (u *writerPTM) idle() {
	p := ptm.Packet{Kind: [...]ptm.Kind{ptm.Trigger, ptm.Ignore, ptm.VMID}[u.r.n(3)]}
	if p.Kind == ptm.VMID {
		p.Value = u.r.n(4)
	}
	u.put(p)
}
