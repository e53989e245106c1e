package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// frame is a call in progress of a condenser. It is 64 bytes.
type frame struct {
	f          *function // a condenser's own
	ret, began uint64    // as in brief
	insns      uint64    // so far, with callees
	inside     uint64    // as in Call
	at         int       // the range that calls, in list or in out
	detours    int32     // those in it begin there
	replaced   int32     // of condenser
	deep       int16     // calls in it that lie one in another, at most
	hidden     bool      // of a thunk
}

// ended is a call that ended in a detour.
type ended struct {
	f                   *function // a condenser's own
	took, inside, insns uint64    // as in Call
}

// detour is a call with what ran in it, up to the end of the instruction that returns. It was told
// of, with all calls in it.
type detour struct {
	f      *function // a condenser's own
	began  uint64
	insns  uint64         // as in Call
	gone   sum            // of calls whose place it took by a jump
	before uint64         // ns, of instant, as of the last range
	last   *decoder.Block // of that
	stamp  uint32         // of the last range
	deep   int16          // calls that lie one in another, it among them
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
	d.takesOut(x, i, was, d.branch)
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
func (p *place) plain() bool { return p.steady && !p.unnamed && !p.parted }

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
	case !p.simple && !p.thunk || !p.steady || n == maxFrames:
		d.leave()
		return
	}
	x := d.pushes(p.function, d.branch, i-1)
	x.hidden = p.thunk
	if i == 0 { // it was called at the end of what came before
		d.old, x.at = d.n, len(d.out.Ranges)-1
	}
	d.within(p.function)
}

// pushes begins the call of f from the end of k, that is of range at.
func (d *condenser) pushes(f *function, k *decoder.Block, at int) *frame {
	x := &d.frames[d.n&(maxFrames-1)]
	d.n++
	x.f, x.ret, x.began, x.insns, x.inside = f, k.End, d.instant.stated, 0, 0 // a literal would be made aside and copied
	x.at, x.detours, x.replaced, x.deep, x.hidden = at, int32(len(d.over.detours)), int32(len(d.replaced)), 0, false
	return x
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

// behindCall reports whether a call may end at an address of the kernel: true where the code before it
// is not known, or changes.
func behindCall(s *decoder.Session, addr uint64) bool {
	dec, mode := s.ISA()
	b := make([]byte, dec.MaxLen())
	at := addr - uint64(len(b))
	return s.Code(b, 0, at, 0) < len(b) || len(s.Text().Between(at, len(b), 0, event.MaxEpoch, nil)) > 0 || flow.CallEnds(dec, mode, b, addr)
}

// jumpsTo takes the flow to k, of list[i], by a jump, or as it runs on: as jumps and jumpsBriefly do.
func (d *condenser) jumpsTo(k *decoder.Block, i int, was *instant) {
	p := d.placeOf(k)
	x := &d.frames[d.n-1]
	switch {
	case !p.plain():
		d.leave()
	case p.simple && !p.inner && x.hidden:
		x.f, x.hidden, x.began = p.function, false, d.instant.stated
		d.within(p.function)
	case p.simple && !p.inner:
		d.replaced = append(d.replaced, ended{x.f, max(was.stated, x.began) - x.began, x.inside, x.insns})
		x.f, x.began, x.insns, x.inside = p.function, d.instant.stated, 0, 0
		d.within(p.function)
	case !p.first && (i == 0 || d.list[i-1].Block.Class == isa.JumpInd):
		d.leave() // the jump may leave calls
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

// takesOut takes the innermost call out, x, which returned from the end of last to list[i]. It ends for good.
func (d *condenser) takesOut(x *frame, i int, was *instant, last *decoder.Block) {
	var gone sum
	for _, e := range d.replaced[x.replaced:] {
		d.tellsOf(e.f, e.took, e.inside, e.insns)
		gone.took += e.took
		gone.insns += e.insns
	}
	d.replaced = d.replaced[:x.replaced]
	took, insns, o := max(was.stated, x.began)-x.began, x.insns, d.over
	d.tellsOf(x.f, took, x.inside, insns)
	at := int(x.detours)
	if at == cap(o.detours) {
		o.detours = append(o.detours, detour{})
	}
	o.detours = o.detours[:at+1]
	y := &o.detours[at] // a literal would be made aside and copied
	y.f, y.began, y.insns, y.gone, y.before, y.last, y.stamp, y.deep = x.f, x.began, insns, gone, was.before, last, was.stamp, x.deep+1
	n := d.n - 1
	if d.n = n; n > 0 {
		up := &d.frames[(n-1)&(maxFrames-1)]
		up.insns += insns + gone.insns
		up.inside += took + gone.took
		up.deep = max(up.deep, y.deep)
	}
	if n >= d.old {
		flow.MarkDetour(&d.list[x.at])
		d.list[x.at+1].Stamp = uint32(i)
		return
	}
	d.old, d.rest = n, i
	d.out.Ranges = d.out.Ranges[:x.at+1]
	flow.MarkDetour(&d.out.Ranges[x.at])
}

// tellsOf notes a call of f that ended in a detour.
func (d *condenser) tellsOf(f *function, took, inside, insns uint64) {
	if took != 0 {
		d.over.timed = append(d.over.timed, ended{f, took, inside, insns})
		return
	}
	if f.folded.n == 0 {
		d.met = append(d.met, f)
	}
	f.folded.n++
	f.folded.insns += insns
}
