package flow

import "github.com/ptdecode/ptdecode/decoder/event"

// resync ends the flow of t with a gap and goes on at the next event that
// states an address.
func (x *executor) resync(t *thread, why event.Reason) {
	e := x.events.at(t.q)
	doubts := x.contradictory(t, why, e)
	if refutes(why) && !x.window.several() {
		t.forget(&evidence{})
	}
	g := event.Gap{Reason: why, Stream: x.cfg.Stream, IP: t.ip}
	if t.guest {
		g.Reason, g.What = event.NoText, GuestGap
	}
	if e != nil {
		g.Off, g.Time = e.Off, e.Time
		if t.q > 0 && t.n > 0 && t.q > x.events.base {
			g.Off = x.events.buf[t.q-1-x.events.base].Off
		}
	}
	from := t.q
	inHand := -1 // not known
	if why == event.NoText && !t.doubt {
		inHand = t.n + t.held
	}
	t.bits, t.n, t.held, t.on, t.lost, t.expect = 0, 0, 0, false, true, 0
	t.stack.Forget()
	t.came = interrupted{}
	for ; e != nil; e = x.events.at(t.q) {
		g.End = e.End
		if t.stays(e) {
			t.q++
			continue
		}
		if states(e) {
			break
		}
		if e.Kind == event.End || (e.Kind == event.Sync && !e.HasIP()) {
			break
		}
		if e.Kind == event.Trouble && t.q != from {
			spoilt(x, t, e)
		}
		x.pass(t, e)
		t.q++
		if !x.window.roomFor(t) {
			break
		}
	}
	x.out.note(t, Note{Kind: NoteGap, Gap: g, IP: g.IP, Poke: -1, doubts: doubts})
	x.takesUp(t, why, e, from, inHand)
}

// refutes reports whether a flow that ends for the reason why is not what ran, as code that is known
// does not fit. What it taught of pokes may be wrong, too: one change without a record leads it to
// believe that others were made. Only the clock is sure then.
func refutes(why event.Reason) bool {
	return why == event.Mismatch || why == event.BadInsn || why == event.Loop
}

// states reports whether the flow can be entered at e.
func states(e *event.Event) bool {
	switch e.Kind {
	case event.Target, event.Async, event.Enable, event.Overflow, event.Sync, event.Status, event.Quiet:
		return e.HasIP()
	case event.AsyncDisable, event.Disable, event.Off:
		return true // the flow is known to be off
	}
	return false
}
