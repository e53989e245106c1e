package sim

import "slices"

// machineArm is the machine of Arm's CPUs.
type machineArm struct {
	dialect
	world
	prog *programArm
	cpus []*cpuArm
	pat  *patcherArm

	known map[codeArm]*insn
	traps []trapArm
}

type codeArm struct {
	addr uint64
	word uint32
}

// SimulateA64 runs the machine of A64 CPUs that cfg describes. It does not use
// fields that are Intel PT's or x86's alone. A CPU has no stale cache but while a
// poke is under way: then each fetch of the word may see either text.
func SimulateA64(cfg Config) *Run {
	return simulateArm(cfg, dialectA64{})
}

// SimulateA32 is SimulateA64 of CPUs that run A32 and T32.
func SimulateA32(cfg Config) *Run {
	return simulateArm(cfg, dialectA32{})
}

func simulateArm(cfg Config, d dialect) *Run {
	cfg = cfg.withDefaults()
	m := &machineArm{dialect: d, prog: newProgramArm(cfg, d), known: map[codeArm]*insn{}}
	text, dyn := d.layout()
	m.load(cfg, m.prog.text, text, dyn, m.prog.syms)
	r, t0 := m.switchOn()
	for id := range cfg.CPUs {
		m.cpus = append(m.cpus, m.newCPU(id, t0+r.n(300)))
	}
	m.pat = newPatcherArm(m, t0+r.around(cfg.PokeGap))
	m.copy = imageCopy{mem: &m.mem, run: m.run, r: newRand(cfg.Seed, 3), size: 64, gap: cfg.PokeGap, t: never}
	interleave(&m.world, m.cpus, &m.pat.pace)
	m.finish()
	return m.run
}

func (m *machineArm) newCPU(id int, t uint64) *cpuArm {
	c := &cpuArm{core: newCore(&m.cfg, id, t), m: m, loose: map[uint64]*looseWord{}}
	c.insns = make([]Retired, 0, m.cfg.Insns+m.cfg.Insns/4)
	c.u = newUnitArm(&m.cfg, id, &c.insns)
	c.ip = m.prog.mains[id]
	c.nextIRQ = t + c.r.around(m.cfg.IRQ)
	c.u.start(c.ip, t)
	return c
}

// finish closes the scripts and collects the truth: as far as they tell.
func (m *machineArm) finish() {
	for _, c := range m.cpus {
		told := c.u.stop(c.t)
		out := c.u.result()
		out.Insns, out.Final = c.insns[:told], c.final()
		if told < len(c.insns) {
			out.Final = c.insns[told]
		}
		out.Entries = slices.DeleteFunc(c.entries, func(e Entry) bool { return e.At > told })
		m.run.CPUs = append(m.run.CPUs, out)
	}
	m.run.End = m.image()
	for m.copy.t != never { // what is left of it when the run is over
		m.copy.page()
	}
	number := m.number()
	for _, t := range m.traps {
		t.Poke = -1
		switch t.Kind {
		case TrapSlot:
			t.Poke = number[t.probe.code]
		case TrapArmed:
			t.Poke = number[t.probe.arm]
		}
		m.run.Traps = append(m.run.Traps, t.Trap)
	}
}

// word returns the instruction at addr.
func (m *machineArm) word(addr uint64) uint32 {
	r, off := m.mem.at(plainAddr(addr))
	return wordAt(addr, m.mem.bytes[r][off:])
}

// put writes instructions to addr.
func (m *machineArm) put(addr uint64, ws ...uint32) {
	m.mem.store(plainAddr(addr), textAt(addr, ws...))
}

// insn returns the instruction w at addr.
func (m *machineArm) insn(addr uint64, w uint32) *insn {
	in := m.known[codeArm{addr, w}]
	if in == nil {
		d := m.decode(w, addr)
		d.flag = m.prog.notes[addr]
		d.cond = d.cond || d.flag&flagIT != 0
		d.code = uint32(len(m.run.Codes))
		code := Code{IP: plainAddr(addr), Len: d.len}
		copy(code.Bytes[:], textAt(addr, w))
		m.run.Codes = append(m.run.Codes, code)
		in = &d
		m.known[codeArm{addr, w}] = in
	}
	return in
}

// inUse reports whether a CPU is in [lo, hi) or has an address in it to return to.
func (m *machineArm) inUse(lo, hi uint64) bool {
	in := func(a uint64) bool { return lo <= plainAddr(a) && plainAddr(a) < hi }
	for _, c := range m.cpus {
		if in(c.ip) {
			return true
		}
		for i := range c.frames {
			f := &c.frames[i]
			if in(f.ip) || f.emu != nil && in(f.emu.target) {
				return true
			}
		}
		for _, a := range c.stack {
			if in(a) {
				return true
			}
		}
	}
	return false
}
