package sim

// machineArm is the machine of Arm's CPUs.
type machineArm struct {
	dialect
	cfg  Config
	prog *programArm
	mem  memory
	cpus []*cpuArm
	run  *Run
	pat  *patcherArm

	known map[codeArm]*insn
	pokes []*Poke
	traps []trapArm
	copy  imageCopy
}

type codeArm struct {
	addr uint64
	word uint32
}

// SimulateA64 runs the machine of A64 CPUs that cfg describes. Fields that are
// Intel PT's or x86's alone are not used; a CPU has no stale cache but while a
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
	m := &machineArm{dialect: d, cfg: cfg, prog: newProgramArm(cfg, d), run: &Run{Config: cfg}, known: map[codeArm]*insn{}}
	text, dyn := d.layout()
	m.mem.regions = [2]region{{text, uint64(len(m.prog.text))}, {dyn, dynSize}}
	m.mem.bytes = [2][]byte{m.prog.text, make([]byte, dynSize)}
	m.run.Symbols = m.prog.syms
	m.run.Start = m.image()
	r := newRand(cfg.Seed, 2)
	t0 := 1<<44 + r.n(1<<40)
	for id := range cfg.CPUs {
		m.cpus = append(m.cpus, m.newCPU(id, t0+r.n(300)))
	}
	m.pat = newPatcherArm(m, t0+r.around(cfg.PokeGap))
	m.copy = imageCopy{mem: &m.mem, run: m.run, r: newRand(cfg.Seed, 3), size: 64, gap: cfg.PokeGap, t: never}
	m.loop()
	m.finish()
	return m.run
}

func (m *machineArm) newCPU(id int, t uint64) *cpuArm {
	c := &cpuArm{core: newCore(&m.cfg, id, t), m: m, loose: map[uint64]*looseWord{}}
	c.u = newUnitArm(&m.cfg, id, &c.insns)
	c.ip = m.prog.mains[id]
	c.nextIRQ = t + c.r.around(m.cfg.IRQ)
	c.u.start(c.ip, t)
	return c
}

// loop interleaves the CPUs and the patcher by time until every CPU has done
// its share and the patcher its last job.
func (m *machineArm) loop() {
	for {
		c, limit := earliest(m.cpus)
		if m.pat.t <= c.t {
			m.pat.resume()
			continue
		}
		if m.copy.t <= c.t {
			m.copy.page()
			continue
		}
		limit = min(limit, m.pat.t-1)
		for n := 0; c.t <= limit && n < 64; n++ {
			c.exec()
		}
		if m.quota() && m.pat.done {
			return
		}
		c.halts(&m.cfg)
	}
}

// quota reports whether every CPU has retired its share; it starts the copies
// of the image on the way.
func (m *machineArm) quota() bool {
	n := progress(m.cpus)
	if n >= m.cfg.Insns/4 && !m.copy.started {
		m.copy.start(m.cpus[0].t)
	}
	if n >= m.cfg.Insns/2 && m.run.Middle == nil {
		m.run.Middle, m.run.MiddleAt = m.image(), m.cpus[0].t
	}
	return n >= m.cfg.Insns
}

// finish closes the scripts and collects the truth: as far as they tell.
func (m *machineArm) finish() {
	for _, c := range m.cpus {
		told := c.u.stop(c.t)
		out := c.u.result()
		out.Insns = c.insns[:told]
		m.run.CPUs = append(m.run.CPUs, out)
	}
	m.run.End = m.image()
	for m.copy.t != never { // what is left of it when the run is over
		m.copy.page()
	}
	number := map[*Poke]int{nil: -1}
	for i, p := range m.pokes {
		number[p] = i
		m.run.Pokes = append(m.run.Pokes, *p)
	}
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

// image copies the text at this moment.
func (m *machineArm) image() []Piece {
	return []Piece{{m.mem.regions[0].base, append([]byte(nil), m.mem.bytes[0]...)}}
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
