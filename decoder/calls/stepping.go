package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// stepping is brisk where calls become steps.
func stepping(c *cpu, list []decoder.BatchRange, i int, stamp uint32, insns uint64, here bool) (end int, sum uint64, seen bool, how leaving) {
	b, s, returner := &c.briefs, c.steps, c.returner
	s.ranAt(s.ranBy(c))
	at := c.now.Likely() // c.last as well: the range before is of this moment
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
		if y.Stamp != stamp || y.Verdict != decoder.Certain || x.N != k.N || s.N >= maxRows {
			break
		}
		z := s.N & (maxRows - 1)
		n := b.n
		f := c.top.function
		if k.Class == isa.Return {
			how = byReturn
			if n > 1 {
				f = b.list[(n-2)&(maxBrief-1)].function
			}
			in := &b.list[(n-1)&(maxBrief-1)]
			if n == 0 || in.hidden || in.ret != to.Addr || to.Addr <= f.lo || to.End > f.lo+f.size {
				break
			}
			all := in.self + in.insns + insns + uint64(k.N)
			s.Begin[z], s.Insns[z], s.Ended[z], s.Verdict[z] = at, all, Returned, in.verdict
			took := max(c.lastStated, in.began) - in.began
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
			s.Begin[z], s.Function[z], s.Ended[z] = at, uint32(f.Function), InProgress
			in := &b.list[n&(maxBrief-1)]
			in.function, in.how, in.hidden, in.now, in.began = f, Called, false, c.now, c.stated
			in.ret, in.from, in.self, in.insns, in.inside, in.verdict, in.tag, in.told = k.End, k.LastIP(), 0, 0, 0, decoder.Certain, 0, false
			b.n = n + 1
		} else {
			break
		}
		s.N++
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
