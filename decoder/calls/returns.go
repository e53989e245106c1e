package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// awaits returns which call awaits a return to an address, -1: none.
func awaits(calls []*Call, addr uint64) int {
	n := len(calls)
	for i := n - 1; i >= 0 && i >= n-maxUnwind; i-- {
		if calls[i].ret == addr {
			return i
		}
		if calls[i].async {
			break
		}
	}
	return -1
}

// returns takes a return.
func (c *cpu) returns(addr uint64, p *place) {
	if i := awaits(c.part.calls, addr); i >= 0 {
		c.endAbove(i)
		c.end(Returned)
		c.back(addr, p)
		return
	}
	if p.first && !p.unnamed {
		c.jumps(addr, p) // what jumps by a return, and where new threads begin
		return
	}
	c.unawaited(addr, p)
}

// back takes the flow to the call that is innermost now.
func (c *cpu) back(addr uint64, p *place) {
	switch {
	case c.top == nil:
		c.lands(addr, p, Unseen)
	case p.unnamed:
		c.at0()
	case p.function != c.top.function:
		c.within(p.function)
	}
}

// again reports whether p is the first instruction of a call that it ran in already. So it is
// another call's.
func (p *place) again(call *Call) bool { return p.first && call.Ran }

// leapsTo returns which call a jump to p goes on in, with the calls inside of it left behind: longjmp and C++
// exceptions do so. What called _Unwind_Resume is over (Itanium C++ ABI, "Exception Handling").
// It returns -1 if the jump leaves no call.
func leapsTo(c *cpu, p *place) int {
	k, calls := c.prev, c.part.calls
	if k == nil || k.Class != isa.JumpInd && k.Class != isa.Return || k.LastIP() != c.from || p.unnamed || p.first && !p.inner {
		return -1
	}
	n, over := len(calls), false
	for i := n - 1; i >= 0 && i >= n-maxUnwind && (i == n-1 || !calls[i+1].async); i-- {
		if over = i < n-1 && (calls[i+1].Sym == "_Unwind_Resume" || over && calls[i+1].nested()); over || !calls[i].holds(p.function) {
			continue
		}
		if i == n-1 || i == n-2 && calls[i+1].nested() {
			return -1
		}
		return i
	}
	return -1
}

// holds reports whether g is f, or what a compiler moved out of f.
func (f *function) holds(g *function) bool {
	return f == g || g.inner && f.File == g.File && f.at.space == g.at.space && f.Sym+coldSuffix == g.Sym
}

// unawaited takes a return that no call awaits.
func (c *cpu) unawaited(addr uint64, p *place) {
	calls := c.part.calls
	n := len(calls)
	for i := n - 1; i >= 0 && i >= n-maxUnwind && (i == n-1 || !calls[i+1].async); i-- {
		switch {
		case i < n-1 && calls[i].holds(p.function) && !p.unnamed && !p.again(calls[i]):
			c.Unmatched++
			c.endAbove(i)
			c.within(p.function)
			return
		case calls[i].open:
			c.endAbove(i)
			c.end(Returned)
			if c.top == nil || c.top.function != p.function || p.again(c.top) {
				c.lands(addr, p, Unseen)
			}
			return
		}
	}
	if n > 0 {
		c.Unmatched++
		if !c.top.async && !c.top.root {
			c.end(Unwound)
		}
	}
	c.lands(addr, p, Unseen)
}

// resumes takes the return from an interrupt or exception.
func (c *cpu) resumes(addr uint64, p *place) {
	if addr == c.branch.End {
		c.jumps(addr, p) // the kernel synchronises the CPU (iret_to_self)
		return
	}
	calls := c.part.calls
	i := len(calls) - 1
	for ; i >= 0 && !calls[i].async; i-- {
	}
	switch {
	case i >= 0:
	case len(calls) > 0 && calls[0].maybe && !calls[0].Gap:
		i = 0 // it was the kernel that it interrupted, as tracing came on
	default:
		c.unawaited(addr, p)
		return
	}
	c.endAbove(i)
	was := *c.top
	c.end(Returned)
	c.from = was.left
	switch {
	case c.top == nil:
		c.lands(addr, p, Unseen)
	case addr == was.left || was.left == 0:
		c.back(addr, p)
	case was.trap.here:
		r := rows.Row{Trap: was.trap.kind, Poke: was.trap.poke, IP: was.left, Addr: addr, HasAddr: true}
		in, ok := r.InPlace(c.machine)
		if was.trap.doubt { // what the handler emulates is open: what fits the stack is likelier
			c.top.Verdict = decoder.Ambiguous
			if leads := in.Class != isa.Return && in.Target == addr; c.top.ret == addr && !(ok && leads) {
				in, ok = isa.Insn{Class: isa.Return}, true
			}
		}
		switch {
		case ok && in.Class == isa.Call && addr != was.left+uint64(in.Len):
			c.calls(addr, p, was.left+uint64(in.Len))
		case ok && in.Class == isa.Return, !ok && c.top.ret == addr: // as where arm64's kretprobes trap in place of a return
			c.returns(addr, p)
		default:
			c.jumps(addr, p)
		}
		if was.trap.doubt && c.top != nil {
			c.top.Verdict = decoder.Ambiguous
		}
	default:
		c.jumps(addr, p)
	}
}
