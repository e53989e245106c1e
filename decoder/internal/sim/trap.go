package sim

import "fmt"

// trap takes the INT3 at c.ip. It settles here what the handler makes of the
// interrupted flow, and does it at the handler's IRET. No job of the patcher ends
// in between, because its last synchronisation waits for the handler.
func (c *cpu) trap() {
	f, tr := c.m.pat.resolve(c)
	tr.CPU, tr.IP, tr.Time, tr.Index = c.id, c.ip, c.t, len(c.insns)
	c.m.traps = append(c.m.traps, tr)
	c.enter(vecInt3, f, c.ip)
	c.t += 1 + c.r.n(20)
	if c.r.one(12) { // an NMI inside the handler
		c.nextNMI, c.event = c.t+c.r.n(8), 0
	}
}

// resolve says what the handler does with the breakpoint at c.ip.
func (p *patcher) resolve(c *cpu) (f frame, tr pendingTrap) {
	if a, ok := p.active[c.ip]; ok {
		tr.Kind, tr.Emu, tr.poke = TrapWindow, true, a.poke
		if a.emu.kind != emuRet && a.emu.kind != emuCond {
			tr.To = a.emu.target
		}
		return frame{emu: &a.emu}, tr
	}
	if f, tr, ok := p.resolveProbe(c); ok {
		return f, tr
	}
	panic(fmt.Sprintf("sim: seed %d: CPU %d takes a stray breakpoint at %#x", p.m.cfg.Seed, c.id, c.ip))
}

// pendingTrap is a Trap whose poke has no number yet.
type pendingTrap struct {
	Trap
	poke *Poke
}
