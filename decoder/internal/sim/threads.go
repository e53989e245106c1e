package sim

import (
	"cmp"
	"slices"
)

// thread is a flow with a stack of its own, which CPUs take up and leave (x86).
type thread struct {
	tid    int32
	user   bool // it begins in a program, and not in a kernel thread
	stack  []uint64
	frames []frame
	left   uint64 // when a CPU left it, ticks
}

// Switch is a moment from which a CPU runs a thread.
type Switch struct {
	CPU  int
	TID  int32
	At   int    // index in CPU.Insns of the first instruction on the thread's stack
	Time uint64 // ticks; 0: from the start on
	Told uint64 // by the kernel's record, ticks: it is made in the thread that comes
}

// firstThread is the number of CPU 0's first thread.
const firstThread = 100

// begins gives each CPU the thread that it starts in, and makes those that wait.
func (m *machine) begins() {
	if m.cfg.Threads == 0 {
		return
	}
	for _, c := range m.cpus {
		c.thread = &thread{tid: firstThread + int32(c.id)}
		m.run.Switches = append(m.run.Switches, Switch{CPU: c.id, TID: c.thread.tid})
	}
	r := newRand(m.cfg.Seed, 5)
	for i := range m.cfg.Threads * len(m.cpus) {
		m.waiting = append(m.waiting, &thread{
			tid: firstThread + int32(len(m.cpus)+i), stack: []uint64{m.prog.fork}, user: m.cfg.User && r.one(2),
		})
	}
}

// yields reports whether c goes over to another thread, where its program asks. Then it is
// settled to which one. What serves a breakpoint or an NMI stays on its CPU.
func (c *cpu) yields(draw uint64) bool {
	if c.thread == nil || c.next != nil || draw&1 != 0 || c.nmis > 0 || c.step || c.held || len(c.masked) > 0 {
		return false
	}
	if slices.ContainsFunc(c.frames, func(f frame) bool { return f.nmi || f.step || f.mask || f.unmask || f.emu != nil }) {
		return false
	}
	list := c.m.waiting
	i := int(c.r.n(uint64(len(list))))
	if list[i].left >= c.t {
		return false // another CPU has just left it
	}
	c.next = list[i]
	c.m.waiting = slices.Delete(list, i, i+1)
	return true
}

// changes takes the next thread's stack.
func (c *cpu) changes() {
	old := c.thread
	old.stack, old.frames, old.left = c.stack, c.frames, c.t
	c.m.waiting = append(c.m.waiting, old)
	c.thread, c.next = c.next, nil
	c.stack, c.frames = c.thread.stack, c.thread.frames
	c.m.run.Switches = append(c.m.run.Switches, Switch{
		CPU: c.id, TID: c.thread.tid, At: len(c.insns) + 1, Time: c.t, Told: c.t + 1 + c.r.n(4),
	})
}

// inUse reports whether th is in code for which in holds, or will return to it.
func (th *thread) inUse(in func(uint64) bool) bool {
	return slices.ContainsFunc(th.stack, in) || slices.ContainsFunc(th.frames, func(f frame) bool { return in(f.ip) })
}

// ThreadCalls returns the calls of each thread, in the order in which they began. There are
// some where Config.Threads is.
func (r *Run) ThreadCalls() map[int32][]Call {
	type stretch struct {
		Switch
		to int // index in CPU.Insns
	}
	var list []stretch
	last := map[int]int{} // in list, by CPU
	for _, s := range r.Switches {
		if i, ok := last[s.CPU]; ok {
			list[i].to = s.At
		}
		last[s.CPU] = len(list)
		list = append(list, stretch{s, len(r.CPUs[s.CPU].Insns)})
	}
	slices.SortStableFunc(list, func(a, b stretch) int { return cmp.Compare(a.Time, b.Time) })
	found := map[int32]*callFinder{}
	for _, s := range list {
		f := found[s.TID]
		if f == nil {
			f = r.newFinder(false)
			found[s.TID] = f
		}
		c := &r.CPUs[s.CPU]
		over := s.to == len(c.Insns)
		f.follows(c, s.At, s.to, over)
		if over {
			f.ends(&c.Final)
		}
	}
	all := map[int32][]Call{}
	for tid, f := range found {
		all[tid] = f.calls
	}
	return all
}

// scheduler writes how one thread makes way for another, and how a new one begins.
func (g *gen) scheduler(mains []label) {
	to, swap, out := g.a.newLabel(), g.a.newLabel(), g.a.newLabel()
	g.mark("__schedule", g.sched)
	g.a.bind(g.sched)
	g.a.raw(0xfa) // cli
	g.a.ref32(swap, 0xe8)
	g.a.raw(0xfb, 0xc3) // sti, ret
	g.mark("__switch_to_asm", swap)
	g.a.bind(swap)
	g.a.raw(0x50, 0x58, 0x48, 0x8b, 0xa6, 0, 0x10, 0, 0) // push; pop; mov 0x1000(%rsi),%rsp
	g.swapped = g.a.here()
	g.a.ref32(to, 0xe9)
	g.mark("__switch_to", to)
	g.a.bind(to)
	g.a.raw(0x31, 0xc0, 0xc3)
	g.mark("ret_from_fork", -1)
	g.fork = g.a.here()
	g.a.raw(0xfb) // sti
	g.flags[g.a.here()] |= flagProgram
	g.a.ref8(out, 0x75)
	g.targets[g.a.here()] = mains
	g.a.raw(0xff, 0xd0)
	g.a.bind(out)
	g.a.raw(0xfa, 0x48, 0x0f, 0x07) // cli, sysretq
}

// mayYield writes a place at which another thread may come.
func (g *gen) mayYield() {
	if g.sched < 0 {
		return
	}
	stay := g.a.newLabel()
	g.flags[g.a.here()] |= flagYield
	g.a.ref8(stay, 0x74)
	g.a.ref32(g.sched, 0xe8)
	g.a.bind(stay)
}
