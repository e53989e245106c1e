package sim

import "encoding/binary"

// machineA64 is the machine of A64 CPUs.
type machineA64 struct {
	cfg  Config
	prog *programA64
	text []uint32 // from textA64 on, as stored
	dyn  []uint32 // from dynA64 on
	cpus []*cpuA64
	run  *Run
	pat  *patcherA64

	known map[codeA64]*insn
	pokes []*Poke
	traps []trapA64
}

type codeA64 struct {
	addr uint64
	word uint32
}

// SimulateA64 runs the machine of A64 CPUs that cfg describes. Fields that are
// Intel PT's or x86's alone are not used; a CPU has no stale cache but while a
// poke is under way: then each fetch of the word may see either text.
func SimulateA64(cfg Config) *Run {
	cfg = cfg.withDefaults()
	m := &machineA64{cfg: cfg, prog: newProgramA64(cfg), run: &Run{Config: cfg}, known: map[codeA64]*insn{}}
	m.text, m.dyn = m.prog.words, make([]uint32, dynSize/wordLength)
	m.run.Symbols = m.prog.syms
	m.run.Start = m.image()
	r := newRand(cfg.Seed, 2)
	t0 := 1<<44 + r.n(1<<40)
	for id := range cfg.CPUs {
		m.cpus = append(m.cpus, m.newCPU(id, t0+r.n(300)))
	}
	m.pat = newPatcherA64(m, t0+r.around(cfg.PokeGap))
	m.loop()
	m.finish()
	return m.run
}

func (m *machineA64) newCPU(id int, t uint64) *cpuA64 {
	c := &cpuA64{core: newCore(&m.cfg, id, t), m: m, loose: map[uint64]*looseWord{}}
	c.u = newUnitA64(&m.cfg, id, &c.insns)
	c.ip = m.prog.mains[id]
	c.nextIRQ = t + c.r.around(m.cfg.IRQ)
	c.u.start(c.ip, t)
	return c
}

// loop interleaves the CPUs and the patcher by time until every CPU has done
// its share and the patcher its last job.
func (m *machineA64) loop() {
	for {
		c, limit := earliest(m.cpus)
		if m.pat.t <= c.t {
			m.pat.resume()
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

// quota reports whether every CPU has retired its share.
func (m *machineA64) quota() bool {
	n := progress(m.cpus)
	if n >= m.cfg.Insns/2 && m.run.Middle == nil {
		m.run.Middle, m.run.MiddleAt = m.image(), m.cpus[0].t
	}
	return n >= m.cfg.Insns
}

// finish closes the scripts and collects the truth: as far as they tell.
func (m *machineA64) finish() {
	for _, c := range m.cpus {
		told := c.u.stop(c.t)
		out := c.u.result()
		out.Insns = c.insns[:told]
		m.run.CPUs = append(m.run.CPUs, out)
	}
	m.run.End = m.image()
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
func (m *machineA64) image() []Piece { return []Piece{{textA64, wordBytes(m.text...)}} }

func wordBytes(words ...uint32) (b []byte) {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// cell returns where the word at addr is stored.
func (m *machineA64) cell(addr uint64) *uint32 {
	if i := (addr - dynA64) / wordLength; addr >= dynA64 && i < uint64(len(m.dyn)) {
		return &m.dyn[i]
	}
	return &m.text[(addr-textA64)/wordLength]
}

func (m *machineA64) word(addr uint64) uint32 { return *m.cell(addr) }

// decode returns the instruction w at addr.
func (m *machineA64) decode(addr uint64, w uint32) *insn {
	in := m.known[codeA64{addr, w}]
	if in == nil {
		d := decodeA64(w, addr)
		d.flag = m.prog.notes[addr]
		d.code = uint32(len(m.run.Codes))
		code := Code{IP: addr, Len: wordLength}
		copy(code.Bytes[:], wordBytes(w))
		m.run.Codes = append(m.run.Codes, code)
		in = &d
		m.known[codeA64{addr, w}] = in
	}
	return in
}

// inUse reports whether a CPU is in [lo, hi) or has an address in it to return to.
func (m *machineA64) inUse(lo, hi uint64) bool {
	in := func(a uint64) bool { return lo <= a && a < hi }
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
