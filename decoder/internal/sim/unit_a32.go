package sim

import (
	"math/bits"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// unitA32 is one CPU's PTM or ETMv3 trace unit: what the two have in common.
type unitA32 struct {
	outages
	cfg *Config
	r   rnd
	sentLog
	reg coresight.Config
	out []byte
	w   writerA32

	atoms uint64 // gathered, the newest in bit 0
	n     int
	most  int    // how many are gathered before they are sent
	addr  uint64 // the address told last
	told  int    // instructions retired up to what is told, or gathered
	kept  int    // the same before what is gathered

	rets    []uint64 // return addresses, the newest last
	next    uint64   // of the call that is told of next; 0: none
	cid     uint32   // context ID
	stamp   uint64   // the timestamp sent last, as sent
	fresh   bool     // none was sent since the last sync point
	cycT    uint64   // ticks up to which cycles were counted
	stampAt uint64   // ticks at which the next timestamp is taken
	syncAt  int      // length of out at which the next sync point is due
	now     uint64   // ticks, as of the last tick

	starts   []int
	startOff []int64
	lost     []Lost
}

// writerA32 writes the packets of one of the protocols.
type writerA32 interface {
	// async and isync write a sync point, whose reason is an I-sync's.
	async()
	isync(ip uint64, reason int)
	// flush sends the atoms gathered.
	flush()
	// target says where the indirect branch before it went, which is its atom too
	// where that was not gathered.
	target(to uint64)
	// exception says that control left for to after the instruction at last, the
	// newest that is not told if more; cancels: the newest that is did not run.
	exception(last uint64, more bool, to uint64, number uint16, cancels bool)
	// other writes a timestamp (bytes of it) and a context ID.
	timestamp(v uint64, n uint8)
	contextID()
	// idle writes what says nothing about the flow.
	idle()
}

// Reasons of I-syncs, of both protocols.
const (
	syncPeriodic = 0
	syncOn       = 1
	syncOverflow = 2
)

func newUnitA32(c *Config, id int, insns *[]Retired) *unitA32 {
	u := &unitA32{cfg: c, r: newRand(c.Seed, 0xb0+uint64(id)), sentLog: sentLog{insns: insns}, outages: outages{ovfAt: never, offAt: never}, most: 1}
	r, v := &u.r, &u.reg.V3
	u.reg.ID, u.reg.Arch = 0x10+2*uint8(id), coresight.Arch{Major: 7, Profile: 'A'}
	v.TRACEIDR = uint32(u.reg.ID)
	v.CR = 1<<28 | uint32(r.n(4))<<14                                        // timestamps, a context ID of some size
	v.CCER = 1<<22 | 1<<23 | 1<<26 | uint32(r.n(2))<<28 | uint32(r.n(2))<<29 // timestamps, natural, of 64 bits; a return stack
	if r.one(3) {
		v.CR |= 1 << 12 // cycle-accurate
	}
	if c.Timing >= ETMv3Coarse {
		u.reg.Protocol = coresight.ETMv3
		v.IDR = 0x410cf250 | uint32(r.n(2))<<20
		u.w = &writerV3{u}
		return u
	}
	u.reg.Protocol = coresight.PTM
	v.IDR = 0x411cf300 | uint32(r.n(2))<<4
	if c.RetStack > 0 {
		v.CR |= 1 << 29
	}
	u.w = &writerPTM{u}
	return u
}

// splitA32 returns the address and the mode of a, as packets have it.
func splitA32(a uint64) (addr uint32, m isa.Mode) {
	if thumb(a) {
		return uint32(plainAddr(a)), isa.ModeT32
	}
	return uint32(a), isa.ModeA32
}

func (u *unitA32) start(ip, t uint64) {
	u.now, u.cycT, u.stampAt = t, t, t+u.r.around(u.cfg.Stamps)
	u.cid = uint32(u.r.next())
	u.outages.draw(&u.r, u.cfg.OVF, u.now)
	u.sync(ip, syncOn)
}

// sync writes a sync point; the instruction at ip is next to run.
func (u *unitA32) sync(ip uint64, reason int) {
	u.w.flush()
	if reason == syncPeriodic || u.r.one(2) || len(u.out) == 0 {
		u.starts = append(u.starts, len(*u.insns))
		u.startOff = append(u.startOff, int64(len(u.out)))
		u.w.async()
		u.fresh = true
		u.syncAt = len(u.out) + int(u.r.around(uint64(u.cfg.PSBBytes)))
	}
	u.w.isync(ip, reason)
	u.addr, u.rets, u.told = ip, u.rets[:0], len(*u.insns)
	if u.fresh && u.r.n(8) > 0 {
		u.sendStamp(u.now)
	}
}

func (u *unitA32) tick(t, ip uint64) {
	for ; u.stampAt <= t; u.stampAt += u.r.around(u.cfg.Stamps) {
		if u.now = u.stampAt; u.gone == here {
			u.w.flush()
			u.sendStamp(u.stampAt)
		}
	}
	u.now = t
	if !u.turn(u, t, ip) && u.gone == here && len(u.out) >= u.syncAt {
		u.sync(ip, syncPeriodic)
	}
}

// leave begins to tell nothing.
func (u *unitA32) leave(why away) {
	if why == switchOff || u.r.one(2) {
		u.w.flush()
	}
	if u.n > 0 { // gathered, and lost
		u.told = u.kept
		u.atoms, u.n = 0, 0
	}
	u.gone, u.back = why, u.now+u.r.around(200)
}

func (u *unitA32) comeBack(ip uint64) {
	why := u.gone
	u.gone = here
	reason := syncOverflow
	if why == switchOff {
		*u.insns = (*u.insns)[:u.told] // what ran was not traced
		reason = syncOn
	} else {
		u.lost = append(u.lost, Lost{u.told, len(*u.insns)})
	}
	u.outages.draw(&u.r, u.cfg.OVF, u.now)
	u.sync(ip, reason)
}

func (u *unitA32) stop(t uint64) int {
	u.now = t
	if u.gone == here {
		u.w.flush()
		if u.r.one(2) {
			u.sendStamp(t)
		}
	}
	return u.told
}

func (u *unitA32) result() CPU {
	return CPU{Trace: u.out, Sent: u.sent, Source: u.reg, Starts: u.starts, StartOff: u.startOff, Lost: u.lost}
}

// atom gathers one: all that has retired is told by it.
func (u *unitA32) atom(passed bool) {
	if u.n == 0 {
		u.kept = u.told
	}
	u.atoms <<= 1
	if passed {
		u.atoms |= 1
	}
	u.n++
	u.told = len(*u.insns)
	if u.n >= u.most {
		u.w.flush()
		u.most = 1 + int(u.r.n([]uint64{3, 12, 40}[u.r.n(3)]))
	}
}

// gathered takes up to n of the atoms gathered, the oldest ones.
func (u *unitA32) gathered(n int) (v uint64, k int) {
	k = min(n, u.n)
	u.n -= k
	return u.atoms >> u.n & (1<<k - 1), k
}

func (u *unitA32) plain(passed bool) {
	if u.gone == here && u.reg.Protocol == coresight.ETMv3 {
		u.atom(passed)
	}
}

func (u *unitA32) call(next uint64) { u.next = next }

// called puts the return address of the call that was told of on the stack.
func (u *unitA32) called() {
	if u.next != 0 && u.gone == here && u.reg.V3.ReturnStack() {
		if u.rets = append(u.rets, u.next); len(u.rets) > u.cfg.RetStack {
			u.rets = u.rets[1:]
		}
	}
	u.next = 0
}

func (u *unitA32) outcome(taken bool, _ uint64) {
	if u.gone == here {
		u.noise()
		u.atom(taken)
	}
	u.called()
}

// noise writes, now and then, what says nothing about the flow.
func (u *unitA32) noise() {
	if u.r.one(24) {
		u.w.flush()
		u.w.idle()
	}
}

func (u *unitA32) indirect(to uint64) {
	if u.gone != here {
		u.next = 0
		return
	}
	u.noise()
	if n := len(u.rets); n > 0 && u.rets[n-1] == to && !u.r.one(16) {
		u.rets = u.rets[:n-1]
		u.atom(true)
	} else {
		u.w.target(to)
	}
	u.called()
}

func (u *unitA32) exceptionReturn(to uint64) {
	if u.gone == here {
		u.w.target(to)
	}
}

// exceptionNumbers are of both protocols: IHI0035B, "Branch address packet";
// IHI0014Q, "Encoding of Exception[3:0] for non-ARMv7-M processors".
var exceptionNumbers = [numReasons]uint16{whyBreak: 11, whyCall: 10, whyFault: 12, whyUndef: 9, whyTimer: 14, whyIPI: 14}

func (u *unitA32) exception(from, to uint64, y reason) {
	if u.gone != here {
		return
	}
	var last uint64
	more := len(*u.insns) > u.told
	if more {
		last = (*u.insns)[len(*u.insns)-1].IP | from&1
	}
	u.told = len(*u.insns)
	u.w.exception(last, more, to, exceptionNumbers[y], y != whyCall && u.r.one(2))
	if u.reg.V3.ContextIDBytes() > 0 && u.r.one(3) {
		u.cid = uint32(u.r.next())
		u.w.contextID()
	}
}

// sendStamp states the time t, ticks: the bytes that have changed, or more.
func (u *unitA32) sendStamp(t uint64) {
	v := t
	if !u.reg.NaturalTimestamps() {
		v ^= v >> 1
	}
	whole := 7
	if u.reg.WideTimestamps() {
		whole = 9
	}
	n := min(max(1, (bits.Len64(v^u.stamp)+6)/7), whole)
	if u.fresh || u.r.one(16) {
		n = whole
	}
	u.stamp, u.fresh = v, false
	if n < whole {
		v &= 1<<(7*n) - 1
	}
	u.w.timestamp(v, uint8(n))
}

// cycles returns how many have passed since it was last asked.
func (u *unitA32) cycles() uint32 {
	n := u.now - u.cycT
	u.cycT = u.now
	return uint32(n)
}

// context returns the context ID, cut to the n bytes that are traced.
func (u *unitA32) context() (id uint32, n uint8) {
	n = uint8(u.reg.V3.ContextIDBytes())
	return u.cid & uint32(1<<(8*n)-1), n
}

// counted returns the cycles since the last count, and how many bytes they take
// where the first has room for so many bits.
func (u *unitA32) counted(room uint) (n uint32, bytes uint8) {
	n, bytes = u.cycles(), 1
	for ; bytes < 5 && n>>room != 0; room += 7 {
		bytes++
	}
	return n, bytes
}

// goTo notes that control is told to have gone to to, and returns what a packet
// that says so depends on; all: it is to have all address bytes.
func (u *unitA32) goTo(to uint64, all bool) (was uint32, wm isa.Mode, addr uint32, m isa.Mode) {
	was, wm = splitA32(u.addr)
	addr, m = splitA32(to)
	if all {
		wm = isa.ModeA32 + isa.ModeT32 - m
	}
	u.addr = to
	return was, wm, addr, m
}
