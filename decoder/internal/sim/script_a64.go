package sim

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// RulesA64 returns the rules of the scripts of r: ETMv4's and ETE's for A64
// (DDI0487, D4.4 "Instruction and exception classification"). A walker's
// return stack may be deeper than the trace unit's: 15 entries are always
// enough (DDI0487, K10.5).
func (r *Run) RulesA64() isa.Rules {
	rules := isa.Rules{
		Waypoints: isa.Set(isa.Cond, isa.Jump, isa.Call, isa.JumpInd, isa.CallInd, isa.Return, isa.FarReturn, isa.Barrier),
		Raises:    isa.Set(isa.Syscall),
		Syncs:     isa.Set(isa.Barrier, isa.FarReturn),
		Returns:   isa.ReturnsByOutcome,
		Stack:     15,
	}
	if r.Config.RetStack == 0 {
		rules.Returns = isa.ReturnsByTarget
	}
	return rules
}

// script is one A64 CPU's trace unit. It writes no packets: it says what their
// decoder would.
type script struct {
	cfg   *Config
	r     rnd
	insns *[]Retired

	segs   [][]*event.Event
	starts []int          // by segment: instructions retired before it
	open   []*event.Event // whose time has no upper bound yet
	off    int64          // of the next event, bytes

	bits    uint64 // outcomes gathered, the oldest in bit 63
	n, most int    // how many; how many there will be in the event
	bitsLo  uint64 // timestamp before the first
	bitsAt  int    // instructions retired up to the last

	rets    []uint64 // return addresses, the newest last
	lo      uint64   // the newest timestamp, ticks
	stampAt uint64   // ticks at which the next is taken
	syncAt  int64    // offset from which on the next segment begins
	ovfAt   uint64   // ticks at which the next overflow starts; never if none
	ovfEnd  uint64   // ticks at which it ends
	losing  bool     // in an overflow
	sure    int      // instructions retired up to what has been said
	lost    []Lost
}

func newScript(c *Config, id int, insns *[]Retired) *script {
	return &script{cfg: c, r: newRand(c.Seed, 0x70+uint64(id)), insns: insns, ovfAt: never}
}

// start opens the script at time t with the instruction at ip next to run.
func (u *script) start(ip, t uint64) {
	u.lo, u.stampAt = t, t+u.r.around(u.cfg.Stamps)
	if u.cfg.OVF > 0 {
		u.ovfAt = t + u.r.around(u.cfg.OVF)
	}
	u.segment(ip)
}

// segment begins one.
func (u *script) segment(ip uint64) {
	u.segs = append(u.segs, nil)
	u.starts = append(u.starts, len(*u.insns))
	u.say(event.Event{Kind: event.Sync, Flags: event.FlagIP | event.FlagMode, Mode: uint8(isa.ModeA64), IP: ip}, u.lo)
	u.rets = u.rets[:0]
	u.syncAt = u.off + int64(u.r.around(uint64(u.cfg.PSBBytes)))
}

// say appends e to the segment; lo is a timestamp from before it happened.
func (u *script) say(e event.Event, lo uint64) {
	e.Off = u.off
	u.off += 1 + int64(u.r.n(8))
	e.End = u.off
	e.Time = event.Time{Lo: lo, Hi: math.MaxUint64}
	last := &u.segs[len(u.segs)-1]
	*last = append(*last, &e)
	u.open = append(u.open, &e)
}

// stamp takes a timestamp: all that was said happened before it.
func (u *script) stamp(t uint64) {
	for _, e := range u.open {
		e.Time.Hi = t
	}
	u.open, u.lo = u.open[:0], t
}

// tick does what time brings, between two instructions: timestamps, sync
// points, overflows. ip is next to run.
func (u *script) tick(t, ip uint64) {
	for ; u.stampAt <= t; u.stampAt += u.r.around(u.cfg.Stamps) {
		u.stamp(u.stampAt)
	}
	if u.losing && t >= u.ovfEnd {
		u.losing = false
		u.lost = append(u.lost, Lost{u.sure, len(*u.insns)})
		u.sure = len(*u.insns)
		u.rets = u.rets[:0]
		u.say(event.Event{Kind: event.Overflow, Flags: event.FlagIP, IP: ip}, u.lo)
	}
	if t >= u.ovfAt {
		u.startOverflow(t)
	}
	if !u.losing && u.off >= u.syncAt {
		u.flush()
		u.sure = len(*u.insns)
		u.stamp(t)
		u.say(event.Event{Kind: event.Sync, Flags: event.FlagIP | event.FlagRestated, IP: ip}, t)
		u.segment(ip)
	}
}

// startOverflow begins to drop what there is to say, what is gathered too or not.
func (u *script) startOverflow(t uint64) {
	if u.r.one(2) {
		u.flush()
	}
	u.losing, u.n, u.bits = true, 0, 0
	u.ovfEnd = t + u.r.around(200)
	u.ovfAt = u.ovfEnd + u.r.around(u.cfg.OVF)
}

// stop closes the script and returns how many instructions it tells of.
func (u *script) stop(t uint64) int {
	u.flush()
	if u.r.one(2) {
		u.stamp(t)
	}
	u.say(event.Event{Kind: event.End}, u.lo)
	return u.sure
}

// result returns the segments.
func (u *script) result() CPU {
	out := make([][]event.Event, len(u.segs))
	for i, s := range u.segs {
		for _, e := range s {
			out[i] = append(out[i], *e)
		}
	}
	return CPU{Script: out, Starts: u.starts, Lost: u.lost}
}

// outcome says that a branch, or ISB, that has just retired was taken or not.
func (u *script) outcome(taken bool, _ uint64) {
	if u.losing {
		return
	}
	if u.n == 0 {
		u.bitsLo = u.lo
		u.most = 1 + int(u.r.n([]uint64{4, 24, 64}[u.r.n(3)]))
	}
	if taken {
		u.bits |= 1 << (63 - u.n)
	}
	u.n++
	u.bitsAt = len(*u.insns)
	if u.n == u.most {
		u.flush()
	}
}

// flush says the outcomes gathered.
func (u *script) flush() {
	if u.n > 0 {
		u.sure = u.bitsAt
		u.say(event.Event{Kind: event.Outcomes, N: uint8(u.n), Value: u.bits}, u.bitsLo)
		u.bits, u.n = 0, 0
	}
}

// call remembers where a call that is about to be told returns to.
func (u *script) call(next uint64) {
	if u.losing || u.cfg.RetStack == 0 {
		return
	}
	if u.rets = append(u.rets, next); len(u.rets) > u.cfg.RetStack {
		u.rets = u.rets[1:]
	}
}

// indirect says that an indirect branch or a return went to to.
func (u *script) indirect(to uint64) {
	if u.losing {
		return
	}
	u.outcome(true, to)
	if n := len(u.rets); n > 0 && u.rets[n-1] == to {
		u.rets = u.rets[:n-1]
		return
	}
	u.flush()
	if u.r.one(20) {
		u.say(event.Event{Kind: event.Payload, Detail: event.DetailTrigger}, u.lo)
	}
	u.say(event.Event{Kind: event.Target, Flags: event.FlagIP, IP: to}, u.lo)
}

// exceptionReturn says that an exception return went to to.
func (u *script) exceptionReturn(to uint64) { u.indirect(to) }

// exception says that control left before the instruction at from.
func (u *script) exception(from, to uint64, y reason) {
	if u.losing {
		return
	}
	f := event.FlagIntr
	if y == whyBreak {
		f = event.FlagBreak
	}
	u.flush()
	u.sure = len(*u.insns)
	u.say(event.Event{Kind: event.Async, Flags: event.FlagIP | f, From: from, IP: to}, u.lo)
}

func (u *script) plain(bool) {}
