package sim

import "github.com/ptdecode/ptdecode/coresight/etmv4"

// afterP0 does what may follow a P0 element: it is committed, or others are
// first; cycles are counted; the next ones are kept back.
func (u *unitV4) afterP0() {
	if u.due != 0 && u.r.one(u.lag) {
		u.sendDue()
	}
	if n := uint64(len(u.open)); n > 0 && u.r.one(3) {
		u.commit(1 + int(u.r.n(n)))
	}
	if u.quiet == 0 && u.reg.V4.QElements() && u.r.one(60) && u.seldom.one(u.quiets) {
		u.flush()
		u.settle()
		u.quiet = 1 + int(u.r.n(5))
	}
}

// commit commits the n oldest P0 elements.
func (u *unitV4) commit(n int) {
	u.flush()
	if n = min(n, len(u.open)); n == 0 {
		return
	}
	if u.counting() && u.reg.V4.CommitInCounts() && u.r.n(4) > 0 {
		u.cycleCount(n)
		return
	}
	u.put(etmv4.Packet{Kind: etmv4.Commit, Value: uint64(n)})
	u.committed(n)
}

// committed notes that the n oldest P0 elements are.
func (u *unitV4) committed(n int) {
	if n > 0 {
		u.told = u.open[n-1]
		u.open = u.open[n:]
	}
}

// wrongPath writes up to most P0 elements of instructions that the CPU took
// for the next and that did not run, and returns how many. They are to be
// cancelled.
func (u *unitV4) wrongPath(most int) (n int) {
	if most <= 0 {
		return 0
	}
	n = 1 + int(u.r.n(uint64(min(most, 9))))
	u.flush()
	u.trim(n)
	for left := n; left > 0; {
		if left < n && u.r.one(8) { // before the first it would stay
			u.address(u.somewhere(), true)
		}
		if u.r.one(12) {
			u.put(etmv4.Packet{Kind: etmv4.Exception, Arg: 1 | 2<<1})
			u.address(u.somewhere(), true)
			left--
			continue
		}
		if left < n && u.moves.one(8) { // in another context
			c := etmv4.Packet{Kind: etmv4.Context}
			u.context(&c)
			c.Extra ^= 3
			u.put(c)
		}
		if left < n && u.cfg.Tx && u.r.one(6) {
			left -= u.wrongTx()
			continue
		}
		k := 1 + int(u.r.n(uint64(left)))
		u.putAtoms(u.r.next()>>(64-k), k)
		left -= k
		if u.r.one(6) {
			u.stampAs(u.now) // is not cancelled
		}
	}
	return n
}

// cancel takes back the n newest P0 elements.
func (u *unitV4) cancel(n int) {
	u.put(etmv4.Packet{Kind: etmv4.CancelF1, Value: uint64(n)})
}

// mispredict tells of a conditional branch as if it had gone the other way, of
// some of what the CPU took for the next, and that this was wrong.
func (u *unitV4) mispredict(taken bool, next uint64) {
	prev := u.n > 0 && u.atoms&1 != 0 // the atom gathered last is an E
	wrong := etmv4.Packet{Kind: etmv4.Mispredict, Arg: 3}
	if !taken {
		wrong.Arg = 1
	}
	k := int(u.r.n(uint64(min(u.max, 8)))) // P0 elements of the wrong path
	switch form := u.r.n(3); {
	case k == 0 && form == 0 && !taken && prev && u.max > 1: // two atoms: the one before, and this
		u.atoms >>= 1
		u.n--
		wrong.Arg = 2
		u.flush()
		u.trim(1)
		u.put(wrong)
	case k == 0 && form <= 1:
		u.flush()
		u.trim(1)
		u.put(wrong)
	case k == 1 && form == 0 && !taken: // it and what was cancelled
		u.flush()
		u.trim(1 + k)
		u.put(etmv4.Packet{Kind: etmv4.CancelF2, Arg: 2})
	default:
		u.flush()
		u.trim(1 + k)
		u.putAtoms(1-uint64(wrong.Arg>>1), 1)
		u.recover(k, form)
	}
	u.p0(next)
}

// recover writes k P0 elements of a wrong path, takes them back and turns the
// atom before them round.
func (u *unitV4) recover(k int, form uint64) {
	atoms := func(n int) { u.putAtoms(u.r.next()>>(63-n)>>1, n) }
	switch {
	case k == 0:
		u.put(etmv4.Packet{Kind: etmv4.Mispredict})
	case k == 1 && form == 0:
		atoms(1)
		u.put(etmv4.Packet{Kind: etmv4.CancelF2})
	case k == 1 && form == 1:
		u.put(etmv4.Packet{Kind: etmv4.CancelF2, Arg: 1 + 2*uint8(u.r.n(2))})
	case k >= 2 && k <= 5 && form == 0:
		atoms(k)
		u.put(etmv4.Packet{Kind: etmv4.CancelF3, Arg: uint8(k-2) << 1})
	case k >= 2 && k <= 5 && form == 1:
		atoms(k - 1)
		u.put(etmv4.Packet{Kind: etmv4.CancelF3, Arg: 1 | uint8(k-2)<<1})
	default:
		atoms(k)
		if u.r.one(4) {
			u.address(u.somewhere(), true)
		}
		p := etmv4.Packet{Kind: etmv4.CancelF1, Arg: uint8(u.r.n(2)), Value: uint64(k)}
		u.put(p)
		if p.Arg == 0 {
			u.put(etmv4.Packet{Kind: etmv4.Mispredict})
		}
	}
}

// wrongTarget says of the indirect branch told last that it led elsewhere, and
// perhaps what the CPU took for the next there.
func (u *unitV4) wrongTarget() {
	if u.max == 0 || !u.r.one(5) {
		return
	}
	u.flush()
	u.address(u.somewhere(), true)
	if n := u.wrongPath(min(u.max-1, int(u.r.n(6)))); n > 0 {
		u.cancel(n)
	}
}
