package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// isBrisk reports whether briskly may take the ranges of this moment.
func (c *cpu) isBrisk() bool {
	return (c.rows != nil || c.steps != nil) && c.top != nil && c.stated < c.tenure.until && c.stated != 0 && c.counts == everything && c.cycles == nil
}

// briskly is simply where calls become rows or steps. What calls or returns in a way that brisk does not take goes the way of
// briefly.
func briskly(c *cpu, list []decoder.BatchRange, i int, stamp uint32, insns uint64, prev *decoder.Block, here bool) (end int, sum uint64, last *decoder.Block, seen bool) {
	x := &list[i]
	if k := x.Block; x.Stamp != stamp || x.Verdict != decoder.Certain || !here && (k.Addr-c.lo-1 >= c.inner || k.End-c.lo > c.size) && k != c.returner {
		return i, insns, prev, here
	}
	if c.rows != nil {
		c.rows.ranBy(c)
	}
	for {
		first := i
		var how leaving
		if c.rows != nil {
			i, insns, here, how = brisk(c, list, i, stamp, insns, here)
		} else {
			i, insns, here, how = stepping(c, list, i, stamp, insns, here)
		}
		if i > first {
			prev = list[i-1].Block
		}
		if how == notTaken && i < len(list) && c.jumpsOn(&list[i], stamp, insns, prev) {
			insns, here = 0, true
			continue
		}
		if how != byCall && how != byReturn {
			return i, insns, prev, here
		}
		k := list[i].Block
		if !c.briefly(k, list[i+1].Block, insns+uint64(k.N), decoder.Certain) {
			return i, insns, prev, here
		}
		insns, prev, here = 0, k, true
		i++
	}
}

// leaving is how ranges go on.
type leaving uint8

// How brisk and stepping end.
const (
	notTaken  leaving = iota // a range follows that they do not take, or none
	otherwise                // one that leads on in another way
	byCall                   // one that calls the next one
	byReturn                 // one that returns to the next one
)

// jumpsOn reports whether x, the range behind prev, takes a brief call's place by a jump, and does so.
func (c *cpu) jumpsOn(x *decoder.BatchRange, stamp uint32, insns uint64, prev *decoder.Block) bool {
	k := x.Block
	if c.briefs.n == 0 || x.Stamp != stamp || x.Verdict != decoder.Certain || k.Addr-c.lo-1 < c.inner && k.End-c.lo <= c.size || k == c.returner {
		return false
	}
	if p := c.placeOf(k); !p.simple || p.function.inner {
		return false
	}
	c.ran(insns, decoder.Certain, prev)
	return c.jumpsBriefly(k)
}

// brisk goes over the ranges from i on, the first of which lies in the code. It takes those that go straight on in
// code that is known, that call functions from there, or return from brief calls to such code. It returns where that
// ends, and insns and here of briskly as of then. Where a call or a return ends it, how says so. It calls nothing:
// so what the loop needs stays in registers.
func brisk(c *cpu, list []decoder.BatchRange, i int, stamp uint32, insns uint64, here bool) (end int, sum uint64, seen bool, how leaving) {
	b, r, returner, base := &c.briefs, c.rows.Rows, c.returner, c.top.Depth
	if c.top.hidden {
		base--
	}
	code, lo, hi, start := c.code, c.lo, c.lo+c.size, i
	if !here {
		start--
	}
	x := &list[i]
	k := x.Block
loop:
	for {
		for !leavesFrom(k) {
			insns += uint64(x.N)
			if i++; i >= len(list) {
				break loop
			}
			x = &list[i]
			if k = x.Block; x.Stamp != stamp || x.Verdict != decoder.Certain || (k.Addr <= lo || k.End > hi) && k != returner {
				break loop
			}
		}
		how = otherwise
		if i+1 >= len(list) {
			break
		}
		y := &list[i+1]
		to := y.Block
		if y.Stamp != stamp || y.Verdict != decoder.Certain || x.N != k.N {
			break
		}
		n := b.n
		f := c.top.function
		if k.Class == isa.Return {
			how = byReturn
			if n > 1 {
				f = b.list[(n-2)&(maxBrief-1)].function
			}
			in := &b.list[(n-1)&(maxBrief-1)]
			if n == 0 || in.hidden || in.ret != to.Addr || to.Addr <= f.lo || to.End > f.lo+f.size || r.N >= maxRows-1 {
				break
			}
			z := r.N & (maxRows - 1)
			r.N++
			took := max(c.lastStated, in.began) - in.began
			self := in.self + insns + uint64(k.N)
			all := self + in.insns
			r.Begin[z], r.BeginMax[z], r.End[z], r.EndMax[z] = in.now.Lo, in.now.Hi, c.last.Lo, c.last.Hi
			r.Total[z], r.Own[z], r.From[z], r.Depth[z] = took, took-min(took, in.inside), in.from, uint64(base+n)
			r.Insns[z], r.Self[z], r.Ran[z], r.Function[z] = all, self, c.thread.ran, uint32(in.Function)
			r.How[z], r.Ended[z], r.Verdict[z] = in.how, Returned, in.verdict
			if b.n = n - 1; n > 1 {
				up := &b.list[(n-2)&(maxBrief-1)]
				up.insns += all
				up.inside += took
				up.verdict = max(up.verdict, in.verdict)
			} else {
				c.top.Insns += all
				c.top.inside += took
				c.top.Verdict = max(c.top.Verdict, in.verdict)
			}
		} else if k.Class == isa.Call || k.Class == isa.CallInd {
			how = byCall
			p := &c.places[int(to.Number)&(len(c.places)-1)]
			if p.block != to || !p.simple || n >= maxBrief || code == nil || code.leadsOn || len(c.part.calls)+n >= maxCalls {
				break
			}
			if n > 0 {
				up := &b.list[(n-1)&(maxBrief-1)]
				if up.hidden {
					break
				}
				up.self += insns + uint64(k.N)
			} else {
				c.top.Self += insns + uint64(k.N)
			}
			f = p.function
			in := &b.list[n&(maxBrief-1)]
			in.function, in.how, in.hidden, in.now, in.began = f, Called, false, c.now, c.stated
			in.ret, in.from, in.self, in.insns, in.inside, in.verdict, in.tag, in.told = k.End, k.LastIP(), 0, 0, 0, decoder.Certain, 0, false
			b.n = n + 1
		} else {
			break
		}
		code, lo, hi, how = f, f.lo, f.lo+f.size, notTaken
		x, k, insns = y, to, 0
		i++
		start = i
	}
	if code != nil {
		c.within(code)
	}
	return i, insns, i == start, how
}
