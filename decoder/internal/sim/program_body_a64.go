package sim

func (g *genA64) function(i int) {
	g.cur = i
	g.a.bind(g.funcs[i])
	g.late = nil
	if g.r.one(2) {
		g.a.raw(0xd503233f) // paciasp
	}
	if g.sited() && g.r.n(3) > 0 {
		g.a.raw(0xaa1e03e9) // mov x9, x30
		g.site(draftA64{kind: siteEntry})
	}
	if i == 1 || g.sited() && g.r.one(8) {
		g.recurse()
	}
	g.body(g.statement)
	g.endFunction()
	g.outOfLine()
}

func (g *genA64) plainRun(n int) {
	for range n {
		g.a.raw(g.plain[g.r.n(uint64(len(g.plain)))])
	}
}

// straight writes n plain instructions; in a function with sites they may be probed.
func (g *genA64) straight(n int) {
	for range n {
		g.probed()
		g.plainRun(1)
	}
}

// probed notes that the instruction written next may be probed.
func (g *genA64) probed() {
	if g.sited() {
		g.probes = append(g.probes, g.a.here())
	}
}

// site writes a patch site (its text is filled in by settle).
func (g *genA64) site(d draftA64) {
	d.at = g.a.here()
	g.a.raw(a64NOP)
	g.drafts = append(g.drafts, d)
}

// statement writes one construct.
func (g *genA64) statement(nest int) {
	switch g.construct(nest) {
	case 0, 1, 2:
		g.straight(1 + int(g.r.n(5)))
	case 3:
		g.skip()
	case 4:
		g.branch(nest)
	case 5:
		g.loop(nest)
	case 6, 7:
		if f := g.callee(); f >= 0 {
			g.probed()
			g.a.ref(a64BL, imm26, f)
		}
	case 8:
		if to := g.callees(3); len(to) > 0 {
			g.targets[g.a.here()] = to
			g.a.raw([]uint32{a64BLR | 1<<5, a64BLRAAZ | 1<<5}[g.r.n(2)])
		}
	case 9:
		g.choose(nest)
	case 10, 11, 12:
		g.jumpLabel()
	case 13:
		if to := g.callees(2); g.sited() && len(to) > 0 {
			g.site(draftA64{kind: siteCall, to: to})
		}
	case 14, 15:
		g.unlisted()
	default:
		g.rare()
	}
}

// rare writes what enters an exception or synchronises.
func (g *genA64) rare() {
	switch g.r.n(5) {
	case 0:
		g.probed()
		g.a.raw(a64ISB)
	case 1:
		if g.sited() {
			g.a.raw([]uint32{a64SVC, a64HVC, a64SMC | 7<<5}[g.r.n(3)])
		}
	case 2:
		if g.sited() && g.r.one(2) {
			g.a.raw(brkWarn)
		}
	case 3: // what is never executed
		l := g.a.newLabel()
		g.a.ref(a64B, imm26, l)
		g.a.raw(a64UDF | uint32(g.r.n(1<<16)))
		g.a.bind(l)
	default:
		g.straight(2)
	}
}

// jcc writes a conditional branch to l with a bias of its own.
func (g *genA64) jcc(l label) {
	g.probed()
	switch g.r.n(4) {
	case 0:
		g.flags[g.a.here()] |= flagLikely
	case 1:
		g.flags[g.a.here()] |= flagSeldom
	}
	g.condTo(l)
}

// condTo writes a conditional branch of any form to l.
func (g *genA64) condTo(l label) {
	x := uint32(g.r.next())
	switch g.r.n(4) {
	case 0:
		g.a.ref(a64CBZ|x&(1<<31|1<<24|0x1f), imm19, l)
	case 1:
		g.a.ref(a64TBZ|x&(1<<31|1<<24|0x1f<<19|0x1f), imm14, l)
	default:
		g.a.ref(a64BCond|x%14, imm19, l)
	}
}

// skip writes a short forward branch over plain instructions.
func (g *genA64) skip() {
	l := g.a.newLabel()
	g.jcc(l)
	g.straight(1 + int(g.r.n(4)))
	g.a.bind(l)
}

// branch writes if-then-else.
func (g *genA64) branch(nest int) {
	other, end := g.a.newLabel(), g.a.newLabel()
	g.jcc(other)
	g.block(nest+1, g.statement)
	g.probed()
	g.a.ref(a64B, imm26, end)
	g.a.bind(other)
	g.block(nest+1, g.statement)
	g.a.bind(end)
}

// loop writes a loop that is left at random.
func (g *genA64) loop(nest int) {
	top := g.a.here()
	if g.r.one(2) {
		g.straight(int(g.r.n(4)))
	} else {
		g.block(nest+1, g.statement)
	}
	g.flags[g.a.here()] |= flagLoop
	g.condTo(top)
}

// choose writes a switch through a jump table.
func (g *genA64) choose(nest int) {
	jump, end := g.a.here(), g.a.newLabel()
	g.a.raw([]uint32{a64BR | 16<<5, a64BRAAZ | 16<<5}[g.r.n(2)])
	for range 2 + g.r.n(3) {
		g.targets[jump] = append(g.targets[jump], g.a.here())
		g.straight(int(g.r.n(3)))
		if g.budget > 0 && g.r.one(2) {
			g.budget--
			g.statement(nest + 1)
		}
		g.a.ref(a64B, imm26, end)
	}
	g.a.bind(end)
}

// jumpLabel writes a static branch over a few instructions, or to a block at
// the end of the function.
func (g *genA64) jumpLabel() {
	if !g.sited() {
		return
	}
	to := g.a.newLabel()
	g.site(draftA64{kind: siteJump, to: []label{to}})
	if g.r.one(2) {
		g.straight(1 + int(g.r.n(4)))
		g.a.bind(to)
		return
	}
	back := g.a.here()
	g.late = append(g.late, func() {
		g.a.bind(to)
		g.straight(1 + int(g.r.n(3)))
		if g.r.one(3) {
			g.skip()
		}
		g.a.ref(a64B, imm26, back)
	})
}

// unlisted writes a site whose words are not all fit to be rewritten live: a
// plain instruction, or a conditional branch.
func (g *genA64) unlisted() {
	if !g.sited() {
		return
	}
	if g.r.one(2) {
		g.site(draftA64{kind: siteImm, vars: []uint32{0xd2800020, 0xd2800040, a64NOP}})
		g.straight(2) // the machine may skip one of them
		return
	}
	to := g.a.newLabel()
	g.site(draftA64{kind: siteCond, to: []label{to}})
	g.straight(2 + int(g.r.n(3)))
	g.a.bind(to)
	g.straight(1)
}

// recurse writes a conditional call of the function by itself: deep enough
// to overflow the return stack of the trace unit, ended by the machine.
func (g *genA64) recurse() {
	out := g.a.newLabel()
	g.flags[g.a.here()] |= flagGuard
	g.a.ref(a64BCond, imm19, out)
	g.a.ref(a64BL, imm26, g.funcs[g.cur])
	g.a.bind(out)
}

// endFunction writes a return or a tail call.
func (g *genA64) endFunction() {
	to := g.callees(2)
	switch k := g.r.n(6); {
	case k == 0 && len(to) > 0:
		g.a.ref(a64B, imm26, to[0])
	case k == 1 && len(to) > 0:
		g.targets[g.a.here()] = to
		g.a.raw(a64BR | 17<<5)
	case k == 2:
		g.a.raw(a64RETAA)
	default:
		g.probed()
		g.a.raw(a64RET)
	}
}

// mainLoop writes a kernel thread.
func (g *genA64) mainLoop() label {
	top := g.a.here()
	g.targets[top] = g.funcs[:g.noSite]
	g.a.raw(a64BLR | 3<<5)
	g.plainRun(1)
	g.a.ref(a64B, imm26, top)
	return top
}

// tracer writes what a traced function's entry calls.
func (g *genA64) tracer() label {
	top := g.a.here()
	g.plainRun(1)
	g.a.ref(a64BL, imm26, g.funcs[len(g.funcs)-1])
	g.plainRun(1)
	g.a.raw(a64RET)
	return top
}

// handler writes what an exception's entry leads to.
func (g *genA64) handler(y reason) label {
	top := g.a.here()
	end := g.a.newLabel()
	last := g.funcs[len(g.funcs)-1]
	late := g.funcs[g.noSite-2 : g.noSite] // functions with sites that call few others
	switch y {
	case whyBreak, whyUndef:
		g.condTo(end)
		g.a.ref(a64BL, imm26, last)
	case whyIPI:
		loop := g.a.here()
		g.a.raw(a64Yield)
		g.flags[g.a.here()] |= flagHeld
		g.condTo(loop)
		g.a.raw(a64ISB)
	default:
		if y != whyTimer { // taken only with interrupts enabled
			g.a.raw(a64IRQOn)
		}
		g.condTo(end)
		g.targets[g.a.here()] = late
		g.a.raw(a64BLR | 4<<5)
		if y == whyTimer {
			g.a.raw(a64IRQOn)
			g.a.ref(a64BL, imm26, last)
		}
		g.a.raw(a64IRQOff)
	}
	g.a.bind(end)
	g.a.raw(a64ERET)
	return top
}
