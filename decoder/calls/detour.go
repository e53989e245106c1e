package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// frame is a call in progress of a condenser.
type frame struct {
	ended                   // so far; insns: of callees, took: not yet
	ret, began, self uint64 // as in brief
	hidden           bool   // of a thunk
	gone             sum    // of those whose place it took by a jump
	deep             int16  // calls in it that lie one in another, at most
	at               int    // the range that calls, in list or in out
	left, rest       int    // of condenser, as it began
	detours          int    // those in it begin there
	replaced         int    // of condenser
}

// ended is a call that ended in a detour.
type ended struct {
	f                   *function // a condenser's own
	took, inside, insns uint64    // as in Call
}

// detour is a call with what ran in it, up to the end of the instruction that returns.
type detour struct {
	ended
	began, self uint64
	gone        sum            // of calls whose place it took by a jump
	before      uint64         // ns, of instant, as of the last range
	last        *decoder.Block // of that
	stamp       uint32         // of the last range
	deep        int16          // calls that lie one in another, it among them
}

// sum is of calls: ns, and instructions.
type sum struct{ took, insns uint64 }

// comesTo takes what was awaited: list[i], of k. The range before was at another moment.
func (d *condenser) comesTo(k *decoder.Block, i int, was *instant) {
	if d.await == callee {
		d.goesInto(k, i, was)
		return
	}
	n := d.n
	if n == 0 {
		return
	}
	x := &d.frames[n-1]
	if x.hidden {
		if p := d.placeOf(k); p.simple && p.plain() && !d.returnsTo(p.function) {
			x.f, x.hidden, x.began = p.function, false, d.instant.stated
			d.within(p.function)
			return
		}
		d.leave()
		return
	}
	if x.ret != k.Addr {
		d.leave()
		return
	}
	d.takesOut(x, i, was)
	if n--; n == 0 {
		return
	}
	if d.within(d.frames[n-1].f); k.Addr-d.lo-1 < d.inner && k.End-d.lo <= d.size {
		return
	}
	if p := d.placeOf(k); p.plain() {
		d.within(p.function)
	} else {
		d.leave()
	}
}

// plain reports whether a detour may go through p.
func (p *place) plain() bool { return p.steady && !p.unnamed && p.parts == nil }

// goesInto takes the way from the end of branch, a call, to list[i], of k: as callsBriefly does.
func (d *condenser) goesInto(k *decoder.Block, i int, was *instant) {
	n := d.n
	if n == 0 && !d.callsFrom(d.branch, was) {
		return
	}
	p := d.slot(k)
	if p.block != k {
		p = d.placeOf(k)
	}
	switch {
	case n > 0 && d.frames[n-1].hidden:
		if p.function != d.frames[n-1].f || p.first {
			d.leave()
		}
		return // a retpoline calls itself
	case n > 0 && d.code.leadsOn && p.plain():
		d.within(p.function)
		return
	case !p.simple && !p.thunk || !p.steady || d.code.leadsOn || n == maxFrames:
		d.leave()
		return
	}
	x := &d.frames[n]
	x.f, x.inside, x.insns, x.hidden, x.deep = p.function, 0, 0, p.thunk, 0 // a literal would be made aside and copied
	x.ret, x.began, x.self, x.gone = d.branch.End, d.instant.stated, 0, sum{}
	x.at, x.left, x.rest, x.detours, x.replaced = i-1, len(d.left), d.rest, len(d.over.detours), len(d.replaced)
	if d.n = n + 1; i == 0 { // it was called at the end of what came before
		d.old, x.at = d.n, len(d.out.Ranges)-1
	}
	d.within(p.function)
}

// callsFrom reports whether what a block calls may be a detour, of which it would be the first.
func (d *condenser) callsFrom(b *decoder.Block, was *instant) bool {
	if d.instant.unsure || was.unsure {
		return false
	}
	if d.code == nil || b.Addr-d.lo-1 >= d.inner || b.End-d.lo > d.size {
		p := d.placeOf(b)
		if !p.plain() || p.callsOn || p.leadsOn {
			return false
		}
		d.within(p.function)
	}
	return true
}

// returnsTo reports whether some call may await a return to the first instruction of f. A call from before
// what d knows may do so, if a call can lie right before f.
func (d *condenser) returnsTo(f *function) bool {
	for i := range d.n {
		if d.frames[i].ret == f.Addr {
			return true
		}
	}
	if f.behindCall == 0 {
		if f.behindCall = 1; !behindCall(d.Session, f.Addr) {
			f.behindCall = 2
		}
	}
	return f.behindCall == 1
}

// longestInsn is how long an instruction may be, bytes (Intel SDM, "Instruction Format").
const longestInsn = 15

// behindCall reports whether a call may end at an address of the kernel: true where the code before it
// is not known, or changes.
func behindCall(s *decoder.Session, addr uint64) bool {
	var b [longestInsn]byte
	if s.Code(b[:], 0, addr-longestInsn, 0) < longestInsn || len(s.Text().Between(addr-longestInsn, longestInsn, 0, event.MaxEpoch, nil)) > 0 {
		return true
	}
	dec, mode := s.ISA()
	for n := 1; n <= longestInsn; n++ {
		var in isa.Insn
		if dec.Decode(&in, b[longestInsn-n:], addr-uint64(n), mode) == isa.OK && int(in.Len) == n && (in.Class == isa.Call || in.Class == isa.CallInd) {
			return true
		}
	}
	return false
}

// jumpsTo takes the flow to k by a jump, or as it runs on: as jumps and jumpsBriefly do.
func (d *condenser) jumpsTo(k *decoder.Block, was *instant) {
	p := d.placeOf(k)
	x := &d.frames[d.n-1]
	switch {
	case !p.plain():
		d.leave()
	case p.simple && !p.inner && x.hidden:
		x.f, x.hidden, x.began = p.function, false, d.instant.stated
		d.within(p.function)
	case p.simple && !p.inner:
		e := ended{x.f, max(was.stated, x.began) - x.began, x.inside, x.self + x.insns}
		d.replaced = append(d.replaced, e)
		x.gone.took += e.took
		x.gone.insns += e.insns
		x.f, x.began, x.self, x.insns, x.inside = p.function, d.instant.stated, 0, 0, 0
		d.within(p.function)
	case !p.first:
		d.within(p.function)
	case p.leadsOn && k.N == 1 && k.Class == isa.Return:
		d.returner = k
	case p.leadsOn:
		d.within(p.function)
	default:
		d.leave()
	}
}

// takesOut takes the innermost call out, x, which returned to list[i]. Calls in it end for good.
func (d *condenser) takesOut(x *frame, i int, was *instant) {
	o := d.over
	for i := x.detours; i < len(o.detours); i++ {
		d.tellsOf(&o.detours[i].ended)
	}
	if len(d.replaced) > x.replaced {
		for i := range d.replaced[x.replaced:] {
			d.tellsOf(&d.replaced[x.replaced+i])
		}
		d.replaced = d.replaced[:x.replaced]
	}
	took, insns := max(was.stated, x.began)-x.began, x.self+x.insns
	if x.detours == cap(o.detours) {
		o.detours = append(o.detours, detour{})
	}
	o.detours = o.detours[:x.detours+1]
	y := &o.detours[x.detours] // a literal would be made aside and copied
	y.f, y.took, y.inside, y.insns, y.began, y.self = x.f, took, x.inside, insns, x.began, x.self
	y.gone.took, y.gone.insns, y.deep = x.gone.took, x.gone.insns, x.deep+1
	y.stamp, y.before, y.last = was.stamp, was.before, d.branch
	if d.n--; d.n > 0 {
		up := &d.frames[d.n-1]
		up.insns += insns + x.gone.insns
		up.inside += took + x.gone.took
		up.deep = max(up.deep, y.deep)
	}
	if d.n >= d.old {
		d.left = append(d.left[:x.left], stretch{x.rest, x.at + 1})
		flow.MarkDetour(&d.list[x.at])
	} else {
		d.old, d.left = d.n, d.left[:0]
		d.out.Ranges = d.out.Ranges[:x.at+1]
		flow.MarkDetour(&d.out.Ranges[x.at])
	}
	d.rest = i
}

// tellsOf notes a call that ended in a detour.
func (d *condenser) tellsOf(e *ended) {
	if e.took != 0 {
		d.over.timed = append(d.over.timed, *e)
		return
	}
	f := e.f
	if f.folded.n == 0 {
		d.met = append(d.met, f)
	}
	f.folded.n++
	f.folded.insns += e.insns
}
