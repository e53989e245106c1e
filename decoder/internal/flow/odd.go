package flow

import "github.com/ptdecode/ptdecode/decoder/event"

// Code that is not what ran may lead a flow astray and back, and no packet contradicts it:
// the targets put it right. Two things tell all the same. Each may be so by itself, but
// hardly both in a row:
//
//   - A target comes while outcomes are left, though the packet with these was not full, and
//     nothing forced it out. Few trace units hold targets back at all.
//   - A return leads elsewhere than behind the call that the flow followed. A switch of
//     tasks does that, too.
//
// Where hundreds of targets came before with no outcomes left, the trace unit holds none back.
// Then the first alone tells, even if the packet was full.
//
// Then what ran since the flow was last confirmed is in doubt, as if there were a gap. What
// follows is a guess while outcomes are left.

// thunk is how far a call leads at most that only puts an address on the stack, bytes: that
// of a retpoline or an entry's. Its return leads elsewhere.
const thunk = 64

// callsNear reports whether b ends in a call to code next to it, and to no function. b may
// be nil: then it is not known.
func (b *Block) callsNear() bool {
	return b == nil || b.lead&place != toTarget || b.Target-b.End < thunk
}

// odd takes b, an indirect branch that t has executed and that goes where e states. It
// reports whether the code is not what ran, by the oddities that were met.
func (t *thread) odd(events *queue, b *Block, e *event.Event, told bool) bool {
	astray := b.lead&returns != 0 && t.foretold(e)
	alone, both := false, astray && t.early > 0
	if t.unsure() { // then nobody knows whether outcomes are left
		t.vain += min(t.q-t.seen, neverYet)
		t.seen = t.q
	}
	if t.n > 0 {
		early := t.tooEarly(events)
		alone = early && t.seldomLeft(seldom) || t.seldomLeft(hardlyEver)
		both = astray && (both || early || t.seldomLeft(seldom))
		if early {
			t.early = statedBack
		}
		if !t.unsure() {
			t.left++
		}
	} else if t.early > 0 && b.targetStated(told) && !astray {
		t.early--
	}
	if !alone && !both {
		return false
	}
	t.early = 0
	return true
}

// sees has t take its next step. A guess that begins there counts as neverYet events at least:
// soon behind one, nothing is made of how seldom outcomes were left.
func (t *thread) sees() {
	if !t.unsure() {
		t.seen = t.q - neverYet
	}
}

// seldomLeft reports whether outcomes were left at less than one target of so many events
// so far. A trace unit that holds targets back does it again and again.
func (t *thread) seldomLeft(events int) bool { return t.left*events < t.q-t.vain-events }

// tooEarly reports whether the outcomes left at the target that t comes to tell that it is too
// early. Another target before the next outcomes may have forced it out, where a unit holds
// targets back. Then it only tells of a unit that has held none back so far.
func (t *thread) tooEarly(events *queue) bool {
	early, more := events.early(t.q)
	return early && (more == 0 || t.seldomLeft(neverYet))
}

// How many events tell that a trace unit holds no targets back.
const (
	seldom     = 128  // where there is another oddity: the packet is not full, or the return goes astray
	neverYet   = 512  // where a packet that is not full says that no outcomes are left
	hardlyEver = 1024 // where nothing else tells
)

// takeBack makes doubtful what t has executed since its flow was last confirmed, and if no
// other cut is followed, what it learned since the window opened. Behind b, e states where t goes. How
// many of the outcomes in hand are left there nobody knows, so what follows is a guess.
func (x *executor) takeBack(t *thread, b *Block, e *event.Event) {
	several := x.window.several()
	x.out.doubted(t, &event.Gap{Reason: event.Mismatch, Stream: x.cfg.Stream, Off: e.Off, End: e.End, IP: b.LastIP(), Time: e.Time})
	if t.tail != nil && !several {
		x.window.nothingSure(t)
	}
	t.doubt, t.strays = t.doubt || t.n > 0 && !several, t.n > 0
}

// leftAlone is for t, the only cut that is followed still. If it went astray, what it comes to
// is a guess.
func (t *thread) leftAlone() { t.shadow, t.strays = t.shadow || t.strays, false }

// doubted makes doubtful what t has executed since its flow was last confirmed. g is what
// tells of it, nil if nothing is to be learned from that.
func (o *writer) doubted(t *thread, g *event.Gap) {
	if t.tail == nil {
		o.wait.distrust(&o.batch, o.sure, g)
		return
	}
	t.tail.markOdd(g)
}
