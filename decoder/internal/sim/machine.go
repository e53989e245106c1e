package sim

// machine is the whole: CPUs, memory, the patcher and the copier of images.
type machine struct {
	cfg  Config
	prog *program
	mem  memory
	cpus []*cpu
	run  *Run
	pat  *patcher

	pokes []*Poke
	traps []pendingTrap
	copy  imageCopy
}

// Simulate runs the machine that cfg describes.
func Simulate(cfg Config) *Run {
	cfg = cfg.withDefaults()
	m := &machine{cfg: cfg, prog: newProgram(cfg), run: &Run{Config: cfg}}
	m.mem.regions = [2]region{{textBase, uint64(len(m.prog.text))}, {dynBase, dynSize}}
	m.mem.bytes = [2][]byte{m.prog.text, make([]byte, dynSize)}
	m.run.Symbols = m.prog.syms
	m.run.Start = m.image()
	r := newRand(cfg.Seed, 2)
	t0 := 1<<44 + r.n(1<<40)
	for id := range cfg.CPUs {
		m.cpus = append(m.cpus, m.newCPU(id, t0+r.n(300)))
	}
	m.pat = newPatcher(m, t0+r.around(cfg.PokeGap))
	m.copy = imageCopy{mem: &m.mem, run: m.run, r: newRand(cfg.Seed, 3), size: 512, gap: uint64(cfg.Insns)/16 + 1, t: never}
	m.loop()
	m.finish()
	return m.run
}

func (m *machine) newCPU(id int, t uint64) *cpu {
	c := &cpu{core: newCore(&m.cfg, id, t), m: m, ic: newICache(&m.mem)}
	c.insns = make([]Retired, 0, m.cfg.Insns+m.cfg.Insns/4)
	c.u = newUnit(&m.cfg, id, &c.event, &c.insns)
	c.ip = m.prog.mains[id]
	c.nextIRQ, c.nextNMI = t+c.r.around(m.cfg.IRQ), t+c.r.around(m.cfg.NMI)
	if m.cfg.User && c.r.n(4) > 0 {
		c.ip, c.user, c.wake = 0, true, t+c.r.n(500)
	}
	c.u.start(!c.user, c.ip, t)
	return c
}

// loop interleaves the CPUs and the patcher by time until every CPU has done
// its share and the patcher its last job.
func (m *machine) loop() {
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
		limit = min(limit, m.pat.t-1, m.copy.t-1)
		for n := 0; c.t <= limit && n < 64; n++ {
			c.exec()
		}
		if m.quota() && m.pat.done && m.copy.t == never {
			return
		}
		c.halts(&m.cfg)
	}
}

// quota reports whether every CPU has retired its share; it starts the copies
// of the image on the way.
func (m *machine) quota() bool {
	n := progress(m.cpus)
	if n >= m.cfg.Insns/4 && !m.copy.started {
		m.copy.start(m.cpus[0].t)
	}
	if n >= m.cfg.Insns/2 && m.run.Middle == nil {
		m.run.Middle, m.run.MiddleAt = m.image(), m.cpus[0].t
	}
	return n >= m.cfg.Insns
}

// finish closes the streams and collects the truth.
func (m *machine) finish() {
	for _, c := range m.cpus {
		c.refresh(never)
		c.u.tick(c.t, c.ip)
		c.u.stop(c.ip, c.t)
		m.run.CPUs = append(m.run.CPUs, CPU{PT: c.u.out, Sent: c.u.sent, Insns: c.insns, Lost: c.u.lost, Stop: c.t})
	}
	m.run.End = m.image()
	number := map[*Poke]int{}
	for i, p := range m.pokes {
		number[p] = i
		m.run.Pokes = append(m.run.Pokes, *p)
	}
	for _, t := range m.traps {
		t.Poke = -1
		if t.poke != nil {
			t.Poke = number[t.poke]
		}
		m.run.Traps = append(m.run.Traps, t.Trap)
	}
}

// image copies the text at this moment.
func (m *machine) image() []Piece {
	return []Piece{{textBase, append([]byte(nil), m.mem.bytes[0]...)}}
}

// imageCopy copies the text page by page while the machine runs, as a copy
// of /proc/kcore does.
type imageCopy struct {
	mem     *memory
	run     *Run
	r       rnd
	size    int    // how much is copied at once, bytes: less than a page of memory, as the programs are small
	gap     uint64 // between two pages, ticks, on average
	t       uint64 // time of the next page, ticks; never: not running
	started bool
}

func (k *imageCopy) start(t uint64) {
	k.started = true
	k.t = t
	k.run.DuringFrom = t
	k.run.During = []Piece{{Addr: k.mem.regions[0].base}}
}

func (k *imageCopy) page() {
	p := &k.run.During[0]
	text := k.mem.bytes[0]
	n := len(p.Bytes)
	p.Bytes = append(p.Bytes, text[n:min(n+k.size, len(text))]...)
	k.run.DuringTo = k.t
	k.t += k.r.around(k.gap)
	if len(p.Bytes) == len(text) {
		k.t = never
	}
}
