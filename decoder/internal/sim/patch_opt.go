package sim

// optJob makes a kprobe into a jump, or the jump back into a kprobe
// (arch/x86/kernel/kprobes/opt.c, v6.1).
func (p *patcher) optJob() {
	for i, pr := range p.live {
		if pr.jump && p.r.one(2) {
			if p.r.one(2) {
				p.removeProbe(i)
			} else {
				p.unoptimise(pr)
			}
			return
		}
		if !pr.jump && pr.kind != stepEmulate && pr.run >= 5 && p.r.one(2) {
			p.optimise(pr)
			return
		}
	}
	if pr := p.addProbe(func(pp *probePoint) bool { return pp.run >= 5 }); pr != nil && p.r.n(3) > 0 {
		p.pause()
		p.optimise(pr)
	}
}

// optimise puts a jump in place of an armed kprobe's breakpoint and the
// instructions that the jump covers. The jump leads to a buffer that calls the
// probe, runs copies of these instructions and jumps back behind them.
func (p *patcher) optimise(pr *probe) {
	if pr.kind == stepEmulate || pr.run < 5 {
		return
	}
	covered := 0 // whole instructions, at least the jump's five bytes
	for covered < 5 {
		covered += int(decode(pr.text[covered:], 0).len)
	}
	end := pr.addr + uint64(covered)
	if pr.detour == 0 {
		buf, ok := p.bufs.alloc()
		if !ok {
			return
		}
		text := []byte{0x9c} // pushf
		text = append(text, rel32(buf+1, p.m.prog.leaf, 0xe8)...)
		text = append(text, 0x9d) // popf
		copied := buf + uint64(len(text))
		text = append(text, pr.text[:covered]...)
		text = append(text, rel32(buf+uint64(len(text)), end, 0xe9)...)
		pr.detour, pr.buf = buf, p.appear(buf, text, true, FateRecorded)
		pr.copied = copied
	} else {
		pr.copied = pr.detour + 7
	}
	// From here on hits run the copies; what is still among the covered
	// instructions, or will come back to them from the slot, must leave first.
	lo, hi := pr.addr+1, end
	p.wait(func() bool {
		return !p.m.inUse(lo, hi) && !p.m.inUse(pr.slot, pr.slot+slotSize)
	})
	jump := rel32(pr.addr, pr.detour, 0xe9)
	p.pokeBP([]edit{{pr.addr, jump, emulation{emuJump, pr.detour, end}}})
	pr.jump = true
}

// unoptimise brings the breakpoint back (arch_unoptimize_kprobe): INT3, sync,
// the original tail, sync, and only then the record. Hits run the copies
// until it is done.
func (p *patcher) unoptimise(pr *probe) {
	p.batch++
	old := p.m.mem.read(pr.addr, 5)
	text := append([]byte{0xcc}, pr.text[1:5]...)
	k := p.newPoke(SchemeKprobe, pr.addr, old, text)
	pr.arm = k
	p.ambush(pr.addr)
	p.write(pr.addr, []byte{0xcc}, k, writeNew)
	p.pause()
	p.sync()
	p.write(pr.addr+1, text[1:], nil, writeOther)
	p.pause()
	p.sync()
	p.record(k)
	k.End = k.Time
	pr.jump, pr.copied = false, 0
}
