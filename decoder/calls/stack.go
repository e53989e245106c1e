package calls

import (
	"cmp"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// threadKey names a thread; an idle task, or a thread that is not known, is a stream's own.
type threadKey struct {
	tid    int32
	stream int // -1: of any
}

// thread is the calls of a thread: those of its program, and those of the kernel on its
// behalf.
type thread struct {
	tid          int32
	comm         string
	user, kernel stack
	stream       int        // that it ran on last
	seen         event.Time // when it ran last
	left         uint64     // when another one ran in its place, ns; 0: it runs, as far as is known
	kept         bool       // whoever comes to the thread goes on here
	ran          *ranIn     // of its rows; nil: not known
}

// stack is calls that lie one in another, the outermost first.
type stack struct {
	calls  []*Call
	before int // calls outside of these that nobody remembers

	back uint64 // an interrupt took the flow away right before this instruction; 0: none did, or the flow is back

	left   bool   // the flow is in another one, which was left
	leftAt uint64 // cycles.last as of then
}

// doubt puts all calls of p in doubt. An ambiguous instruction may have been a call or a return, or not have been
// executed: then other calls are in progress, and each of these may end elsewhere.
func (p *stack) doubt() {
	for _, x := range p.calls {
		x.Verdict = decoder.Ambiguous
	}
}

// maxCalls bounds what is remembered of a stack; outer calls are forgotten.
const maxCalls = 1024

// maxThreads bounds the threads that are remembered.
const maxThreads = 1 << 14

// keyOf names a thread that runs on c.
func keyOf(c *cpu, tid int32) threadKey {
	if tid <= 0 || c.machine != c.Session { // a guest's threads are not known
		return threadKey{tid, c.st.Index}
	}
	return threadKey{tid, -1}
}

// threadOf returns the calls of a thread that runs on c.
func (c *cpu) threadOf(tid int32, comm string) *thread {
	k := keyOf(c, tid)
	th := c.threads[k]
	if th == nil {
		if len(c.threads) >= maxThreads {
			c.forget()
		}
		th = &thread{tid: tid, kept: true}
		c.threads[k] = th
	}
	if th.stream = c.st.Index; th.comm != comm {
		th.comm, th.ran = comm, nil
	}
	return th
}

// forget drops the threads that are in no call, or else all that do not run.
func (t *Tree) forget() {
	for _, all := range []bool{false, true} {
		for k, th := range t.threads {
			running := slices.ContainsFunc(t.cpus, func(c cpu) bool { return c.thread == th })
			if !running && (all || len(th.user.calls)+len(th.kernel.calls) == 0) {
				delete(t.threads, k)
			}
		}
		if len(t.threads) < maxThreads/2 {
			return
		}
	}
}

// forgotten ends the calls of a thread that c leaves and nobody comes back to: how they end
// is not known.
func (th *thread) forgotten(c *cpu) {
	last, part := c.last, c.part
	c.last.Hi = math.MaxUint64
	for _, c.part = range []*stack{&th.kernel, &th.user} {
		for len(c.part.calls) > 0 {
			c.end(AtEnd)
		}
	}
	c.last, c.part = last, part
}

// has reports whether a stream is in th. Its brief calls become Calls then.
func (t *Tree) has(th *thread) bool {
	for i := range t.cpus {
		if t.cpus[i].thread == th {
			t.cpus[i].begins()
			return true
		}
	}
	return false
}

// sorted returns the threads by number.
func (t *Tree) sorted() (list []*thread) {
	for _, th := range t.threads {
		list = append(list, th)
	}
	for i := range t.cpus {
		if th := t.cpus[i].thread; th != nil && !th.kept {
			list = append(list, th)
		}
	}
	slices.SortFunc(list, func(a, b *thread) int { return cmp.Or(cmp.Compare(a.tid, b.tid), cmp.Compare(a.stream, b.stream)) })
	return list
}

// enter begins a call of f.
func (c *cpu) enter(f *function, how Way, from uint64) *Call {
	p := c.part
	if len(p.calls) >= maxCalls {
		c.outgrown()
	}
	var call *Call
	if n := len(c.free); n > 0 {
		call, c.free = c.free[n-1], c.free[:n-1]
	} else {
		call = new(Call)
	}
	*call = Call{} // a literal would be made aside and copied
	call.function, call.Stream, call.TID, call.Comm = f, c.st, c.thread.tid, c.thread.comm
	call.How, call.From, call.Begin, call.began = how, from, c.now, c.stated
	call.Depth, call.hidden, call.Times = p.before, (f.leadsOn || f.callsOn) && len(p.calls) > 0, 1
	if n := len(p.calls); n > 0 {
		call.Caller = p.calls[n-1]
	} else if p == &c.thread.kernel && len(c.thread.user.calls) > 0 {
		call.Caller = c.thread.user.calls[len(c.thread.user.calls)-1]
	}
	if up := call.Caller; up != nil {
		if len(p.calls) > 0 {
			if call.Depth = up.Depth; !up.hidden {
				call.Depth++
			}
		}
		for call.Caller != nil && call.Caller.hidden {
			call.Caller = call.Caller.outer(p)
		}
	}
	c.cycles.opens(call)
	p.calls = append(p.calls, call)
	c.atTop(f)
	return call
}

// outer returns the call in p outside of c, nil where it is the outermost.
func (c *Call) outer(p *stack) *Call {
	if i := slices.Index(p.calls, c); i > 0 {
		return p.calls[i-1]
	}
	return nil
}

// told tells of a call that began.
func (c *cpu) told(call *Call) {
	if !call.hidden && c.OnBegin != nil {
		c.OnBegin(call)
	}
}

// outgrown forgets the outer half of the stack.
func (c *cpu) outgrown() {
	p := c.part
	half := min(maxCalls/2, len(p.calls))
	for i := half - 1; i >= 0; i-- {
		call := p.calls[i]
		if !call.hidden {
			p.before++
		}
		call.Ended, call.End = AtEnd, event.Time{Lo: c.last.Lo, Hi: math.MaxUint64}
		call.Insns += call.Self
		if !call.hidden && c.OnEnd != nil {
			c.OnEnd(call)
		}
	}
	p.calls = append(p.calls[:0], p.calls[half:]...)
	for _, call := range p.calls {
		if call.Caller != nil && call.Caller.Ended != InProgress {
			call.Caller = nil
		}
	}
}

// end ends the innermost call.
func (c *cpu) end(how Way) {
	p := c.part
	n := len(p.calls) - 1
	call := p.calls[n]
	var up *Call
	if n > 0 {
		up = p.calls[n-1]
	}
	p.calls = slices.Delete(p.calls, n, n+1)
	switch {
	case how == Unwound && call.Gap:
		how = InGap
	case how == Unwound && up != nil && up.stale:
		how = Returned // to what called it, in the gap
	case how == Unwound && !call.hidden:
		c.Unwound++
	}
	call.Ended, call.End, call.Insns = how, c.last, call.Insns+call.Self
	c.times(call, c.lastStated)
	if c.cycles != nil {
		c.cycles.closes(call, up)
	}
	if up != nil {
		unknown := call.Caller == nil && up.stale // who called it
		up.away, up.stale = up.away+call.away, up.stale && (how != Returned || call.open)
		if call.hidden {
			up.inside += call.inside
			up.Self += call.Self
			up.Ambiguous += call.Ambiguous
			call.Insns -= call.Self
		} else if !unknown {
			up.inside += call.took
		}
		if !call.async && !unknown {
			up.Insns += call.Insns
			up.Verdict = max(up.Verdict, call.Verdict)
		}
	}
	if !call.hidden && !call.told && c.OnEnd != nil {
		c.OnEnd(call)
	}
	innermost(c)
	c.free = append(c.free, call)
}

// endAbove ends the calls inside of the one with index i.
func (c *cpu) endAbove(i int) {
	for len(c.part.calls) > i+1 {
		c.end(Unwound)
	}
}

// clear ends all calls of the part.
func (c *cpu) clear() {
	c.endAbove(0)
	if len(c.part.calls) > 0 {
		c.end(Returned)
	}
	c.part.before = 0
}

// atTop notes that the flow is in code of f, which is the innermost call's.
func (c *cpu) atTop(f *function) {
	c.top = c.part.calls[len(c.part.calls)-1]
	c.within(f)
}

// innermost has the flow be in the code of the innermost call, if there is one.
func innermost(c *cpu) {
	if n := len(c.part.calls); n > 0 {
		c.atTop(c.part.calls[n-1].function)
	} else {
		c.top = nil
		c.at0()
	}
}

// within notes that the flow is in code of f.
func (in *inside) within(f *function) {
	in.code, in.lo, in.size, in.inner = f, f.lo, f.size, max(f.size, 1)-1
}

// at0 notes that it is not known in which code the flow is.
func (in *inside) at0() { in.code, in.lo, in.size, in.inner = nil, 0, 0, 0 }
