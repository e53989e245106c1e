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
// Then what ran since the flow was last confirmed is in doubt, as if there were a gap.

// thunk is how far a call leads at most that only puts an address on the stack, bytes: that
// of a retpoline or an entry's. Its return leads elsewhere.
const thunk = 64

// callsNear reports whether b ends in a call to code next to it, and to no function. b may
// be nil: then it is not known.
func (b *Block) callsNear() bool {
	return b == nil || b.lead&place != toTarget || b.Target-b.End < thunk
}

// odd takes b, an indirect branch that t has executed and that goes where e states. It
// reports whether both oddities were met.
func (t *thread) odd(events *queue, b *Block, e *event.Event, told bool) bool {
	astray := b.lead&returns != 0 && t.foretold(e)
	switch {
	case t.n > 0 && events.early(t.q):
		t.early = statedBack
	case t.n == 0 && t.early > 0 && b.targetStated(told) && !astray:
		t.early--
	}
	if !astray || t.early == 0 {
		return false
	}
	t.early = 0
	return true
}

// takeBack makes doubtful what t has executed since its flow was last confirmed, and if no
// other cut is followed, what it learned since the window opened.
func (w *window) takeBack(t *thread) {
	w.out.doubted(t)
	if t.tail != nil && !w.several() {
		w.nothingSure(t)
	}
}

// doubted makes doubtful what t has executed since its flow was last confirmed.
func (o *writer) doubted(t *thread) {
	if t.tail == nil {
		o.wait.distrust(&o.batch, o.sure)
		return
	}
	t.tail.markOdd()
}
