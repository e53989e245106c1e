package sim

// What stands in an optimised probe's slot around the call of its handler, the
// copy and the jump back (arch/arm/probes/kprobes/opt-arm.c, v6.1).
var (
	optEnter = []uint32{
		0xe24dd0ff, // sub sp, sp, #255
		0xe88d7fff, // stmia sp, {r0-r14}
		0xe12fff32, // blx r2
	}
	optLeave = []uint32{
		0xe59d1040, // ldr r1, [sp, #64]
		0xe12ff001, // msr cpsr_cxsf, r1
		0xe89d7fff, // ldmia sp, {r0-r14}
	}
)

// optJob optimises an armed probe of arm32's for a while, by stop_machine. A jump
// to a copy takes the place of the undefined instruction, with the condition of the
// original. Later the undefined instruction comes back, and the probe's end takes
// that away (opt-arm.c, arch_optimize_kprobes, arch_unoptimize_kprobe).
func (p *patcherArm) optJob() {
	pr := p.optimisable()
	if pr == nil {
		p.addProbe(true)
		return
	}
	slot, ok := p.slots.alloc()
	if !ok {
		return
	}
	call := slot + 4*uint64(len(optEnter)-1)
	p.m.prog.targets[call] = []uint64{p.m.prog.leaf}
	words := append(append(append([]uint32(nil), optEnter...), optLeave...), pr.word)
	back := slot + 4*uint64(len(words))
	words = append(words, jump32(always)(back, pr.next))
	code := p.appear(slot, words...)
	p.patchStopped([]editArm{{pr.addr, jump32(min(pr.word, always))(pr.addr, slot)}})
	p.sleep(4 * p.m.cfg.PokeGap)
	p.patchStopped([]editArm{{pr.addr, pr.trap}})
	p.vanish(code)
	delete(p.m.prog.targets, call)
	p.slots.release(slot)
}

// optimisable returns a live probe that a jump may take the place of: of A32,
// made of an undefined instruction, on what can be run elsewhere.
func (p *patcherArm) optimisable() *probeArm {
	for _, pr := range p.live {
		in := p.m.decode(pr.word, pr.addr)
		if !thumb(pr.addr) && pr.slot == 0 && p.m.decode(pr.trap, pr.addr).op == opBad && (in.op == opPlain || in.op == opMem) {
			return pr
		}
	}
	return nil
}
