package sim

import "github.com/ptdecode/ptdecode/pt"

// retDepth is how many return addresses a trace unit remembers
// (SDM, "Indirect Transfer Compression for Returns (RET)").
const retDepth = 64

// unit is one CPU's trace unit.
type unit struct {
	account
	cfg  *Config
	r    rnd
	out  []byte
	vmcs uint64 // of the virtual machine that it traces, bytes; 0: the host

	on     bool   // PacketEn
	lastIP uint64 // the IP packet that the next is compressed against
	tnt    uint64 // pending outcomes, the youngest in bit 0
	ntnt   int
	ntntAt int      // the pending TNT is sent when it holds so many
	tntT   uint64   // time of its first outcome, ticks
	held   []uint64 // targets of TIPs held back behind the pending TNT
	rets   []uint64 // return addresses, the youngest last

	nextMTC uint64 // ticks
	lastCYC uint64 // cycles, when CYC was last sent
	cbr     uint64 // core to bus ratio

	psbAt  int    // send a PSB when out is so long
	ovfAt  uint64 // ticks at which the next overflow starts; never if none
	ovfEnd uint64 // ticks at which it ends
	losing bool   // in an overflow
}

// account is what the trace tells of one machine's CPU.
type account struct {
	event   *uint64 // the CPU's service time; set to 0 to be served at once
	sent    []Sent  // packets that were sent meanwhile
	sure    int     // instructions retired up to the last that the trace tells of
	told    int     // up to the last that it will tell of when it is flushed
	retired *[]Retired
	lost    []Lost
}

func newUnit(c *Config, id int, event *uint64, retired *[]Retired) *unit {
	u := &unit{account: account{event: event, retired: retired}, cfg: c, r: newRand(c.Seed, 0x70+uint64(id)), ovfAt: never, ntntAt: 6}
	u.cbr = NomFreq
	if u.r.one(2) {
		u.cbr = NomFreq/2 + u.r.n(2*NomFreq)
	}
	return u
}

// start opens the stream at time t with the instruction at ip next to run.
func (u *unit) start(on bool, ip, t uint64) {
	u.nextMTC = (t/u.mtcPeriod() + 1) * u.mtcPeriod()
	u.lastCYC = u.cycles(t)
	if u.cfg.OVF > 0 {
		u.ovfAt = t + u.r.around(u.cfg.OVF)
	}
	if u.cfg.OffAtPSB {
		u.psb(ip, t)
		if on {
			u.enable(ip, t)
		}
		return
	}
	u.on = on
	u.psb(ip, t)
}

// stop closes the stream: tracing is switched off before the instruction at ip.
func (u *unit) stop(ip, t uint64) {
	if u.losing {
		u.endOverflow(ip, t)
	}
	u.flush()
	if u.on {
		u.ip(pt.FUP, ip)
		u.stamp(t)
		u.noIP(pt.PGD)
		u.on = false
	}
}

func (u *unit) mtcPeriod() uint64 { return tscPerCrystal << u.cfg.MTCFreq }

// cycles returns the core cycles that have passed at time t.
func (u *unit) cycles(t uint64) uint64 { return t * u.cbr / NomFreq }

// due returns the earliest time at which tick has something to do.
func (u *unit) due() uint64 {
	d := min(u.ovfAt, u.ovfEndOrNever())
	if u.cfg.Timing != TSCOnly {
		d = min(d, u.nextMTC)
	}
	if len(u.out) >= u.psbAt && !u.losing {
		d = 0
	}
	return d
}

func (u *unit) ovfEndOrNever() uint64 {
	if u.losing {
		return u.ovfEnd
	}
	return never
}

// tick does what time brings, between two instructions: MTC, PSB, overflow.
// ip is next to run if tracing is on.
func (u *unit) tick(t, ip uint64) {
	u.crystal(t)
	if u.losing && t >= u.ovfEnd {
		u.endOverflow(ip, t)
	}
	if t >= u.ovfAt {
		u.startOverflow(t)
	}
	if !u.losing && len(u.out) >= u.psbAt {
		u.psb(ip, t)
	}
}

// crystal states the crystal's edges up to time t.
func (u *unit) crystal(t uint64) {
	if u.cfg.Timing == TSCOnly {
		return
	}
	for u.nextMTC <= t {
		u.mtc(u.nextMTC)
		u.nextMTC += u.mtcPeriod()
	}
}

// mtc states the crystal's time at t, which is a period's edge. The pending
// TNT is not flushed by it: its outcomes come later in the stream than they
// happened. With CYC they may not, since all that precedes a CYC is older
// than it (SDM, "Cycle Packet Semantics").
func (u *unit) mtc(t uint64) {
	if u.cfg.Timing == CYC {
		u.flush()
	}
	u.stamp(t)
	u.send(pt.Packet{Kind: pt.MTC, Value: t / tscPerCrystal >> u.cfg.MTCFreq & 0xff})
}

// psb flushes and writes PSB+ (SDM, "Decoder Synchronization (PSB+)").
func (u *unit) psb(ip, t uint64) {
	u.flush()
	if u.cfg.Timing == CYC {
		u.stamp(t)
	}
	u.send(pt.Packet{Kind: pt.PSB})
	u.lastIP, u.rets = 0, u.rets[:0]
	u.send(pt.Packet{Kind: pt.TSC, Value: t & (1<<56 - 1)})
	if u.cfg.Timing != TSCOnly {
		u.send(pt.Packet{Kind: pt.TMA, Value: t / tscPerCrystal & 0xffff, Arg: uint16(t % tscPerCrystal)})
	}
	u.send(pt.Packet{Kind: pt.CBR, Value: u.cbr})
	if u.cfg.hypervisor {
		u.whose()
	}
	if u.on {
		u.send(pt.Packet{Kind: pt.ModeExec, Value: 1})
		u.ip(pt.FUP, ip)
		u.complete()
	}
	u.send(pt.Packet{Kind: pt.PSBEND})
	u.psbAt = len(u.out) + int(u.r.around(uint64(u.cfg.PSBBytes)))
}

// startOverflow begins to drop packets, the pending ones first.
func (u *unit) startOverflow(t uint64) {
	u.losing = true
	u.ovfEnd = t + u.r.around(200)
	u.ovfAt = u.ovfEnd + u.r.around(u.cfg.OVF)
	u.tnt, u.ntnt, u.held = 0, 0, u.held[:0]
}

// endOverflow says that packets were lost and where the flow goes on
// (SDM, "Internal Buffer Overflow").
func (u *unit) endOverflow(ip, t uint64) {
	u.losing = false
	u.lost = append(u.lost, Lost{u.sure, len(*u.retired)})
	u.complete()
	u.rets = u.rets[:0]
	u.stamp(t)
	u.send(pt.Packet{Kind: pt.OVF})
	if u.on && u.r.one(4) {
		u.psb(ip, t) // may stand between OVF and its FUP
	}
	if u.on {
		u.ip(pt.FUP, ip)
	}
}

// complete notes that the trace tells of all that has happened.
func (u *unit) complete() { u.sure = len(*u.retired) }

// cond traces a conditional branch at time t.
func (u *unit) cond(taken bool, t uint64) {
	if !u.on || u.losing {
		return
	}
	if u.ntnt == 0 {
		u.tntT = t
		u.ntntAt = 6
		if u.cfg.LongTNT && u.r.one(4) {
			u.ntntAt = 7 + int(u.r.n(41))
		}
		if u.r.one(16) { // partial TNTs may come at any time
			u.ntntAt = 1 + int(u.r.n(5))
		}
	}
	u.tnt <<= 1
	if taken {
		u.tnt |= 1
	}
	u.ntnt++
	u.told = len(*u.retired)
	if u.ntnt == u.ntntAt {
		u.flush()
	}
}

// indirect traces an indirect jump or call.
func (u *unit) indirect(to, t uint64) {
	if !u.on || u.losing {
		return
	}
	if u.ntnt > 0 && !u.cfg.NoDefer && u.cfg.Timing != CYC && len(u.held) < 8 && u.r.n(3) > 0 {
		u.held = append(u.held, to)
		u.told = len(*u.retired)
		return
	}
	u.far(to, t)
}

// call remembers where a near call returns to.
func (u *unit) call(next uint64) {
	if !u.on || u.losing || u.cfg.NoRetComp {
		return
	}
	if len(u.rets) == retDepth {
		copy(u.rets, u.rets[1:])
		u.rets = u.rets[:retDepth-1]
	}
	u.rets = append(u.rets, next)
}

// ret traces a near return: one outcome if the remembered address is right.
func (u *unit) ret(to, t uint64) {
	if !u.on || u.losing {
		return
	}
	if u.cfg.NoRetComp {
		u.indirect(to, t)
		return
	}
	if n := len(u.rets); n > 0 {
		top := u.rets[n-1]
		u.rets = u.rets[:n-1]
		if top == to && !u.r.one(64) {
			u.cond(true, t)
			return
		}
	}
	u.far(to, t) // its TIP must not come behind outcomes that are younger
}

// far traces a transfer whose TIP is never held back.
func (u *unit) far(to, t uint64) {
	if !u.on || u.losing {
		return
	}
	u.flush()
	u.stamp(t)
	u.ip(pt.TIP, to)
	u.complete()
}

// async traces an interrupt, trap or fault.
func (u *unit) async(from, to, t uint64) {
	if !u.on || u.losing {
		return
	}
	u.crystal(t) // as in enable
	u.flush()
	u.ip(pt.FUP, from)
	if u.r.one(8) {
		u.send(pt.Packet{Kind: pt.CBR, Value: u.cbr})
	}
	u.stamp(t)
	u.ip(pt.TIP, to)
	u.complete()
}

// enable traces the return from what is not traced.
func (u *unit) enable(to, t uint64) {
	if u.on {
		return
	}
	u.on = true
	if u.losing {
		return
	}
	u.crystal(t) // it may come later than tick has been asked for
	u.stamp(t)
	if u.r.one(2) {
		u.send(pt.Packet{Kind: pt.ModeExec, Value: 1})
	}
	u.ip(pt.PGE, to)
	u.complete()
}

// disable traces a transfer to what is not traced.
func (u *unit) disable(t uint64) {
	if !u.on {
		return
	}
	if !u.losing {
		u.flush()
		u.stamp(t)
		u.noIP(pt.PGD)
		u.complete()
	}
	u.on = false
}
