package flow

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

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

// interrupted is where the exceptions came from that the trace stated last, the newest first.
//
// A flow that is lost has not come there by itself. Nor has one that was just taken up there, or straight
// on from where it was. Where bytes of the trace are lost, addresses may be read as if they were elsewhere,
// and all go wrong alike. Then to come back there after little tells nothing until the flow has gone on
// from there (doubtFrom).
type interrupted struct {
	at      [4]uint64
	tells   [4]int // from which event on to come back there tells something; 0: from the first one
	takenUp int    // index of the event behind the target or exception at which a flow that was lost goes on
}

// fewEvents is how many events behind an exception, up to the target of its return, are too few to tell that the code
// of its handler is what ran.
const fewEvents = 4

// from records that one came from ip, as event q says. bySelf says that the flow had come there by itself.
func (x *interrupted) from(ip uint64, q int, bySelf bool) {
	copy(x.at[1:], x.at[:])
	copy(x.tells[1:], x.tells[:])
	x.at[0], x.tells[0] = ip, 0
	if !bySelf {
		x.tells[0] = q + fewEvents + 1
	}
}

// back says what the target of a rare instruction tells.
type back uint8

const (
	notBack  back = iota // nothing
	tooSoon              // it is where an exception came from, and that tells nothing yet
	wentBack             // the flow is right
)

// comesBack says whether b, which is rare, leads on to e as such instructions do. That is from the kernel to a
// program or the reverse, or back to where an exception came from. A flow that strays into the code behind an
// entry comes to a return from an exception soon, but hardly to the right place. e is event q.
func (x *interrupted) comesBack(c *reader, b *Block, e *event.Event, q int) back {
	if c.isKernel(e.IP) != c.isKernel(b.Addr) {
		return wentBack
	}
	switch i := slices.Index(x.at[:], e.IP); {
	case i < 0:
		return notBack
	case q < x.tells[i]:
		return tooSoon
	}
	return wentBack
}

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

// contradictory returns how far back a flow that cannot be followed at e, for that reason, shows
// that what it followed is not what ran: the code, or the packets.
func (x *executor) contradictory(t *thread, why event.Reason, e *event.Event) reach {
	doubt := why.Contradicts()
	switch why {
	case event.NoText:
		doubt = !t.guest && t.on && !x.stated(t)
	case event.BadPacket: // the trace is damaged
		if e != nil && e.Flags&event.FlagNoPacket != 0 {
			return nearBytes
		}
		doubt = true
	}
	if doubt {
		return sinceConfirmed
	}
	return noDoubt
}

// stated reports whether the trace stated last that t is where it is.
func (x *executor) stated(t *thread) bool {
	ip, ok := x.events.statedBehind(t.q)
	return ok && ip == t.ip
}

// handedOver is what decided and mayReturnFar say of the flow that the batch was given with last.
// So what they say does not depend on where batches end.
type handedOver struct{ decided, far bool }

// noneYet is that before anything is given.
var noneYet = handedOver{far: true}

// with returns it of the flow that b goes on with.
func (h handedOver) with(b *Batch) handedOver { return handedOver{h.decidedIn(b), h.mayReturnIn(b)} }

// decidedIn is writer.decided behind b.
func (h handedOver) decidedIn(b *Batch) bool {
	if yes, known := b.decision(); known {
		return yes
	}
	return h.decided
}

// mayReturnIn is writer.mayReturnFar behind b.
func (h handedOver) mayReturnIn(b *Batch) bool {
	if yes, known := b.endsFar(); known {
		return yes
	}
	return h.far
}

// decided reports whether the last branch of the flow of t went where an outcome said:
// not to an address that the trace stated.
func (o *writer) decided(t *thread) bool {
	for n := t.tail; n != nil; n = n.parent {
		if yes, known := n.out.decision(); known {
			return yes
		}
	}
	return o.given.decidedIn(&o.batch)
}

// decision is writer.decided for what is in b; known is false if that does not tell.
func (b *Batch) decision() (yes, known bool) {
	landed := -1
	for i := len(b.Notes) - 1; i >= 0 && landed < 0; i-- {
		switch n := &b.Notes[i]; n.Kind {
		case NoteGap, NoteTrap, NoteTrackOn, NoteTrackOff:
			landed = n.At
		case NoteEvent:
			if n.Event.Kind == event.Async {
				landed = n.At
			}
		}
	}
	for i := len(b.Ranges) - 1; i >= max(landed, 0); i-- {
		r := &b.Ranges[i]
		if r.N < r.Block.N {
			continue // its last instruction was not executed
		}
		switch l := r.Block.lead; l & place {
		case toTarget:
			if l&spends != 0 && l&mayFail != 0 { // else its outcome can be but one
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
		if yes, known := n.out.endsFar(); known {
			return yes
		}
	}
	return o.given.mayReturnIn(&o.batch)
}

// endsFar is writer.mayReturnFar for what is in b; known is false if that does not tell.
func (b *Batch) endsFar() (yes, known bool) {
	k := len(b.Ranges) - 1
	for i := len(b.Notes) - 1; i >= 0; i-- {
		if n := &b.Notes[i]; n.At > k && (n.Kind != NoteEvent || n.Event.Kind == event.Async) && n.Kind != NoteCut {
			return true, true // the flow was lost, or an exception came
		}
	}
	if k < 0 {
		return true, false
	}
	r := &b.Ranges[k]
	return r.N == r.Block.N && r.Block.lead&place == toFar, true
}
