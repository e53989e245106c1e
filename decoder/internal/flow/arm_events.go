package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// What Arm's trace protocols say of a flow besides outcomes and targets.

// meetArm is meet for these; done is false where they need a walk.
func (x *executor) meetArm(t *thread, e *event.Event) (st status, done bool) {
	switch e.Kind {
	case event.Off:
		return x.interrupted(t, e), true
	case event.Reach:
		return fail(event.Mismatch), e.IP < t.ip
	case event.Quiet:
		return x.quiet(t, e), true
	case event.Target:
		if x.cfg.Rules.Waypoints.Has(isa.JumpInd) {
			return x.restated(t, e), true
		}
	}
	return moved, false
}

// rulesOut reports whether e, a Payload or Context, cannot follow what t ran last: A64 returns
// from exceptions by ERET alone.
func (o *writer) rulesOut(t *thread, e *event.Event) bool {
	return e.Detail == event.DetailExceptionRet && t.mode == isa.ModeA64 && !o.mayReturnFar(t)
}

// interrupted takes an Off: what ran after the last thing traced is not told.
func (x *executor) interrupted(t *thread, e *event.Event) status {
	t.notBefore(x.code.text, e)
	x.out.stampOf(t, Stamp{Off: e.Off, Time: e.Time})
	t.expect = 0
	if t.on {
		t.expect = t.ip
		here := *e
		here.Flags |= event.FlagHere
		x.out.noteOf(t, NoteTrackOff, &here, t.ip)
	} else {
		x.out.noteOf(t, NoteTrackOff, e, 0)
	}
	t.confirmed()
	t.stack.Clear()
	t.came = interrupted{}
	t.bits, t.n, t.fresh, t.on, t.lost = 0, 0, false, false, false
	t.use()
	return moved
}

// restated takes a Target where the flow has no branch to follow it: it can
// only say where the flow is.
func (x *executor) restated(t *thread, e *event.Event) status {
	if !e.HasIP() || e.IP != t.ip || e.Flags&event.FlagMode != 0 && isa.Mode(e.Mode) != t.mode {
		return fail(event.Mismatch)
	}
	x.confirmIf(x.out.decided(t), t)
	t.notBefore(x.code.text, e)
	x.out.stampFor(t, e)
	t.use()
	return moved
}

// somewhere takes an Async whose destination is not stated with it, and goes on
// at the next event that states an address. Outcomes before that are of code
// that cannot be known. Bytes that are no packet may have stated it: they are a gap.
func (x *executor) somewhere(t *thread) status {
	t.use()
	t.on, t.lost = false, true
	for i := t.q; ; i++ {
		e := x.events.at(i)
		if ends(e) || states(e) {
			t.lost = e == nil || e.Kind != event.Trouble
			return moved
		}
		if i-t.q >= maxLook || e.Kind == event.Outcomes || e.Kind == event.Reach || e.Kind == event.Quiet {
			return fail(event.NoAddress)
		}
	}
}

// reach executes b on the way to the instruction at which e, a Reach, ends.
func (x *executor) reach(t *thread, b *Block, e *event.Event) (done bool, st status) {
	if e.IP >= b.End {
		x.emit(t, b, int(b.N))
		t.ip = b.End
		return false, moved
	}
	if e.Flags&event.FlagTaken == 0 {
		n, _ := b.Boundary(e.IP)
		x.emit(t, b, n+1)
		t.ip = e.IP + uint64(b.Lens[n])
		x.reached(t, e)
		return true, moved
	}
	x.emit(t, b, int(b.N))
	// Where the branch is does not say which of two texts it is.
	guess := t.unsure() && x.code.block(t.space, e.IP, t.mode, t.lo, t.hi) == nil
	x.reached(t, e)
	t.doubt = guess
	if b.lead&syncs != 0 {
		t.sync(&x.cfg.Rules, e)
	}
	return true, x.took(t, b)
}

// reached counts e, a Reach, as used.
func (x *executor) reached(t *thread, e *event.Event) {
	t.confirmed()
	x.confirmIf(x.out.decided(t), t)
	t.notBefore(x.code.text, e)
	x.out.stampFor(t, e)
	t.use()
}
