package sim

// machine is the whole: CPUs, memory, the patcher and the copier of images.
type machine struct {
	world
	prog *program
	cpus []*cpu
	pat  *patcher

	traps   []pendingTrap
	waiting []*thread // that no CPU runs
}

// Simulate runs the machine that cfg describes.
func Simulate(cfg Config) *Run {
	cfg = cfg.withDefaults()
	m := &machine{prog: newProgram(cfg)}
	m.load(cfg, m.prog.text, textBase, dynBase, m.prog.syms)
	m.run.Branches = m.prog.branches()
	r, t0 := m.switchOn()
	for id := range cfg.CPUs {
		m.cpus = append(m.cpus, m.newCPU(id, t0+r.n(300)))
	}
	m.begins()
	m.pat = newPatcher(m, t0+r.around(cfg.PokeGap))
	m.copy = imageCopy{mem: &m.mem, run: m.run, r: newRand(cfg.Seed, 3), size: 512, gap: uint64(cfg.Insns)/16 + 1, t: never, exact: true}
	interleave(&m.world, m.cpus, &m.pat.pace)
	m.finish()
	return m.run
}

func (m *machine) newCPU(id int, t uint64) *cpu {
	c := &cpu{core: newCore(&m.cfg, id, t), m: m, ic: newICache(&m.mem)}
	c.insns = make([]Retired, 0, m.cfg.Insns+m.cfg.Insns/4)
	c.u = newUnit(&m.cfg, id, &c.event, &c.insns)
	if c.ip = m.prog.mains[id]; m.cfg.hypervisor {
		c.brief = true
		c.ip = m.prog.syscall // where it comes in from the virtual machine
	}
	c.nextIRQ, c.nextNMI = t+c.r.around(m.cfg.IRQ), t+c.r.around(m.cfg.NMI)
	if m.cfg.User && c.r.n(4) > 0 {
		c.ip, c.user, c.wake = 0, true, t+c.r.n(500)
	}
	c.u.start(!c.user, c.ip, t)
	return c
}

// finish closes the streams and has the truth collected.
func (m *machine) finish() {
	for _, c := range m.cpus {
		c.refresh(never)
		c.u.tick(c.t, c.ip)
		c.u.stop(c.ip, c.t)
		m.run.CPUs = append(m.run.CPUs, CPU{PT: c.u.out, Sent: c.u.sent, Insns: c.insns, Entries: c.entries, Final: c.final(), Lost: c.u.lost, Stop: c.t})
	}
	m.collect()
}

// collect collects the rest of the truth.
func (m *machine) collect() {
	m.run.End = m.image()
	number := m.number()
	for _, t := range m.traps {
		t.Poke = number[t.poke]
		m.run.Traps = append(m.run.Traps, t.Trap)
	}
}
