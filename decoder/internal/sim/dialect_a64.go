package sim

// dialectA64 is A64, as Linux's arch/arm64 patches it.
type dialectA64 struct{}

func (dialectA64) layout() (text, dyn uint64) { return textA64, dynA64 }

func (dialectA64) decode(w uint32, addr uint64) insn { return decodeA64(w, addr) }

// hotpatch: DDI0487, B2 "Concurrent modification and execution of instructions".
func (dialectA64) hotpatch(w uint32, _ uint64) bool {
	switch in := decodeA64(w, 0); in.op {
	case opJump, opCall, opInt, opInt3, opSync:
		return true
	}
	return w == a64NOP
}

func (dialectA64) torn(uint32, uint64) []uint32 {
	return []uint32{a64NOP, branch(a64B, imm26, 0, 8), branch(a64B, imm26, 0, 4)}
}

func (dialectA64) nop(uint32, uint64) uint32 { return a64NOP }

func (dialectA64) jump(_ uint32, from, to uint64) uint32 { return branch(a64B, imm26, from, to) }

func (dialectA64) call(_ uint32, from, to uint64) uint32 { return branch(a64BL, imm26, from, to) }

func (dialectA64) vectors() (names []string, of [numReasons]int) {
	of[whyTimer], of[whyIPI] = 1, 1
	return []string{"el1h_64_sync", "el1h_64_irq"}, of
}

func (dialectA64) handlers() [numReasons]string {
	return [numReasons]string{"el1_dbg", "el1_svc", "el1_abort", "el1_undef", "arch_timer_handler", "do_handle_IPI"}
}

func (dialectA64) probeWords(uint32, uint64) (hit, behind, undef uint32) {
	return brkKprobe, brkStep, udfProbe
}

func (dialectA64) stops() bool { return false }

func (dialectA64) trampoline(addr, tracer uint64) (uint64, []uint32) {
	return addr, []uint32{
		0xaa1e03ea, // mov x10, x30
		branch(a64BL, imm26, addr+wordLength, tracer), 0xd503245f, a64RET}
}

func (dialectA64) setUp(*genArm) {}

func (dialectA64) begin(*genArm, label) {}

// one writes one of ws.
func (g *genArm) one(ws ...uint32) { g.a.raw(ws[g.r.n(uint64(len(ws)))]) }

// ref64 writes a branch to l.
func (g *genArm) ref64(op uint32, f field, l label) {
	g.a.ref(op, func(from, to uint64) uint32 { return branch(op, f, from, to) }, l)
}

func (dialectA64) prologue(g *genArm) {
	if g.r.one(2) {
		g.a.raw(0xd503233f) // paciasp
	}
}

func (dialectA64) traced(g *genArm) { g.a.raw(0xaa1e03e9) } // mov x9, x30

func (dialectA64) plain(g *genArm) { g.one(plainA64[:]...) }

func (dialectA64) conditional(*genArm) {}

func (dialectA64) jumpTo(g *genArm, l label) { g.ref64(a64B, imm26, l) }

func (dialectA64) callTo(g *genArm, l label) { g.ref64(a64BL, imm26, l) }

// condTo writes a conditional branch of any form.
func (dialectA64) condTo(g *genArm, l label, _ bool) {
	x := uint32(g.r.next())
	switch g.r.n(4) {
	case 0:
		g.ref64(a64CBZ|x&(1<<31|1<<24|0x1f), imm19, l)
	case 1:
		g.ref64(a64TBZ|x&(1<<31|1<<24|0x1f<<19|0x1f), imm14, l)
	default:
		g.ref64(a64BCond|x%14, imm19, l)
	}
}

func (dialectA64) guardTo(g *genArm, l label) { g.ref64(a64BCond, imm19, l) }

func (dialectA64) callThrough(g *genArm, any bool) {
	if any {
		g.one(a64BLR|1<<5, a64BLRAAZ|1<<5)
	} else {
		g.a.raw(a64BLR | 3<<5)
	}
}

func (dialectA64) jumpThrough(g *genArm) { g.a.raw(a64BR | 17<<5) }

func (dialectA64) choose(g *genArm) { g.one(a64BR|16<<5, a64BRAAZ|16<<5) }

func (dialectA64) dispatch(g *genArm) { g.a.raw(a64BR | 2<<5) }

func (dialectA64) ret(g *genArm, odd bool) {
	g.a.raw(either(odd, a64RETAA, a64RET))
}

func (dialectA64) barrier(g *genArm) { g.a.raw(a64ISB) }

func (dialectA64) raise(g *genArm) { g.one(a64SVC, a64HVC, a64SMC|7<<5) }

func (dialectA64) warn(g *genArm) { g.a.raw(brkWarn) }

func (dialectA64) undefined(g *genArm) { g.a.raw(a64UDF | uint32(g.r.n(1<<16))) }

func (dialectA64) interrupts(g *genArm, on bool) {
	g.a.raw(either(on, a64IRQOn, a64IRQOff))
}

func (dialectA64) yield(g *genArm) { g.a.raw(a64Yield) }

func (dialectA64) eret(g *genArm) { g.a.raw(a64ERET) }

func (dialectA64) place(g *genArm, _ *draftArm) { g.a.raw(a64NOP) }

func (dialectA64) variants(g *genArm, s *siteArm, d *draftArm) (ws []uint32) {
	switch d.kind {
	case siteImm:
		return []uint32{0xd2800020, 0xd2800040, a64NOP} // mov x0, #1; mov x0, #2
	case siteJump:
		return []uint32{a64NOP, branch(a64B, imm26, s.addr, g.a.addr(d.to[0]))}
	case siteCond: // a conditional branch, its opposite, none, another form
		w := branch(a64BCond|1, imm19, s.addr, g.a.addr(d.to[0]))
		return []uint32{w, w ^ 1, a64NOP, branch(a64CBZ|3, imm19, s.addr, g.a.addr(d.to[0]))}
	}
	ws = []uint32{a64NOP}
	for _, l := range d.to {
		ws = append(ws, branch(a64BL, imm26, s.addr, g.a.addr(l)))
	}
	return ws
}

// either returns yes where is, else no.
func either(is bool, yes, no uint32) uint32 {
	if is {
		return yes
	}
	return no
}
