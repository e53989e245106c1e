package sim

import "fmt"

// siteArm is a place whose word is rewritten.
type siteArm struct {
	kind siteKind
	addr uint64
	vars []uint32 // what may stand there, all of one length
}

// pointArm is a place where a probe may be set.
type pointArm struct {
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

// programArm is what the CPUs run before anyone patches it.
type programArm struct {
	text    []byte
	syms    []Symbol
	notes   map[uint64]uint8    // insn flags by address
	targets map[uint64][]uint64 // of indirect branches
	sites   []*siteArm
	points  []pointArm
	tracers []uint64

	mains    []uint64 // a kernel thread's endless loop, one a CPU
	leaf     uint64   // a function without sites
	entries  [numReasons]uint64
	dispatch uint64 // the branch that leads from each entry to the handler
	handlers [numReasons]uint64
}

// genArm writes a program.
type genArm struct {
	outline
	d   dialect
	a   asmArm
	p   programArm
	t32 map[label]bool // the functions that are T32
	tx  *rnd           // where it has transactions; nil: nowhere

	drafts []draftArm
	probes []label
}

// draftArm is a site before its addresses are known.
type draftArm struct {
	kind siteKind
	at   label
	to   []label
	near bool // its jump goes over a few plain instructions
}

func newProgramArm(c Config, d dialect) *programArm {
	g := &genArm{d: d, t32: map[label]bool{}}
	g.a.base, _ = d.layout()
	g.outline = newOutline(&c, g.a.newLabel)
	if c.Tx {
		r := newRand(c.Seed, 4)
		g.tx = &r
	}
	d.setUp(g)
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
	g.tracer(g.tracers[0])
	g.mark("ftrace_regs_caller", -1)
	g.tracer(g.tracers[1])
	entries, dispatch, handlers := g.exceptions()
	g.mark("", -1) // the end of the last
	g.a.finish()

	p := &g.p
	p.mains, p.tracers = addresses(&g.a, mains), addresses(&g.a, g.tracers)
	p.dispatch = g.a.addr(dispatch)
	copy(p.entries[:], addresses(&g.a, entries[:]))
	copy(p.handlers[:], addresses(&g.a, handlers[:]))
	p.leaf = g.a.addr(g.funcs[len(g.funcs)-1])
	g.settle()
	return p
}

// exceptions writes the entries, which lead to one jump to the handlers, and
// these.
func (g *genArm) exceptions() (entries [numReasons]label, dispatch label, handlers [numReasons]label) {
	names, of := g.d.vectors()
	join := g.a.newLabel()
	t32 := false
	for i, name := range names {
		g.mark(name, -1)
		if i == 0 {
			t32 = g.a.t32
		}
		g.a.t32 = t32 // all are what SCTLR.TE says
		entry := g.a.here()
		for y := range of {
			if of[y] == i {
				entries[y] = entry
			}
		}
		if i < len(names)-1 {
			g.plainRun(2)
			g.d.jumpTo(g, join)
			continue
		}
		g.plainRun(3)
		g.a.bind(join)
		dispatch = g.a.here()
		g.d.dispatch(g)
	}
	for y, name := range g.d.handlers() {
		g.mark(name, -1)
		handlers[y] = g.handler(reason(y))
	}
	return entries, dispatch, handlers
}

// mark begins the named symbol at the next aligned address; l is its label,
// bound by who writes it, -1 if none.
func (g *genArm) mark(name string, l label) {
	for len(g.a.text)%16 != 0 {
		g.a.text = append(g.a.text, 0)
	}
	if g.d.begin(g, l); l < 0 {
		l = g.a.here()
	}
	g.marks = append(g.marks, mark{name, l})
}

// settle turns labels into addresses and writes each site's first text.
func (g *genArm) settle() {
	p := &g.p
	for i, m := range g.marks[:len(g.marks)-1] {
		at := plainAddr(g.a.addr(m.at))
		p.syms = append(p.syms, Symbol{m.name, at, plainAddr(g.a.addr(g.marks[i+1].at)) - at})
	}
	p.notes, p.targets = g.notes(&g.a)
	for i := range g.drafts {
		d := &g.drafts[i]
		s := &siteArm{kind: d.kind, addr: g.a.addr(d.at)}
		s.vars = g.d.variants(g, s, d)
		first := 0
		if d.kind != siteEntry {
			first = int(g.r.n(uint64(len(s.vars))))
		}
		g.a.put(s.addr, s.vars[first])
		p.sites = append(p.sites, s)
	}
	p.text = g.a.text
	for _, l := range g.probes {
		at := g.a.addr(l)
		p.points = append(p.points, pointArm{at, g.a.word(at)})
	}
}
