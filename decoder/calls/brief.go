package calls

import (
	"cmp"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// brief is a call that began behind the last time that the trace told. Most end before the
// next one: so they took no time, as far as anybody knows, and become no Call. The others
// become one then.
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
	verdict decoder.Verdict
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
	b := &c.briefs
	var in *brief
	if b.n > 0 {
		in = &b.list[b.n-1]
	}
	switch k.Class {
	case isa.Call, isa.CallInd:
		p := c.placeOf(to)
		switch {
		case in != nil && in.hidden:
			if p.function != in.function || p.first {
				return false
			}
			c.ran(insns, v, k)
			return true // a retpoline calls itself, to jump by a return
		case !p.simple && !p.thunk || c.code == nil || c.code.leadsOn || b.n == maxBrief || c.stated == 0 || c.cycles != nil:
			return false
		}
		c.ran(insns, v, k)
		x := &b.list[b.n]
		x.function, x.how, x.hidden, x.now, x.began = p.function, Called, p.thunk, c.now, c.stated // a literal would be made aside and copied
		x.ret, x.from, x.self, x.insns, x.verdict = k.End, k.LastIP(), 0, 0, decoder.Certain
		b.n++
		c.within(p.function)
		return true
	case isa.Return:
		switch {
		case in == nil:
			return false
		case in.hidden:
			p := c.placeOf(to)
			if !p.simple || b.awaits(c.part.calls, to.Addr) {
				return false
			}
			c.ran(insns, v, k)
			in.leadsTo(p.function, c.now, c.stated)
			c.within(p.function)
			return true
		case in.ret != to.Addr || in.began != c.lastStated:
			return false
		}
		c.ran(insns, v, k)
		b.fold(c.top)
		if b.n--; b.n > 0 {
			c.within(b.list[b.n-1].function)
		} else {
			c.within(c.top.function)
		}
		if to.Addr-c.lo-1 >= c.inner || to.End-c.lo > c.size {
			c.begins()
			c.back(to.Addr, c.placeOf(to))
		}
		return true
	}
	return false
}

// awaits reports whether some call awaits a return to an address.
func (b *briefs) awaits(calls []*Call, addr uint64) bool {
	for i := range b.n {
		if b.list[i].ret == addr {
			return true
		}
	}
	n := len(calls)
	for i := n - 1; i >= 0 && i >= n-maxUnwind; i-- {
		if calls[i].ret == addr {
			return true
		}
		if calls[i].async {
			break
		}
	}
	return false
}

// leadsTo has x, a thunk's, be the call of the function that the thunk led to.
func (x *brief) leadsTo(f *function, now event.Time, stated uint64) {
	x.function, x.hidden, x.now, x.began = f, false, now, stated
}

// fold counts the innermost brief call, which ended. The outermost lies in top.
func (b *briefs) fold(top *Call) {
	x := &b.list[b.n-1]
	n := x.self + x.insns
	x.folded.n++
	x.folded.insns += n
	if b.n > 1 {
		up := &b.list[b.n-2]
		up.insns += n
		up.verdict = max(up.verdict, x.verdict)
		return
	}
	top.Insns += n
	top.Verdict = max(top.Verdict, x.verdict)
}

// jumpsBriefly has the function at the first instruction of which k begins take a brief
// call's place: done if there is one, and k is that.
func (c *cpu) jumpsBriefly(k *decoder.Block) (done bool) {
	b := &c.briefs
	if b.n == 0 {
		return false
	}
	p := c.placeOf(k)
	x := &b.list[b.n-1]
	if !p.simple || p.function.inner || !x.hidden && x.began != c.lastStated {
		return false
	}
	if x.hidden {
		x.leadsTo(p.function, c.now, c.stated)
		c.within(p.function)
		return true
	}
	b.fold(c.top)
	*x = brief{function: p.function, how: Jumped, now: c.now, began: c.stated, ret: x.ret, from: c.prev.LastIP()}
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
		call.Begin, call.began = x.now, x.began
		call.ret, call.Ran, call.Self, call.Insns, call.Verdict = x.ret, true, x.self, x.insns, x.verdict
	}
	b.n = 0
}

// tellFolded tells of the calls that took no time.
func (t *Tree) tellFolded() {
	var list []*function
	for _, f := range t.found {
		if f.folded.n > 0 {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *function) int { return cmp.Compare(a.Function, b.Function) })
	for _, f := range list {
		if t.OnEnd != nil {
			t.OnEnd(&Call{function: f, TID: -1, How: Called, Ended: Returned, Ran: true, timed: true, Times: f.folded.n, Insns: f.folded.insns})
		}
		f.folded = folded{}
	}
}
