package sim

import "fmt"

// looseWord is a word that a CPU may fetch in its old or its new form, until
// it synchronises.
type looseWord struct {
	s    *storeArm
	last uint32
}

// cpuArm is one A64 CPU.
type cpuArm struct {
	core
	m     *machineArm
	why   reason // of the exception whose entry is running
	loose map[uint64]*looseWord
	u     unitArm
}

// exec executes one instruction, or takes what interrupts it.
func (c *cpuArm) exec() {
	c.u.tick(c.t, c.ip)
	if c.interrupts() {
		return
	}
	in := c.fetch()
	if c.conflicts(in) {
		c.ip = c.abort()
		return
	}
	next := c.ip + uint64(in.len)
	draw := c.r.next()
	c.marked()
	switch {
	case in.cond && draw>>60&3 == 0:
		c.fail(in, next, draw)
		return
	case in.op == opInt3:
		c.trap(next)
		return
	case in.op == opBad:
		c.undefined()
		return
	case in.op == opMem && draw>>32&1023 == 0 && c.iff && len(c.frames) < 3 && !c.dynamic():
		c.enter(whyFault, frame{ip: c.ip}, c.ip)
		return
	}
	c.retire(in)
	if waypoints>>in.op&1 == 0 {
		c.u.plain(true)
	}
	switch in.op {
	case opIret:
		c.eret()
	case opInt:
		c.enter(whyCall, frame{ip: next}, next)
	default:
		c.ip = c.transfer(in, next, draw>>32)
	}
	c.advance(draw)
}

// transfer returns where the instruction leads; next is what lies behind it.
func (c *cpuArm) transfer(in *insn, next, draw uint64) uint64 {
	switch in.op {
	case opCond:
		taken := c.outcome(in, draw, 20)
		if taken {
			next = in.target
		}
		c.u.outcome(taken, next)
	case opJump:
		c.u.outcome(true, in.target)
		return in.target
	case opCall:
		c.push(next)
		c.u.call(next)
		c.u.outcome(true, in.target)
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
		c.u.outcome(true, next)
		c.sync()
	case opTxStart:
		c.begin(next)
	case opTxCommit:
		c.commit(next)
	case opSti:
		c.iff = true
	case opCli:
		c.iff = false
	}
	return next
}

// waypoints is what spends an outcome.
const waypoints = 1<<opCond | 1<<opJump | 1<<opCall | 1<<opJumpInd | 1<<opCallInd | 1<<opRet | 1<<opIret | 1<<opSync | 1<<opTxStart

// fail executes an instruction whose condition fails. One that is undefined may
// trap all the same, as the processor likes; the handler then steps over it
// (arch/arm/probes/kprobes/core.c, kprobe_handler, v6.1).
func (c *cpuArm) fail(in *insn, next, draw uint64) {
	if in.op == opBad && draw>>58&1 == 0 && c.m.pat.probes[c.ip] != nil {
		c.enter(whyUndef, frame{ip: next}, c.ip)
		return
	}
	c.retire(in)
	if waypoints>>in.op&1 != 0 {
		c.u.outcome(false, next)
	} else {
		c.u.plain(false)
	}
	c.ip = next
	c.advance(draw)
}

// retire notes that in was executed.
func (c *cpuArm) retire(in *insn) {
	c.insns = append(c.insns, Retired{plainAddr(c.ip), c.t, in.code, c.depth, c.level})
}

// dynamic reports whether what is next to run was allocated while it ran.
func (c *cpuArm) dynamic() bool {
	r, _ := c.m.mem.at(plainAddr(c.ip))
	return r == 1
}

// fetch returns the instruction at c.ip as this CPU happens to see it.
func (c *cpuArm) fetch() *insn {
	w := c.m.word(c.ip)
	if l := c.loose[c.ip]; l != nil {
		if c.r.one(2) {
			l.last = l.s.draw(&c.r)
		}
		w = l.last
	}
	return c.m.insn(c.ip, w)
}

// draw returns one of the targets of the indirect branch at addr.
func (c *cpuArm) draw(addr uint64) uint64 {
	if addr == c.m.prog.dispatch {
		return c.m.prog.handlers[c.why]
	}
	to := c.m.prog.targets[addr]
	return to[c.r.n(uint64(len(to)))]
}

// sync is a context synchronisation: from now on the CPU fetches what the
// caches' maintenance has made plain.
func (c *cpuArm) sync() {
	for a, l := range c.loose {
		if l.s.clean {
			delete(c.loose, a)
		}
	}
}

// enter leaves the flow before from for an exception's entry.
func (c *cpuArm) enter(y reason, f frame, from uint64) {
	if c.tx.depth > 0 { // it is taken when the transaction has failed, if it still is due
		c.ip = c.abort()
		return
	}
	f.iff, f.depth = c.iff, len(c.stack)
	to := c.m.prog.entries[y]
	c.entered(from, y == whyBreak)
	c.u.exception(from, to, y)
	c.frames = append(c.frames, f)
	c.iff, c.ip, c.why = false, to, y
	c.sync()
	c.t += 1 + c.r.n(20)
}

// eret returns from the innermost frame.
func (c *cpuArm) eret() {
	f := c.unwind()
	c.nextIRQ = max(c.nextIRQ, c.t+c.r.around(c.m.cfg.IRQ)) // some progress between two
	to := c.back(&f)
	c.u.exceptionReturn(to)
	c.sync()
	c.ip = to
}

// interrupts takes an interrupt that is due and allowed.
func (c *cpuArm) interrupts() bool {
	if !c.iff {
		return false
	}
	if c.tx.depth > 0 {
		if c.ip != c.ambush && c.t < c.ipi && c.t < c.nextIRQ {
			return false
		}
		c.ip = c.abort()
		return true
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
func (c *cpuArm) trap(next uint64) {
	p := c.m.pat
	tr := trapArm{Trap: Trap{CPU: c.id, IP: plainAddr(c.ip), Time: c.t, Index: len(c.insns)}}
	var f frame
	if pr := p.stops[c.ip]; pr != nil {
		tr.Kind, tr.To, tr.probe = TrapSlot, plainAddr(pr.next), pr
		f = frame{ip: pr.next, unmask: true}
	} else if pr := p.probes[c.ip]; pr != nil {
		tr.Kind, tr.To, tr.probe = TrapArmed, plainAddr(pr.slot), pr
		tr.Emu = pr.slot == 0
		f = pr.hit()
	} else {
		tr.Kind, tr.To = TrapOwn, plainAddr(next)
		f = frame{ip: next}
	}
	c.m.traps = append(c.m.traps, tr)
	c.enter(whyBreak, f, c.ip)
}

// trapArm is a Trap whose poke has no number yet.
type trapArm struct {
	Trap
	probe *probeArm
}

// undefined takes the UDF at c.ip.
func (c *cpuArm) undefined() {
	pr := c.m.pat.probes[c.ip]
	if pr == nil {
		panic(fmt.Sprintf("sim: seed %d: CPU %d executes %08x at %#x", c.m.cfg.Seed, c.id, c.m.word(c.ip), c.ip))
	}
	c.enter(whyUndef, pr.hit(), c.ip)
}
