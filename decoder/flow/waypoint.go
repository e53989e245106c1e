package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// waypoint executes b, whose last instruction spends an outcome; e is the next
// event. Which classes do is isa.Rules.Waypoints: in Intel PT the conditional
// branches alone, in ETMv4 and ETE every branch and ISB (Arm ARM, D4.4
// "Instruction and exception classification").
func (w *Walker) waypoint(t *thread, b *Block, e *event.Event) status {
	if t.n == 0 && !w.load(t, e) {
		if e.Kind == event.Disable && w.leaving(t, e, b.Target) {
			return w.off(t, b, e)
		}
		if w.cfg.Rules.NoOutcomes {
			return fail(event.UndecidableFlow)
		}
		return fail(event.Mismatch)
	}
	if t.bits>>63 == 0 && !mayFail(b) {
		return fail(event.Mismatch)
	}
	w.emit(t, b, int(b.N))
	if w.cfg.Rules.Syncs.Has(b.Class) {
		w.sync(t, w.event(t.q-1)) // its outcome is in hand, so that event is still held
	}
	if !t.bit() {
		t.ip = b.End
		return moved
	}
	switch c := b.Class; {
	case c == isa.Call:
		w.push(t, b)
		fallthrough
	case c == isa.Cond, c == isa.Jump:
		t.ip = b.Target
	case passes.Has(c):
		t.ip = b.End
	default:
		return w.destination(t, b)
	}
	return moved
}

// mayFail reports whether the last instruction of b has a condition, so that
// its outcome may be "not taken".
func mayFail(b *Block) bool {
	return b.Class == isa.Cond || b.Flags&isa.FlagConditional != 0
}

// destination goes where b's indirect branch went, whose outcome is spent: to
// the target that the trace states before the next outcome, or, without one,
// to the newest address on the return stack (Arm ARM, K10.5 "Return stack"). A call's own
// return address is pushed before that.
func (w *Walker) destination(t *thread, b *Block) status {
	if b.Class == isa.CallInd {
		w.push(t, b)
	}
	e := w.event(t.q)
	for t.n == 0 && e != nil && (e.Kind == event.Payload || e.Kind == event.Context) {
		w.pass(t, e)
		e = w.event(t.q)
	}
	if t.n == 0 && e != nil && e.Kind == event.Target && e.HasIP() {
		w.arrived(t, e)
		return moved
	}
	if w.cfg.Rules.Returns == isa.ReturnsByOutcome && (t.stack.n > 0 || t.stack.part) {
		ip, _, ok := t.stack.Pop()
		if !ok {
			return fail(event.NoCall)
		}
		t.own = max(t.own-1, 0)
		t.ip = ip
		return moved
	}
	if t.n == 0 && (e == nil || e.Kind == event.Overflow || e.Kind == event.Trouble || e.Kind == event.End) {
		t.ip = b.End // the target was lost with what follows: nothing is executed from here
		return moved
	}
	return fail(event.Mismatch)
}

// raise executes b, whose last instruction enters an exception from the
// address behind it: SVC, HVC, SMC. An Async states it.
func (w *Walker) raise(t *thread, b *Block, e *event.Event) (done bool, st status) {
	if !raised(t, b, e) {
		return true, fail(event.Mismatch)
	}
	w.emit(t, b, int(b.N))
	t.ip = b.End
	return false, moved
}

// raised reports whether the exception that b's last instruction enters may be
// what the trace states next.
func raised(t *thread, b *Block, e *event.Event) bool {
	if b.Flags&isa.FlagConditional != 0 {
		return true
	}
	switch e.Kind {
	case event.Async, event.AsyncDisable:
		return t.n == 0 && e.From == b.End
	case event.Outcomes, event.Target:
		return false
	}
	return t.n == 0
}
