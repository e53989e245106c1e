package sim

import "fmt"

// Symbol is a named stretch of text.
type Symbol struct {
	Name string
	Addr uint64
	Size uint64 // bytes
}

// program is what the CPUs run before anyone patches it.
type program struct {
	text    []byte
	syms    []Symbol
	notes   map[uint64]uint8    // insn flags by address
	targets map[uint64][]uint64 // of indirect branches, and of calls to the retpoline
	sites   []*site
	probes  []probePoint

	mains   []uint64 // a kernel thread's endless loop, one a CPU
	leaf    uint64   // a function without sites
	vec     [numVectors]uint64
	syscall uint64 // entry from user space
	fork    uint64 // where new threads begin
	swapped uint64 // a jump on the stack of the thread that comes: nothing interrupts it
	tracers []uint64
}

// vector is an entry from outside the flow.
type vector uint8

const (
	vecInt3 vector = iota
	vecDebug
	vecNMI
	vecFault
	vecTimer
	vecIPI
	vecStop
	vecSoft
	numVectors
)

func (v vector) symbol() string {
	return [numVectors]string{
		"asm_exc_int3", "asm_exc_debug", "asm_exc_nmi", "asm_exc_page_fault",
		"asm_sysvec_apic_timer_interrupt", "asm_sysvec_call_function",
		"asm_sysvec_stop_machine", "asm_int80_emulation",
	}[v]
}

// gen writes a program.
type gen struct {
	outline
	a             asm
	p             program
	plain         [][]byte
	thunk         label
	retThk        label
	sched         label // the scheduler; -1: there are no threads
	fork, swapped label

	entersGuest bool // the way out of the kernel is VMRESUME

	drafts []draft
	run    []label // starts of the plain instructions since the last branch or label
	points []pointDraft
}

type pointDraft struct {
	at, end label
	run     label // end of the straight run; equals end where there is none
}

// newProgram writes a program for c.
func newProgram(c Config) *program {
	g := &gen{a: asm{base: textBase}, plain: plainInsns(), entersGuest: c.hypervisor}
	g.outline = newOutline(&c, g.a.newLabel)
	g.thunk, g.retThk, g.sched = g.a.newLabel(), g.a.newLabel(), -1
	if c.Threads > 0 {
		g.sched = g.a.newLabel()
	}
	for i := range g.funcs {
		g.mark(fmt.Sprintf("func_%d", i), g.funcs[i])
		g.function(i)
	}
	mains := make([]label, c.CPUs)
	for i := range mains {
		g.mark(fmt.Sprintf("kthread_%d", i), -1)
		mains[i] = g.mainLoop()
	}
	var vec [numVectors]label
	for v := range vec {
		g.mark(vector(v).symbol(), -1)
		vec[v] = g.handler(vector(v))
	}
	g.mark("entry_SYSCALL_64", -1)
	sys := g.syscallEntry()
	g.mark("ftrace_caller", -1)
	g.tracer(g.tracers[0])
	g.mark("ftrace_regs_caller", -1)
	g.tracer(g.tracers[1])
	g.mark("__x86_indirect_thunk_rax", g.thunk)
	g.writeThunk()
	g.mark("__x86_return_thunk", g.retThk)
	g.a.bind(g.retThk)
	g.a.raw(0xc3)
	if g.sched >= 0 {
		g.scheduler(mains)
	}
	g.a.align(64, 0xcc)
	g.a.finish()

	p := &g.p
	p.mains, p.tracers = addresses(&g.a, mains), addresses(&g.a, g.tracers)
	copy(p.vec[:], addresses(&g.a, vec[:]))
	if p.syscall = g.a.addr(sys); g.sched >= 0 {
		p.fork, p.swapped = g.a.addr(g.fork), g.a.addr(g.swapped)
	}
	p.leaf = g.a.addr(g.funcs[len(g.funcs)-1])
	g.settle()
	return p
}

// mark begins the named symbol at the next aligned address; l is its label,
// bound by who writes it, -1 if none.
func (g *gen) mark(name string, l label) {
	g.a.align(16, 0xcc)
	if l < 0 {
		l = g.a.here()
	}
	g.marks = append(g.marks, mark{name, l})
}

// settle turns what was written down by label into addresses.
func (g *gen) settle() {
	p := &g.p
	p.text = g.a.buf
	for i, m := range g.marks {
		end := g.a.pc()
		if i+1 < len(g.marks) {
			end = g.a.addr(g.marks[i+1].at)
		}
		p.syms = append(p.syms, Symbol{m.name, g.a.addr(m.at), end - g.a.addr(m.at)})
	}
	p.notes, p.targets = g.notes(&g.a)
	for at := range p.targets {
		p.notes[at] |= flagTargets
	}
	for i := range g.drafts {
		s := g.drafts[i].resolve(&g.a)
		copy(p.text[s.addr-textBase:], s.text())
		p.sites = append(p.sites, s)
	}
	for _, d := range g.points {
		at, end, run := g.a.addr(d.at), g.a.addr(d.end), g.a.addr(d.run)
		pp := probePoint{addr: at, len: int(end - at), text: append([]byte(nil), p.text[at-textBase:run-textBase]...)}
		if run-at >= 5 {
			pp.run = int(run - at)
		}
		pp.in = decode(p.text[at-textBase:], at)
		p.probes = append(p.probes, pp)
	}
}

// function writes functions[i].
func (g *gen) function(i int) {
	g.cur = i
	g.a.bind(g.funcs[i])
	g.late, g.run = nil, nil
	if g.r.one(2) {
		g.a.raw(0xf3, 0x0f, 0x1e, 0xfa) // endbr64
	}
	if g.sited() && g.r.n(3) > 0 {
		g.site(draft{kind: siteEntry, size: 5, to: g.tracers})
	}
	if i == 1 || g.sited() && g.r.one(8) {
		g.recurse()
	}
	g.body(g.statement)
	g.endFunction()
	g.outOfLine()
}

// breakRun ends a straight run: what follows can be branched to.
func (g *gen) breakRun() {
	for i, l := range g.run[:max(len(g.run)-1, 0)] {
		g.points = append(g.points, pointDraft{at: l, end: g.run[i+1], run: g.run[len(g.run)-1]})
	}
	g.run = nil
}

// straight writes n plain instructions.
func (g *gen) straight(n int) {
	if g.sited() && len(g.run) == 0 {
		g.run = append(g.run, g.a.here())
	}
	for range n {
		g.a.raw(g.plain[g.r.n(uint64(len(g.plain)))]...)
		if g.sited() {
			g.run = append(g.run, g.a.here())
		}
	}
}

// site writes a patch site's first text (filled in by settle).
func (g *gen) site(d draft) {
	g.breakRun()
	d.at = g.a.here()
	g.a.buf = append(g.a.buf, make([]byte, d.size)...)
	g.drafts = append(g.drafts, d)
}

// probed notes that the instruction written by f may be probed.
func (g *gen) probed(f func()) {
	g.breakRun()
	at := g.a.here()
	f()
	if g.sited() {
		end := g.a.here()
		g.points = append(g.points, pointDraft{at, end, end})
	}
}
