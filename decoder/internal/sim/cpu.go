package sim

import "fmt"

// cpu is one CPU.
type cpu struct {
	core
	m     *machine
	user  bool
	wake  uint64 // user space: time of the next system call
	vcpu  *vcpu  // of a hypervisor's CPU: the virtual machine that it runs
	nmis  int    // NMIs in progress
	step  bool   // a debug exception follows the next instruction
	after uint64 // where the debug exception's handler goes
	ic    *icache
	u     *unit

	thread, next *thread // that it runs, and that it goes over to; nil: there are none

	event   uint64 // earliest time at which service has something to do
	nextNMI uint64
}

// exec executes one instruction, or takes what interrupts it.
func (c *cpu) exec() {
	if c.t >= c.event && c.service() {
		return
	}
	if c.user {
		c.idle()
		return
	}
	if c.ip == c.ambush && c.struck() {
		return
	}
	in := c.fetch()
	c.marked()
	next := c.ip + uint64(in.len)
	draw := c.r.next()
	switch in.op {
	case opMem, opRep:
		if c.broken(in, draw>>32) {
			return
		}
	case opInt3:
		c.trap()
		return
	case opSync, opIret, opSysret, opInt:
		c.system(in, next)
		c.advance(draw)
		return
	case opBad:
		panic(fmt.Sprintf("sim: seed %d: CPU %d executes % x at %#x", c.m.cfg.Seed, c.id, c.ic.read(c.ip, 8), c.ip))
	default:
		next = c.transfer(in, next, draw>>32)
	}
	c.retire(in)
	c.ip = next
	c.advance(draw)
	if c.step {
		c.step = false
		c.enter(vecDebug, frame{ip: c.after, unmask: true}, c.ip)
	}
}

// struck takes an interrupt, or an NMI, just before the site in ambush.
func (c *cpu) struck() bool {
	c.ambush = 0
	switch {
	case len(c.frames) >= maxFrames || c.step:
		return false
	case c.iff && c.r.one(2):
		c.interrupt(vecTimer, c.ip)
	case c.nmis == 0:
		c.nmis++
		c.m.nmi(c)
		c.interrupt(vecNMI, c.ip)
	default:
		return false
	}
	return true
}

// broken reports whether a fault or an interrupt comes instead of the
// instruction, which then runs again.
func (c *cpu) broken(in *insn, draw uint64) bool {
	switch {
	case in.op == opMem && draw&1023 == 0 && c.iff && len(c.frames) < 3 && c.ip-textBase < c.ic.regions[0].size:
		c.interrupt(vecFault, c.ip)
	case in.op == opRep && draw&7 == 0 && c.iff && len(c.frames) < maxFrames:
		c.interrupt(vecTimer, c.ip)
	default:
		return false
	}
	return true
}

// transfer returns where the instruction leads; next is what lies behind it.
func (c *cpu) transfer(in *insn, next, draw uint64) uint64 {
	switch in.op {
	case opCond:
		var taken bool
		switch in.flag {
		case flagYield:
			taken = !c.yields(draw)
		case flagProgram:
			taken = c.thread.user
		default:
			taken = c.outcome(in, draw, 10)
		}
		c.u.cond(taken, c.t)
		if taken {
			return in.target
		}
	case opJump:
		return in.target
	case opCall:
		if in.target != next { // a call to the next instruction only asks where it is
			c.push(next)
			c.u.call(next)
		}
		return in.target
	case opCallInd:
		c.push(next)
		c.u.call(next)
		next = c.draw(c.ip)
		c.u.indirect(next, c.t)
	case opJumpInd:
		next = c.draw(c.ip)
		c.u.indirect(next, c.t)
	case opRet:
		next = c.pop()
		c.u.ret(next, c.t)
	case opSetRet:
		// The return address of the retpoline's caller is below the top.
		c.stack[len(c.stack)-1] = c.draw(c.stack[len(c.stack)-2] - 5)
	case opSwitch:
		c.changes()
	case opSti:
		c.iff = true
		c.event = c.t
	case opCli:
		c.iff = false
	}
	return next
}

// system executes what serialises, or changes privilege.
func (c *cpu) system(in *insn, next uint64) {
	if in.op == opInt { // does not retire
		c.enter(vecSoft, frame{ip: next}, c.ip)
		return
	}
	c.retire(in)
	switch in.op {
	case opSync:
		c.sync()
		c.ip = next
	case opIret:
		c.iret()
	case opSysret:
		if c.vcpu != nil {
			c.vcpu.enter()
			return
		}
		c.u.disable(c.t)
		c.leave()
	}
}

// fetch returns the instruction at c.ip as this CPU's instruction cache holds it.
func (c *cpu) fetch() *insn {
	off := c.ip - c.ic.regions[0].base
	r := 0
	if off >= c.ic.regions[0].size {
		r, off = c.ic.at(c.ip)
	}
	in := &c.ic.insns[r][off]
	if in.len == 0 {
		b := c.ic.bytes[r][off:]
		*in = decode(b[:min(len(b), 15)], c.ip)
		in.flag = c.m.prog.notes[c.ip]
		in.code = uint32(len(c.m.run.Codes))
		code := Code{IP: c.ip, Len: in.len}
		copy(code.Bytes[:in.len], b)
		c.m.run.Codes = append(c.m.run.Codes, code)
	}
	return in
}

// draw returns one of the targets of the indirect branch at addr.
func (c *cpu) draw(addr uint64) uint64 {
	to := c.m.prog.targets[addr]
	return to[c.r.n(uint64(len(to)))]
}

// enter leaves the flow at from (the IP a FUP gives) for a vector's entry.
func (c *cpu) enter(v vector, f frame, from uint64) {
	f.iff, f.user, f.depth = c.iff, c.user, len(c.stack)
	to := c.m.prog.vec[v]
	if c.user {
		from = 0
	}
	c.entered(from, v == vecInt3)
	if c.user {
		c.u.enable(to, c.t)
	} else {
		c.u.async(from, to, c.t)
	}
	c.frames = append(c.frames, f)
	c.iff, c.user = false, false
	c.ip = to
}

// interrupt takes an interrupt or fault that returns to the address ip.
func (c *cpu) interrupt(v vector, ip uint64) {
	c.enter(v, frame{ip: ip, nmi: v == vecNMI}, ip)
	c.t += 1 + c.r.n(20)
}

// iret returns from the innermost frame; it synchronises the instruction cache.
func (c *cpu) iret() {
	f := c.unwind()
	if f.nmi {
		c.nmis--
		c.nextNMI = max(c.nextNMI, c.t+c.r.around(c.m.cfg.NMI))
	}
	c.nextIRQ = max(c.nextIRQ, c.t+c.r.around(c.m.cfg.IRQ)) // some progress between two
	to := c.back(&f)
	c.step, c.after = f.step, f.after
	c.refresh(never)
	c.event = c.t
	if f.user {
		c.u.disable(c.t)
		c.leave()
		return
	}
	c.u.far(to, c.t)
	c.ip = to
}

// leave goes to user space for a while.
func (c *cpu) leave() {
	c.user, c.iff = true, true
	c.ip = 0
	c.t++
	c.wake = c.t + c.r.around(800)
	c.event = c.t
}

// idle lets some time pass in user space; a system call ends it.
func (c *cpu) idle() {
	c.t = min(c.t+64, max(c.wake, c.t+1))
	if c.t < c.wake {
		return
	}
	c.user, c.iff = false, false
	c.ip = c.m.prog.syscall
	c.u.enable(c.ip, c.t)
}

// refresh takes in the stores due at time t (never: all of them).
func (c *cpu) refresh(t uint64) {
	if c.ic.due > t && t != never || len(c.ic.pending) == 0 {
		return
	}
	c.ic.absorb(t, func(w *write) {
		if w.poke == nil {
			return
		}
		s := &w.poke.Seen[c.id]
		switch w.kind {
		case writeTrap:
			s.Trap, s.TrapTime = len(c.insns), c.t
		case writeNew:
			s.New, s.NewTime = len(c.insns), c.t
		}
	})
}

// sync serialises: the CPU sees memory as it is, and answers the IPI that asked for it.
func (c *cpu) sync() {
	c.refresh(never)
	c.acked = true
}

// service does what is due at c.t and reports whether an interrupt was taken.
func (c *cpu) service() bool {
	c.refresh(c.t)
	c.u.tick(c.t, c.ip)
	taken := c.interrupts()
	e := min(c.ic.due, c.u.due(), c.nextIRQ, c.nextNMI, c.ipi)
	if e <= c.t { // blocked: look again at the next instruction
		e = c.t + 1
	}
	if taken {
		e = c.t
	}
	c.event = e
	return taken
}

// interrupts takes an interrupt that is due and allowed.
func (c *cpu) interrupts() bool {
	switch {
	case c.step, c.ip == c.m.prog.swapped:
		return false
	case c.t >= c.nextNMI:
		c.nextNMI = c.t + c.r.around(c.m.cfg.NMI)
		if c.nmis > 0 || len(c.frames) >= maxFrames {
			return false
		}
		c.nmis++
		c.m.nmi(c)
		c.interrupt(vecNMI, c.ip)
		return true
	case !c.iff:
		return false
	case c.t >= c.ipi:
		c.ipi = never
		v := vecIPI
		if c.stopIPI {
			v, c.stopIPI, c.held = vecStop, false, true
		}
		c.interrupt(v, c.ip)
		return true
	case c.t >= c.nextIRQ:
		c.nextIRQ = c.t + c.r.around(c.m.cfg.IRQ)
		if len(c.frames) >= maxFrames {
			return false
		}
		c.interrupt(vecTimer, c.ip)
		return true
	}
	return false
}
