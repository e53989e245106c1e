package sim

func (g *genArm) function(i int) {
	g.cur = i
	g.a.bind(g.funcs[i])
	g.late = nil
	g.d.prologue(g)
	if g.sited() && g.r.n(3) > 0 {
		g.d.traced(g)
		g.site(draftArm{kind: siteEntry, to: g.tracers})
	}
	if i == 1 || g.sited() && g.r.one(8) {
		g.recurse()
	}
	g.body(g.statement)
	g.endFunction()
	g.outOfLine()
}

func (g *genArm) plainRun(n int) {
	for range n {
		g.d.plain(g)
	}
}

// straight writes n plain instructions; in a function with sites they may be probed.
func (g *genArm) straight(n int) {
	for range n {
		g.probed()
		g.plainRun(1)
	}
}

// probed notes that the instruction written next may be probed.
func (g *genArm) probed() {
	if g.sited() {
		g.probes = append(g.probes, g.a.here())
	}
}

// site writes a patch site (its text is filled in by settle).
func (g *genArm) site(d draftArm) {
	d.at = g.a.here()
	g.d.place(g, &d)
	g.drafts = append(g.drafts, d)
}

// statement writes one construct.
func (g *genArm) statement(nest int) {
	if g.tx != nil && g.sited() && nest < 2 && g.tx.one(6) {
		g.transaction(nest)
		return
	}
	g.construct(g, nest)
}

func (g *genArm) few(n int) {
	g.straight(n)
	g.d.conditional(g)
}

func (g *genArm) call() {
	if f := g.callee(); f >= 0 {
		g.probed()
		g.d.callTo(g, f)
	}
}

func (g *genArm) callIndirect() {
	if to := g.callees(3); len(to) > 0 {
		g.targets[g.a.here()] = to
		g.d.callThrough(g, true)
	}
}

func (g *genArm) special(k uint64) {
	switch k {
	case 13:
		if to := g.callees(2); g.sited() && len(to) > 0 {
			g.site(draftArm{kind: siteCall, to: to})
		}
	case 14, 15:
		g.unlisted()
	default:
		g.rare()
	}
}

// rare writes what enters an exception or synchronises.
func (g *genArm) rare() {
	switch g.r.n(5) {
	case 0:
		g.probed()
		g.d.barrier(g)
	case 1:
		if g.sited() {
			g.d.raise(g)
		}
	case 2:
		if g.sited() && g.r.one(2) {
			g.d.warn(g)
		}
	case 3: // what is never executed
		l := g.a.newLabel()
		g.d.jumpTo(g, l)
		g.d.undefined(g)
		g.a.bind(l)
	default:
		g.straight(2)
	}
}

func (g *genArm) here() label { return g.a.here() }

func (g *genArm) bind(l label) { g.a.bind(l) }

func (g *genArm) jumpTo(l label, probed bool) {
	if probed {
		g.probed()
	}
	g.d.jumpTo(g, l)
}

func (g *genArm) branchTo(l label, near bool) {
	g.probed()
	g.bias(g.a.here())
	g.d.condTo(g, l, near)
}

// loop writes a loop that is left at random.
func (g *genArm) loop(nest int) {
	top := g.a.here()
	near := g.loopBody(g, nest)
	g.flags[g.a.here()] |= flagLoop
	g.d.condTo(g, top, near)
}

// choose writes a switch through a jump table.
func (g *genArm) choose(nest int) {
	jump, end := g.a.here(), g.a.newLabel()
	g.d.choose(g)
	g.cases(g, jump, end, nest)
}

// jumpLabel writes a static branch over a few instructions, or to a block at
// the end of the function.
func (g *genArm) jumpLabel() {
	if !g.sited() {
		return
	}
	to := g.a.newLabel()
	g.site(draftArm{kind: siteJump, to: []label{to}})
	if g.drafts[len(g.drafts)-1].near || g.r.one(2) {
		g.straight(1 + int(g.r.n(4)))
		g.a.bind(to)
		return
	}
	g.putOff(g, to)
}

// unlisted writes a site whose words are not all fit to be rewritten live: a
// plain instruction, or a conditional branch.
func (g *genArm) unlisted() {
	if !g.sited() {
		return
	}
	if g.r.one(2) {
		g.site(draftArm{kind: siteImm})
		g.straight(2) // the machine may skip one of them
		return
	}
	to := g.a.newLabel()
	g.site(draftArm{kind: siteCond, to: []label{to}})
	g.straight(2 + int(g.r.n(3)))
	g.a.bind(to)
	g.straight(1)
}

// recurse writes a conditional call of the function by itself: deep enough
// to overflow the return stack of the trace unit, ended by the machine.
func (g *genArm) recurse() {
	out := g.a.newLabel()
	g.flags[g.a.here()] |= flagGuard
	g.d.guardTo(g, out)
	g.d.callTo(g, g.funcs[g.cur])
	g.a.bind(out)
}

// endFunction writes a return or a tail call.
func (g *genArm) endFunction() {
	to := g.callees(2)
	switch k := g.r.n(6); {
	case k == 0 && len(to) > 0:
		g.d.jumpTo(g, to[0])
	case k == 1 && len(to) > 0:
		g.targets[g.a.here()] = to
		g.d.jumpThrough(g)
	case k == 2:
		g.d.ret(g, true)
	default:
		g.probed()
		g.d.ret(g, false)
	}
}

// mainLoop writes a kernel thread.
func (g *genArm) mainLoop() label {
	top := g.a.here()
	g.targets[top] = g.funcs[:g.noSite]
	g.d.callThrough(g, false)
	g.plainRun(1)
	g.d.jumpTo(g, top)
	return top
}

// tracer writes, at l, what a traced function's entry calls.
func (g *genArm) tracer(l label) {
	g.a.bind(l)
	g.plainRun(1)
	g.d.callTo(g, g.funcs[len(g.funcs)-1])
	g.plainRun(1)
	g.d.ret(g, false)
}

// handler writes what an exception's entry leads to.
func (g *genArm) handler(y reason) label {
	top := g.a.here()
	end := g.a.newLabel()
	last := g.funcs[len(g.funcs)-1]
	late := g.funcs[g.noSite-2 : g.noSite] // functions with sites that call few others
	switch y {
	case whyBreak, whyUndef:
		g.d.condTo(g, end, true)
		g.d.callTo(g, last)
	case whyIPI:
		loop := g.a.here()
		g.d.yield(g)
		g.flags[g.a.here()] |= flagHeld
		g.d.condTo(g, loop, true)
		g.d.barrier(g)
	default:
		if y != whyTimer { // taken only with interrupts enabled
			g.d.interrupts(g, true)
		}
		g.d.condTo(g, end, true)
		g.targets[g.a.here()] = late
		g.d.callThrough(g, false)
		if y == whyTimer {
			g.d.interrupts(g, true)
			g.d.callTo(g, last)
		}
		g.d.interrupts(g, false)
	}
	g.a.bind(end)
	g.d.eret(g)
	return top
}
