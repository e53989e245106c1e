package sim

// xmcJob rewrites a site by cross-modification (LTTng's immediate values and
// markers): INT3, an IPI, the tail, the first byte. A CPU that traps runs the
// displaced instruction from a copy, never the new one.
func (p *patcher) xmcJob(sites []*site) {
	edits := p.others(sites)
	if len(edits) == 0 {
		return
	}
	e := edits[0] // the rest of the sites are left as they are
	slot, ok := p.slots.alloc()
	if !ok {
		p.pokeBP(edits)
		return
	}
	if len(edits) > 1 {
		p.pokeBP(edits[1:])
	}
	old := p.m.mem.read(e.addr, len(e.text))
	next := e.addr + uint64(len(e.text))
	in := decode(old, e.addr)
	var text []byte
	if in.op == opJump {
		text = rel32(slot, in.target, 0xe9)
	} else {
		text = append(append(text, old...), rel32(slot+uint64(len(old)), next, 0xe9)...)
	}
	code := p.appear(slot, text, true, FateRecorded)
	p.batch++
	k := p.newPoke(SchemeXMC, e.addr, old, e.text)
	p.active[e.addr] = trapAction{emulation{emuJump, slot, next}, k}
	p.ambush(e.addr)
	p.write(e.addr, []byte{0xcc}, k, writeTrap)
	p.pause()
	p.sync()
	p.t++
	p.write(e.addr+1, e.text[1:], nil, writeOther)
	p.record(k)
	p.pause()
	p.sync()
	p.write(e.addr, e.text[:1], k, writeNew)
	p.pause()
	p.sync()
	k.End = p.t
	delete(p.active, e.addr)
	p.vanish(code)
	p.slots.release(slot)
}

// atomicJob rewrites an immediate that is one aligned word by one store; the
// CPUs synchronise afterwards.
func (p *patcher) atomicJob(sites []*site) {
	for _, e := range p.others(sites) {
		p.batch++
		k := p.newPoke(SchemeAtomic, e.addr+1, p.m.mem.read(e.addr+1, 4), e.text[1:])
		p.ambush(e.addr)
		p.write(k.Addr, k.New, k, writeNew)
		p.record(k)
		p.pause()
		p.sync()
		k.End = p.t
	}
}

// fix is what stop_machine is writing: an NMI's handler writes it too, so
// that it never runs text that is half written (arch/x86/kernel/ftrace.c before v3.7).
type fix struct {
	addr uint64
	text []byte
	poke *Poke
	done bool
}

func (p *patcher) apply(f *fix) {
	if !f.done {
		f.done = true
		f.poke.Begin = p.t
		p.write(f.addr, f.text, f.poke, writeNew)
	}
}

// stopJob rewrites sites while every CPU spins with interrupts off. Only NMIs
// run, and they may run through the sites.
func (p *patcher) stopJob(sites []*site) {
	edits := p.others(sites)
	if len(edits) == 0 {
		return
	}
	for _, c := range p.m.cpus {
		c.stopIPI, c.acked = true, false
		c.ipi = p.t + c.r.n(60)
		c.event = min(c.event, c.ipi)
	}
	p.wait(func() bool {
		for _, c := range p.m.cpus {
			if !c.held {
				return false
			}
		}
		return true
	})
	p.batch++
	var pokes []*Poke
	for _, e := range edits {
		k := p.newPoke(SchemeStop, e.addr, p.m.mem.read(e.addr, len(e.text)), e.text)
		pokes = append(pokes, k)
		p.fix = &fix{addr: e.addr, text: e.text, poke: k}
		if p.r.one(2) {
			c := p.m.cpus[p.r.n(uint64(len(p.m.cpus)))]
			c.nextNMI, c.event = p.t, 0
		}
		p.pause()
		p.apply(p.fix)
		p.record(k)
	}
	p.fix = nil
	for _, c := range p.m.cpus {
		c.held, c.acked = false, false
	}
	p.wait(func() bool {
		for _, c := range p.m.cpus {
			if !c.acked {
				return false
			}
		}
		return true
	})
	for _, k := range pokes {
		k.End = p.t
	}
}

// nmi does what the kernel does first in an NMI on c.
func (m *machine) nmi(c *cpu) {
	if f := m.pat.fix; f != nil {
		t := m.pat.t
		m.pat.t = c.t
		m.pat.apply(f)
		m.pat.t = max(t, c.t)
		c.refresh(never)
	}
}
