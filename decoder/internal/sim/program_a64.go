package sim

import "fmt"

// Where the A64 machine's code lies: the kernel's text, and what is allocated
// while it runs, in reach of a direct branch.
const (
	textA64 = 0xffff800008010000
	dynA64  = 0xffff80000a000000
)

// siteA64 is a place whose word is rewritten.
type siteA64 struct {
	kind siteKind
	addr uint64
	vars []uint32 // what may stand there
}

// pointA64 is a place where a probe may be set.
type pointA64 struct {
	addr uint64
	word uint32
}

// reason says which exception is taken: the vectors are few, the handlers'
// code tells them apart.
type reason uint8

const (
	whyBreak reason = iota
	whyCall         // SVC, HVC, SMC
	whyFault
	whyUndef
	whyTimer
	whyIPI
	numReasons
)

func (y reason) symbol() string {
	return [numReasons]string{"el1_dbg", "el1_svc", "el1_abort", "el1_undef", "arch_timer_handler", "do_handle_IPI"}[y]
}

// programA64 is what the CPUs run before anyone patches it.
type programA64 struct {
	words   []uint32
	syms    []Symbol
	notes   map[uint64]uint8    // insn flags by address
	targets map[uint64][]uint64 // of indirect branches
	sites   []*siteA64
	points  []pointA64
	tracers []uint64

	mains    []uint64 // a kernel thread's endless loop, one a CPU
	leaf     uint64   // a function without sites
	sync     uint64   // entry of synchronous exceptions
	irq      uint64   // entry of interrupts
	dispatch uint64   // the branch that leads from either entry to the handler
	handlers [numReasons]uint64
}

// genA64 writes a program.
type genA64 struct {
	outline
	a     asmA64
	p     programA64
	plain []uint32

	drafts []draftA64
	probes []label
}

// draftA64 is a site before its addresses are known.
type draftA64 struct {
	kind siteKind
	at   label
	to   []label
	vars []uint32 // siteImm: what may stand there
}

func newProgramA64(c Config) *programA64 {
	g := &genA64{a: asmA64{base: textA64}, plain: plainA64()}
	g.outline = newOutline(&c, g.a.newLabel)
	for i := range g.funcs {
		g.mark(fmt.Sprintf("func_%d", i), g.funcs[i])
		g.function(i)
	}
	var mains []label
	for i := range c.CPUs {
		g.mark(fmt.Sprintf("kthread_%d", i), -1)
		mains = append(mains, g.mainLoop())
	}
	g.mark("ftrace_caller", -1)
	tracers := []label{g.tracer()}
	g.mark("ftrace_regs_caller", -1)
	tracers = append(tracers, g.tracer())
	g.mark("el1h_64_sync", -1)
	sync, irq := g.a.here(), g.a.newLabel()
	g.plainRun(2)
	g.a.ref(a64B, imm26, irq)
	g.mark("el1h_64_irq", -1)
	entry := g.a.here()
	g.plainRun(3)
	g.a.bind(irq)
	dispatch := g.a.here()
	g.a.raw(a64BR | 2<<5)
	var handlers [numReasons]label
	for y := range handlers {
		g.mark(reason(y).symbol(), -1)
		handlers[y] = g.handler(reason(y))
	}
	g.mark("", -1) // the end of the last
	for i := range g.drafts {
		if g.drafts[i].kind == siteEntry {
			g.drafts[i].to = tracers
		}
	}
	g.a.finish()

	p := &g.p
	p.mains, p.tracers = g.addrs(mains), g.addrs(tracers)
	p.sync, p.irq, p.dispatch = g.a.addr(sync), g.a.addr(entry), g.a.addr(dispatch)
	copy(p.handlers[:], g.addrs(handlers[:]))
	p.leaf = g.a.addr(g.funcs[len(g.funcs)-1])
	g.settle()
	return p
}

// mark begins the named symbol at the next aligned address; l is its label,
// bound by who writes it, -1 if none.
func (g *genA64) mark(name string, l label) {
	for len(g.a.words)%4 != 0 {
		g.a.raw(a64NOP)
	}
	if l < 0 {
		l = g.a.here()
	}
	g.marks = append(g.marks, mark{name, l})
}

func (g *genA64) addrs(ls []label) (out []uint64) {
	for _, l := range ls {
		out = append(out, g.a.addr(l))
	}
	return out
}

// settle turns labels into addresses and writes each site's first text.
func (g *genA64) settle() {
	p := &g.p
	for i, m := range g.marks[:len(g.marks)-1] {
		at := g.a.addr(m.at)
		p.syms = append(p.syms, Symbol{m.name, at, g.a.addr(g.marks[i+1].at) - at})
	}
	p.notes, p.targets = map[uint64]uint8{}, map[uint64][]uint64{}
	for l, f := range g.flags {
		p.notes[g.a.addr(l)] |= f
	}
	for l, to := range g.targets {
		p.targets[g.a.addr(l)] = g.addrs(to)
	}
	for _, d := range g.drafts {
		s := &siteA64{kind: d.kind, addr: g.a.addr(d.at), vars: d.vars}
		switch d.kind {
		case siteJump:
			s.vars = []uint32{a64NOP, branch(a64B, imm26, s.addr, g.a.addr(d.to[0]))}
		case siteEntry, siteCall:
			s.vars = []uint32{a64NOP}
			for _, l := range d.to {
				s.vars = append(s.vars, branch(a64BL, imm26, s.addr, g.a.addr(l)))
			}
		case siteCond: // a conditional branch, its opposite, or none
			w := branch(a64BCond|1, imm19, s.addr, g.a.addr(d.to[0]))
			s.vars = []uint32{w, w ^ 1, a64NOP, branch(a64CBZ|3, imm19, s.addr, g.a.addr(d.to[0]))}
		}
		first := 0
		if d.kind != siteEntry {
			first = int(g.r.n(uint64(len(s.vars))))
		}
		g.a.words[(s.addr-textA64)/wordLength] = s.vars[first]
		p.sites = append(p.sites, s)
	}
	p.words = g.a.words
	for _, l := range g.probes {
		at := g.a.addr(l)
		p.points = append(p.points, pointA64{at, p.words[(at-textA64)/wordLength]})
	}
}
