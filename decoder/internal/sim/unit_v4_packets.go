package sim

import (
	"math/bits"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
)

// put appends a packet.
func (u *unitV4) put(p etmv4.Packet) { u.out = p.Append(u.out) }

// flush sends the atoms gathered.
func (u *unitV4) flush() {
	u.out = etmv4.AppendAtoms(u.out, u.atoms, u.n)
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

// short is how many low bits of an address a short packet of one and of two
// bytes replaces, by instruction set.
var short = [2][2]int{{9, 17}, {8, 16}}

// address states address a, in any form that holds it, and the context where
// that is due; one: in one packet.
func (u *unitV4) address(a uint64, one bool) {
	is := uint8(a & 1)
	p := etmv4.Packet{Arg: is}
	diff := (a ^ u.hist[0]) &^ 1
	wide := diff>>32 != 0 || u.r.one(16)
	ctx := u.ctx
	u.ctx = false
	switch {
	case ctx && (one || u.r.one(2)):
		p.Kind = etmv4.AddrCtxt64
		if !wide {
			p.Kind = etmv4.AddrCtxt32
		}
		u.context(&p)
		ctx = false
	case u.matches(&p, a, etmv4.AddrMatch):
	case u.shortens(&p, diff, is):
		p.Kind = etmv4.AddrShort
	case !wide:
		p.Kind = etmv4.Addr32
	default:
		p.Kind = etmv4.Addr64
	}
	p.SetAddress(a)
	c := etmv4.Packet{Kind: etmv4.Context}
	u.context(&c)
	before := u.r.one(2)
	if ctx && before {
		u.put(c)
	}
	u.put(p)
	if ctx && !before {
		u.put(c)
	}
	u.push(a)
}

// push notes an address that was sent.
func (u *unitV4) push(a uint64) { u.hist = [3]uint64{a, u.hist[0], u.hist[1]} }

// matches makes p an exact match of kind k, if the history holds a.
func (u *unitV4) matches(p *etmv4.Packet, a uint64, k etmv4.Kind) bool {
	for i, h := range u.hist {
		if h == a && !u.r.one(16) {
			*p = etmv4.Packet{Kind: k, Arg: uint8(i)}
			return true
		}
	}
	return false
}

// shortens makes p of the size of a short packet, if its address differs from the
// newest in low bits only.
func (u *unitV4) shortens(p *etmv4.Packet, diff uint64, is uint8) bool {
	for i, n := range short[is] {
		if diff>>n == 0 && !u.r.one(16) {
			p.N = uint8(i + 1)
			return true
		}
	}
	return false
}

// context puts the present context into p.
func (u *unitV4) context(p *etmv4.Packet) {
	p.Extra |= uint32(u.level) | etmv4.InfoSF | etmv4.InfoNS
	if u.reg.V4.VMIDs() {
		p.Extra |= etmv4.InfoV
		p.N |= 4
		p.Value2 |= uint64(u.vmid)
	}
	if u.reg.V4.ContextIDs() {
		p.Extra |= etmv4.InfoC
		p.N |= 4 << 4
		p.Value2 |= uint64(u.cid) << 32
	}
}

// restate states the context.
func (u *unitV4) restate() {
	c := etmv4.Packet{Kind: etmv4.Context}
	u.context(&c)
	u.put(c)
	u.ctx = false
}

// rise takes an exception: now and then to a hypervisor, which may run another
// machine then. It reports whether the context has changed.
func (u *unitV4) rise() bool {
	u.under = append(u.under, u.level)
	was, vmid := u.level, u.vmid
	if u.moves.one(6) {
		u.level = 2
	}
	if u.level == 2 && u.moves.one(2) {
		u.vmid = uint32(u.moves.next())
	}
	return u.level != was || u.vmid != vmid && u.reg.V4.VMIDs()
}

// sink returns from an exception and reports whether the context has changed.
func (u *unitV4) sink() bool {
	was := u.level
	n := len(u.under) - 1
	u.level, u.under = u.under[n], u.under[:n]
	return u.level != was
}

// stampAs states the time t, ticks, of what has been sent. Where the trace unit
// marks its timestamps, the timestamp itself may come later.
func (u *unitV4) stampAs(t uint64) {
	if !u.reg.V4.TimestampMarkers() {
		u.sendStamp(t)
		return
	}
	u.sendDue()
	u.put(etmv4.Packet{Kind: etmv4.TSMarker})
	if u.due = t; u.r.one(2) {
		u.sendDue()
	}
}

// sendDue sends the timestamp of the newest marker, if that is due.
func (u *unitV4) sendDue() {
	if u.due != 0 {
		u.sendStamp(u.due)
		u.due = 0
	}
}

// sendStamp sends a timestamp of t, ticks: the bits that have changed, or more.
func (u *unitV4) sendStamp(t uint64) {
	n := min(max(1, (bits.Len64(t^u.stamp)+6)/7), 9)
	if u.r.one(16) {
		n = min(9, n+int(u.r.n(3)))
	}
	p := etmv4.Packet{Kind: etmv4.Timestamp, N: uint8(n), Value: t}
	if n < 9 {
		p.Value &= 1<<(7*n) - 1
	}
	if u.counting() && u.r.one(2) {
		p.Arg, p.Extra = 1, uint32(u.cycles())
	}
	u.put(p)
	u.stamp = t
}

// cycles returns how many have passed since it was last asked.
func (u *unitV4) cycles() uint64 {
	n := min(u.now-u.cycT, 1<<12-1)
	u.cycT = u.now
	return n
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
