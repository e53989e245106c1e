package flow

import "github.com/ptdecode/ptdecode/decoder/event"

// confirms reports whether e, whose address the flow of t has reached, confirms the
// flow. It does if t came there by itself: past a branch whose way an outcome told,
// and not just straight on from an address that the trace stated.
func (x *executor) confirms(t *thread, e *event.Event) bool {
	switch e.Kind {
	case event.Async, event.AsyncDisable:
		if e.Flags&event.FlagHere != 0 || e.From != t.ip {
			return false
		}
	}
	return x.out.decided(t)
}

// rare reports whether b's last instruction is of a kind that few places have. Chance
// does not lead a flow there just when the trace states where it went.
func (b *Block) rare() bool { return b.lead&place == toFar }

// far reports whether the flow of t comes to such an instruction by itself, at the end of b
// which is not yet executed. Straight on from an address that the trace stated it comes there
// whatever led to that address.
func (x *executor) far(t *thread, b *Block) bool { return b.rare() && x.out.decided(t) }

// resumesAt returns where tracing goes on if what b's last instruction called, which is
// not traced, comes back; 0: it calls nothing.
func (b *Block) resumesAt() uint64 {
	if b.lead&calls != 0 || b.lead&place == toFar {
		return b.End
	}
	return 0
}

// resumes reports whether tracing goes on, as e says, where it ended, and forgets where
// that was.
func (t *thread) resumes(e *event.Event) bool {
	ip := t.expect
	t.expect = 0
	return ip != 0 && e.IP == ip
}

// confirmIf records that what t has executed did run, if it is sure.
func (x *executor) confirmIf(sure bool, t *thread) {
	if sure {
		t.early = 0
		x.out.confirm(t)
	}
}

// contradictory reports whether a flow that cannot be followed, for that reason, shows
// that the code which it followed is not what ran.
func (x *executor) contradictory(t *thread, why event.Reason) bool {
	if why == event.NoText {
		return !t.guest && t.on && !x.stated(t)
	}
	return why.Contradicts()
}

// stated reports whether the trace stated last that t is where it is.
func (x *executor) stated(t *thread) bool {
	for i := t.q - 1; ; i-- {
		e := x.events.usedEvent(i)
		if e == nil {
			break
		}
		switch e.Kind {
		case event.Payload, event.Context:
		case event.Outcomes:
			if t.n == 0 {
				return false
			}
		default:
			return e.HasIP() && e.IP == t.ip
		}
	}
	return false
}

// decided reports whether the last branch of the flow of t went where an outcome said:
// not to an address that the trace stated.
func (o *writer) decided(t *thread) bool {
	for n := t.tail; n != nil; n = n.parent {
		if yes, known := n.out.decision(extent{}); known {
			return yes
		}
	}
	if yes, known := o.batch.decision(extent{}); known {
		return yes
	}
	if k := len(o.wait.held); k > 0 {
		yes, known := o.wait.held[k-1].decision(o.wait.held[k-1].kept)
		return yes && known
	}
	return false
}

// decision is writer.decided for what is in b from a place on; known is false if that
// does not tell.
func (b *Batch) decision(from extent) (yes, known bool) {
	landed := -1
	for i := len(b.Notes) - 1; i >= from.notes && landed < 0; i-- {
		switch n := &b.Notes[i]; n.Kind {
		case NoteGap, NoteTrap, NoteTrackOn, NoteTrackOff:
			landed = n.At
		case NoteEvent:
			if n.Event.Kind == event.Async {
				landed = n.At
			}
		}
	}
	for i := len(b.Ranges) - 1; i >= max(landed, from.ranges); i-- {
		switch l := b.Ranges[i].Block.lead; l & place {
		case toTarget:
			if l&spends != 0 {
				return true, true
			}
		case toStated, toFar, toTrap, toRaised:
			return false, true
		}
	}
	return false, landed >= 0
}

// mayReturnFar reports whether the last instruction of the flow of t, as far as it is known, may have
// returned from an exception. A trace unit tells of that before the target or behind it.
func (o *writer) mayReturnFar(t *thread) bool {
	for n := t.tail; n != nil; n = n.parent {
		if yes, known := n.out.endsFar(extent{}); known {
			return yes
		}
	}
	if yes, known := o.batch.endsFar(extent{}); known {
		return yes
	}
	if k := len(o.wait.held); k > 0 {
		yes, _ := o.wait.held[k-1].endsFar(o.wait.held[k-1].kept)
		return yes
	}
	return true
}

// endsFar is writer.mayReturnFar for what is in b from a place on; known is false if that
// does not tell.
func (b *Batch) endsFar(from extent) (yes, known bool) {
	k := len(b.Ranges) - 1
	for i := len(b.Notes) - 1; i >= from.notes; i-- {
		if n := &b.Notes[i]; n.At > k && (n.Kind != NoteEvent || n.Event.Kind == event.Async) && n.Kind != NoteCut {
			return true, true // the flow was lost, or an exception came
		}
	}
	if k < from.ranges {
		return true, false
	}
	return b.Ranges[k].Block.lead&place == toFar, true
}
