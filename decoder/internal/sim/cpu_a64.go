package sim

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// looseWord is a word that a CPU may fetch in its old or its new form, until
// it synchronises.
type looseWord struct {
	s    *storeA64
	last uint32
}

// cpuA64 is one A64 CPU.
type cpuA64 struct {
	m      *machineA64
	id     int
	t      uint64 // local time, ticks
	ip     uint64
	iff    bool   // interrupts enabled
	masked []bool // interrupts were enabled before each mask in force
	why    reason // of the exception whose entry is running
	stack  []uint64
	frames []frame
	loose  map[uint64]*looseWord
	u      *script
	r      rnd

	nextIRQ uint64
	ipi     uint64 // time from which an IPI is pending; never if none
	stopIPI bool   // the pending IPI is stop_machine's
	acked   bool   // the IPI was taken
	held    bool   // spinning in stop_machine
	ambush  uint64 // an interrupt strikes when this address is next to run

	insns []Retired
}

// exec executes one instruction, or takes what interrupts it.
func (c *cpuA64) exec() {
	c.u.tick(c.t, c.ip)
	if c.interrupts() {
		return
	}
	in := c.fetch()
	next := c.ip + wordLength
	draw := c.r.next()
	switch {
	case in.op == opInt3:
		c.trap()
		return
	case in.op == opBad:
		c.undefined()
		return
	case in.op == opMem && draw>>32&1023 == 0 && c.iff && len(c.frames) < 3 && c.ip < dynA64:
		c.enter(whyFault, frame{ip: c.ip}, c.ip)
		return
	}
	c.insns = append(c.insns, Retired{c.ip, c.t, in.code})
	switch in.op {
	case opIret:
		c.eret()
	case opInt:
		c.enter(whyCall, frame{ip: next}, next)
	default:
		c.ip = c.transfer(in, next, draw>>32)
	}
	c.t++
	if draw&7 == 0 {
		c.t += draw >> 3 & 15
	}
}

// transfer returns where the instruction leads; next is what lies behind it.
func (c *cpuA64) transfer(in *insn, next, draw uint64) uint64 {
	switch in.op {
	case opCond:
		taken := c.outcome(in, draw)
		c.u.outcome(taken)
		if taken {
			return in.target
		}
	case opJump:
		c.u.outcome(true)
		return in.target
	case opCall:
		c.push(next)
		c.u.call(next)
		c.u.outcome(true)
		return in.target
	case opCallInd:
		c.push(next)
		c.u.call(next)
		if next = c.draw(c.ip); len(c.frames) > 2 { // handlers end at some time
			next = c.m.prog.leaf
		}
		c.u.indirect(next)
	case opJumpInd:
		next = c.draw(c.ip)
		c.u.indirect(next)
	case opRet:
		next = c.pop()
		c.u.indirect(next)
	case opSync:
		c.u.outcome(true)
		c.sync()
	case opSti:
		c.iff = true
	case opCli:
		c.iff = false
	}
	return next
}

// fetch returns the instruction at c.ip as this CPU happens to see it.
func (c *cpuA64) fetch() *insn {
	w := c.m.word(c.ip)
	if l := c.loose[c.ip]; l != nil {
		if c.r.one(2) {
			l.last = l.s.draw(&c.r)
		}
		w = l.last
	}
	return c.m.decode(c.ip, w)
}

// outcome draws a conditional branch's outcome.
func (c *cpuA64) outcome(in *insn, draw uint64) bool {
	draw &= 1023
	switch {
	case in.flag&flagHeld != 0:
		return c.held
	case in.flag&flagGuard != 0:
		limit := uint64(200)
		if len(c.frames) > 0 {
			limit = 700
		} else if c.t>>12&3 == 0 { // now and then deep enough to overflow a return stack
			limit = 20
		}
		return len(c.stack) > maxDepth || draw < limit
	case in.flag&flagLoop != 0, in.flag&flagLikely == 0 && in.flag&flagSeldom == 0:
		return draw < 512
	case in.flag&flagLikely != 0:
		return draw < 920
	}
	return draw < 100
}

// draw returns one of the targets of the indirect branch at addr.
func (c *cpuA64) draw(addr uint64) uint64 {
	if addr == c.m.prog.dispatch {
		return c.m.prog.handlers[c.why]
	}
	to := c.m.prog.targets[addr]
	return to[c.r.n(uint64(len(to)))]
}

func (c *cpuA64) push(a uint64) { c.stack = append(c.stack, a) }

func (c *cpuA64) pop() uint64 {
	n := len(c.stack) - 1
	a := c.stack[n]
	c.stack = c.stack[:n]
	return a
}

// sync is a context synchronisation: from now on the CPU fetches what the
// caches' maintenance has made plain.
func (c *cpuA64) sync() {
	for a, l := range c.loose {
		if l.s.clean {
			delete(c.loose, a)
		}
	}
}

// enter leaves the flow before from for an exception's entry.
func (c *cpuA64) enter(y reason, f frame, from uint64) {
	f.iff, f.depth = c.iff, len(c.stack)
	to, flag := c.m.prog.sync, event.FlagIntr
	switch y {
	case whyTimer, whyIPI:
		to = c.m.prog.irq
	case whyBreak:
		flag = event.FlagBreak
	}
	c.u.exception(from, to, flag)
	c.frames = append(c.frames, f)
	c.iff, c.ip, c.why = false, to, y
	c.sync()
	c.t += 1 + c.r.n(20)
}

// eret returns from the innermost frame.
func (c *cpuA64) eret() {
	f := c.frames[len(c.frames)-1]
	c.frames = c.frames[:len(c.frames)-1]
	if len(c.stack) != f.depth {
		panic(fmt.Sprintf("sim: seed %d: ERET on an unbalanced stack", c.m.cfg.Seed))
	}
	c.nextIRQ = max(c.nextIRQ, c.t+c.r.around(c.m.cfg.IRQ)) // some progress between two
	to := f.ip
	if e := f.emu; e != nil {
		switch e.kind {
		case emuJump:
			to = e.target
		case emuCall:
			c.push(e.next)
			to = e.target
		case emuRet:
			to = c.pop()
		case emuCond:
			to = e.next
			if c.r.one(2) {
				to = e.target
			}
		}
	}
	c.iff = f.iff
	if f.mask {
		c.masked = append(c.masked, f.iff)
		c.iff = false
	}
	if n := len(c.masked) - 1; f.unmask {
		c.iff, c.masked = c.masked[n], c.masked[:n]
	}
	c.u.indirect(to)
	c.sync()
	c.ip = to
}

// interrupts takes an interrupt that is due and allowed.
func (c *cpuA64) interrupts() bool {
	if !c.iff {
		return false
	}
	switch {
	case c.ip == c.ambush && len(c.frames) < maxFrames:
		c.ambush = 0
	case c.t >= c.ipi:
		c.ipi, c.acked = never, true
		c.held, c.stopIPI = c.stopIPI, false
		c.enter(whyIPI, frame{ip: c.ip}, c.ip)
		return true
	case c.t >= c.nextIRQ && len(c.frames) < maxFrames:
	default:
		return false
	}
	c.nextIRQ = c.t + c.r.around(c.m.cfg.IRQ)
	c.enter(whyTimer, frame{ip: c.ip}, c.ip)
	return true
}

// trap takes the BRK at c.ip: a probe's, that behind a probe's copy, or one
// that the program always had (a warning).
func (c *cpuA64) trap() {
	p := c.m.pat
	tr := trapA64{Trap: Trap{CPU: c.id, IP: c.ip, Time: c.t, Index: len(c.insns)}}
	var f frame
	if pr := p.stops[c.ip]; pr != nil {
		tr.Kind, tr.To, tr.probe = TrapSlot, pr.addr+wordLength, pr
		f = frame{ip: tr.To, unmask: true}
	} else if pr := p.probes[c.ip]; pr != nil {
		tr.Kind, tr.To, tr.probe = TrapArmed, pr.slot, pr
		tr.Emu = pr.slot == 0
		f = pr.hit()
	} else {
		tr.Kind, tr.To = TrapOwn, c.ip+wordLength
		f = frame{ip: tr.To}
	}
	c.m.traps = append(c.m.traps, tr)
	c.enter(whyBreak, f, c.ip)
}

// trapA64 is a Trap whose poke has no number yet.
type trapA64 struct {
	Trap
	probe *probeA64
}

// undefined takes the UDF at c.ip.
func (c *cpuA64) undefined() {
	pr := c.m.pat.probes[c.ip]
	if pr == nil {
		panic(fmt.Sprintf("sim: seed %d: CPU %d executes %08x at %#x", c.m.cfg.Seed, c.id, c.m.word(c.ip), c.ip))
	}
	c.enter(whyUndef, pr.hit(), c.ip)
}
