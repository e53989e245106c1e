package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// status is what a careful step came to.
type status uint8

const (
	moved  status = iota // pos moved: an outcome or an event was used
	forked               // the text at ip is contested: site.options holds the ways on
	ended                // no events are left
	dead                 // dead+reason: the flow contradicts the trace, or its text is not known
)

func fail(r event.Reason) status      { return dead + status(r) }
func (s status) reason() event.Reason { return event.Reason(s - dead) }

// step takes t on until pos moves. It is exact and slow: one block at a time,
// cut at every address that an event states and at every contested site. In each round:
//
//  1. Where the flow's address is not known, the event only may state one (enter).
//  2. With no outcome in hand, the next event may need no walk, or state an address that
//     the flow must reach (meet).
//  3. The code at t.ip becomes a block: of the version that was chosen at a split, of the
//     only one that there is, or the thread is forked (contested).
//  4. A block that holds the address of the event ends there. Any other is executed whole,
//     if the trace does not contradict it, and leads on (take).
func (x *executor) step(t *thread) status {
	t.sees()
	for {
		e := x.events.at(t.q)
		if e == nil {
			return ended
		}
		if t.n == 0 {
			t.notAfter(x.code.text, e)
			if t.date > e.Time.Hi && x.window.several() && !t.lost {
				return fail(event.Mismatch) // what it ran was not there yet
			}
		}
		if t.lost || !t.on {
			return x.enter(t, e)
		}
		if t.held > 0 && x.code.partsNow(t) {
			return forked
		}
		var stop uint64
		var stops bool
		if t.n == 0 {
			if ip, ok := abortedAt(e); ok && x.cfg.Rules.AbortElsewhere && t.idle == 0 && !x.code.reaches(t, ip) {
				t.ip = ip
			}
			var st status
			var done bool
			if stop, stops, st, done = x.meet(t, e); done {
				return st
			}
		}
		b := t.first
		if t.first = nil; b == nil {
			var st status
			if b, st = x.site.contested(t); b == nil {
				return st
			}
		}
		if stops && stop > b.Addr && stop < b.End {
			if n, ok := b.Boundary(stop); ok {
				x.emit(t, b, n)
				t.ip = stop
				continue
			}
			if st, done := stopsInside(x, t, b, e, stop); done {
				return st
			}
		}
		if b.N == 0 {
			return fail(b.Stop)
		}
		if t.loops(t.ip) || t.idle == loopBlocks && x.code.circles(t, stop, stops) {
			return fail(event.Loop)
		}
		if done, st := x.take(t, b, e); done {
			return st
		}
	}
}

// leftBefore takes e, an exception whose source lies behind the flow. By the manual nothing ran: see isa.Rules. But no
// trace of a machine has it of a flow that is right. One of a model has it of the last instruction that a Q element
// counts.
func leftBefore(x *executor, t *thread, e *event.Event) status {
	if e.Flags&event.FlagBreak != 0 && x.window.several() {
		return fail(event.Mismatch) // no breakpoint of this flow's
	}
	if t.ip-e.From > uint64(x.cfg.ISA.MaxLen()) {
		x.out.doubted(t, nil)
	}
	return x.arrive(t, e)
}

// stopsInside executes b up to the instruction in which stop lies, where e is an exception that says so.
func stopsInside(x *executor, t *thread, b *Block, e *event.Event, stop uint64) (st status, done bool) {
	if !x.cfg.Rules.SilentBranches || e.Kind != event.Async {
		return moved, false
	}
	n, end, ok := b.through(stop)
	if !ok {
		return moved, false
	}
	x.emit(t, b, n)
	t.ip = end
	return x.arrive(t, e), true
}

// passOff takes the events that come while tracing is off, as far as they leave it off. It is step
// for these, several at once. No window is open.
func passOff(x *executor, t *thread) {
	if t.n != 0 {
		return
	}
	for i := t.q - x.events.base; i < len(x.events.buf) && i < queueEvents; i++ {
		e := &x.events.buf[i]
		switch {
		case e.Kind == event.Context || e.Kind == event.Payload:
		case e.Kind == event.Sync && !e.HasIP() && !t.lost:
		default:
			return
		}
		t.sees()
		t.notAfter(x.code.text, e)
		if x.enter(t, e); x.out.wait.err != nil {
			return
		}
	}
}

// meet takes the next event where it needs no walk to it, which is done; else
// it says whether the flow is to stop at an address.
func (x *executor) meet(t *thread, e *event.Event) (stop uint64, stops bool, st status, done bool) {
	x.code.bind(t, e)
	switch e.Kind {
	case event.Payload, event.Context:
		if x.out.rulesOut(t, e) {
			return 0, false, fail(event.Mismatch), true
		}
		return 0, false, x.pass(t, e), true
	case event.Status, event.Sync:
		if !e.HasIP() {
			if e.Kind == event.Sync {
				return 0, false, fail(event.Mismatch), true // tracing is said to be off
			}
			return 0, false, x.pass(t, e), true
		}
		stop, stops = e.IP, true
	case event.Async, event.AsyncDisable:
		stop, stops = e.From, true
		if e.Flags&event.FlagHere != 0 {
			here := *e
			here.From = t.ip
			return 0, false, x.arrive(t, &here), true
		}
		if x.cfg.Rules.SilentBranches && stop < t.ip {
			return 0, false, leftBefore(x, t, e), true
		}
	case event.Disable:
		if e.Flags&event.FlagAbort != 0 {
			x.left(t, e, 0, 0) // nothing says from where
			return 0, false, moved, true
		}
		if x.judge.ended(t, e) {
			x.confirmIf(e.HasIP() && x.out.decided(t), t)
			x.left(t, e, 0, t.ip)
			return 0, false, moved, true
		}
		stop, stops = e.IP, e.HasIP() // code there is not traced: the flow cannot pass it
	case event.Overflow:
		return 0, false, x.overflow(t, e), true
	case event.Trouble:
		return 0, false, fail(e.Reason), true
	case event.Enable:
		return 0, false, fail(event.Mismatch), true
	case event.End:
		segmentOver(x, t, e)
		return 0, false, moved, true
	default:
		if st, done := x.meetArm(t, e); done {
			return 0, false, st, true
		}
	}
	if stops && stop == t.ip {
		return 0, false, x.arrive(t, e), true
	}
	return stop, stops, moved, false
}

// segmentOver takes e, the End of a segment. A broken sync point there is as bytes that are no packet. The next
// segment tells of it.
func segmentOver(x *executor, t *thread, e *event.Event) {
	if e.Flags&event.FlagNoPacket != 0 {
		x.out.doubted(t, &event.Gap{Reason: event.BadPacket, Off: e.Off})
	}
	t.use()
	t.on = false
}

// spoilt takes e, a Trouble while the flow is lost. What led to where that was lost may be damaged, too.
func spoilt(x *executor, t *thread, e *event.Event) {
	switch x.contradictory(t, e.Reason, e) {
	case nearBytes:
		x.out.doubted(t, &event.Gap{Reason: event.BadPacket, Off: e.Off})
	case sinceConfirmed:
		x.out.doubted(t, nil)
	}
}

// pass takes an event that does not move the flow.
func (x *executor) pass(t *thread, e *event.Event) status {
	if e.Detail == event.DetailCR3 {
		t.context = e.Value // goTo asks whose it is, on the way to user text
		if !t.on && !t.lost {
			t.guest = x.cfg.Guests && e.Value2&1 != 0
		}
	}
	if e.Detail == event.DetailPE && e.Value2&(event.PEHasID|event.PEHasVMID) != 0 {
		t.context = e.Value
	}
	t.moves(e, x.cfg.Guests)
	if e.Flags&event.FlagMode != 0 {
		t.mode = isa.Mode(e.Mode)
	}
	if e.Kind != event.Outcomes && e.Kind != event.Target {
		x.out.noteOf(t, NoteEvent, e, e.IP)
	}
	if !t.lost {
		t.use()
	}
	return moved
}

// enter takes events while the flow's address is not known, until one states
// it.
func (x *executor) enter(t *thread, e *event.Event) status {
	switch {
	case e.Kind == event.Sync && e.Flags&event.FlagRestated == 0 && !e.HasIP():
		x.land(t, e)
		t.on, t.lost = false, false
	case e.Kind == event.Overflow:
		return x.overflow(t, e)
	case e.Kind == event.Off:
		return x.interrupted(t, e)
	case e.Kind == event.Enable, e.Kind == event.Sync && e.HasIP(), t.lost && states(e):
		if e.Kind == event.AsyncDisable || e.Kind == event.Disable {
			x.out.noteOf(t, NoteTrackOff, e, 0)
			t.on, t.lost = false, false
			break
		}
		x.confirmIf(e.Kind == event.Enable && !t.lost && t.resumes(e), t)
		lost := t.lost
		x.land(t, e)
		t.lost = false
		if lost && (e.Kind == event.Target || e.Kind == event.Async) {
			t.came.takenUp = t.q + 1
		}
		if e.Kind == event.Async {
			t.came.from(e.From, t.q, !lost)
		}
		if e.Detail == event.DetailException {
			x.out.noteOf(t, NoteEvent, e, e.From)
		}
		if e.Kind == event.Enable {
			x.out.noteOf(t, NoteTrackOn, e, e.IP)
		}
	case e.Kind == event.End:
		segmentOver(x, t, e)
		return moved
	case e.Kind == event.Trouble:
		if !t.lost {
			return fail(e.Reason)
		}
		spoilt(x, t, e)
	case e.Kind == event.Async, e.Kind == event.Target, e.Kind == event.Outcomes, e.Kind == event.AsyncDisable:
		if !t.lost {
			return fail(event.Mismatch) // flow without tracing
		}
	case e.Kind == event.Payload || e.Kind == event.Context || e.Kind == event.Status:
		lost := t.lost
		t.lost = false // so that pass counts the event
		st := x.pass(t, e)
		t.lost = lost
		return st
	}
	t.use()
	return moved
}

// land puts the flow at the address that e states.
func (x *executor) land(t *thread, e *event.Event) {
	t.notBefore(x.code.text, e)
	x.out.stampFor(t, e)
	t.fresh = false
	if e.Flags&event.FlagMode != 0 {
		t.mode = isa.Mode(e.Mode)
	}
	t.moves(e, x.cfg.Guests)
	if t.mode == isa.ModeUnknown && e.HasIP() && x.cfg.ModeBefore != nil {
		t.mode = x.cfg.ModeBefore()
	}
	t.n, t.expect = 0, 0
	if e.Kind != event.Target {
		t.held = 0
		t.confirmed()
	}
	if e.Kind == event.Sync || e.Kind == event.Overflow {
		t.stack.Clear()
		t.came = interrupted{}
	}
	x.goTo(t, e.IP, e)
	t.on = e.HasIP()
}

// goTo moves the flow to ip, which e states.
func (x *executor) goTo(t *thread, ip uint64, e *event.Event) {
	t.ip = ip
	switch {
	case t.guest:
		t.setSpace(guestSpace, true)
	case x.cfg.Space != nil && !x.code.isKernel(ip):
		t.setSpace(x.cfg.Space(e.Time, t.context))
	case t.space == guestSpace:
		t.setSpace(0, true)
	}
}

// overflow takes an Overflow: what was lost is a gap.
func (x *executor) overflow(t *thread, e *event.Event) status {
	x.out.note(t, Note{Kind: NoteGap, IP: t.ip, Poke: -1, Gap: event.Gap{
		Reason: event.OverflowGap, Stream: x.cfg.Stream, Off: e.Off, End: e.End, IP: t.ip, Time: e.Time}})
	t.overflows(e)
	x.land(t, e)
	t.lost = false
	t.use()
	return moved
}

// arrive takes an event whose address the flow has reached.
func (x *executor) arrive(t *thread, e *event.Event) status {
	if e.Flags&event.FlagHere == 0 {
		t.placed(t.pos() + 1)
	}
	t.confirmed()
	t.held = 0
	t.notBefore(x.code.text, e)
	x.out.stampFor(t, e)
	sure := x.confirms(t, e)
	switch e.Kind {
	case event.Status, event.Sync:
		if e.Flags&event.FlagMode != 0 {
			t.mode = isa.Mode(e.Mode)
		}
		if e.Kind == event.Sync {
			t.stack.Clear()
			t.came = interrupted{}
		} else {
			x.out.noteOf(t, NoteEvent, e, e.IP)
			if e.Detail == event.DetailPTWrite {
				t.wrote = e.IP
			}
		}
		x.confirmIf(sure, t)
	case event.Async:
		if !x.transfer(t, e) {
			return fail(event.Mismatch)
		}
		byItself := e.Flags&event.FlagHere != 0 || e.From == t.ip
		t.came.from(e.From, t.q, sure || byItself && t.q != t.came.takenUp)
		x.confirmIf(sure, t)
		if e.Flags&event.FlagMode != 0 {
			t.mode = isa.Mode(e.Mode)
		}
		t.moves(e, x.cfg.Guests)
		if e.Flags&event.FlagAbort == 0 { // nor is a failed transaction said to synchronise
			t.sync(&x.cfg.Rules, e)
		}
		if !e.HasIP() {
			return x.somewhere(t)
		}
		x.goTo(t, e.IP, e)
	case event.AsyncDisable:
		if b := x.code.block(t.space, t.ip, t.mode, t.lo, t.hi); x.cfg.Rules.EntrySource && b != nil && b.N > 0 && b.Class == isa.VMEnter && b.LastIP() == t.ip {
			x.emit(t, b, int(b.N))
		}
		x.out.noteOf(t, NoteTrackOff, e, e.From)
		x.confirmIf(sure, t)
		t.moves(e, x.cfg.Guests)
		t.on = false
	}
	t.use()
	return moved
}

// transfer notes e, an Async. One taken as a breakpoint's exception is evidence; ok is
// false if it cannot have been.
func (x *executor) transfer(t *thread, e *event.Event) (ok bool) {
	ok = true
	n := Note{Kind: NoteEvent, Event: *e, IP: e.From, Poke: -1}
	if x.ahead.isBreak(e) {
		ok = x.traps.met(t, e, &n)
	}
	x.out.note(t, n)
	return ok
}

// take executes b and goes where it leads. e is the next event, and done means that step is
// over. The order matters: what ends a block early comes first. Then the outcomes that b
// needs are taken in hand, and the judge looks at b before anything of it is emitted.
func (x *executor) take(t *thread, b *Block, e *event.Event) (done bool, st status) {
	l := b.lead
	switch {
	case t.n == 0 && b.before(e):
		x.emit(t, b, int(b.N)-1)
		own := *e
		own.From, t.ip = b.LastIP(), b.LastIP()
		return true, x.arrive(t, &own)
	case x.judge.ending(t, b, e):
		return true, x.endTracing(t, b, e)
	case x.judge.undecidable(t, b, e):
		return true, fail(event.UndecidableFlow)
	case t.n == 0 && (l&spends != 0 || x.judge.compressed(b)):
		x.load(t, e)
	}
	if x.judge.contradicts(t, b, e) && !x.reserved(t, b) {
		return true, fail(event.Mismatch)
	}
	switch {
	case t.n == 0 && e.Kind == event.Reach:
		return x.reach(t, b, e)
	case l&spends != 0:
		return true, x.waypoint(t, b)
	case t.n > 0 && x.judge.compressed(b):
		return true, x.returns(t, b)
	case l&place == toStated, l&place == toFar:
		return true, x.indirect(t, b, e)
	case l&place == toTarget:
		x.emit(t, b, int(b.N))
		t.push(b)
		t.ip = b.Target
		return false, moved
	}
	x.emit(t, b, int(b.N))
	t.ip = b.End
	return false, moved
}

// returns executes b, which ends in a return that is compressed.
// Intel SDM volume 3C, "Indirect Transfer Compression for Returns (RET)".
func (x *executor) returns(t *thread, b *Block) status {
	guess := t.stack.guessed()
	ip, _, ok := t.stack.Pop()
	x.emit(t, b, int(b.N))
	if !ok {
		return fail(event.NoCall)
	}
	t.doubt = t.doubt || guess
	t.returnedByStack(ip)
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

// indirect executes b, whose destination the trace states in e, or behind e, the
// outcomes of what came after (see judge.late). That is a guess.
func (x *executor) indirect(t *thread, b *Block, e *event.Event) status {
	comes := notBack
	if targets(e) && !t.doubt && t.n == 0 && x.far(t, b) {
		comes = t.came.comesBack(&x.code, b, e, t.q)
	}
	if comes == tooSoon {
		emitAs(x, t, b, int(b.N), homeward)
	} else {
		x.emit(t, b, int(b.N))
	}
	guess := false
	if !targets(e) {
		x.load(t, x.events.at(t.q))
		e = x.events.at(t.q)
		guess = true
		x.out.doubted(t, nil) // by the manual it would contradict the code
	}
	x.confirmIf(comes == wentBack, t)
	t.push(b)
	if t.odd(&x.events, b, e, x.out.wait.told) {
		x.takeBack(t, b, e)
	}
	x.arrived(t, e)
	t.doubt = t.doubt || guess
	return moved
}

// arrived goes to the target that e states.
func (x *executor) arrived(t *thread, e *event.Event) {
	t.placed(t.pos() + 1)
	if x.cfg.Rules.Waypoints.Has(isa.JumpInd) {
		t.confirmed() // it belongs to the outcome before it, so this is where the flow is
	} else if t.doubt && !x.window.several() {
		x.endsDoubt(t)
	}
	if e.Flags&event.FlagMode != 0 {
		t.mode = isa.Mode(e.Mode)
	}
	t.moves(e, x.cfg.Guests)
	if t.n == 0 {
		t.notBefore(x.code.text, e)
		x.out.stampFor(t, e)
	}
	x.goTo(t, e.IP, e)
	t.use()
}

// endTracing executes b, whose last instruction or a MOV CR3 before it ends tracing.
func (x *executor) endTracing(t *thread, b *Block, e *event.Event) status {
	if b.leavesContext(e) {
		x.emit(t, b, int(b.spaceAt))
		x.left(t, e, b.Addr+uint64(b.size(int(b.spaceAt)-1)), 0)
		return moved
	}
	far := x.far(t, b)
	x.emit(t, b, int(b.N))
	if b.lead&returns != 0 {
		t.stack.Pop()
	}
	x.confirmIf(far || e.HasIP() && b.lead&place == toTarget && x.out.decided(t), t)
	x.left(t, e, b.LastIP(), b.Target)
	t.expect = b.resumesAt()
	return moved
}

// load takes the outcomes of e in hand, if it has any.
func (x *executor) load(t *thread, e *event.Event) bool {
	if e.Kind != event.Outcomes || e.N == 0 {
		return false
	}
	t.takeInHand(e)
	t.notBefore(x.code.text, e)
	x.out.stampOutcomes(t, e)
	return true
}

// emit records that the first n instructions of b were executed.
func (x *executor) emit(t *thread, b *Block, n int) { emitAs(x, t, b, n, 0) }

// emitAs is emit, where more is known of the range.
func emitAs(x *executor, t *thread, b *Block, n int, f rangeFlags) {
	if n == 0 {
		return
	}
	t.wrote = 0
	if t.choice != Certain && t.floor > t.lo {
		x.passed = x.code.text.Between(x.passed[:0], b.Addr, b.size(n), t.lo, t.floor)
		t.learnFromText(x.code.text, x.passed)
	}
	r := Range{Block: b, N: uint16(n), Verdict: t.choice, flags: f}
	if t.either {
		r.flags |= either
	}
	e := x.events.at(t.q)
	if b.lead&spends == 0 && (t.n > 0 || e != nil && e.Kind == event.Outcomes) {
		r.flags |= ahead
	}
	if t.unsure() || t.gapBefore || (t.vague && b.Space != 0) {
		r.Verdict, t.gapBefore = Ambiguous, false
	}
	if x.window.several() && r.Verdict == Certain {
		r.Verdict = Trace
	}
	if t.n == 0 && e != nil {
		x.out.stampUntil(t, e)
	}
	x.out.addRange(t, r)
	if t.fresh {
		t.fresh = false
		x.out.stampOf(t, t.then)
	}
}
