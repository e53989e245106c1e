package sim

import "slices"

// Where allocated code lies: kprobe slots, then buffers for optprobes and
// trampolines. Freed places are used again, the lowest first.
const (
	slotSize  = 32 // bytes
	slotCount = 6
	bufBase   = dynBase + 4096
	bufSize   = 96 // bytes
	bufCount  = 4
)

// arena hands out places of one size.
type arena struct {
	base, size uint64
	used       []bool
}

// alloc returns the lowest free place; ok is false where all are in use.
func (a *arena) alloc() (addr uint64, ok bool) {
	for i, u := range a.used {
		if !u {
			a.used[i] = true
			return a.base + uint64(i)*a.size, true
		}
	}
	return 0, false
}

func (a *arena) release(addr uint64) { a.used[(addr-a.base)/a.size] = false }

// stepKind is how a kprobe runs the instruction it displaced.
type stepKind uint8

const (
	stepEmulate stepKind = iota // no copy: a branch is emulated
	stepBoost                   // from a copy with a jump back behind it
	stepInt3                    // from a copy with an INT3 behind it (since Linux 5.13)
	stepFlag                    // from a copy under the trap flag (before 5.13)
	numStepKinds
)

// probe is one kprobe.
type probe struct {
	probePoint
	kind   stepKind
	emu    emulation // stepEmulate
	slot   uint64    // 0: none
	code   *Poke     // the slot's record
	arm    *Poke
	detour uint64 // optprobe: its buffer; 0: none
	buf    *Poke
	copied uint64 // optprobe: the copied instructions in the buffer; hits go there if not 0
	jump   bool   // optprobe: the jump is in place
}

// slotStop is the breakpoint behind a copy.
type slotStop struct {
	next uint64 // where the interrupted flow goes on
	code *Poke
}

// appear records code that is about to be, or was, written to free memory.
func (p *patcher) appear(addr uint64, text []byte, before bool, fate Fate) *Poke {
	k := p.newPoke(SchemeSlot, addr, nil, text)
	k.Fate = fate
	if before {
		p.record(k)
		p.pause()
	}
	p.write(addr, text, nil, writeOther)
	if !before {
		p.pause()
		p.record(k)
	}
	k.Begin, k.End = k.Time, k.Time
	p.sync()
	return k
}

// vanish records that code goes, once no CPU is in it or will return to it.
func (p *patcher) vanish(k *Poke) {
	n := uint64(len(k.New))
	p.wait(func() bool { return !p.m.inUse(k.Addr, k.Addr+n) })
	g := p.newPoke(SchemeSlot, k.Addr, k.New, nil)
	if k.Fate == FateNone {
		g.Fate = FateNone
	}
	p.record(g)
	g.Begin, g.End = g.Time, g.Time
}

// inUse reports whether a CPU is in [lo, hi) or has an address in it to return to.
func (m *machine) inUse(lo, hi uint64) bool {
	in := func(a uint64) bool { return lo <= a && a < hi }
	for _, c := range m.cpus {
		if !c.user && in(c.ip) || c.step && in(c.after) {
			return true
		}
		for i := range c.frames {
			f := &c.frames[i]
			if in(f.ip) || f.step && in(f.after) || f.emu != nil && in(f.emu.target) {
				return true
			}
		}
		for _, a := range c.stack {
			if in(a) {
				return true
			}
		}
	}
	return slices.ContainsFunc(m.waiting, func(th *thread) bool { return th.inUse(in) })
}

// overlaps reports whether a live probe is too near to the point.
func (p *patcher) overlaps(pp *probePoint) bool {
	for _, q := range p.live {
		if pp.addr < q.addr+uint64(max(q.len, q.run)) && q.addr < pp.addr+uint64(max(pp.len, pp.run)) {
			return true
		}
	}
	return false
}

// probeJob does one step in the life of some kprobe.
func (p *patcher) probeJob() {
	if n := uint64(len(p.live)); n > 0 && p.r.n(8) < 2+n {
		p.removeProbe(int(p.r.n(n)))
		return
	}
	p.addProbe(func(*probePoint) bool { return true })
}

// addProbe sets a kprobe at a point of the kind wanted.
func (p *patcher) addProbe(want func(*probePoint) bool) *probe {
	points := p.m.prog.probes
	if len(points) == 0 {
		return nil
	}
	pr := &probe{}
	for range 20 {
		if pp := &points[p.r.n(uint64(len(points)))]; want(pp) && !p.overlaps(pp) {
			pr.probePoint = *pp
			break
		}
	}
	if pr.addr == 0 || !p.prepare(pr) {
		return nil
	}
	p.arm(pr)
	p.live = append(p.live, pr)
	return pr
}

// prepare makes the copy that pr runs the displaced instruction from.
func (p *patcher) prepare(pr *probe) bool {
	next := pr.addr + uint64(pr.len)
	switch pr.in.op {
	case opCond:
		pr.emu = emulation{emuCond, pr.in.target, next}
		return true
	case opCall:
		pr.emu = emulation{emuCall, pr.in.target, next}
		return true
	case opPlain, opMem, opRep, opSetRet:
	default:
		return false
	}
	slot, ok := p.slots.alloc()
	if !ok {
		return false
	}
	pr.slot, pr.kind = slot, stepBoost+stepKind(p.r.n(uint64(numStepKinds-stepBoost)))
	text := append([]byte(nil), pr.text[:pr.len]...)
	end := slot + uint64(pr.len)
	switch pr.kind {
	case stepBoost:
		text = append(text, rel32(end, next, 0xe9)...)
	case stepInt3:
		text = append(text, 0xcc)
	}
	pr.code = p.appear(slot, text, true, FateRecorded)
	if pr.kind == stepInt3 {
		p.stops[end] = &slotStop{next, pr.code}
	}
	return true
}

// arm puts the breakpoint in place (arch_arm_kprobe, arch/x86/kernel/kprobes/core.c,
// v6.1): the record follows the write and the synchronisation.
func (p *patcher) arm(pr *probe) {
	p.batch++
	k := p.newPoke(SchemeKprobe, pr.addr, pr.text[:1:1], []byte{0xcc})
	pr.arm = k
	p.probes[pr.addr] = pr
	p.ambush(pr.addr)
	p.write(pr.addr, k.New, k, writeNew)
	p.pause()
	p.sync()
	p.record(k)
	k.End = k.Time
}

// disarm takes the breakpoint away (arch_disarm_kprobe): the record comes first.
func (p *patcher) disarm(pr *probe) {
	p.batch++
	k := p.newPoke(SchemeKprobe, pr.addr, []byte{0xcc}, pr.text[:1:1])
	p.record(k)
	p.pause()
	k.Begin = p.t
	p.ambush(pr.addr)
	p.write(pr.addr, k.New, k, writeNew)
	p.pause()
	p.sync()
	k.End = p.t
	delete(p.probes, pr.addr)
}

// removeProbe ends the i-th live kprobe.
func (p *patcher) removeProbe(i int) {
	pr := p.live[i]
	p.live = append(p.live[:i], p.live[i+1:]...)
	if pr.jump {
		p.unoptimise(pr)
	}
	p.ambush(pr.slot) // so that a CPU may still be in it afterwards
	p.disarm(pr)
	if pr.slot != 0 {
		p.vanish(pr.code)
		delete(p.stops, pr.slot+uint64(pr.len))
		p.slots.release(pr.slot)
	}
	if pr.detour != 0 {
		p.vanish(pr.buf)
		p.bufs.release(pr.detour)
	}
}

// resolveProbe says what a kprobe's handling does with the breakpoint at c.ip.
func (p *patcher) resolveProbe(c *cpu) (f frame, tr pendingTrap, ok bool) {
	if s := p.stops[c.ip]; s != nil {
		tr.Kind, tr.To, tr.poke = TrapSlot, s.next, s.code
		return frame{ip: s.next, unmask: true}, tr, true
	}
	pr := p.probes[c.ip]
	if pr == nil {
		return f, tr, false
	}
	tr.Kind, tr.poke, tr.To = TrapArmed, pr.arm, pr.slot
	switch {
	case pr.copied != 0:
		tr.To = pr.copied
		return frame{ip: pr.copied}, tr, true
	case pr.kind == stepEmulate:
		tr.Emu, tr.To = true, 0
		if pr.emu.kind == emuCall {
			tr.To = pr.emu.target
		}
		return frame{emu: &pr.emu}, tr, true
	case pr.kind == stepInt3:
		return frame{ip: pr.slot, mask: true}, tr, true
	case pr.kind == stepFlag:
		return frame{ip: pr.slot, mask: true, step: true, after: pr.addr + uint64(pr.len)}, tr, true
	}
	return frame{ip: pr.slot}, tr, true
}
