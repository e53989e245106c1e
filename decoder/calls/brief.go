package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// brief is a call of which only its beginning and its end are told of, if that. Where the flow does
// anything else than to call, to return and to jump to functions, brief calls become Calls. So they
// do where one would begin while the trace has not told the time.
//
// Most began and end between two times that the trace told: so they took no time, as far as anybody
// knows. With Tree.Fold these are counted, and the others are told of as they end.
type brief struct {
	*function
	how     Way
	hidden  bool       // of a thunk
	now     event.Time // as the Call's Begin
	began   uint64     // as in Call
	ret     uint64     // where it returns to
	from    uint64     // the address that it was entered from
	self    uint64     // as in Call
	insns   uint64
	inside  uint64
	verdict decoder.Verdict
	tag     uint64 // Call.Tag
	told    bool   // as in Call
}

// maxBrief is how many brief calls lie one in another.
const maxBrief = 16

// briefs is the brief calls of a cpu, the outermost first, inside of its top.
type briefs struct {
	list [maxBrief]brief
	n    int
}

// folded is calls of a function that took no time and became no Call.
type folded struct{ n, insns uint64 }

// briefly takes the way from the end of k to the next block that ran: done if that is a
// call, or a brief call's return. The instructions and the verdict are of what ran in the
// innermost call since the last time.
func (c *cpu) briefly(k, to *decoder.Block, insns uint64, v decoder.Verdict) (done bool) {
	switch k.Class {
	case isa.Call, isa.CallInd:
		return callsBriefly(c, k, to, insns, v)
	case isa.Return:
		return returnsBriefly(c, k, to, insns, v)
	}
	return false
}

// callsBriefly is briefly, where k ends with a call.
func callsBriefly(c *cpu, k, to *decoder.Block, insns uint64, v decoder.Verdict) (done bool) {
	p := c.slot(to)
	if p.block != to {
		p = c.placeOf(to)
	}
	b := &c.briefs
	n := b.n
	if n > 0 && b.list[n-1].hidden {
		if p.function != b.list[n-1].function || p.first {
			return false
		}
		c.ran(insns, v, k)
		return true // a retpoline calls itself, to jump by a return
	}
	if !p.simple && !p.thunk || c.code == nil || c.code.leadsOn || n == maxBrief || len(c.part.calls)+n >= maxCalls || c.stated == 0 || c.cycles != nil {
		return false
	}
	c.ran(insns, v, k)
	f, x := p.function, &b.list[n]
	x.function, x.how, x.hidden, x.now, x.began = f, Called, p.thunk, c.now, c.stated // a literal would be made aside and copied
	x.ret, x.from, x.self, x.insns, x.inside, x.verdict, x.told = k.End, k.LastIP(), 0, 0, 0, decoder.Certain, false
	b.n = n + 1
	x.begun(c)
	c.within(f)
	return true
}

// returnsBriefly is briefly, where k ends with a return.
func returnsBriefly(c *cpu, k, to *decoder.Block, insns uint64, v decoder.Verdict) (done bool) {
	b := &c.briefs
	n := b.n - 1
	if n < 0 {
		return false
	}
	in := &b.list[n]
	if in.hidden {
		p, awaited := c.placeOf(to), awaits(c.part.calls, to.Addr) >= 0
		for i := range b.n {
			awaited = awaited || b.list[i].ret == to.Addr
		}
		if !p.simple || c.stated == 0 || awaited {
			return false
		}
		c.ran(insns, v, k)
		in.leadsTo(p.function, c)
		c.within(p.function)
		return true
	}
	if in.ret != to.Addr {
		return false
	}
	c.prev = k
	in.self += insns
	in.verdict = max(in.verdict, v)
	b.ends(c, Returned)
	b.n = n
	f := c.top.function
	if n > 0 {
		f = b.list[n-1].function
	}
	if c.within(f); to.Addr-c.lo-1 >= c.inner || to.End-c.lo > c.size {
		c.begins()
		c.back(to.Addr, c.placeOf(to))
	}
	return true
}

// leadsTo has x, a thunk's, be the call of the function that the thunk led to.
func (x *brief) leadsTo(f *function, c *cpu) {
	x.function, x.hidden, x.now, x.began = f, false, c.now, c.stated
	x.begun(c)
}

// begun tells of the innermost brief call, which begins.
func (x *brief) begun(c *cpu) {
	if x.tag = 0; !c.Brief || c.OnBegin == nil || x.hidden {
		return
	}
	if c.steps != nil {
		c.steps.ranAt(c.steps.ranBy(c))
		c.steps.step(x.now.Likely(), InProgress, x.Function, 0, 0)
		return
	}
	call := x.call(c)
	call.Ended, call.End, call.took, call.inside, call.timed = InProgress, event.Time{}, 0, 0, false
	call.Self, call.Insns, call.Verdict, call.Ran = x.self, x.insns, x.verdict, false // of a thunk
	c.OnBegin(call)
	x.tag = call.Tag
}

// ends counts the innermost brief call, which ended, or tells of it. The outermost lies in top.
func (b *briefs) ends(c *cpu, how Way) {
	x := &b.list[b.n-1]
	n := x.self + x.insns
	took := max(c.lastStated, x.began) - x.began
	switch {
	case x.told:
	case took == 0 && c.Fold:
		x.folded.n++
		x.folded.insns += n
	case c.rows != nil:
		c.rows.ends(c, x, how, took)
	case c.steps != nil:
		c.steps.ranAt(c.steps.ranBy(c))
		c.steps.step(c.last.Likely(), how, x.Function, n, x.verdict)
	case c.OnEnd != nil:
		x.tellOf(c, how, took)
	}
	if b.n > 1 {
		up := &b.list[b.n-2]
		up.insns += n
		up.inside += took
		up.verdict = max(up.verdict, x.verdict)
		return
	}
	c.top.Insns += n
	c.top.inside += took
	c.top.Verdict = max(c.top.Verdict, x.verdict)
}

// tellOf tells of the innermost brief call, which ended and took a time, ns.
func (x *brief) tellOf(c *cpu, how Way, took uint64) {
	call := x.call(c)
	call.Ended, call.End, call.took, call.inside, call.timed = how, c.last, took, x.inside, true
	call.Self, call.Insns, call.Verdict, call.Ran = x.self, x.self+x.insns, x.verdict, true
	c.OnEnd(call)
}

// call returns the innermost brief call as a Call, but for what becomes of it.
func (x *brief) call(c *cpu) *Call {
	call := &c.brief
	call.function, call.Stream, call.TID, call.Comm = x.function, c.st, c.thread.tid, c.thread.comm
	call.How, call.From, call.Begin, call.began, call.ret = x.how, x.from, x.now, x.began, x.ret
	call.Times, call.Tag = 1, x.tag
	if call.Depth = c.top.Depth + c.briefs.n; c.top.hidden {
		call.Depth--
	}
	return call
}

// jumpsBriefly has the function at the first instruction of which k begins take a brief
// call's place: done if there is one, and k is that.
func (c *cpu) jumpsBriefly(k *decoder.Block) (done bool) {
	b := &c.briefs
	if b.n == 0 || c.stated == 0 {
		return false
	}
	p := c.placeOf(k)
	x := &b.list[b.n-1]
	if !p.simple || p.function.inner {
		return false
	}
	if x.hidden {
		x.leadsTo(p.function, c)
		c.within(p.function)
		return true
	}
	b.ends(c, Replaced)
	*x = brief{function: p.function, how: Jumped, now: c.now, began: c.stated, ret: x.ret, from: c.prev.LastIP()}
	x.begun(c)
	c.within(p.function)
	return true
}

// begins makes Calls of the brief calls that are in progress.
func (c *cpu) begins() {
	b := &c.briefs
	if b.n == 0 {
		return
	}
	for i := range b.n {
		x := &b.list[i]
		call := c.enter(x.function, x.how, x.from)
		call.Begin, call.began, call.Tag = x.now, x.began, x.tag
		call.ret, call.Ran, call.Self, call.Insns, call.inside, call.Verdict, call.told = x.ret, true, x.self, x.insns, x.inside, x.verdict, x.told
	}
	b.n = 0
}
