package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// waypoint executes b, whose last instruction spends an outcome, that in hand.
// Without one, the flow is on the way to an exception and is not told of branches
// that are not taken.
func (x *executor) waypoint(t *thread, b *Block) status {
	if p := b.lead & place; (p == toStated || p == toFar) && t.n > 0 && (t.n > 1 || !x.events.targetNext(t.q)) {
		emitAs(x, t, b, int(b.N), ahead)
	} else {
		x.emit(t, b, int(b.N))
	}
	if t.n == 0 {
		t.ip = b.End
		return moved
	}
	took := t.bits>>63 != 0
	if took && b.lead&syncs != 0 {
		t.sync(&x.cfg.Rules, x.events.at(t.q-1)) // its outcome is in hand, so that event is still held
	}
	t.bit()
	if !took {
		t.ip = b.End
		return moved
	}
	return x.took(t, b)
}

// targetNext reports whether event i, or the one behind payloads there, states where the branch led whose outcome
// came last. Else the return stack says it.
func (q *queue) targetNext(i int) bool {
	for ; ; i++ {
		if e := q.at(i); e == nil || e.Kind != event.Payload && e.Kind != event.Context {
			return targets(e)
		}
	}
}

// reserved takes a flow that goes straight on over b's last instruction, which
// cannot be: it is a branch without a condition, or always traps. So that is not
// what was executed there. Where the rules say so and no other text comes into
// question, the flow does go on, as a guess until an address is stated. It
// reports whether that was done.
func (x *executor) reserved(t *thread, b *Block) bool {
	if t.tail != nil || !x.cfg.Rules.StraightOnReserved.Has(b.Mode) || !b.lead.missed(t) {
		return false
	}
	g := event.Gap{Reason: event.Reserved, Stream: x.cfg.Stream, IP: b.LastIP(), Time: event.Always}
	if i := t.q - 1 - x.events.base; i >= 0 && i < len(x.events.buf) {
		e := &x.events.buf[i]
		g.Off, g.End, g.Time = e.Off, e.Off, e.Time
	}
	if !t.doubt {
		x.out.note(t, Note{Kind: NoteGap, Gap: g, IP: g.IP, Poke: -1, doubts: sinceConfirmed})
	}
	t.doubt = true
	return true
}

// took goes where the last instruction of b goes, a waypoint that passed its
// condition.
func (x *executor) took(t *thread, b *Block) status {
	switch b.lead & place {
	case toTarget:
		t.push(b)
		t.ip = b.Target
		t.mode = b.modeAhead()
	case toStated, toFar:
		return x.destination(t, b)
	default:
		t.ip = b.End
	}
	return moved
}

// destination goes where b's indirect branch went. The branch's outcome is
// spent. Its target is the one that the trace states before the next outcome,
// or, without one, the newest address on the return stack (DDI0487, K10.5
// "Return stack"). A call's own return address is pushed before that, unless
// the rules say after.
func (x *executor) destination(t *thread, b *Block) status {
	first := x.cfg.Rules.PopsFirst
	if !first {
		t.push(b)
	}
	e := x.events.at(t.q)
	for t.n == 0 && e != nil && (e.Kind == event.Payload || e.Kind == event.Context) {
		x.pass(t, e)
		e = x.events.at(t.q)
	}
	if t.n == 0 && e != nil && e.Kind == event.Target && e.HasIP() {
		if first {
			t.push(b)
		}
		x.confirmIf(b.rare() && t.came.comesBack(&x.code, b, e, t.q) == wentBack, t)
		x.arrived(t, e)
		return moved
	}
	if t.n == 0 && ends(e) {
		t.ip = b.End // the target was lost with what follows: nothing is executed from here
		return moved
	}
	if x.cfg.Rules.Returns == isa.ReturnsByOutcome && (t.stack.n > 0 || t.stack.part) {
		guess := t.stack.guessed()
		ip, call, ok := t.stack.Pop()
		if !ok {
			return fail(event.NoCall)
		}
		t.returnedByStack(ip)
		t.ip = ip
		t.doubt = t.doubt || guess
		if call != nil {
			t.mode = call.Mode
		}
		if first {
			t.push(b)
		}
		return moved
	}
	return fail(event.Mismatch)
}

// ends reports whether nothing was executed between what was told before e and
// the next event that states where the flow goes on.
func ends(e *event.Event) bool {
	if e == nil {
		return true
	}
	switch e.Kind {
	case event.Off, event.Overflow, event.Trouble, event.End:
		return true
	}
	return false
}
