package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// status is what a careful step came to.
type status uint8

const (
	moved  status = iota // pos moved: an outcome or an event was used
	forked               // the text at ip is contested: w.options holds the ways on
	ended                // no events are left
	dead                 // dead+reason: the flow contradicts the trace, or its text is not known
)

func fail(r event.Reason) status      { return dead + status(r) }
func (s status) reason() event.Reason { return event.Reason(s - dead) }

// step takes t on until pos moves. It is exact and slow: one block at a time,
// cut at every address that an event states and at every contested site.
func (w *Walker) step(t *thread) status {
	for {
		e := w.events.at(t.q)
		if e == nil {
			return ended
		}
		if t.n == 0 {
			t.notAfter(w.code.text, e)
			if t.date > e.Time.Hi && len(w.threads) > 1 && !t.lost {
				return fail(event.Mismatch) // what it ran was not there yet
			}
		}
		if t.lost || !t.on {
			return w.enter(t, e)
		}
		var stop uint64
		var stops bool
		if t.n == 0 {
			var st status
			var done bool
			if stop, stops, st, done = w.meet(t, e); done {
				return st
			}
		}
		b := t.first
		if t.first = nil; b == nil {
			var st status
			if b, st = w.contested(t); b == nil {
				return st
			}
		}
		if stops && stop > b.Addr && stop < b.End {
			n, ok := b.Boundary(stop)
			if !ok && w.cfg.Rules.SilentBranches && e.Kind == event.Async {
				n, stop, ok = b.through(stop)
			}
			if ok {
				w.emit(t, b, n)
				t.ip = stop
				continue
			}
		}
		if b.N == 0 {
			return fail(b.Stop)
		}
		if t.loops(t.ip) || t.idle == loopBlocks && w.circles(t, stop, stops) {
			return fail(event.Loop)
		}
		if done, st := w.take(t, b, e); done {
			return st
		}
	}
}

// meet takes the next event where it needs no walk to it, which is done; else
// it says whether the flow is to stop at an address.
func (w *Walker) meet(t *thread, e *event.Event) (stop uint64, stops bool, st status, done bool) {
	if e.Kind == event.Payload {
		w.bind(t, e)
	}
	switch e.Kind {
	case event.Payload, event.Context:
		return 0, false, w.pass(t, e), true
	case event.Status, event.Sync:
		if !e.HasIP() {
			if e.Kind == event.Sync {
				return 0, false, fail(event.Mismatch), true // tracing is said to be off
			}
			return 0, false, w.pass(t, e), true
		}
		stop, stops = e.IP, true
	case event.Async, event.AsyncDisable:
		stop, stops = e.From, true
		if e.Flags&event.FlagHere != 0 {
			here := *e
			here.From = t.ip
			return 0, false, w.arrive(t, &here), true
		}
		if w.cfg.Rules.SilentBranches && stop < t.ip {
			if e.Flags&event.FlagBreak != 0 && len(w.threads) > 1 {
				return 0, false, fail(event.Mismatch), true // no breakpoint of this flow's
			}
			return 0, false, w.arrive(t, e), true
		}
		if w.cfg.Rules.AbortElsewhere && e.Flags&event.FlagAbort != 0 && t.idle == 0 && !w.reaches(t, stop) {
			t.ip = stop
		}
	case event.Disable:
		if e.Flags&event.FlagAbort != 0 {
			w.left(t, e, 0, 0) // nothing says from where
			return 0, false, moved, true
		}
		if !e.HasIP() && w.leaving(t, e, t.ip) {
			w.left(t, e, 0, t.ip) // the latest outcome was that of the branch that left
			return 0, false, moved, true
		}
	case event.Overflow:
		return 0, false, w.overflow(t, e), true
	case event.Trouble:
		return 0, false, fail(e.Reason), true
	case event.Enable:
		return 0, false, fail(event.Mismatch), true
	case event.End:
		t.use()
		t.on = false
		return 0, false, moved, true
	default:
		if st, done := w.meetArm(t, e); done {
			return 0, false, st, true
		}
	}
	if stops && stop == t.ip {
		return 0, false, w.arrive(t, e), true
	}
	return stop, stops, moved, false
}

// loopBlocks is how many blocks are executed without using an outcome or event
// before the way ahead is looked at.
const loopBlocks = 16

// circles reports whether the flow goes round for ever from t.ip: it comes to
// neither a decision nor the address at which an event stops it. What it can
// not tell without executing, because text is contested, it does not report.
func (w *Walker) circles(t *thread, stop uint64, stops bool) bool {
	ip, mark := t.ip, t.ip
	for i := 1; i < maxIdle; i++ {
		b := w.code.block(t.space, ip, t.mode, t.lo, t.hi)
		if b == nil || b.N == 0 {
			return false
		}
		if stops && stop >= b.Addr && stop < b.End {
			if _, ok := b.Boundary(stop); ok {
				return false
			}
		}
		next, ok := b.silentNext()
		if !ok {
			return false
		}
		ip = next
		if ip == mark {
			return true
		}
		if i&(i-1) == 0 {
			mark = ip
		}
	}
	return true
}

// pass takes an event that does not move the flow.
func (w *Walker) pass(t *thread, e *event.Event) status {
	if e.Detail == event.DetailCR3 {
		t.context = e.Value // goTo asks whose it is, on the way to user text
		if !t.on && !t.lost {
			t.guest = w.cfg.Guests && e.Value2&1 != 0
		}
	}
	if e.Detail == event.DetailPE && e.Value2&(event.PEHasID|event.PEHasVMID) != 0 {
		t.context = e.Value
	}
	w.moves(t, e)
	if e.Flags&event.FlagMode != 0 {
		t.mode = isa.Mode(e.Mode)
	}
	if e.Kind != event.Outcomes && e.Kind != event.Target {
		w.note(t, Note{Kind: NoteEvent, Event: *e, IP: e.IP, Poke: -1})
	}
	if !t.lost {
		t.use()
	}
	return moved
}

// enter takes events while the flow's address is not known, until one states
// it.
func (w *Walker) enter(t *thread, e *event.Event) status {
	switch {
	case e.Kind == event.Sync && e.Flags&event.FlagRestated == 0 && !e.HasIP():
		w.land(t, e)
		t.on, t.lost = false, false
	case e.Kind == event.Overflow:
		return w.overflow(t, e)
	case e.Kind == event.Off:
		return w.interrupted(t, e)
	case e.Kind == event.Enable, e.Kind == event.Sync && e.HasIP(), t.lost && states(e):
		if e.Kind == event.AsyncDisable || e.Kind == event.Disable {
			w.note(t, Note{Kind: NoteTrackOff, Event: *e, Poke: -1})
			t.on, t.lost = false, false
			break
		}
		w.land(t, e)
		t.lost = false
		if e.Detail == event.DetailException {
			w.note(t, Note{Kind: NoteEvent, Event: *e, IP: e.From, Poke: -1})
		}
		if e.Kind == event.Enable {
			w.note(t, Note{Kind: NoteTrackOn, Event: *e, IP: e.IP, Poke: -1})
		}
	case e.Kind == event.Trouble:
		if !t.lost {
			return fail(e.Reason)
		}
	case e.Kind == event.Async, e.Kind == event.Target, e.Kind == event.Outcomes, e.Kind == event.AsyncDisable:
		if !t.lost {
			return fail(event.Mismatch) // flow without tracing
		}
	case e.Kind == event.Payload || e.Kind == event.Context || e.Kind == event.Status:
		lost := t.lost
		t.lost = false // so that pass counts the event
		st := w.pass(t, e)
		t.lost = lost
		return st
	}
	t.use()
	return moved
}

// land puts the flow at the address that e states.
func (w *Walker) land(t *thread, e *event.Event) {
	t.notBefore(w.code.text, e)
	w.stampFor(t, e)
	if e.Flags&event.FlagMode != 0 {
		t.mode = isa.Mode(e.Mode)
	}
	w.moves(t, e)
	if t.mode == isa.ModeUnknown && e.HasIP() && w.cfg.ModeBefore != nil {
		t.mode = w.cfg.ModeBefore()
	}
	t.bits, t.n = 0, 0
	if e.Kind != event.Target {
		t.confirmed()
	}
	if e.Kind == event.Sync || e.Kind == event.Overflow {
		t.stack.Clear()
	}
	w.goTo(t, e.IP, e)
	t.on = e.HasIP()
}

// goTo moves the flow to ip, which e states.
func (w *Walker) goTo(t *thread, ip uint64, e *event.Event) {
	t.ip = ip
	switch {
	case t.guest:
		t.setSpace(guestSpace, true)
	case w.cfg.Space != nil && !w.code.isKernel(ip):
		t.setSpace(w.cfg.Space(e.Time, t.context))
	case t.space == guestSpace:
		t.setSpace(0, true)
	}
}

// overflow takes an Overflow: what was lost is a gap.
func (w *Walker) overflow(t *thread, e *event.Event) status {
	w.note(t, Note{Kind: NoteGap, IP: t.ip, Poke: -1, Gap: event.Gap{
		Reason: event.OverflowGap, Stream: w.cfg.Stream, Off: e.Off, End: e.End, IP: t.ip, Time: e.Time}})
	w.land(t, e)
	t.lost = false
	t.use()
	return moved
}

// arrive takes an event whose address the flow has reached.
func (w *Walker) arrive(t *thread, e *event.Event) status {
	t.confirmed()
	t.notBefore(w.code.text, e)
	w.stampFor(t, e)
	switch e.Kind {
	case event.Status, event.Sync:
		if e.Flags&event.FlagMode != 0 {
			t.mode = isa.Mode(e.Mode)
		}
		if e.Kind == event.Sync {
			t.stack.Clear()
		} else {
			w.note(t, Note{Kind: NoteEvent, Event: *e, IP: e.IP, Poke: -1})
			if e.Detail == event.DetailPTWrite {
				t.wrote = e.IP
			}
		}
	case event.Async:
		if !w.transfer(t, e) {
			return fail(event.Mismatch)
		}
		if e.Flags&event.FlagMode != 0 {
			t.mode = isa.Mode(e.Mode)
		}
		w.moves(t, e)
		if e.Flags&event.FlagAbort == 0 { // nor is a failed transaction said to synchronise
			t.sync(&w.cfg.Rules, e)
		}
		if !e.HasIP() {
			return w.somewhere(t)
		}
		w.goTo(t, e.IP, e)
	case event.AsyncDisable:
		if b := w.code.block(t.space, t.ip, t.mode, t.lo, t.hi); w.cfg.Rules.EntrySource && b != nil && b.N > 0 && b.Class == isa.VMEnter && b.LastIP() == t.ip {
			w.emit(t, b, int(b.N))
		}
		w.note(t, Note{Kind: NoteTrackOff, Event: *e, IP: e.From, Poke: -1})
		t.on = false
	}
	t.use()
	return moved
}

// take executes b and goes where it leads. done means that step is over.
func (w *Walker) take(t *thread, b *Block, e *event.Event) (done bool, st status) {
	l := b.lead
	switch {
	case t.n == 0 && b.before(e):
		w.emit(t, b, int(b.N)-1)
		own := *e
		own.From, t.ip = b.LastIP(), b.LastIP()
		return true, w.arrive(t, &own)
	case w.ending(t, b, e):
		return true, w.endTracing(t, b, e)
	case w.undecidable(t, b, e):
		return true, fail(event.UndecidableFlow)
	case t.n == 0 && (l&spends != 0 || w.compressed(b)):
		w.load(t, e)
	}
	if w.contradicts(t, b, e) && !w.reserved(t, b) {
		return true, fail(event.Mismatch)
	}
	switch {
	case t.n == 0 && e.Kind == event.Reach:
		return w.reach(t, b, e)
	case l&spends != 0:
		return true, w.waypoint(t, b)
	case t.n > 0 && w.compressed(b):
		return true, w.returns(t, b)
	case l&place == toStated, l&place == toFar:
		return true, w.indirect(t, b, e)
	case l&place == toTarget:
		w.emit(t, b, int(b.N))
		w.push(t, b)
		t.ip = b.Target
		return false, moved
	}
	w.stampUntil(t, e)
	w.emit(t, b, int(b.N))
	t.ip = b.End
	return false, moved
}

// returns executes b, which ends in a return that is compressed.
// Intel SDM volume 3C, "Indirect Transfer Compression for Returns (RET)".
func (w *Walker) returns(t *thread, b *Block) status {
	ip, _, ok := t.stack.Pop()
	w.emit(t, b, int(b.N))
	if !ok {
		return fail(event.NoCall)
	}
	t.openCalls = max(t.openCalls-1, 0)
	t.bit()
	t.ip = narrow(ip, t.mode)
	return moved
}

// narrow cuts a return address to the mode's width.
// Intel SDM volume 3C, "Indirect Transfer Compression for Returns (RET)".
func narrow(ip uint64, m isa.Mode) uint64 {
	switch m {
	case isa.Mode32:
		return ip & 0xffffffff
	case isa.Mode16:
		return ip & 0xffff
	}
	return ip
}

// indirect executes b, whose destination the trace states.
func (w *Walker) indirect(t *thread, b *Block, e *event.Event) status {
	w.emit(t, b, int(b.N))
	w.push(t, b)
	if b.lead&returns != 0 {
		t.foretold(e)
	}
	w.arrived(t, e)
	return moved
}

// arrived goes to the target that e states.
func (w *Walker) arrived(t *thread, e *event.Event) {
	if w.cfg.Rules.Waypoints.Has(isa.JumpInd) {
		t.confirmed() // it belongs to the outcome before it, so this is where the flow is
	}
	if e.Flags&event.FlagMode != 0 {
		t.mode = isa.Mode(e.Mode)
	}
	w.moves(t, e)
	if t.n == 0 {
		t.notBefore(w.code.text, e)
		w.stampFor(t, e)
	}
	w.goTo(t, e.IP, e)
	t.use()
}

// push takes the return address of the call that ends b, if one does.
func (w *Walker) push(t *thread, b *Block) {
	if b.lead&calls != 0 {
		t.stack.Push(b.End, b)
		t.openCalls++
	}
}

// foretold pops for a return whose target e states.
func (t *thread) foretold(e *event.Event) {
	t.used++
	ip, _, ok := t.stack.Pop()
	if t.openCalls > 0 {
		t.openCalls--
		if ok && ip == e.IP {
			t.foretoldAt[t.foretoldCount%enoughReturns] = t.pos() + 1
			t.foretoldCount++
		}
	}
}

// endTracing executes b, whose last instruction ends tracing.
func (w *Walker) endTracing(t *thread, b *Block, e *event.Event) status {
	w.emit(t, b, int(b.N))
	if b.lead&returns != 0 {
		t.stack.Pop()
	}
	w.left(t, e, b.LastIP(), b.Target)
	return moved
}

// load takes the outcomes of e in hand, if it has any.
func (w *Walker) load(t *thread, e *event.Event) bool {
	if e.Kind != event.Outcomes || e.N == 0 {
		return false
	}
	t.hold(e)
	t.notBefore(w.code.text, e)
	w.stampFor(t, e)
	return true
}
