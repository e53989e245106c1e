package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// waypoint executes b, whose last instruction spends an outcome, that in hand.
// Without one, the flow is on the way to an exception and is not told of branches
// that are not taken.
func (w *Walker) waypoint(t *thread, b *Block) status {
	w.emit(t, b, int(b.N))
	if t.n == 0 {
		t.ip = b.End
		return moved
	}
	took := t.bits>>63 != 0
	if took && b.lead&syncs != 0 {
		t.sync(&w.cfg.Rules, w.events.at(t.q-1)) // its outcome is in hand, so that event is still held
	}
	t.bit()
	if !took {
		t.ip = b.End
		return moved
	}
	return w.took(t, b)
}

// reserved takes a flow that goes straight on over b's last instruction, which
// cannot be: it is a branch without a condition, or always traps. So that is not
// what was executed there. Where the rules say so and no other text comes into
// question, the flow does go on, as a guess until an address is stated. It
// reports whether that was done.
func (w *Walker) reserved(t *thread, b *Block) bool {
	if t.tail != nil || !w.cfg.Rules.StraightOnReserved.Has(b.Mode) || !b.lead.missed(t) {
		return false
	}
	g := event.Gap{Reason: event.Reserved, Stream: w.cfg.Stream, IP: b.LastIP(), Time: event.Always}
	if i := t.q - 1 - w.events.base; i >= 0 && i < len(w.events.buf) {
		e := &w.events.buf[i]
		g.Off, g.End, g.Time = e.Off, e.Off, e.Time
	}
	if !t.doubt {
		w.note(t, Note{Kind: NoteGap, Gap: g, IP: g.IP, Poke: -1})
	}
	t.doubt, t.stack.vague = true, true
	return true
}

// took goes where the last instruction of b goes, a waypoint that passed its
// condition.
func (w *Walker) took(t *thread, b *Block) status {
	switch b.lead & place {
	case toTarget:
		w.push(t, b)
		t.ip = b.Target
		t.mode = b.modeAhead()
	case toStated, toFar:
		return w.destination(t, b)
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
func (w *Walker) destination(t *thread, b *Block) status {
	first := w.cfg.Rules.PopsFirst
	if !first {
		w.push(t, b)
	}
	e := w.events.at(t.q)
	for t.n == 0 && e != nil && (e.Kind == event.Payload || e.Kind == event.Context) {
		w.pass(t, e)
		e = w.events.at(t.q)
	}
	if t.n == 0 && e != nil && e.Kind == event.Target && e.HasIP() {
		if first {
			w.push(t, b)
		}
		w.arrived(t, e)
		return moved
	}
	if t.n == 0 && ends(e) {
		t.ip = b.End // the target was lost with what follows: nothing is executed from here
		return moved
	}
	if w.cfg.Rules.Returns == isa.ReturnsByOutcome && (t.stack.n > 0 || t.stack.part) {
		ip, call, ok := t.stack.Pop()
		if !ok {
			return fail(event.NoCall)
		}
		t.openCalls = max(t.openCalls-1, 0)
		t.ip = ip
		t.doubt = t.doubt || t.stack.vague
		if call != nil {
			t.mode = call.Mode
		}
		if first {
			w.push(t, b)
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
