package sim

// probeArm is one probe: BRK, or an undefined instruction, in place of a word.
type probeArm struct {
	pointArm
	trap uint32    // what stands in its place
	emu  emulation // what the handler does where there is no copy
	next uint64    // what stands behind it
	slot uint64    // the copy; 0: none
	code *Poke     // the copy's record
	arm  *Poke     // what put the trap there; nil while that is under way
}

// hit returns the frame of a CPU that takes the probe.
func (pr *probeArm) hit() frame {
	if pr.slot != 0 {
		return frame{ip: pr.slot, mask: true}
	}
	return frame{emu: &pr.emu}
}

// probeJob does one step in the life of some probe.
func (p *patcherArm) probeJob(undef bool) {
	if n := uint64(len(p.live)); n > 0 && p.r.n(8) < 2+n {
		p.removeProbe(int(p.r.n(n)))
		return
	}
	p.addProbe(undef)
}

// addProbe sets a probe: its copy first, then the trap.
func (p *patcherArm) addProbe(undef bool) {
	points := p.m.prog.points
	if len(points) == 0 {
		return
	}
	pr := &probeArm{pointArm: points[p.r.n(uint64(len(points)))]}
	for k := 0; k < 2 && !p.m.hotpatch(pr.word, pr.addr); k++ { // these can be patched in more ways
		pr.pointArm = points[p.r.n(uint64(len(points)))]
	}
	if p.probes[pr.addr] != nil {
		return
	}
	hit, behind, udf := p.m.probeWords(pr.word, pr.addr)
	if pr.trap = hit; undef {
		pr.trap = udf
	}
	in := p.m.decode(pr.word, pr.addr)
	next := pr.addr + uint64(in.len)
	pr.next = next
	switch in.op {
	case opCond:
		pr.emu = emulation{emuCond, in.target, next}
		if p.m.decode(pr.trap, pr.addr).cond { // what is trapped has passed the condition
			pr.emu = emulation{emuJump, in.target, next}
		}
	case opCall:
		pr.emu = emulation{emuCall, in.target, next}
	case opJump:
		pr.emu = emulation{emuJump, in.target, next}
	case opRet:
		pr.emu = emulation{kind: emuRet}
	case opPlain, opMem:
		pr.emu = emulation{emuJump, next, next}
		if slot, ok := p.slots.alloc(); ok && !undef && p.r.n(3) > 0 {
			pr.slot = slot | pr.addr&1
			pr.code = p.appear(pr.slot, pr.word, behind)
			p.stops[pr.slot+uint64(in.len)] = pr
		} else if ok {
			p.slots.release(slot)
		}
	default:
		pr.emu = emulation{emuJump, next, next}
	}
	p.probes[pr.addr] = pr
	p.live = append(p.live, pr)
	pr.arm = p.swap(pr, pr.trap)
}

// swap writes a probe's trap, or takes it away: by stop_machine, or, as
// older kernels did where the words allow it (v4.14), without.
func (p *patcherArm) swap(pr *probeArm, w uint32) *Poke {
	e := []editArm{{pr.addr, w}}
	if p.m.hotpatch(pr.word, pr.addr) && p.m.hotpatch(pr.trap, pr.addr) && p.r.one(2) {
		return p.patchLive(e)[0]
	}
	return p.patchStopped(e)[0]
}

// removeProbe ends the i-th live probe.
func (p *patcherArm) removeProbe(i int) {
	pr := p.live[i]
	p.live = append(p.live[:i], p.live[i+1:]...)
	p.swap(pr, pr.word)
	delete(p.probes, pr.addr)
	if pr.slot != 0 {
		p.vanish(pr.code)
		delete(p.stops, pr.slot+pr.next-pr.addr)
		p.slots.release(plainAddr(pr.slot))
	}
}

// appear writes code to free memory and records it.
func (p *patcherArm) appear(addr uint64, words ...uint32) *Poke {
	p.t++
	k := p.newPoke(SchemeSlot, addr, nil, textAt(addr, words...))
	p.m.put(addr, words...)
	p.record(k)
	k.Begin, k.End = k.Time, k.Time
	p.pause()
	return k
}

// vanish records that code goes, once no CPU is in it or will return to it.
func (p *patcherArm) vanish(k *Poke) {
	p.wait(func() bool { return !p.m.inUse(k.Addr, k.Addr+uint64(len(k.New))) })
	g := p.newPoke(SchemeSlot, k.Addr, k.New, nil)
	p.record(g)
	g.Begin, g.End = g.Time, g.Time
}

// trampolineJob lets code appear, calls it from a function's entry for a
// while, and lets it go.
func (p *patcherArm) trampolineJob(sites []*siteArm) {
	slot, ok := p.slots.alloc()
	if !ok || len(sites) == 0 {
		return
	}
	s := sites[p.r.n(uint64(len(sites)))]
	tracer := p.m.prog.tracers[0]
	at, words := p.m.trampoline(slot, tracer)
	code := p.appear(at, words...)
	w := p.m.word(s.addr)
	p.rewrite([]editArm{{s.addr, p.m.call(w, s.addr, at)}})
	p.sleep(4 * p.m.cfg.PokeGap)
	p.rewrite([]editArm{{s.addr, p.m.nop(w, s.addr)}})
	p.vanish(code)
	p.slots.release(slot)
}
