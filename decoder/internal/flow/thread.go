package flow

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// thread is one flow over the events: where it is, what it holds, and which
// pokes it has seen. The walker has one; while a window is open, one for each
// cut that the trace still allows.
type thread struct {
	cursor
	ip      uint64
	context uint64 // the last CR3, context ID or VMID that the trace stated, see Config.Space
	space   uint32
	mode    isa.Mode
	on      bool // tracing is on and ip is known
	vague   bool // which program user text is of is not sure
	guest   bool // in a virtual machine
	visited bool // there was one in the segment
	lost    bool // ip is unknown until the next event that states one

	evidence

	stack  ReturnStack
	came   interrupted
	expect uint64 // where tracing goes on if it is taken up where it ended; 0: not known
	wrote  uint64 // address of a PTWRITE that was told and is executed next; 0: none
	// What odd.go knows, which finds out that the flow may have gone astray.
	early  int  // targets ahead within which it matters that one came too early; 0: none did
	left   int  // targets at which outcomes were left, where that was no guess
	vain   int  // events passed while that was a guess, about
	seen   int  // up to which event vain is counted: of the target before, or from before the guess began
	strays bool // it may have other outcomes in hand than it should

	trial            // only while a window is open
	first     *Block // the version chosen for the instruction at ip, to be executed next
	tail      *node  // what this thread emitted since the window opened
	gapBefore bool   // what it emits next may not have come after what it emitted last
	penalty   uint64 // how far its cuts lie from the pokes' times, ns
	fresh     bool   // no outcome of those in hand is spent: behind the one that spends the first, then is the stamp
	then      Stamp
	choice    Verdict // how the text being executed was settled
	either    bool    // it is one of several that do the same
}

// reset makes t the flow at a segment's start.
func (t *thread) reset(m isa.Mode) {
	t.ip, t.first, t.cursor = 0, nil, cursor{}
	t.context, t.space, t.mode, t.guest, t.visited = 0, 0, m, false, false
	t.on, t.lost, t.vague = false, false, false
	t.evidence = evidence{known: t.known[:0], ran: t.ran[:0]}
	t.stack.Clear()
	t.came = interrupted{}
	t.tail, t.penalty, t.gapBefore, t.choice, t.wrote, t.expect, t.early, t.left, t.vain, t.seen, t.strays, t.fresh = nil, 0, false, Certain, 0, 0, 0, 0, 0, 0, false, false
}

// become makes t a copy of o that shares no memory with it.
func (t *thread) become(o *thread) {
	known, ran := append(t.known[:0], o.known...), append(t.ran[:0], o.ran...)
	*t = *o
	t.known, t.ran = known, ran
}

// sameState reports whether a and b, at equal pos, will do the same from now on.
func sameState(a, b *thread) bool {
	return a.ip == b.ip && a.doubt == b.doubt && a.shadow == b.shadow && a.on == b.on && a.lost == b.lost && a.q == b.q && a.n == b.n && a.held == b.held &&
		a.mode == b.mode && a.space == b.space && a.guest == b.guest && a.floor == b.floor &&
		slices.Equal(a.known, b.known) && a.stack.Equal(&b.stack)
}

// confirmed ends doubt about where t is. What it has on its return stack comes
// from the guess, unless the stack says itself what that is worth.
func (t *thread) confirmed() {
	t.strays = false
	if t.unsure() {
		t.doubt, t.shadow = false, false
		t.stack.Doubt()
		t.restart()
	}
}

// weaken takes from t what o, which may be the true flow instead, does not
// know as well.
func (t *thread) weaken(o *thread) {
	t.keepShared(&o.evidence)
	t.stack.doubtAs(&o.stack)
	t.doubt, t.early = t.doubt || o.doubt, max(t.early, o.early)
	t.shadow = t.shadow || o.shadow || t.ip != o.ip || t.first != o.first || t.on != o.on || t.lost != o.lost || t.mode != o.mode || t.pos() != o.pos()
}

// setSpace moves t to an address space.
func (t *thread) setSpace(space uint32, sure bool) { t.space, t.vague = space, !sure }

// tear makes the last that t emitted Ambiguous where what comes next may not
// stand next to it, and is left to the next segment's walk.
func (t *thread) tear() {
	if t.gapBefore {
		t.tail.doubtLast()
		t.gapBefore = false
	}
}

// push takes the return address of the call that ends b, if one does.
func (t *thread) push(b *Block) {
	if b.lead&calls != 0 {
		t.stack.Push(b.End, b)
		t.called()
	}
}

// foretold pops for a return whose target e states. It reports whether that is not where
// the call that was followed came from.
func (t *thread) foretold(e *event.Event) (astray bool) {
	t.used++
	guess := t.stack.guessed()
	ip, call, ok := t.stack.Pop()
	t.returned(ip, ok && ip == e.IP, t.pos()+1)
	return ok && !guess && ip != e.IP && !call.callsNear()
}
