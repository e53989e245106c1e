package flow

import (
	"math"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TrapKind says why a breakpoint was there.
type TrapKind uint8

// The kinds of traps.
const (
	TrapUnknown TrapKind = iota // nothing recorded says
	TrapWindow                  // a patch was in progress
	TrapArmed                   // a probe's
	TrapSlot                    // inside text that a record brought: behind a copied instruction
	TrapDebug                   // a hardware breakpoint or a single step: the code there is no breakpoint
	numTrapKinds
)

var trapNames = [numTrapKinds]string{"unknown", "window", "armed", "slot", "debug"}

// String returns the kind's name as output prints it.
func (k TrapKind) String() string { return named(trapNames[:], uint8(k)) }

// traps takes a breakpoint's exception as evidence, and says which poke put the
// breakpoint there.
type traps struct {
	code   *reader
	events *queue
	out    *writer
	window *window // pays for looking at what a thread ran
	rules  *isa.Rules

	pokes    []int // of the site
	suspects []suspect
	struck   []uint64 // scratch of handlerEnd
	behind   []uint64 // scratch of goesOnAsBefore
}

// met takes e, a breakpoint's exception, as evidence for the pokes of its site, which
// t met. It says in n whose breakpoint it was, or that it may have been none's. ok is
// false if it cannot have been any.
func (tr *traps) met(t *thread, e *event.Event, n *Note) (ok bool) {
	n.Kind = NoteTrap
	tr.pokes = tr.pokesAt(tr.pokes[:0], t, e.From, e.Time.Hi)
	if n.Poke, n.Trap, n.Verdict = tr.blame(t, e); n.Trap == TrapUnknown && tr.stepped(t, e.From) {
		n.Trap = TrapDebug // which proves nothing
		return true
	}
	return tr.trapped(t, e.From, e.Time.Hi)
}

// stepped reports whether the exception that t met at ip was that of a hardware
// breakpoint or of a single step. The trace may call these a breakpoint's, and the
// code there is known and is none.
func (tr *traps) stepped(t *thread, ip uint64) bool {
	if !tr.rules.DebugsToo {
		return false
	}
	for _, at := range []event.Epoch{t.floor, t.hi} {
		if in, ok := tr.code.insn(ip, t.mode, at); !ok || in.Class == isa.Break {
			return false
		}
	}
	return true
}

// trapped takes a breakpoint's exception at ip as evidence. tr.pokes are the pokes
// there, and latest is the latest moment it may be, ns:
//
//  1. The breakpoint may be that of the last poke that is in effect, until that
//     poke's new code has run or its batch is known to be complete. Then it proves
//     nothing.
//  2. Else it shows that the next poke has begun.
//  3. If latest is before anyone worked on the next poke, what was met is a change
//     without a record. So it is if the handler goes on as the code before that poke does.
//  4. Where there is no next poke, no such breakpoint can have been there: ok is
//     false.
func (tr *traps) trapped(t *thread, ip, latest uint64) (ok bool) {
	// A breakpoint stands before its poke's record is made, so the clock does
	// not bound which one it is.
	last := -1
	for _, i := range tr.pokes {
		p := tr.code.text.Poke(i)
		if t.knows(i) {
			if last = i; p.Mark {
				last = -1 // records were lost, and with them maybe that of the breakpoint
			}
			continue
		}
		if latest < p.From {
			break // it was not that one's
		}
		if p.Addr == ip && !p.Trap {
			if p.Window || tr.breakpointMayRemain(t, ip, i) {
				return true // it may have been, which proves nothing
			}
			break
		}
		if p.Addr != ip || (last >= 0 && !t.batchComplete(tr.code.text, last, 0) && !tr.newCodeRan(t, last)) {
			return true
		}
		if tr.goesOnAsBefore(t, ip, i, latest) {
			break
		}
		t.trap = true
		t.saw(tr.code.text, i)
		return true
	}
	// What the clock says is complete refutes nothing: a change may have been
	// made without a record.
	return last < 0 || t.unsure() || !t.batchComplete(tr.code.text, last, t.lo) || tr.breakpointMayRemain(t, ip, last)
}

// breakpointMayRemain reports whether a breakpoint stays at ip when poke i is complete, or
// what stays there is unknown.
func (tr *traps) breakpointMayRemain(t *thread, ip uint64, i int) bool {
	in, ok := tr.code.insn(ip, t.mode, event.Epoch(i)+1)
	return !ok || in.Class == isa.Break
}

// newCodeRan reports whether t has executed the text that poke i left, or later text
// there, whatever said that it was that text. It looks only at what the sink has
// not been given yet.
func (tr *traps) newCodeRan(t *thread, i int) bool {
	ip := tr.code.text.Poke(i).Addr
	for n := t.tail; n != nil; n = n.parent {
		tr.window.align.work += len(n.out.Ranges)
		if executed(n.out.Ranges, ip, event.Epoch(i)) {
			return true
		}
	}
	return executed(tr.out.unseen(), ip, event.Epoch(i))
}

// executed reports whether the kernel's instruction at ip is surely in one of rs,
// as text of a later epoch than at.
func executed(rs []Range, ip uint64, at event.Epoch) bool {
	for i := range slices.Backward(rs) {
		r := &rs[i]
		if b := r.Block; b.Addr <= ip && ip < b.End && b.Span.From > at && b.Space == 0 && r.Verdict != Ambiguous && !r.Either() {
			if n, ok := b.Boundary(ip); ok && n < int(r.N) {
				return true
			}
		}
	}
	return false
}

// pokesAt appends to pk, which is empty, the pokes of ip that may have to do with
// what t meets there:
//
//  1. the two newest that are surely in effect,
//  2. all behind them that may have begun by latest, ns,
//  3. and one more.
func (tr *traps) pokesAt(pk []int, t *thread, ip uint64, latest uint64) []int {
	for back := event.Epoch(64); ; back *= 2 {
		from := t.floor - min(back, t.floor)
		if pk = tr.code.text.Between(pk[:0], ip, 1, from, t.floor); len(pk) >= 2 || from == 0 {
			break
		}
	}
	if n := len(pk); n > 2 {
		pk = slices.Delete(pk, 0, n-2)
	}
	_, all := tr.code.text.Epochs(event.Always)
	// What had begun by then is mostly what the clock allows, and a batch more.
	later := func(i event.Epoch) bool { return i >= all || tr.code.text.Poke(int(i)).From > latest }
	from, step := max(t.floor, min(t.hi, all)), event.Epoch(1)
	for from > t.floor && later(from-1) {
		from = max(t.floor, from-min(from, step))
		step *= 2
	}
	for step = 1; !later(from + step - 1); step *= 2 {
		from += step
	}
	n := sort.Search(int(step-1), func(i int) bool { return later(from + event.Epoch(i)) })
	next := from + event.Epoch(n)
	pk = tr.code.text.Between(pk, ip, 1, t.floor, next)
	have := len(pk)
	for ahead := event.Epoch(64); next < all && len(pk) == have; ahead *= 2 {
		to := min(next+ahead, all)
		pk = tr.code.text.Between(pk, ip, 1, next, to)
		next = to
	}
	return pk[:min(have+1, len(pk))]
}

// blame tells which poke put the breakpoint at e.From, at which t traps, and
// what for. It is what the breakpoint most likely was, for people: only what
// trapped finds is evidence.
//
// A patch's breakpoint stands from before its record until after it, and one
// batch is over before the next begins. So it stands neither before the record
// of the batch before, nor after that of the batch behind. A probe's stands
// until the poke that takes it away. Where that leaves several, where the
// handler lands tells, since it does what the new code does; then the distance
// in time.
func (tr *traps) blame(t *thread, e *event.Event) (poke int, kind TrapKind, v Verdict) {
	tr.suspects = tr.suspects[:0]
	first := -1 // of the pokes there: the newest in effect
	for j, i := range tr.pokes {
		if t.knows(i) {
			first = j
		}
	}
	tr.suspect(t, e, first)
	if len(tr.suspects) == 0 && first >= 0 {
		tr.suspect(t, e, -1) // what t is thought to have seen is wrong
	}
	if len(tr.suspects) > 1 {
		tr.lineup(t)
	}
	// Where the bounds are wide, the CPU slept after the trap, not before it.
	v = Exception
	if n := len(tr.suspects); n > 1 || n == 1 && tr.suspects[0].kind == TrapWindow && tr.goesOnAsBefore(t, e.From, tr.suspects[0].poke, e.Time.Hi) {
		v = Ambiguous
	}
	poke, least := -1, uint64(math.MaxUint64)
	for _, s := range tr.suspects {
		far := max(s.time, e.Time.Lo) - min(s.time, e.Time.Lo)
		if s.kind != TrapWindow && s.from <= e.Time.Lo && e.Time.Lo <= s.until {
			far = 0
		}
		if far < least {
			poke, kind, least = s.poke, s.kind, far
		}
	}
	return poke, kind, v
}

// suspect is a reason for which a breakpoint may have stood at an address.
type suspect struct {
	poke        int
	kind        TrapKind
	from, until uint64    // ns: it did not stand before, nor after
	time        uint64    // ns: a moment at which it did
	resume      [2]uint64 // where the handler goes on then
	anywhere    bool      // that is not known
}

// suspect appends to tr.suspects why a breakpoint may have stood at e.From when
// t trapped there. tr.pokes are the pokes there, of which first is in effect.
func (tr *traps) suspect(t *thread, e *event.Event, first int) {
	pk := tr.pokes
	for j := max(first-1, -1); j < len(pk); j++ {
		s := suspect{poke: -1, kind: TrapArmed, until: math.MaxUint64, anywhere: true}
		var p Poke
		at := event.Epoch(0)
		if j >= 0 {
			p = tr.code.text.Poke(pk[j])
			at = event.Epoch(pk[j]) + 1
			s.poke, s.from, s.time = pk[j], p.From, p.Time
			if p.Appears {
				s.kind = TrapSlot
			}
		}
		in, ok := tr.code.insn(e.From, t.mode, at)
		switch {
		case ok && in.Class == isa.Break:
			if j+1 < len(pk) {
				next := tr.code.text.Poke(pk[j+1])
				if s.until = next.Time; !next.Window && !next.Goes {
					s.until = next.Until // it was the poke that took it away
				}
				if j < first && (next.Window || t.batchComplete(tr.code.text, pk[j+1], 0)) {
					continue
				}
			} else if j < 0 {
				continue
			}
		case j < first || !p.Window || p.Addr != e.From || (j == first && t.batchComplete(tr.code.text, pk[j], 0)):
			continue
		default:
			s.kind, s.until = TrapWindow, p.Until
			s.resume, s.anywhere = emulated(&in, e.From)
		}
		if e.Time.Lo <= s.until && s.from <= e.Time.Hi {
			tr.suspects = append(tr.suspects, s)
		}
	}
}

// emulated returns where a handler goes on that does what the instruction at ip
// does. What is neither a branch nor a NOP stands for a call of what does the
// same (static calls that return 0: arch/x86/kernel/static_call.c, v6.1).
func emulated(in *isa.Insn, ip uint64) (to [2]uint64, anywhere bool) {
	next := ip + uint64(in.Len)
	switch {
	case in.Class == isa.Jump || in.Class == isa.Call:
		return [2]uint64{in.Target, in.Target}, false
	case in.Class == isa.Cond:
		return [2]uint64{in.Target, next}, false
	case in.Class == isa.Other && in.Flags&isa.FlagNop != 0:
		return [2]uint64{next, next}, false
	}
	return to, true
}

// lineup takes out of tr.suspects those that the end of t's handler speaks
// against: it goes on at the first target stated in it at which one of them
// would.
func (tr *traps) lineup(t *thread) {
	lands := func(s *suspect, ip uint64) bool { return !s.anywhere && slices.Contains(s.resume[:], ip) }
	end, ok := tr.handlerEnd(t, func(ip uint64) bool {
		return slices.ContainsFunc(tr.suspects, func(s suspect) bool { return lands(&s, ip) })
	})
	if ok {
		tr.suspects = slices.DeleteFunc(tr.suspects, func(s suspect) bool {
			return !lands(&s, end) && !(s.anywhere && s.kind == TrapWindow)
		})
	}
}

// goesOnAsBefore reports whether the handler of the trap that t met at ip goes on as the
// code before poke i does. It is false if the code behind poke i goes on so, too, or that
// behind a later poke that may have begun by latest, ns. The handlers of most patchers do
// what the new code does; it is false for those that do not.
func (tr *traps) goesOnAsBefore(t *thread, ip uint64, i int, latest uint64) bool {
	before, anywhere := tr.goesOnAt(t, ip, event.Epoch(i))
	if anywhere {
		return false
	}
	behind := append(tr.behind[:0], ip)
	for _, k := range tr.pokes {
		if k == i || k > i && tr.code.text.Poke(k).From <= latest {
			to, anywhere := tr.goesOnAt(t, ip, event.Epoch(k)+1)
			if anywhere || !tr.code.text.Poke(k).DoesNew {
				return false
			}
			behind = append(behind, to[:]...)
		}
	}
	tr.behind = behind
	end, ok := tr.handlerEnd(t, func(at uint64) bool { return slices.Contains(before[:], at) || slices.Contains(behind, at) })
	return ok && !slices.Contains(behind, end)
}

// goesOnAt returns where a handler goes on that does what the code of epoch at does at ip.
func (tr *traps) goesOnAt(t *thread, ip uint64, at event.Epoch) (to [2]uint64, anywhere bool) {
	in, ok := tr.code.insn(ip, t.mode, at)
	if !ok {
		return to, true
	}
	return emulated(&in, ip)
}

// handlerEnd returns the first target stated in the handler that t enters which is one of
// those where it may go on. What interrupts the handler returns to where it struck.
func (tr *traps) handlerEnd(t *thread, may func(ip uint64) bool) (ip uint64, ok bool) {
	inside := tr.struck[:0] // where what interrupted the handler returns to
	for i := t.q + 1; i < t.q+maxLook; i++ {
		e := tr.events.at(i)
		if e == nil || e.Kind == event.Trouble || e.Kind == event.Overflow {
			break
		}
		if e.Kind == event.Async {
			inside = append(inside, e.From)
			continue
		}
		if e.Kind != event.Target {
			continue
		}
		if n := len(inside); n > 0 {
			if inside[n-1] == e.IP {
				inside = inside[:n-1]
			}
			continue
		}
		if may(e.IP) {
			ip, ok = e.IP, true
			break
		}
	}
	tr.struck = inside
	return ip, ok
}

// doubtNotes marks traps and cuts as ambiguous in the flow that ends at keep,
// since from. It marks those that the one that ends at other, since to, does not
// have or gives to another poke.
func (al *aligner) doubtNotes(keep, other *node, from, to point) {
	al.answers = al.answers[:0]
	for n := keep; n != nil; n = n.parent {
		notes := from.notesBehind(n)
		al.work += 1 + len(notes)
		for i := range notes {
			x := &notes[i]
			if x.Kind != NoteTrap && x.Kind != NoteCut || x.Verdict == Ambiguous {
				continue
			}
			by, ok := al.notes(other, x, to)
			switch {
			case !ok:
				x.Verdict = Ambiguous
				al.touch(n)
			case al.brief:
				al.answers = append(al.answers, answer{point{n, x.At}, by})
			}
		}
		if n == from.n {
			break
		}
	}
}

// answer is where a settled trap or cut lies in a flow, and where in another flow that
// has it too.
type answer struct{ note, by point }

// notes reports whether the flow that ends at n has the trap or cut x since to, and
// where. It looks for what has the offset and address of x, wherever that lies between
// the ranges.
func (al *aligner) notes(n *node, x *Note, to point) (by point, ok bool) {
	for ; n != nil; n = n.parent {
		notes := to.notesBehind(n)
		al.work += 1 + len(notes)
		for i := range notes {
			y := &notes[i]
			if y.Kind == x.Kind && y.Event.Off == x.Event.Off && y.IP == x.IP {
				return point{n, y.At}, y.Poke == x.Poke && y.Trap == x.Trap && y.Verdict == x.Verdict
			}
		}
		if n == to.n {
			break
		}
	}
	return point{}, false
}
