package sim

// statement writes one construct.
func (g *gen) statement(nest int) {
	g.construct(g, nest)
}

func (g *gen) few(n int) { g.straight(n) }

func (g *gen) special(k uint64) {
	switch k {
	case 13, 14:
		g.staticCall()
	case 15:
		g.retpoline()
	case 16: // a call to the next instruction, its address popped
		g.breakRun()
		g.a.raw(0xe8, 0, 0, 0, 0, 0x58)
	case 17:
		g.immediate()
	case 18:
		g.breakRun()
		if g.sited() && g.r.one(3) {
			g.a.raw(0xcd, 0x80)
		} else {
			g.condTail()
		}
	case 19:
		g.breakRun()
		l := g.a.newLabel()
		g.a.ref8(l, 0xeb)
		g.a.raw(0x0f, 0x0b)
		g.a.bind(l)
	}
}

func (g *gen) here() label { return g.a.here() }

// bind puts l at what is written next, which can thus be branched to.
func (g *gen) bind(l label) {
	g.breakRun()
	g.a.bind(l)
}

func (g *gen) jumpTo(l label, _ bool) {
	g.breakRun()
	g.a.ref32(l, 0xe9)
}

func (g *gen) branchTo(l label, near bool) {
	g.probed(func() {
		g.bias(g.a.here())
		cc := byte(g.r.n(16))
		switch {
		case near && g.r.one(5):
			g.a.ref8(l, 0xe0+byte(g.r.n(4))) // LOOPNE, LOOPE, LOOP, JRCXZ
		case near:
			g.a.ref8(l, 0x70+cc)
		default:
			g.a.ref32(l, 0x0f, 0x80+cc)
		}
	})
}

// loop writes a loop that is left at random.
func (g *gen) loop(nest int) {
	g.breakRun()
	top := g.a.here()
	small := g.loopBody(g, nest)
	g.breakRun()
	g.flags[g.a.here()] |= flagLoop
	if small {
		g.a.ref8(top, []byte{0xe2, 0x75, 0x7c}[g.r.n(3)])
	} else {
		g.a.ref32(top, 0x0f, 0x85)
	}
}

func (g *gen) call() {
	if f := g.callee(); f >= 0 {
		g.probed(func() { g.a.ref32(f, 0xe8) })
	}
}

// aim draws the targets of the indirect branch that is written next. It reports
// whether there is any.
func (g *gen) aim() bool {
	to := g.callees(3)
	if len(to) > 0 {
		g.breakRun()
		g.targets[g.a.here()] = to
	}
	return len(to) > 0
}

func (g *gen) callIndirect() {
	if !g.aim() {
		return
	}
	switch g.r.n(3) {
	case 0:
		g.a.raw(0xff, 0xd0) // call *%rax
	case 1:
		g.a.raw(0xff, 0x14, 0xc5, 0, 0x10, 0, 0x82) // call *table(,%rax,8)
	default:
		g.a.raw(0xff, 0x15, 0, 0x10, 0, 0) // call *0x1000(%rip)
	}
}

// choose writes a switch through a jump table.
func (g *gen) choose(nest int) {
	g.breakRun()
	jump, end := g.a.here(), g.a.newLabel()
	if g.r.one(2) {
		g.a.raw(0xff, 0x24, 0xc5, 0, 0x20, 0, 0x82) // jmp *table(,%rax,8)
	} else {
		g.a.raw(0xff, 0xe0) // jmp *%rax
	}
	g.cases(g, jump, end, nest)
}

// jumpLabel writes a static branch: a short one over a few instructions, or
// a long one to a block at the end of the function.
func (g *gen) jumpLabel() {
	if !g.sited() {
		return
	}
	to := g.a.newLabel()
	cur := int(g.r.n(2))
	if g.r.one(2) {
		g.site(draft{kind: siteJump, size: 2, to: []label{to}, cur: cur})
		g.straight(1 + int(g.r.n(4)))
		g.bind(to)
		return
	}
	g.site(draft{kind: siteJump, size: 5, to: []label{to}, cur: cur})
	g.putOff(g, to)
}

func (g *gen) staticCall() {
	if to := g.callees(3); g.sited() && len(to) > 0 {
		g.site(draft{kind: siteCall, size: 5, to: to, cur: int(g.r.n(uint64(len(to) + 2)))})
	}
}

// condTail writes a conditional static tail call with a return behind it,
// skipped now and then so that the function goes on.
func (g *gen) condTail() {
	to := g.callees(2)
	if !g.sited() || len(to) < 2 {
		return
	}
	over := g.a.newLabel()
	g.branchTo(over, true)
	g.site(draft{kind: siteCond, size: 6, to: to, cond: 0x80 + byte(g.r.n(16))})
	g.ret()
	g.a.bind(over)
}

func (g *gen) retpoline() {
	if g.aim() {
		g.a.ref32(g.thunk, 0xe8)
	}
}

// immediate writes MOV $imm32,%eax whose immediate is patched.
func (g *gen) immediate() {
	if !g.sited() {
		return
	}
	k := siteImm
	if g.r.one(2) {
		k = siteImmAlign
		for (len(g.a.buf)+1)%4 != 0 {
			g.breakRun()
			g.a.raw(0x90)
		}
	}
	g.site(draft{kind: k, size: 5, cur: int(g.r.n(4))})
}

// recurse writes a conditional call of the function by itself: deep enough
// to overflow the return stack of the trace unit, ended by the machine.
func (g *gen) recurse() {
	g.breakRun()
	out := g.a.newLabel()
	g.flags[g.a.here()] |= flagGuard
	g.a.ref8(out, 0x74)
	g.a.ref32(g.funcs[g.cur], 0xe8)
	g.a.bind(out)
}

func (g *gen) ret() {
	g.breakRun()
	switch g.r.n(6) {
	case 0:
		g.a.ref32(g.retThk, 0xe9)
	case 1:
		g.a.raw(0xf3, 0xc3)
	default:
		g.a.raw(0xc3)
	}
}

// endFunction writes a return, a tail call or a static tail call.
func (g *gen) endFunction() {
	g.breakRun()
	to := g.callees(2)
	switch k := g.r.n(6); {
	case k == 0 && len(to) > 0:
		g.a.ref32(to[0], 0xe9)
	case k <= 2 && len(to) > 0 && g.sited():
		g.site(draft{kind: siteTail, size: 5, to: to, cur: int(g.r.n(3))})
	default:
		g.ret()
	}
}

// mainLoop writes a kernel thread.
func (g *gen) mainLoop() label {
	top := g.a.here()
	g.targets[top] = g.funcs[:g.noSite]
	g.a.raw(0xff, 0x14, 0xc5, 0, 0x30, 0, 0x82)
	g.a.raw(0x48, 0x83, 0xc0, 0x01)
	g.mayYield()
	g.a.ref32(top, 0xe9)
	return top
}

// syscallEntry writes the way in from user space and out again, or that from a
// virtual machine.
func (g *gen) syscallEntry() label {
	top := g.a.here()
	g.a.raw(0xfc, 0xfb) // cld, sti
	g.targets[g.a.here()] = g.funcs[:g.noSite]
	g.a.raw(0xff, 0x14, 0xc5, 0, 0x40, 0, 0x82)
	if g.entersGuest {
		g.a.raw(0xfa, 0x0f, 0x01, 0xc3) // cli, vmresume
		return top
	}
	g.mayYield()
	g.a.raw(0xfa, 0x48, 0x0f, 0x07) // cli, sysretq
	return top
}

// handler writes the entry of a vector.
func (g *gen) handler(v vector) label {
	top := g.a.here()
	end := g.a.newLabel()
	g.a.raw(0xfc)
	last := g.funcs[len(g.funcs)-1]
	late := g.funcs[g.noSite-2 : g.noSite] // functions with sites that call few others
	switch v {
	case vecInt3, vecDebug, vecSoft:
		g.a.ref8(end, 0x74)
		g.a.ref32(last, 0xe8)
	case vecIPI:
		g.a.ref8(end, 0x75)
		g.a.ref32(last, 0xe8)
		g.a.bind(end)
		g.a.raw(0x0f, 0xa2) // cpuid: the synchronisation
		g.a.raw(0x48, 0xcf)
		return top
	case vecStop:
		loop := g.a.here()
		g.a.raw(0xf3, 0x90)
		g.flags[g.a.here()] |= flagHeld
		g.a.ref8(loop, 0x75)
		g.a.bind(end)
		g.a.raw(0x0f, 0xa2, 0x48, 0xcf)
		return top
	default:
		if v == vecFault { // taken only with interrupts enabled
			g.a.raw(0xfb)
		}
		g.a.ref8(end, 0x78)
		g.targets[g.a.here()] = late
		g.a.raw(0xff, 0xd0)
		if v == vecTimer {
			g.a.raw(0xfb)
			g.a.ref32(last, 0xe8)
			g.mayYield()
			g.a.raw(0xfa)
		}
	}
	g.a.bind(end)
	g.a.raw(0x48, 0xcf)
	return top
}

// tracer writes, at l, what a traced function's entry calls.
func (g *gen) tracer(l label) {
	g.a.bind(l)
	g.a.raw(0x9c) // pushf
	g.a.ref32(g.funcs[len(g.funcs)-1], 0xe8)
	g.a.raw(0x9d, 0xc3) // popf, ret
}

// writeThunk writes the retpoline.
func (g *gen) writeThunk() {
	g.a.bind(g.thunk)
	set := g.a.newLabel()
	g.a.ref32(set, 0xe8)
	trap := g.a.here()
	g.a.raw(0xf3, 0x90, 0x0f, 0xae, 0xe8)
	g.a.ref8(trap, 0xeb)
	g.a.bind(set)
	g.a.raw(0x48, 0x89, 0x04, 0x24, 0xc3)
}
