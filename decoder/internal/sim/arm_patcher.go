package sim

import "slices"

// storeArm is one word being rewritten while the CPUs run.
type storeArm struct {
	addr     uint64
	old, new uint32
	unsafe   bool     // the architecture promises nothing
	torn     []uint32 // what else may be executed then
	clean    bool     // the caches' maintenance is complete: what synchronises now sees new
}

// draw returns what a CPU that has not synchronised fetches.
func (s *storeArm) draw(r *rnd) uint32 {
	if s.unsafe && r.one(3) {
		return s.torn[r.n(uint64(len(s.torn)))]
	}
	return []uint32{s.old, s.new}[r.n(2)]
}

// patcherArm rewrites text while the CPUs run, as Linux's arch/arm64 does
// (jump_label.c, ftrace.c, patching.c, probes/kprobes.c; v6.1).
type patcherArm struct {
	pace
	m   *machineArm
	cpu int // the CPU that it runs on

	batch  int                  // number of the last batch
	probes map[uint64]*probeArm // armed, or being so
	stops  map[uint64]*probeArm // breakpoints behind copies
	live   []*probeArm
	slots  arena
}

func newPatcherArm(m *machineArm, t uint64) *patcherArm {
	_, dyn := m.layout()
	p := &patcherArm{
		pace: newPace(&m.cfg, t), m: m,
		probes: map[uint64]*probeArm{}, stops: map[uint64]*probeArm{},
		slots: arena{dyn, slotSize, make([]bool, slotCount)},
	}
	p.begin(p.work)
	return p
}

// waitAll sleeps until cond holds of every CPU.
func (p *patcherArm) waitAll(cond func(*cpuArm) bool) {
	p.wait(func() bool { return !slices.ContainsFunc(p.m.cpus, func(c *cpuArm) bool { return !cond(c) }) })
}

// work does jobs until every CPU has done its share.
func (p *patcherArm) work() {
	jobs := p.jobs()
	for len(jobs) > 0 && progress(p.m.cpus) < p.m.cfg.Insns {
		p.sleep(p.m.cfg.PokeGap)
		p.cpu = int(p.r.n(uint64(len(p.m.cpus))))
		jobs[p.r.n(uint64(len(jobs)))]()
	}
}

// jobs lists what the configuration asks for and the program has sites for.
func (p *patcherArm) jobs() (jobs []func()) {
	on := func(w Work, job func()) {
		if p.m.cfg.Work&w != 0 {
			jobs = append(jobs, job)
		}
	}
	jumps, entries := p.sitesOf(siteJump), p.sitesOf(siteEntry, siteCall)
	odd := p.sitesOf(siteCond, siteImm)
	on(WorkJump, func() { p.rewrite(p.edits(jumps)) })
	on(WorkFtrace, func() { p.rewrite(p.edits(entries)) })
	on(WorkFtrace, func() { p.trampolineJob(entries) })
	on(WorkKprobe, func() { p.probeJob(false) })
	on(WorkUndef, func() { p.probeJob(true) })
	on(WorkOptprobe, p.optJob)
	on(WorkStop, func() { p.patchStopped(p.edits(append(slices.Clone(odd), entries...))) })
	on(WorkUnsafe, func() { p.patchLive(p.edits(odd)) })
	return jobs
}

func (p *patcherArm) sitesOf(kinds ...siteKind) (out []*siteArm) {
	for _, s := range p.m.prog.sites {
		if slices.Contains(kinds, s.kind) {
			out = append(out, s)
		}
	}
	return out
}

// editArm is one word of a batch and what it becomes.
type editArm struct {
	addr uint64
	word uint32
}

// edits draws some of the sites and what they become. Sites that a probe or a
// trampoline has are left alone.
func (p *patcherArm) edits(sites []*siteArm) (out []editArm) {
	if len(sites) == 0 {
		return nil
	}
	for range 1 + p.r.n(uint64(p.m.cfg.Batch)) {
		s := sites[p.r.n(uint64(len(sites)))]
		w := s.vars[p.r.n(uint64(len(s.vars)))]
		if w != p.m.word(s.addr) && !slices.ContainsFunc(out, func(e editArm) bool { return e.addr == s.addr }) {
			out = append(out, editArm{s.addr, w})
		}
	}
	slices.SortFunc(out, func(a, b editArm) int {
		if a.addr < b.addr {
			return -1
		}
		return 1
	})
	return out
}

// newPoke starts a poke that begins now.
func (p *patcherArm) newPoke(s Scheme, addr uint64, old, new []byte) *Poke {
	return &Poke{CPU: p.cpu, Addr: plainAddr(addr), Old: old, New: new, Scheme: s, Begin: p.t, Batch: p.batch}
}

// record emits a poke's record.
func (p *patcherArm) record(k *Poke) {
	p.t++ // no two records at the same time
	k.Time, k.Stamp = p.t, p.t
	p.m.pokes = append(p.m.pokes, k)
}

// ipi interrupts every CPU and waits until each has been.
func (p *patcherArm) ipi(stop bool) {
	for _, c := range p.m.cpus {
		c.acked, c.stopIPI = false, stop
		c.ipi = p.t + c.r.n(60)
	}
	p.waitAll(func(c *cpuArm) bool { return c.acked })
}

// patchLive rewrites words without stopping anyone (aarch64_insn_patch_text_nosync):
// each is stored and the caches are maintained, and when all are, every CPU is
// made to synchronise (kick_all_cpus_sync).
func (p *patcherArm) patchLive(edits []editArm) (pokes []*Poke) {
	if len(edits) == 0 {
		return nil
	}
	p.batch++
	for _, e := range edits {
		p.sleep(1)
		old := p.m.word(e.addr)
		s := &storeArm{addr: e.addr, old: old, new: e.word, torn: p.m.torn(old, e.addr)}
		s.unsafe = !p.m.hotpatch(old, e.addr) || !p.m.hotpatch(e.word, e.addr)
		k := p.newPoke(SchemeAtomic, e.addr, textAt(e.addr, old), textAt(e.addr, e.word))
		if s.unsafe {
			k.Scheme = SchemeUnsafe
		}
		p.m.put(e.addr, e.word)
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

// rewrite rewrites words as the kernel at hand does: arm64's without stopping
// anyone, arm's by stop_machine (jump_label.c, ftrace.c), here now and then
// without where each of them allows that.
func (p *patcherArm) rewrite(edits []editArm) []*Poke {
	if !p.m.stops() {
		return p.patchLive(edits)
	}
	live := func(e editArm) bool { return p.m.hotpatch(e.word, e.addr) && p.m.hotpatch(p.m.word(e.addr), e.addr) }
	if p.r.one(2) && !slices.ContainsFunc(edits, func(e editArm) bool { return !live(e) }) {
		return p.patchLive(edits)
	}
	return p.patchStopped(edits)
}

// patchStopped rewrites words while every CPU spins with interrupts off
// (aarch64_insn_patch_text; arm32's patch_text).
func (p *patcherArm) patchStopped(edits []editArm) (pokes []*Poke) {
	if len(edits) == 0 {
		return nil
	}
	p.ipi(true)
	p.batch++
	for _, e := range edits {
		p.t++
		k := p.newPoke(SchemeStop, e.addr, textAt(e.addr, p.m.word(e.addr)), textAt(e.addr, e.word))
		p.m.put(e.addr, e.word)
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
		c.t = max(c.t, p.t) // it cannot have gone on before
	}
	return pokes
}
