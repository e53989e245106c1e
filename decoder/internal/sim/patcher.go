package sim

// patcher rewrites text while the CPUs run.
type patcher struct {
	pace
	m   *machine
	cpu int // the CPU that it runs on

	batch   int                   // number of the last batch
	active  map[uint64]trapAction // sites of the patch in progress
	probes  map[uint64]*probe     // armed kprobes
	stops   map[uint64]*slotStop  // breakpoints behind copies
	live    []*probe              // kprobes in place
	slots   arena
	bufs    arena
	tramps  []*trampoline
	buffers []buffer // by CPU
	fix     *fix     // stop_machine in progress: the write at hand
}

// trapAction is what the handler does with a breakpoint of a patch in progress.
type trapAction struct {
	emu  emulation
	poke *Poke
}

func newPatcher(m *machine, t uint64) *patcher {
	p := &patcher{
		pace: newPace(&m.cfg, t), m: m,
		active: map[uint64]trapAction{}, probes: map[uint64]*probe{},
		stops: map[uint64]*slotStop{}, buffers: make([]buffer, len(m.cpus)),
		slots: arena{dynBase, slotSize, make([]bool, slotCount)},
		bufs:  arena{bufBase, bufSize, make([]bool, bufCount)},
	}
	p.begin(p.work)
	return p
}

// work does jobs until every CPU has done its share.
func (p *patcher) work() {
	jobs := p.jobs()
	if len(jobs) == 0 {
		return
	}
	for progress(p.m.cpus) < p.m.cfg.Insns {
		p.sleep(p.m.cfg.PokeGap)
		p.cpu = int(p.r.n(uint64(len(p.m.cpus))))
		jobs[p.r.n(uint64(len(jobs)))]()
	}
	for cpu := range p.buffers { // the recorder says at the end what it lost
		if p.buffers[cpu].lost > 0 {
			p.t++
			p.settle(cpu, p.t)
		}
	}
}

// jobs lists what the configuration asks for and the program has sites for.
func (p *patcher) jobs() (jobs []func()) {
	on := func(w Work, job func()) {
		if p.m.cfg.Work&w != 0 {
			jobs = append(jobs, job)
		}
	}
	bp := func(kinds ...siteKind) func() {
		sites := p.sitesOf(kinds...)
		return func() { p.batchJob(sites) }
	}
	entries := p.sitesOf(siteEntry)
	on(WorkJump, bp(siteJump))
	on(WorkCall, bp(siteCall, siteTail, siteCond))
	on(WorkFtrace, bp(siteEntry))
	on(WorkFtrace, func() { p.trampolineJob(entries, "ftrace_trampoline", FateRecorded) })
	on(WorkLoad, func() { p.trampolineJob(entries, "bpf_prog_6deef7357e7b4530", FateNone) })
	on(WorkKprobe, p.probeJob)
	on(WorkOptprobe, p.optJob)
	imm := p.sitesOf(siteImm, siteImmAlign, siteJump)
	on(WorkXMC, func() { p.xmcJob(imm) })
	stop := p.sitesOf(siteEntry, siteJump)
	on(WorkStop, func() { p.stopJob(stop) })
	words := p.sitesOf(siteImmAlign)
	on(WorkAtomic, func() { p.atomicJob(words) })
	return jobs
}

func (p *patcher) sitesOf(kinds ...siteKind) (out []*site) {
	for _, s := range p.m.prog.sites {
		for _, k := range kinds {
			if s.kind == k {
				out = append(out, s)
			}
		}
	}
	return out
}

// write stores data at addr; each CPU's instruction cache sees it at once or
// later, at its next synchronisation at the latest.
func (p *patcher) write(addr uint64, data []byte, poke *Poke, kind writeKind) {
	p.m.mem.store(addr, data)
	for _, c := range p.m.cpus {
		due := p.t
		if c.r.n(3) > 0 {
			due += c.r.n(p.m.cfg.Stale)
		}
		c.ic.push(write{addr, append([]byte(nil), data...), due, poke, kind})
		c.event = min(c.event, c.ic.due)
	}
}

// sync makes every CPU serialise: an IPI to each but the patcher's own. It
// returns when all have.
func (p *patcher) sync() {
	for _, c := range p.m.cpus {
		if c.id == p.cpu {
			c.refresh(never)
			continue
		}
		c.acked = false
		c.ipi = p.t + c.r.n(60)
		c.event = min(c.event, c.ipi)
	}
	p.wait(func() bool {
		for _, c := range p.m.cpus {
			if c.id != p.cpu && !c.acked {
				return false
			}
		}
		return true
	})
}

// newPoke starts a poke of the bytes at addr that begins now.
func (p *patcher) newPoke(s Scheme, addr uint64, old, new []byte) *Poke {
	k := &Poke{CPU: p.cpu, Addr: addr, Old: old, New: new, Scheme: s, Begin: p.t, Batch: p.batch}
	if s != SchemeSlot {
		k.Seen = make([]Seen, len(p.m.cpus))
		for i := range k.Seen {
			k.Seen[i].Trap = -1
		}
	}
	return k
}

// record emits a poke's record, or fails to.
func (p *patcher) record(k *Poke) {
	p.t++ // no two records at the same time
	k.Time, k.Stamp = p.t, p.t
	p.m.pokes = append(p.m.pokes, k)
	cfg := &p.m.cfg
	b := &p.buffers[k.CPU]
	switch {
	case k.Fate == FateNone:
	case cfg.Unrecorded > 0 && p.r.n(100) < cfg.Unrecorded:
		k.Fate = FateNone
	case cfg.LoseRecord > 0 && p.r.n(100) < cfg.LoseRecord:
		k.Fate = FateLost
		b.lost++
	default:
		if cfg.ClockError > 0 {
			k.Stamp = max(b.last, k.Time-cfg.ClockError+p.r.n(2*cfg.ClockError+1))
		}
		p.settle(k.CPU, k.Stamp)
	}
}

// buffer is one CPU's buffer of records.
type buffer struct {
	last uint64 // timestamp of the last record, ticks
	lost int    // records lost since
}

// settle notes that a record fits the CPU's buffer again: what was lost
// before it is told first.
func (p *patcher) settle(cpu int, t uint64) {
	b := &p.buffers[cpu]
	if b.lost > 0 {
		p.m.run.Losses = append(p.m.run.Losses, Loss{cpu, t, b.last, b.lost})
		b.lost = 0
	}
	b.last = t
}

// ksym records that the code of k gets a name, or loses it.
func (p *patcher) ksym(name string, k *Poke, gone bool) {
	p.t++
	p.m.run.Ksyms = append(p.m.run.Ksyms, Ksym{name, k.Addr, uint64(len(k.New)), p.t, p.cpu, gone})
}

// ambush lets an interrupt strike some CPUs just before they run addr: its
// packets then look much like a breakpoint's.
func (p *patcher) ambush(addr uint64) {
	for _, c := range p.m.cpus {
		if p.r.n(3) == 0 {
			c.ambush = addr
		}
	}
}
