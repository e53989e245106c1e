package sim

// probeA64 is one probe: BRK, or an undefined instruction, in place of a word.
type probeA64 struct {
	pointA64
	trap uint32    // what stands in its place
	emu  emulation // what the handler does where there is no copy
	slot uint64    // the copy; 0: none
	code *Poke     // the copy's record
	arm  *Poke     // what put the trap there; nil while that is under way
}

// hit returns the frame of a CPU that takes the probe.
func (pr *probeA64) hit() frame {
	if pr.slot != 0 {
		return frame{ip: pr.slot, mask: true}
	}
	return frame{emu: &pr.emu}
}

// probeJob does one step in the life of some probe.
func (p *patcherA64) probeJob(trap uint32) {
	if n := uint64(len(p.live)); n > 0 && p.r.n(8) < 2+n {
		p.removeProbe(int(p.r.n(n)))
		return
	}
	p.addProbe(trap)
}

// addProbe sets a probe: its copy first, then the trap.
func (p *patcherA64) addProbe(trap uint32) {
	points := p.m.prog.points
	if len(points) == 0 {
		return
	}
	pr := &probeA64{pointA64: points[p.r.n(uint64(len(points)))], trap: trap}
	for k := 0; k < 2 && !hotpatch(pr.word); k++ { // these can be patched in more ways
		pr.pointA64 = points[p.r.n(uint64(len(points)))]
	}
	if p.probes[pr.addr] != nil {
		return
	}
	next := pr.addr + wordLength
	in := decodeA64(pr.word, pr.addr)
	switch in.op {
	case opCond:
		pr.emu = emulation{emuCond, in.target, next}
	case opCall:
		pr.emu = emulation{emuCall, in.target, next}
	case opJump:
		pr.emu = emulation{emuJump, in.target, next}
	case opRet:
		pr.emu = emulation{kind: emuRet}
	case opPlain, opMem:
		pr.emu = emulation{emuJump, next, next}
		if slot, ok := p.slots.alloc(); ok && trap == brkKprobe && p.r.n(3) > 0 {
			pr.slot = slot
			pr.code = p.appear(slot, pr.word, brkStep)
			p.stops[slot+wordLength] = pr
		} else if ok {
			p.slots.release(slot)
		}
	default:
		pr.emu = emulation{emuJump, next, next}
	}
	p.probes[pr.addr] = pr
	p.live = append(p.live, pr)
	pr.arm = p.swap(pr, trap)
}

// swap writes a probe's trap, or takes it away: by stop_machine, or, as
// kernels before v5.19 did where the words allow it, without.
func (p *patcherA64) swap(pr *probeA64, w uint32) *Poke {
	e := []editA64{{pr.addr, w}}
	if hotpatch(pr.word) && hotpatch(pr.trap) && p.r.one(2) {
		return p.patchLive(e)[0]
	}
	return p.patchStopped(e)[0]
}

// removeProbe ends the i-th live probe.
func (p *patcherA64) removeProbe(i int) {
	pr := p.live[i]
	p.live = append(p.live[:i], p.live[i+1:]...)
	p.swap(pr, pr.word)
	delete(p.probes, pr.addr)
	if pr.slot != 0 {
		p.vanish(pr.code)
		delete(p.stops, pr.slot+wordLength)
		p.slots.release(pr.slot)
	}
}

// appear writes code to free memory and records it.
func (p *patcherA64) appear(addr uint64, words ...uint32) *Poke {
	p.t++
	k := p.newPoke(SchemeSlot, addr, nil, wordBytes(words...))
	for i, w := range words {
		*p.m.cell(addr + wordLength*uint64(i)) = w
	}
	p.record(k)
	k.Begin, k.End = k.Time, k.Time
	p.pause()
	return k
}

// vanish records that code goes, once no CPU is in it or will return to it.
func (p *patcherA64) vanish(k *Poke) {
	p.wait(func() bool { return !p.m.inUse(k.Addr, k.Addr+uint64(len(k.New))) })
	g := p.newPoke(SchemeSlot, k.Addr, k.New, nil)
	p.record(g)
	g.Begin, g.End = g.Time, g.Time
}

// trampolineJob lets code appear, calls it from a function's entry for a
// while, and lets it go.
func (p *patcherA64) trampolineJob(sites []*siteA64) {
	slot, ok := p.slots.alloc()
	if !ok || len(sites) == 0 {
		return
	}
	s := sites[p.r.n(uint64(len(sites)))]
	tracer := p.m.prog.tracers[0]
	code := p.appear(slot, 0xaa1e03ea, // mov x10, x30
		branch(a64BL, imm26, slot+wordLength, tracer), 0xd503245f, a64RET)
	p.patchLive([]editA64{{s.addr, branch(a64BL, imm26, s.addr, slot)}})
	p.sleep(4 * p.m.cfg.PokeGap)
	p.patchLive([]editA64{{s.addr, a64NOP}})
	p.vanish(code)
	p.slots.release(slot)
}
