package sim

import (
	"math/bits"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
)

// flush sends the atoms gathered.
func (u *unitV4) flush() {
	u.putAtoms(u.atoms, u.n)
	u.atoms, u.n = 0, 0
	u.trim(0)
}

// settle states where the newest P0 element led, if that is due.
func (u *unitV4) settle() {
	if u.target {
		u.flush()
		u.target = false
		u.address(u.at, false)
	}
}

// extras writes what says nothing about the flow.
func (u *unitV4) extras() {
	if !u.r.one(12) {
		return
	}
	ete := u.reg.Protocol == coresight.ETE
	switch _, minor := u.reg.Version(); u.r.n(6) {
	case 0:
		u.flush()
		u.put(etmv4.Packet{Kind: etmv4.Event, Arg: 1 + uint8(u.r.n(15))})
	case 1:
		c := etmv4.Packet{Kind: etmv4.ContextSame}
		if u.r.one(2) {
			c.Kind = etmv4.Context
			u.context(&c)
		}
		u.flush()
		u.put(c)
	case 2:
		if u.reg.AtLeast(4, 3) {
			u.flush()
			u.put(etmv4.Packet{Kind: etmv4.Ignore})
		}
	case 3:
		if ete && minor >= 3 {
			u.flush()
			u.put(etmv4.Packet{Kind: etmv4.ITE, Arg: uint8(u.r.n(4)), Value: u.r.next()})
		}
	case 4:
		u.settle() // before it is needed
	default:
		if u.counting() {
			u.flush()
			u.cycleCount(0)
		}
	}
}

// cycleCount counts the cycles since the last count, and commits n P0 elements
// where such packets do.
func (u *unitV4) cycleCount(n int) {
	commits := u.reg.V4.CommitInCounts()
	c := u.cycles()
	p := etmv4.Packet{Kind: etmv4.CycleF1, Value: c}
	switch {
	case c < 4 && (!commits || n >= 1 && n <= 4):
		p = etmv4.Packet{Kind: etmv4.CycleF3, Arg: uint8(c)}
		if commits {
			p.Arg |= uint8(n-1) << 2
		}
	case c < 16 && !commits:
		p = etmv4.Packet{Kind: etmv4.CycleF2, Value: c}
	case c < 16 && n >= 1 && n <= 16:
		p = etmv4.Packet{Kind: etmv4.CycleF2, Value: c | uint64(n-1)<<4}
	case c < 16 && n >= u.max-15 && n <= u.max:
		p = etmv4.Packet{Kind: etmv4.CycleF2, Arg: 1, Value: c | uint64(n+15-u.max)<<4}
	default:
		if u.r.one(8) {
			p.Arg, p.Value = 1, 0 // not known
		}
		if commits {
			p.Arg |= 2
			p.Value2 = uint64(n)
		}
	}
	u.put(p)
	if commits {
		u.committed(n)
	}
}

// sourceAddress tells of a taken branch by its address, with the branches not
// taken before it; false: it does not.
func (u *unitV4) sourceAddress(next uint64) bool {
	if u.reg.Protocol != coresight.ETE || u.target || !u.r.one(6) {
		return false
	}
	z := min(bits.TrailingZeros64(u.atoms), u.n) // not taken, the newest ones
	if z > 0 {
		u.atoms >>= z
		u.n -= z
		u.open = u.open[:len(u.open)-z]
	}
	u.flush()
	a := (*u.insns)[len(*u.insns)-1].IP
	is := uint8(a & 1)
	p := etmv4.Packet{Arg: is}
	diff := (a ^ u.hist[0]) &^ 1
	switch {
	case u.matches(&p, a, etmv4.SrcMatch):
	case u.shortens(&p, diff, is):
		p.Kind = etmv4.SrcShort
	case diff>>32 == 0 && !u.r.one(8):
		p.Kind = etmv4.Src32
	default:
		p.Kind = etmv4.Src64
	}
	p.SetAddress(a)
	u.put(p)
	u.push(a)
	u.p0(next)
	return true
}

// keepQuiet keeps a branch back for a Q; false: it is to be told.
func (u *unitV4) keepQuiet(next uint64) bool {
	if u.quiet == 0 {
		return false
	}
	if u.quiet--; u.quiet == 0 {
		u.quiet = 1
		u.endQuiet(next)
	}
	return true
}

// endQuiet tells by a Q of all that has run since the newest P0 element; next
// is next to run.
func (u *unitV4) endQuiet(next uint64) {
	n := len(*u.insns) - u.atN
	if u.quiet == 0 || n == 0 {
		u.quiet = 0
		return
	}
	u.quiet = 0
	p := etmv4.Packet{Kind: etmv4.Q, Value2: uint64(n)}
	diff := next ^ u.hist[0]
	follows := false
	var q etmv4.Packet
	switch {
	case u.r.one(6):
		p.Arg, p.Value2, follows = etmv4.QBare, 0, true
		u.bare[int64(len(u.out))] = len(*u.insns)
	case u.r.one(6):
		p.Arg, follows = etmv4.QCount, true
	case u.matches(&q, next, etmv4.AddrMatch):
		p.Arg = q.Arg
	case u.shortens(&p, diff, 0):
		p.Arg = etmv4.QShort0
	case diff>>32 == 0:
		p.Arg = etmv4.QLong0
	default:
		p.Arg, follows = etmv4.QCount, true
	}
	p.SetAddress(next)
	u.put(p)
	u.p0(next)
	if u.target = follows; !follows {
		u.push(next)
	}
	u.settle()
}
