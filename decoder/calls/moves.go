package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// note takes what lies between ranges.
func (c *cpu) note(n *decoder.Note) {
	e := &n.Event
	c.begins()
	if c.cycles != nil {
		c.cycles.follows(n)
	}
	switch n.Kind {
	case decoder.NoteGap:
		c.lostAt[c.st.Index] = min(c.lostAt[c.st.Index], max(c.stated, c.tenure.since))
		if c.await = lost; c.thread != nil {
			c.thread.gap(event.Always.Hi)
		}
	case decoder.NoteTrackOff:
		c.off(e)
	case decoder.NoteTrackOn:
		if c.await != lost && c.await != elsewhere {
			c.await = begun
		}
	case decoder.NoteTrap:
		c.interrupted(e, trap{true, n.Verdict == decoder.Ambiguous, n.Trap, n.Poke})
	case decoder.NoteEvent:
		if e.Kind == event.Async {
			c.interrupted(e, trap{})
		} else {
			c.cycles.counts(c, e)
		}
	}
}

// gap takes a gap, in which th ran until a time, ns: which of the calls end in it that began before is not known.
func (th *thread) gap(until uint64) {
	for _, p := range []*stack{&th.user, &th.kernel} {
		p.back = 0
		for _, call := range p.calls {
			if call.began < until {
				call.Gap, call.stale = true, true
			}
		}
	}
}

// off takes the end of tracing. Where a program was interrupted, it says where.
func (c *cpu) off(e *event.Event) {
	switch how := c.await; {
	case how == lost, how == elsewhere:
		return
	case e.Kind == event.AsyncDisable && e.Flags&event.FlagHere == 0 && !c.machine.Kernel(e.From):
		c.interrupted(e, trap{})
	case how == undone && c.part != &c.thread.kernel:
	case how == undone && e.HasIP() && c.machine.Kernel(e.IP):
		p := c.at(0, e.IP)
		c.resumes(e.IP, &p)
	case how == undone:
		c.clear()
	case how == caller && c.top != nil && !c.top.async && !c.top.root:
		c.end(Returned)
	}
	c.await = begun
}

// interrupted takes an interrupt, an exception or a breakpoint: the flow left at e.From.
func (c *cpu) interrupted(e *event.Event, t trap) {
	if e.Time.Known() {
		c.now = event.Time{Lo: c.stated, Hi: e.Time.Hi}
		states(c, e.Time.Lo)
		c.place = e.Off
		if c.cycles != nil {
			c.cycles.Reach(e.Off)
		}
	}
	if c.thread == nil || c.tenure.over(c.stated, c.now) {
		c.runs()
	}
	if e.Flags&event.FlagAbort != 0 {
		c.await = elsewhere
		return
	}
	from := e.From
	if e.Flags&event.FlagHere != 0 {
		from = 0
	} else if off := from - c.lo; c.await != nothing || off-1 >= c.inner {
		space := uint32(0)
		if c.prev != nil {
			if space = c.prev.Space; c.await == nothing {
				c.from = c.prev.LastIP()
			}
		}
		p := c.at(space, from)
		c.comes(from, &p)
	}
	c.part.back = from
	if t.here && c.top != nil && c.top.Addr == from {
		c.top.Ran = true
	}
	c.await, c.from, c.trap = handler, from, t
}

// arrives takes a range that does not go straight on in the function. It returns how many
// of its instructions are the innermost call's.
func (c *cpu) arrives(x *decoder.BatchRange) uint64 {
	k := x.Block
	if c.await == caller && c.top != nil && c.top.ret == k.Addr {
		c.await = nothing
		if c.end(Returned); k.Addr-c.lo-1 >= c.inner || k.End-c.lo > c.size {
			c.back(k.Addr, c.placeOf(k))
		}
		return uint64(x.N)
	}
	p := c.placeOf(k)
	if c.await == nothing && c.prev != nil {
		c.from = c.prev.LastIP()
	}
	c.comes(k.Addr, p)
	if (p.first || p.unnamed) && c.top.function == p.function {
		c.top.Ran = true
	}
	if !p.parted {
		return uint64(x.N)
	}
	n := int(x.N)
	done := 0
	for _, q := range c.parts[k] {
		if q.at >= n {
			break
		}
		ran := uint64(q.at-done) & c.counts
		c.top.Self += ran
		if c.top.Verdict = max(c.top.Verdict, x.Verdict); x.Verdict == decoder.Ambiguous {
			c.top.Ambiguous += ran
		}
		done = q.at
		c.from = 0
		c.jumps(q.Addr, &place{function: q.function, first: q.first})
		c.top.Ran = c.top.Ran || c.top.function == q.function
	}
	return uint64(n - done)
}

// comes takes the flow to an address, which lies in p.
func (c *cpu) comes(addr uint64, p *place) {
	how := c.await
	c.await = nothing
	kernel := c.machine.Kernel(addr)
	if c.part == nil {
		c.turns(kernel)
	}
	switch how {
	case callee:
		if behind := c.branch.End; addr-behind <= 1 && !p.first {
			c.jumps(addr, p) // it calls nothing: see rows.Row
		} else {
			c.calls(addr, p, behind)
		}
	case caller:
		if addr == c.branch.End && (c.branch.Mode == isa.ModeA32 || c.branch.Mode == isa.ModeT32) && (c.top == nil || c.top.ret != addr) {
			c.jumps(addr, p) // its condition failed
		} else {
			c.returns(addr, p)
		}
	case undone:
		if inside := c.part == &c.thread.kernel; kernel && inside {
			c.resumes(addr, p)
		} else {
			if inside {
				c.clear()
			}
			c.turns(kernel)
			c.lands(addr, p, Unseen)
		}
	case handler:
		c.handles(p, kernel)
	case service:
		c.turns(true)
		c.clear()
		c.enter(p.function, FromUser, c.from).root = true
		c.told(c.top)
	case begun:
		c.starts(addr, p, kernel)
	case lost:
		if !kernel || !goesUnknown(c) {
			c.runs()
		}
		c.turns(kernel)
		c.lands(addr, p, Resumed)
	case elsewhere:
		if c.turns(kernel); p.first && c.top != nil {
			c.jumps(addr, p)
		} else {
			c.lands(addr, p, Resumed)
		}
	default:
		if kernel != (c.part == &c.thread.kernel) {
			c.turns(kernel)
		}
		c.jumps(addr, p)
	}
}

// handles begins the call of a handler.
func (c *cpu) handles(p *place, kernel bool) {
	how := Interrupted
	if kernel && c.part == &c.thread.user {
		c.turns(true)
		c.clear()
		how = FromUser
	}
	call := c.enter(p.function, how, c.from)
	call.async, call.left, call.trap, call.root = how == Interrupted, c.from, c.trap, how == FromUser
	c.trap = trap{}
	c.told(call)
}

// starts takes the beginning of tracing.
func (c *cpu) starts(addr uint64, p *place, kernel bool) {
	if !kernel || c.switches == "" || c.thread.tid < 0 {
		c.runs()
	}
	c.turns(kernel)
	const lowerEL = 0x400 // bytes: rows.Names.fromUser has the source
	if kernel && (p.first && !p.unnamed && !p.leadsOn && !p.callsOn || p.Sym == "vectors" && addr-p.Addr >= lowerEL) {
		c.clear()
		call := c.enter(p.function, FromUser, 0)
		call.root, call.maybe = true, true
		c.told(call)
		return
	}
	c.lands(addr, p, Resumed)
}

// maxUnwind is how far down a return is looked for: C++ exceptions and longjmp
// leave many calls at once.
const maxUnwind = 64

// lands takes the flow to a place without a call, jump or return that would lead there.
func (c *cpu) lands(addr uint64, p *place, how Way) {
	becomes(c, p)
	calls := c.part.calls
	back := c.part.back
	if c.part.back = 0; back == addr && back != 0 && len(calls) > 0 && c.part == &c.thread.user {
		c.back(addr, p)
		return
	}
	if p.first && !p.unnamed {
		if how == Unseen {
			how = Resumed
		}
		found(c, p.function, how, 0)
		return
	}
	if p.unnamed && c.top != nil {
		c.at0()
		return
	}
	for i := len(calls) - 1; i >= 0 && i >= len(calls)-maxUnwind; i-- {
		if f := calls[i].function; f == p.function || f.isStill(p.function) {
			c.endAbove(i)
			c.top.stale = false
			return
		}
	}
	found(c, p.function, Unseen, 0)
}

// isStill reports whether g is f, which a program still has where it had f. Other code was mapped meanwhile, so its address space
// has another number.
func (f *function) isStill(g *function) bool {
	return f.at.addr == g.at.addr && f.Sym == g.Sym && f.File == g.File && f.at.guest == g.at.guest && f.at.space != 0 && g.at.space != 0
}

// becomes ends the program's calls of c's thread if it has become another program, in which p lies: what it was in is no longer
// mapped there.
func becomes(c *cpu, p *place) {
	if c.part != &c.thread.user {
		return
	}
	for _, x := range c.part.calls {
		if x.File == "" {
			continue
		}
		if x.at.space == p.at.space || x.at.space == 0 || p.at.space == 0 {
			return
		}
		sym, off, file, _ := c.machine.Symbol(p.at.space, x.Addr, c.stated)
		if file == x.File && (x.unnamed || off == 0 && sym == x.Sym) {
			return
		}
		for len(c.part.calls) > 0 {
			c.end(Unwound)
		}
		c.part.before = 0
		return
	}
}

// found begins a call of f of which it is not known what led there. A thunk is told of as other functions are
// where no call is known that it belongs to. Behind a gap it need not lie in the call that was innermost before.
func found(c *cpu, f *function, how Way, from uint64) {
	call := c.enter(f, how, from)
	n := len(c.part.calls)
	call.open = true
	if n > 1 && c.part.calls[n-2].stale {
		call.Caller = nil
	}
	c.told(call)
}

// jumps takes the flow to a place by a jump, or as it runs on.
func (c *cpu) jumps(addr uint64, p *place) {
	if i := leapsTo(c, p); i >= 0 {
		c.endAbove(i)
	}
	f, top := p.function, c.top
	switch {
	case top == nil:
		c.lands(addr, p, Resumed)
	case f == top.function && !p.first:
		c.within(f)
	case f != top.function && p.unnamed:
		c.at0()
	case !p.first && top.slots: // of a probe, which was found in place of the function that has the probe
		c.end(Replaced)
		found(c, f, Unseen, 0)
	case !p.first:
		if n := len(c.part.calls); top.nested() && n > 1 && c.part.calls[n-2].function == f {
			c.end(Returned)
		} else {
			c.within(f) // code of another function that belongs to the call
		}
	case f.leadsOn:
		if p.block != nil && p.block.N == 1 && p.block.Class == isa.Return {
			c.returner = p.block
			return
		}
		c.within(f)
	case f.inner && !top.hidden:
		c.enter(f, Jumped, c.from)
		c.told(c.top)
	default:
		c.replaces(f)
	}
}

// nested reports whether c lies inside of the function that jumped to it.
func (c *Call) nested() bool { return c.inner && c.How == Jumped }

// replaces has f take the place of the function that jumps to it, or that a thunk led on for.
func (c *cpu) replaces(f *function) {
	if leaves := c.top.function; f.switches {
		c.switched()
		if c.turns(true); c.top == nil || c.top.stale && c.top.function != leaves { // a thread waits where this one left
			found(c, f, Jumped, c.from)
			return
		}
	}
	for c.top.nested() && len(c.part.calls) > 1 {
		c.end(Replaced)
	}
	was := *c.top
	if was.hidden {
		c.top.function, c.top.hidden, c.top.Ran, c.top.Begin, c.top.began = f, f.leadsOn || f.callsOn, false, c.now, c.stated
		c.cycles.reopens(c.part)
		c.atTop(f)
		c.told(c.top)
		return
	}
	c.end(Replaced)
	call := c.enter(f, Jumped, c.from)
	call.Caller, call.ret, call.open, call.root, call.maybe, call.async, call.left, call.trap = was.Caller, was.ret, was.open, was.root, was.maybe, was.async, was.left, was.trap
	c.told(call)
}

// calls takes a call, which returns to behind.
func (c *cpu) calls(addr uint64, p *place, behind uint64) {
	f := p.function
	switch {
	case c.code != nil && c.code.leadsOn:
		c.within(f) // a retpoline calls itself, to jump by a return
		return
	case f.switches:
		c.switched()
		c.turns(true)
	}
	local := f == c.code && !p.first
	call := c.enter(f, Called, c.from)
	call.ret = behind
	call.hidden = call.hidden || local
	c.told(call)
}
