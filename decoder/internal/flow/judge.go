package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// judge knows what the trace must say for a block to be what is executed next. take
// asks before it executes one. refuted asks for each version of a contested
// instruction.
type judge struct {
	rules  *isa.Rules
	traced func(space uint32, ip uint64) bool // see Config
	code   *reader
	events *queue
	window *window
}

// contradicts reports whether b's last instruction cannot be executed by t: the
// outcomes in hand, or e, the next event, say something else. What the trace must say for an
// instruction follows from its lead, and so from the protocol's isa.Rules.
func (j *judge) contradicts(t *thread, b *Block, e *event.Event) bool {
	if t.n == 0 && e.Kind == event.Reach {
		return j.strays(b, e)
	}
	l := b.lead
	switch {
	case l&spends != 0:
		return j.contradictsOutcome(t, b, e)
	case j.compressed(b) && (t.n > 0 || e.Kind == event.Outcomes):
		return t.peek(e)>>63 == 0 || t.stack.n == 0 && !t.stack.part
	}
	switch l & place {
	case toStated, toFar:
		if targets(e) {
			return t.n > 0 && j.events.tooMany(t.q, t.n)
		}
		return !j.ending(t, b, e) && !j.late(t, b, e)
	case toTrap: // an exception would state its address
		return l&mayFail == 0
	case toRaised:
		return !j.raised(t, b, e)
	}
	return false
}

// contradictsOutcome is contradicts where b's last instruction spends an outcome.
func (j *judge) contradictsOutcome(t *thread, b *Block, e *event.Event) bool {
	l := b.lead
	if t.n == 0 && (e.Kind != event.Outcomes || e.N == 0) {
		unsaid := j.rules.SilentBranches && e.Kind == event.Async && l&mayFail != 0
		return !unsaid && !j.ending(t, b, e) && !j.undecidable(t, b, e)
	}
	if t.peek(e)>>63 == 0 {
		return l&mayFail == 0
	}
	return l&place == toTrap && !j.leftBehind(t, e)
}

// missed reports whether the flow, to which t's outcome in hand belongs, goes on
// behind an instruction of this lead as if that had a condition.
func (l lead) missed(t *thread) bool {
	if l&spends != 0 {
		return t.n > 0 && t.bits>>63 == 0
	}
	return l&place == toTrap
}

// compressed reports whether b ends in a return that an outcome may tell of.
func (j *judge) compressed(b *Block) bool {
	return b.lead&(spends|returns) == returns && j.rules.Returns == isa.ReturnsCompressed
}

// late reports whether the target of b, an indirect or far branch, may be the one
// behind e. No outcome was in hand, and e are outcomes of what comes after b. libipt
// follows such a flow. The manual does not have it, so it is a guess: none where
// another flow or other code comes into question.
func (j *judge) late(t *thread, b *Block, e *event.Event) bool {
	if t.n > 0 || b.lead&spends != 0 || e.Kind != event.Outcomes || e.N == 0 || !targets(j.events.at(t.q+1)) {
		return false
	}
	return !j.rules.Waypoints.Has(isa.JumpInd) && !j.window.several() && j.code.block(t.space, t.ip, t.mode, t.floor, t.hi) != nil
}

// ended reports whether tracing ended, as e, a Disable, says, before the
// instruction at t.ip. Where e states no address, the latest outcome was that of
// the branch that left: one that was taken.
func (j *judge) ended(t *thread, e *event.Event) bool {
	if !j.leaving(t, e, t.ip) {
		return false
	}
	return e.HasIP() || !j.events.behindNotTaken(t.q)
}

// ending reports whether b's last instruction ends tracing, as e says, or a MOV CR3
// before it. A conditional branch leads to the address behind it too.
func (j *judge) ending(t *thread, b *Block, e *event.Event) bool {
	if t.n > 0 || e.Kind != event.Disable {
		return false
	}
	if b.leavesContext(e) {
		return true
	}
	p := b.lead & place
	if b.lead&spends != 0 || p == toTarget {
		return j.leaving(t, e, b.Target) || b.lead&mayFail != 0 && e.HasIP() && e.IP == b.End
	}
	return p == toStated || p == toFar
}

// undecidable reports whether the trace leaves out what would say where b leads.
func (j *judge) undecidable(t *thread, b *Block, e *event.Event) bool {
	if !j.rules.NoOutcomes || t.n > 0 || e.Kind == event.Outcomes {
		return false
	}
	if b.lead&spends != 0 {
		return !j.ending(t, b, e)
	}
	return j.compressed(b) && (t.stack.n > 0 || t.stack.part) // it may have been compressed
}

// leftBehind reports whether the next outcome, in hand or in e, is the last before
// an exception: then it is that of the instruction that the exception tells of. It cannot
// be one of a kind that no instruction which always traps raises.
func (j *judge) leftBehind(t *thread, e *event.Event) bool {
	n, q := t.n, t.q
	if n == 0 {
		n, q = int(e.N), q+1
	}
	if n > 1 {
		return false
	}
	e = j.events.at(q)
	return e != nil && (e.Kind == event.Async || e.Kind == event.AsyncDisable) && e.Flags&event.FlagIntr == 0
}

// strays reports whether the way to the instruction at which e, a Reach, ends does
// not lead through b. Where branches are never silent, no waypoint lies on the way:
// each has an outcome (IHI0035B, 2.1.2 and 4.5.5).
func (j *judge) strays(b *Block, e *event.Event) bool {
	n, ok := b.Boundary(e.IP)
	taken := e.Flags&event.FlagTaken != 0
	told := b.lead&spends != 0 // else it spends no outcome
	if e.IP >= b.End {         // on through b, whose last instruction does not branch
		return (told || !b.lead.goesOn()) && (told && !j.rules.SilentBranches || b.lead&mayFail == 0)
	}
	last := n+1 == int(b.N)
	switch {
	case !ok:
		return true
	case !last:
		return taken // that is no branch
	case taken:
		return !told // a block may end for other reasons than a branch
	}
	return told && !j.rules.SilentBranches
}

// raised reports whether the exception that b's last instruction enters may be
// what the trace states next.
func (j *judge) raised(t *thread, b *Block, e *event.Event) bool {
	if b.lead&mayFail != 0 {
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

// leaving reports whether a branch to ip ends tracing as e, a Disable, says:
// it states ip, or it states nothing and code at ip is filtered out. It states
// nothing at a conditional branch, at a compressed return, and at a direct one
// by erratum SKL014.
func (j *judge) leaving(t *thread, e *event.Event, ip uint64) bool {
	if e.HasIP() {
		return e.IP == ip
	}
	if j.traced == nil {
		return false
	}
	space := t.space
	if j.code.isKernel(ip) {
		space = 0
	}
	return !j.traced(space, ip)
}
