package sim

import "github.com/ptdecode/ptdecode/pt"

// A hypervisor and a virtual machine. Both are machines of their own, with their own
// programs, patchers and records, and the same addresses. A CPU of the hypervisor runs
// a CPU of the virtual machine for a while, and one trace unit traces both. Intel SDM,
// volume 3C, section "VMX-Specific Packets and VMCS Controls".

// vcpu is a CPU of the hypervisor and the virtual CPU that it runs.
type vcpu struct {
	host, guest *cpu
	in          bool    // the virtual machine runs
	other       account // of the machine that does not run
}

// The page tables and the VMCS that packets state, by CPU.
const (
	hostCR3  = 0x1000000
	guestCR3 = 0x2000000
	vmcsBase = 0x8000000
	cpuStep  = 0x1000
)

// SimulateGuest runs a hypervisor and a virtual machine that has as many CPUs. The
// trace is the hypervisor's, and tells of both.
func SimulateGuest(host, guest Config) (h, g *Run) {
	host, guest = host.withDefaults(), guest.withDefaults()
	host.hypervisor, host.User = true, false
	guest.CPUs = host.CPUs
	ms := [2]*machine{{prog: newProgram(host)}, {prog: newProgram(guest)}}
	for i, cfg := range []Config{host, guest} {
		ms[i].load(cfg, ms[i].prog.text, textBase, dynBase, ms[i].prog.syms)
	}
	r, t0 := ms[0].switchOn()
	var vs []*vcpu
	for id := range host.CPUs {
		v := &vcpu{}
		t := t0 + r.n(300)
		v.host, v.guest = ms[0].newCPU(id, t), ms[1].newCPU(id, t)
		v.host.vcpu = v
		v.other = v.guest.u.account
		v.guest.u = v.host.u
		ms[0].cpus, ms[1].cpus = append(ms[0].cpus, v.host), append(ms[1].cpus, v.guest)
		vs = append(vs, v)
	}
	for _, m := range ms {
		m.pat = newPatcher(m, t0+r.around(m.cfg.PokeGap))
		m.copy = imageCopy{mem: &m.mem, run: m.run, r: newRand(m.cfg.Seed, 3), size: 512, gap: uint64(m.cfg.Insns)/16 + 1, t: never, exact: true}
	}
	runBoth(ms[:], vs)
	for _, v := range vs {
		v.stop()
	}
	for _, m := range ms {
		m.collect()
	}
	return ms[0].run, ms[1].run
}

// runBoth is interleave for the machines ms, whose CPUs vs run.
func runBoth(ms []*machine, vs []*vcpu) {
	for {
		c, limit := earliest(vs)
		early := false
		for _, m := range ms {
			switch {
			case m.pat.t <= c.now():
				m.pat.resume()
				early = true
			case m.copy.t <= c.now():
				m.copy.page()
				early = true
			}
			limit = min(limit, m.pat.t-1, m.copy.t-1)
		}
		if early {
			continue
		}
		for n := 0; c.now() <= limit && n < 64; n++ {
			c.exec()
		}
		over := true
		for _, m := range ms {
			over = m.quota(progress(m.cpus), c.now()) && m.pat.done && m.copy.t == never && over
		}
		if over {
			return
		}
		c.halts(&ms[0].cfg)
	}
}

func (v *vcpu) now() uint64 {
	if v.in {
		return v.guest.t
	}
	return v.host.t
}

func (v *vcpu) retired() int { return v.host.retired() + v.guest.retired() }

func (v *vcpu) halts(c *Config) {
	v.host.halts(c)
	v.guest.halts(c)
}

// exec executes one instruction of the machine that runs, or changes machines.
func (v *vcpu) exec() {
	switch {
	case !v.in:
		v.host.exec()
	case v.guest.t >= min(v.host.wake, max(v.host.ipi, v.host.t+1)):
		v.exit()
	default:
		v.guest.exec()
	}
}

// enter goes to the virtual machine.
func (v *vcpu) enter() {
	h, g, u := v.host, v.guest, v.host.u
	h.t++
	g.t = max(g.t, h.t)
	h.user, h.iff = true, true
	h.wake = h.t + h.r.around(800)
	u.crystal(h.t)
	u.changes(h.t, vmcsBase+cpuStep*uint64(h.id))
	if !u.losing {
		u.send(pt.Packet{Kind: pt.PIP, Value: u.pip()})
		if u.r.one(2) {
			u.send(pt.Packet{Kind: pt.ModeExec, Value: 1})
		}
		switch {
		case !g.user && u.on:
			u.ip(pt.TIP, g.ip)
		case !g.user:
			u.ip(pt.PGE, g.ip)
		case u.on:
			u.noIP(pt.PGD)
		}
	}
	u.on = !g.user
	v.turn(g)
}

// exit comes back from the virtual machine.
func (v *vcpu) exit() {
	h, g, u := v.host, v.guest, v.host.u
	h.t = max(h.t, g.t) + 1
	h.user, h.iff = false, false
	h.ip = h.m.prog.syscall
	u.crystal(h.t)
	u.changes(h.t, 0)
	if !u.losing {
		if u.on {
			u.ip(pt.FUP, g.ip)
		}
		u.stamp(h.t)
		u.send(pt.Packet{Kind: pt.PIP, Value: u.pip()})
		if u.on {
			u.ip(pt.TIP, h.ip)
		} else {
			u.ip(pt.PGE, h.ip)
		}
	}
	u.on = true
	v.turn(h)
}

// turn has the unit tell of c from now on.
func (v *vcpu) turn(c *cpu) {
	u := c.u
	if u.losing {
		u.lost = append(u.lost, Lost{u.sure, len(*u.retired)})
	}
	u.complete()
	u.account, v.other = v.other, u.account
	u.complete()
	v.in = !v.in
	c.event = 0
}

// stop ends the trace in the hypervisor.
func (v *vcpu) stop() {
	if v.in {
		v.exit()
	}
	h, g := v.host, v.guest
	h.refresh(never)
	g.refresh(never)
	h.u.tick(h.t, h.ip)
	h.u.stop(h.ip, h.t)
	h.m.run.CPUs = append(h.m.run.CPUs, CPU{PT: h.u.out, Sent: h.u.sent, Insns: h.insns, Lost: h.u.lost, Stop: h.t})
	g.m.run.CPUs = append(g.m.run.CPUs, CPU{PT: h.u.out, Sent: v.other.sent, Insns: g.insns, Lost: v.other.lost, Stop: h.t})
}

// changes readies u for another machine, whose VMCS is given; 0: the host.
func (u *unit) changes(t, vmcs uint64) {
	u.flush()
	u.stamp(t)
	u.vmcs = vmcs
}

// pip is the payload of a PIP: bits 51 to 5 of CR3, and the NR bit.
func (u *unit) pip() uint64 {
	if u.vmcs != 0 {
		return (guestCR3+u.vmcs-vmcsBase)>>4 | 1
	}
	return hostCR3 >> 4
}

// whose states the address space and the VMCS, as a PSB+ does.
func (u *unit) whose() {
	u.send(pt.Packet{Kind: pt.PIP, Value: u.pip()})
	vmcs := u.vmcs
	if vmcs == 0 { // that of the CPU stays loaded
		vmcs = 1<<52 - cpuStep
	}
	u.send(pt.Packet{Kind: pt.VMCS, Value: vmcs >> 12})
}
