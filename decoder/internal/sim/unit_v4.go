package sim

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
)

// unitV4 is one CPU's ETMv4 or ETE trace unit. It tells all branches and ISBs by
// atoms, or now and then by other elements that mean the same. It may tell of what
// the CPU speculated on before it takes that back.
type unitV4 struct {
	writerV4
	outages

	// The newest P0 element: where it led, and how many instructions had retired.
	at   uint64
	atN  int
	open []int // instructions retired up to each P0 element that is not committed, the oldest first
	told int   // instructions retired up to the newest that is committed
	max  int   // P0 elements that may be uncommitted

	atoms  uint64 // gathered, the newest in bit 0
	n      int
	most   int  // how many are gathered before they are sent
	target bool // at is to be sent as an address before the next P0 element

	lag uint64 // how many P0 elements, on average, come between a marker and its timestamp

	rets    []uint64 // return addresses, the newest last
	stampAt uint64   // ticks at which the next timestamp is taken
	syncAt  int      // length of out at which the next sync point is due

	inTx  bool // in a transaction
	quiet int  // branches yet to be told by a Q alone; 0: none

	seldom rnd    // whether a Q that could be sent is
	quiets uint64 // one in so many is

	starts   []int
	startOff []int64
	lost     []Lost
	bare     map[int64]int // by offset of a Q without count: instructions retired up to its end
}

func newUnitV4(c *Config, id int, insns *[]Retired) *unitV4 {
	u := &unitV4{writerV4: writerV4{cfg: c, r: newRand(c.Seed, 0x90+uint64(id)), sentLog: sentLog{insns: insns}}, outages: outages{ovfAt: never, offAt: never}, most: 1, bare: map[int64]int{}}
	u.seldom, u.quiets = newRand(c.Seed, 0xe8+uint64(id)), 50
	if u.seldom.one(24) { // what they hide cannot be known: many are asked of the minority
		u.quiets = 1
	}
	u.moves = newRand(c.Seed, 0xf0+uint64(id))
	u.setUp(uint8(id))
	u.max = int(u.reg.V4.IDR8)
	return u
}

// setUp draws what the trace unit can do and what it is asked for.
func (u *unitV4) setUp(id uint8) {
	r := &u.r
	v := &u.reg.V4
	ete := u.cfg.Timing >= ETECoarse
	u.reg.Protocol, u.reg.ID = coresight.ETMv4, 0x10+2*id
	u.reg.Arch = coresight.Arch{Major: 8, Minor: 4, Profile: 'A'}
	v.TRACEIDR = uint32(u.reg.ID)
	v.IDR0 = 1<<5 | 1<<7 | 1<<9 | 8<<24 // branch broadcasting, cycle counting, return stack, 64-bit timestamps
	v.IDR1 = 0x41000400 | uint32(r.n(7))<<4
	v.IDR2 = 8 | 4<<5 | 4<<10 | uint32(r.n(9))<<25 // 64-bit addresses, 32-bit IDs, cycle counts of 12 to 20 bits
	v.CONFIGR = 1<<11 | 1                          // timestamps
	if r.one(2) {
		v.CONFIGR |= 1 << 6 // context ID
	}
	if r.one(3) && u.reg.VMIDBytes() == 4 {
		v.CONFIGR |= 1<<7 | 1<<15 // VMID
	}
	if r.one(3) {
		v.CONFIGR |= 1 << 4 // cycle counts
	}
	if u.cfg.RetStack > 0 {
		v.CONFIGR |= 1 << 12
	}
	if ete {
		u.reg.Protocol = coresight.ETE
		v.IDR1 |= 0xf00 | 0xf0
		v.DEVARCH = 0x47705a13 | uint32(r.n(4))<<16
		v.IDR0 |= uint32(r.n(2)) << 22 // ITE
		if _, minor := u.reg.Version(); minor >= 1 {
			marks := newRand(u.cfg.Seed, 0xb0+uint64(id)) // apart, so that older runs stay what they were
			v.IDR0 |= uint32(marks.n(2)) << 23            // timestamp markers
			u.lag = 3 << (5 * marks.n(3))
		}
		if u.cfg.Tx {
			tx := newRand(u.cfg.Seed, 0xb8+uint64(id))
			v.IDR0 |= uint32(tx.n(2)) << 30 // the start of a transaction is no P0 element
		}
	}
	if r.one(4) { // Q elements with and without count
		v.IDR0 |= 3 << 15
		v.CONFIGR |= 3 << 13
	}
	if v.IDR8 = uint32([]uint64{0, 0, 1, 2, 3, 8, 40}[r.n(7)]); v.IDR8 == 0 || r.one(2) {
		v.IDR0 |= 1 << 29 // cycle counts commit nothing
	}
}

// start opens the stream at time t with the instruction at ip next to run.
func (u *unitV4) start(ip, t uint64) {
	u.now, u.stampAt, u.cycT = t, t+u.r.around(u.cfg.Stamps), t
	u.cid, u.vmid = uint32(u.r.next()), uint32(u.r.next())
	u.level = 1
	u.outages.draw(&u.r, u.cfg.OVF, t)
	u.at = ip
	u.sync(true)
}

// sync writes an A-Sync with what belongs to it; on: tracing was off or packets
// were lost before it.
func (u *unitV4) sync(on bool) {
	if !on {
		u.flush()
		u.settle()
		if u.r.n(4) > 0 {
			u.commit(len(u.open))
		}
	}
	u.starts = append(u.starts, u.atN)
	u.startOff = append(u.startOff, int64(len(u.out)))
	u.sendDue()
	u.put(etmv4.Packet{Kind: etmv4.ASync})
	u.info()
	u.hist, u.stamp, u.rets = [3]uint64{}, 0, u.rets[:0]
	if on {
		u.put(etmv4.Packet{Kind: etmv4.TraceOn})
	}
	if u.r.one(2) {
		u.stampAs(u.now)
	}
	u.target, u.ctx = true, true
	u.settle()
	u.syncAt = len(u.out) + int(u.r.around(uint64(u.cfg.PSBBytes)))
}

// info writes a Trace Info.
func (u *unitV4) info() {
	p := etmv4.Packet{Kind: etmv4.TraceInfo, Arg: etmv4.PlctlInfo}
	if u.counting() {
		p.Value |= 1
		p.Arg |= etmv4.PlctlCyct
	}
	if u.inTx {
		p.Value |= 1 << 6
	}
	if len(u.open) > 0 || u.r.one(4) {
		p.Arg |= etmv4.PlctlSpec
		p.Value2 = uint64(len(u.open)) << 32
	}
	if u.r.one(8) && p.Value == 0 {
		p.Arg &^= etmv4.PlctlInfo // an INFO of zero may be left out
	}
	u.put(p)
}

// tick does what time brings: timestamps, sync points, overflows, stretches
// that are not traced.
func (u *unitV4) tick(t, ip uint64) {
	for ; u.stampAt <= t; u.stampAt += u.r.around(u.cfg.Stamps) {
		if u.now = u.stampAt; u.gone == here && u.quiet == 0 {
			u.flush()
			u.stampAs(u.stampAt)
		}
	}
	u.now = t
	if !u.turn(u, t, ip) && u.gone == here && len(u.out) >= u.syncAt && u.quiet == 0 {
		u.sync(false)
	}
}

// leave begins to tell nothing.
func (u *unitV4) leave(why away) {
	u.quiet = 0 // what was kept back is lost too
	if why == switchOff || u.r.one(2) {
		u.flush()
	}
	if why == losing {
		u.due = 0
		u.open = u.open[:0] // gathered or not committed: gone
		u.atN = u.told
	} else if u.r.one(2) { // nothing has run behind the newest P0 element that is told
		u.settle()
	}
	u.atoms, u.n, u.target = 0, 0, false
	u.gone, u.back = why, u.now+u.r.around(200)
}

// comeBack ends a stretch of which nothing was told; ip is next to run.
func (u *unitV4) comeBack(ip uint64) {
	why := u.gone
	u.gone = here
	if why == switchOff {
		*u.insns = (*u.insns)[:u.atN] // what ran was not traced
	} else {
		u.lost = append(u.lost, Lost{u.atN, len(*u.insns)})
	}
	u.at, u.atN = ip, len(*u.insns)
	u.outages.draw(&u.r, u.cfg.OVF, u.now)
	if why == losing {
		u.told = u.atN
		u.put(etmv4.Packet{Kind: etmv4.Overflow})
		u.sync(true)
		return
	}
	if len(u.open) == 0 {
		u.told = u.atN
	}
	u.put(etmv4.Packet{Kind: etmv4.TraceOn})
	u.rets = u.rets[:0]
	u.target, u.ctx = true, true
	u.settle()
}

// stop closes the stream and returns how many instructions it tells of.
func (u *unitV4) stop(t uint64) int {
	u.now = t
	if u.gone == here {
		u.flush()
		u.settle()
		if u.r.n(4) > 0 {
			u.commit(len(u.open))
		}
		if u.r.one(2) {
			u.stampAs(t)
		}
	}
	return u.told
}

func (u *unitV4) result() CPU {
	return CPU{Trace: u.out, Sent: u.sent, Source: u.reg, Starts: u.starts, StartOff: u.startOff, Lost: u.lost, Bare: u.bare}
}

// p0 notes a P0 element that is in out, or among the atoms gathered: it led to
// next.
func (u *unitV4) p0(next uint64) {
	u.at, u.atN = next, len(*u.insns)
	u.open = append(u.open, u.atN)
	u.trim(0)
}

// trim commits the oldest P0 elements that are more than may be uncommitted
// when n more are sent. Those only gathered push none out yet.
func (u *unitV4) trim(n int) {
	if over := len(u.open) - u.n + n - u.max; over > 0 {
		u.committed(over)
	}
}

// call remembers where a call that is about to be told returns to.
func (u *unitV4) call(next uint64) {
	if u.gone != here || u.cfg.RetStack == 0 || u.quiet > 0 {
		return
	}
	if u.rets = append(u.rets, next); len(u.rets) > u.cfg.RetStack {
		u.rets = u.rets[1:]
	}
}

// outcome tells of a direct branch, or ISB, that has just retired.
func (u *unitV4) outcome(taken bool, next uint64) {
	if u.gone != here || u.keepQuiet(next) {
		return
	}
	u.extras()
	switch {
	case taken && u.sourceAddress(next):
	case u.max > 0 && u.r.one(6):
		u.settle()
		u.mispredict(taken, next)
	default:
		u.atom(taken, next)
	}
	u.afterP0()
}

// atom gathers one.
func (u *unitV4) atom(taken bool, next uint64) {
	u.settle()
	u.atoms <<= 1
	if taken {
		u.atoms |= 1
	}
	u.n++
	u.p0(next)
	if u.n >= u.most {
		u.flush()
		u.most = 1 + int(u.r.n([]uint64{4, 24, 60}[u.r.n(3)]))
	}
}

// indirect tells of an indirect branch or a return.
func (u *unitV4) indirect(to uint64) {
	if u.gone != here || u.keepQuiet(to) {
		return
	}
	u.extras()
	u.atom(true, to)
	if n := len(u.rets); n > 0 && u.rets[n-1] == to && !u.r.one(16) {
		u.rets = u.rets[:n-1]
	} else {
		u.wrongTarget()
		u.target = true
	}
	u.afterP0()
}

// exceptionReturn tells of an ERET. No return stack foretells where it goes.
func (u *unitV4) exceptionReturn(to uint64) {
	if u.gone != here {
		u.sink()
		return
	}
	if u.quiet > 0 { // an exception return is a Q's last instruction
		u.quiet, u.ctx = 1, u.sink()
		u.keepQuiet(to)
		if u.ctx {
			u.restate()
		}
		return
	}
	u.extras()
	u.atom(true, to)
	u.ctx = u.sink()
	if u.reg.Protocol == coresight.ETMv4 {
		u.flush()
		u.put(etmv4.Packet{Kind: etmv4.ExceptionReturn})
	}
	u.target = true
	u.afterP0()
}

// exceptionTypes are the numbers of exceptions taken to AArch64 (DDI0487,
// "Exception packets").
var exceptionTypes = [numReasons]uint8{whyBreak: 6, whyCall: 2, whyFault: 12, whyUndef: 3, whyTimer: 14, whyIPI: 14}

// exception says that control left before the instruction at from.
func (u *unitV4) exception(from, to uint64, y reason) {
	if u.gone != here {
		u.rise()
		return
	}
	u.endQuiet(from)
	u.flush()
	if u.max > 0 && u.r.one(4) { // the CPU had gone on beyond from
		u.settle()
		if n := u.wrongPath(u.max - 1); n > 0 {
			u.cancel(n)
		}
	}
	p := etmv4.Packet{Kind: etmv4.Exception, Arg: 1 | exceptionTypes[y]<<1}
	if u.target && u.at == from && u.atN == len(*u.insns) && u.r.one(2) {
		p.Arg ^= 1 | 1<<6 // the address is the target of what was before, too
		u.put(p)
		u.address(from, true)
	} else {
		u.settle()
		u.put(p)
		u.ctx = u.r.one(4)
		u.address(from, true)
	}
	u.p0(to)
	if u.r.one(3) {
		u.cid = uint32(u.r.next())
		u.ctx = true
	}
	u.ctx = u.rise() || u.ctx
	u.target = true
	u.afterP0()
}

func (u *unitV4) plain(bool) {}
