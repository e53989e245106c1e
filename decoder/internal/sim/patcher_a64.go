package sim

import "slices"

// storeA64 is one word being rewritten while the CPUs run.
type storeA64 struct {
	addr     uint64
	old, new uint32
	unsafe   bool // the architecture promises nothing: a third word may be executed
	clean    bool // the caches' maintenance is complete: what synchronises now sees new
}

// draw returns what a CPU that has not synchronised fetches.
func (s *storeA64) draw(r *rnd) uint32 {
	if s.unsafe && r.one(3) {
		return []uint32{a64NOP, branch(a64B, imm26, 0, 8), branch(a64B, imm26, 0, 4)}[r.n(3)]
	}
	return []uint32{s.old, s.new}[r.n(2)]
}

// patcherA64 rewrites text while the CPUs run, as Linux's arch/arm64 does
// (jump_label.c, ftrace.c, patching.c, probes/kprobes.c; v6.1).
type patcherA64 struct {
	pace
	m   *machineA64
	cpu int // the CPU that it runs on

	batch  int                  // number of the last batch
	probes map[uint64]*probeA64 // armed, or being so
	stops  map[uint64]*probeA64 // breakpoints behind copies
	live   []*probeA64
	slots  arena
}

func newPatcherA64(m *machineA64, t uint64) *patcherA64 {
	p := &patcherA64{
		pace: newPace(&m.cfg, t), m: m,
		probes: map[uint64]*probeA64{}, stops: map[uint64]*probeA64{},
		slots: arena{dynA64, slotSize, make([]bool, slotCount)},
	}
	p.begin(p.work)
	return p
}

// waitAll sleeps until cond holds of every CPU.
func (p *patcherA64) waitAll(cond func(*cpuA64) bool) {
	p.wait(func() bool { return !slices.ContainsFunc(p.m.cpus, func(c *cpuA64) bool { return !cond(c) }) })
}

// work does jobs until every CPU has done its share.
func (p *patcherA64) work() {
	jobs := p.jobs()
	for len(jobs) > 0 && progress(p.m.cpus) < p.m.cfg.Insns {
		p.sleep(p.m.cfg.PokeGap)
		p.cpu = int(p.r.n(uint64(len(p.m.cpus))))
		jobs[p.r.n(uint64(len(jobs)))]()
	}
}

// jobs lists what the configuration asks for and the program has sites for.
func (p *patcherA64) jobs() (jobs []func()) {
	on := func(w Work, job func()) {
		if p.m.cfg.Work&w != 0 {
			jobs = append(jobs, job)
		}
	}
	jumps, entries := p.sitesOf(siteJump), p.sitesOf(siteEntry, siteCall)
	odd := p.sitesOf(siteCond, siteImm)
	on(WorkJump, func() { p.patchLive(p.edits(jumps)) })
	on(WorkFtrace, func() { p.patchLive(p.edits(entries)) })
	on(WorkFtrace, func() { p.trampolineJob(entries) })
	on(WorkKprobe, func() { p.probeJob(brkKprobe) })
	on(WorkUndef, func() { p.probeJob(udfProbe) })
	on(WorkStop, func() { p.patchStopped(p.edits(append(slices.Clone(odd), entries...))) })
	on(WorkUnsafe, func() { p.patchLive(p.edits(odd)) })
	return jobs
}

func (p *patcherA64) sitesOf(kinds ...siteKind) (out []*siteA64) {
	for _, s := range p.m.prog.sites {
		if slices.Contains(kinds, s.kind) {
			out = append(out, s)
		}
	}
	return out
}

// editA64 is one word of a batch and what it becomes.
type editA64 struct {
	addr uint64
	word uint32
}

// edits draws some of the sites and what they become. Sites that a probe or a
// trampoline has are left alone.
func (p *patcherA64) edits(sites []*siteA64) (out []editA64) {
	if len(sites) == 0 {
		return nil
	}
	for range 1 + p.r.n(uint64(p.m.cfg.Batch)) {
		s := sites[p.r.n(uint64(len(sites)))]
		w := s.vars[p.r.n(uint64(len(s.vars)))]
		if w != p.m.word(s.addr) && !slices.ContainsFunc(out, func(e editA64) bool { return e.addr == s.addr }) {
			out = append(out, editA64{s.addr, w})
		}
	}
	slices.SortFunc(out, func(a, b editA64) int {
		if a.addr < b.addr {
			return -1
		}
		return 1
	})
	return out
}

// newPoke starts a poke that begins now.
func (p *patcherA64) newPoke(s Scheme, addr uint64, old, new []byte) *Poke {
	return &Poke{CPU: p.cpu, Addr: addr, Old: old, New: new, Scheme: s, Begin: p.t, Batch: p.batch}
}

// record emits a poke's record.
func (p *patcherA64) record(k *Poke) {
	p.t++ // no two records at the same time
	k.Time, k.Stamp = p.t, p.t
	p.m.pokes = append(p.m.pokes, k)
}

// ipi interrupts every CPU and waits until each has been.
func (p *patcherA64) ipi(stop bool) {
	for _, c := range p.m.cpus {
		c.acked, c.stopIPI = false, stop
		c.ipi = p.t + c.r.n(60)
	}
	p.waitAll(func(c *cpuA64) bool { return c.acked })
}

// patchLive rewrites words without stopping anyone (aarch64_insn_patch_text_nosync):
// each is stored and the caches are maintained, and when all are, every CPU is
// made to synchronise (kick_all_cpus_sync).
func (p *patcherA64) patchLive(edits []editA64) (pokes []*Poke) {
	if len(edits) == 0 {
		return nil
	}
	p.batch++
	for _, e := range edits {
		p.sleep(1)
		old := p.m.word(e.addr)
		s := &storeA64{addr: e.addr, old: old, new: e.word, unsafe: !hotpatch(old) || !hotpatch(e.word)}
		k := p.newPoke(SchemeAtomic, e.addr, wordBytes(old), wordBytes(e.word))
		if s.unsafe {
			k.Scheme = SchemeUnsafe
		}
		*p.m.cell(e.addr) = e.word
		for _, c := range p.m.cpus {
			c.loose[e.addr] = &looseWord{s, old}
			if p.r.n(3) == 0 {
				c.ambush = e.addr
			}
		}
		if p.r.n(3) > 0 {
			p.pause()
		}
		s.clean = true
		p.record(k)
		pokes = append(pokes, k)
	}
	p.pause()
	p.ipi(false)
	p.t++
	for _, k := range pokes {
		k.End = p.t
	}
	return pokes
}

// patchStopped rewrites words while every CPU spins with interrupts off
// (aarch64_insn_patch_text; arm32's patch_text).
func (p *patcherA64) patchStopped(edits []editA64) (pokes []*Poke) {
	if len(edits) == 0 {
		return nil
	}
	p.ipi(true)
	p.batch++
	for _, e := range edits {
		p.t++
		k := p.newPoke(SchemeStop, e.addr, wordBytes(p.m.word(e.addr)), wordBytes(e.word))
		*p.m.cell(e.addr) = e.word
		if p.r.one(2) {
			p.pause()
		}
		p.record(k)
		pokes = append(pokes, k)
	}
	for _, k := range pokes {
		k.End = p.t
	}
	for _, c := range p.m.cpus {
		c.held = false
	}
	return pokes
}
