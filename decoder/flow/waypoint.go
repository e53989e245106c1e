package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// waypoint executes b, whose last instruction spends an outcome; e is the next
// event. Which classes do is isa.Rules.Waypoints: in Intel PT the conditional
// branches alone, in ETMv4 and ETE every branch and ISB (DDI0487, D4.4
// "Instruction and exception classification"), in ETMv3 every instruction.
func (w *Walker) waypoint(t *thread, b *Block, e *event.Event) status {
	if t.n == 0 && !w.load(t, e) {
		switch {
		case e.Kind == event.Disable && (w.leaving(t, e, b.Target) || e.HasIP() && e.IP == b.End):
			return w.endTracing(t, b, e)
		case w.cfg.Rules.NoOutcomes:
			return fail(event.UndecidableFlow)
		case w.cfg.Rules.SilentBranches && e.Kind == event.Async && w.mayFail(b):
			w.emit(t, b, int(b.N))
			t.ip = b.End
			return moved
		}
		return fail(event.Mismatch)
	}
	took := t.bits>>63 != 0
	if !took && !w.mayFail(b) && !w.reserved(t, b) {
		return fail(event.Mismatch)
	}
	if took && traps.Has(b.Class) && !w.leftBehind(t) {
		return fail(event.Mismatch)
	}
	w.emit(t, b, int(b.N))
	if took && b.syncs(&w.cfg.Rules) {
		w.sync(t, w.event(t.q-1)) // its outcome is in hand, so that event is still held
	}
	t.bit()
	if !took {
		t.ip = b.End
		return moved
	}
	return w.took(t, b)
}

// leftBehind reports whether the outcome in hand is the last before an exception,
// which is then that of the instruction that it tells of.
func (w *Walker) leftBehind(t *thread) bool {
	e := w.event(t.q)
	return t.n == 1 && e != nil && (e.Kind == event.Async || e.Kind == event.AsyncDisable)
}

// reserved takes a flow that goes straight on over b's last instruction, which
// cannot be: it is a branch without a condition, or always traps. So that is not
// what was executed there. Where the rules say so and no other text comes into
// question, the flow does go on, as a guess until an address is stated. It
// reports whether that was done.
func (w *Walker) reserved(t *thread, b *Block) bool {
	if t.tail != nil || !w.cfg.Rules.StraightOnReserved.Has(b.Mode) {
		return false
	}
	g := event.Gap{Reason: event.Reserved, Stream: w.cfg.Stream, IP: b.LastIP(), Time: event.Always}
	if i := t.q - 1 - w.base; i >= 0 && i < len(w.queue) {
		e := &w.queue[i]
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
	switch c := b.Class; {
	case c == isa.Call:
		w.push(t, b)
		fallthrough
	case c == isa.Cond, c == isa.Jump:
		t.ip = b.Target
		t.mode = b.leadsTo()
	case leaves.Has(c) && c != isa.Syscall:
		return w.destination(t, b)
	default:
		t.ip = b.End
	}
	return moved
}

// syncs reports whether b's last instruction synchronises the CPU with what was
// written to text. TSTART is told as ISB is, but is no context synchronization
// event (DDI0487, Glossary).
func (b *Block) syncs(r *isa.Rules) bool {
	return r.Syncs.Has(b.Class) && b.Flags&isa.FlagTx == 0
}

// leadsTo returns the mode at b's static target.
func (b *Block) leadsTo() isa.Mode {
	if b.Flags&isa.FlagInterwork == 0 {
		return b.Mode
	}
	return isa.ModeA32 + isa.ModeT32 - b.Mode
}

// mayFail reports whether the last instruction of b has a condition, so that
// its outcome may be "not taken".
func (w *Walker) mayFail(b *Block) bool {
	return b.Class == isa.Cond || w.conditional(b)
}

// conditional is mayFail of what is no conditional branch: INTO, an A32
// instruction with a condition, or any T32 one but BKPT. A T32 instruction may
// stand in an IT block, but BKPT executes there all the same (DDI0487, "BKPT").
func (w *Walker) conditional(b *Block) bool {
	return b.Flags&isa.FlagConditional != 0 || w.cfg.Rules.AlwaysConditional.Has(b.Mode) && b.Class != isa.Break
}

// destination goes where b's indirect branch went. The branch's outcome is
// spent. Its target is the one that the trace states before the next outcome,
// or, without one, the newest address on the return stack (DDI0487, K10.5
// "Return stack"). A call's own return address is pushed before that, unless
// the rules say after.
func (w *Walker) destination(t *thread, b *Block) status {
	calls := b.Class == isa.CallInd
	if calls && !w.cfg.Rules.PopsFirst {
		w.push(t, b)
		calls = false
	}
	e := w.event(t.q)
	for t.n == 0 && e != nil && (e.Kind == event.Payload || e.Kind == event.Context) {
		w.pass(t, e)
		e = w.event(t.q)
	}
	if t.n == 0 && e != nil && e.Kind == event.Target && e.HasIP() {
		if calls {
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
		if calls {
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

// raise executes b, whose last instruction enters an exception from the
// address behind it: SVC, HVC, SMC. An Async states it.
func (w *Walker) raise(t *thread, b *Block, e *event.Event) (done bool, st status) {
	if !w.raised(t, b, e) {
		return true, fail(event.Mismatch)
	}
	w.stampUntil(t, e)
	w.emit(t, b, int(b.N))
	t.ip = b.End
	return false, moved
}

// raised reports whether the exception that b's last instruction enters may be
// what the trace states next.
func (w *Walker) raised(t *thread, b *Block, e *event.Event) bool {
	if w.conditional(b) {
		return true
	}
	switch e.Kind {
	case event.Async, event.AsyncDisable:
		return t.n == 0 && (e.From == b.End || e.Flags&event.FlagHere != 0)
	case event.Outcomes, event.Target, event.Quiet:
		return false
	}
	return t.n == 0
}
