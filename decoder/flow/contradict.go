package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// What the trace must say for a block to be what is executed next. take asks
// before it executes one. refuted asks for each version of a contested
// instruction.

// contradicts reports whether b's last instruction cannot be executed by t: the
// outcomes in hand, or e, the next event, say something else.
func (w *Walker) contradicts(t *thread, b *Block, e *event.Event) bool {
	if t.n == 0 && e.Kind == event.Reach {
		return w.strays(b, e)
	}
	l := b.lead
	switch {
	case l&spends != 0:
		return w.contradictsOutcome(t, b, e)
	case w.compressed(b) && (t.n > 0 || e.Kind == event.Outcomes):
		return t.peek(e)>>63 == 0 || t.stack.n == 0 && !t.stack.part
	}
	switch l & place {
	case toStated, toFar:
		return !(e.Kind == event.Target && e.HasIP()) && !w.ending(t, b, e)
	case toTrap: // an exception would state its address
		return l&mayFail == 0
	case toRaised:
		return !w.raised(t, b, e)
	}
	return false
}

// contradictsOutcome is contradicts where b's last instruction spends an outcome.
func (w *Walker) contradictsOutcome(t *thread, b *Block, e *event.Event) bool {
	l := b.lead
	if t.n == 0 && (e.Kind != event.Outcomes || e.N == 0) {
		unsaid := w.cfg.Rules.SilentBranches && e.Kind == event.Async && l&mayFail != 0
		return !unsaid && !w.ending(t, b, e) && !w.undecidable(t, b, e)
	}
	if t.peek(e)>>63 == 0 {
		return l&mayFail == 0
	}
	return l&place == toTrap && !w.leftBehind(t, e)
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
func (w *Walker) compressed(b *Block) bool {
	return b.lead&(spends|returns) == returns && w.cfg.Rules.Returns == isa.ReturnsCompressed
}

// ending reports whether b's last instruction ends tracing, as e says.
func (w *Walker) ending(t *thread, b *Block, e *event.Event) bool {
	if t.n > 0 || e.Kind != event.Disable {
		return false
	}
	p := b.lead & place
	if b.lead&spends != 0 || p == toTarget {
		return w.leaving(t, e, b.Target)
	}
	return p == toStated || p == toFar
}

// undecidable reports whether the trace leaves out what would say where b leads.
func (w *Walker) undecidable(t *thread, b *Block, e *event.Event) bool {
	if !w.cfg.Rules.NoOutcomes || t.n > 0 || e.Kind == event.Outcomes {
		return false
	}
	if b.lead&spends != 0 {
		return !w.ending(t, b, e)
	}
	return w.compressed(b) && (t.stack.n > 0 || t.stack.part) // it may have been compressed
}

// leftBehind reports whether the next outcome, in hand or in e, is the last before
// an exception: then it is that of the instruction that the exception tells of.
func (w *Walker) leftBehind(t *thread, e *event.Event) bool {
	n, q := t.n, t.q
	if n == 0 {
		n, q = int(e.N), q+1
	}
	if n > 1 {
		return false
	}
	e = w.events.at(q)
	return e != nil && (e.Kind == event.Async || e.Kind == event.AsyncDisable)
}

// strays reports whether the way to the instruction at which e, a Reach, ends does
// not lead through b. Where branches are never silent, no waypoint lies on the way:
// each has an outcome (IHI0035B, 2.1.2 and 4.5.5).
func (w *Walker) strays(b *Block, e *event.Event) bool {
	n, ok := b.Boundary(e.IP)
	taken := e.Flags&event.FlagTaken != 0
	told := b.lead&spends != 0 // else it spends no outcome
	if e.IP >= b.End {         // on through b, whose last instruction does not branch
		return (told || !b.lead.goesOn()) && (told && !w.cfg.Rules.SilentBranches || b.lead&mayFail == 0)
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
	return told && !w.cfg.Rules.SilentBranches
}

// raised reports whether the exception that b's last instruction enters may be
// what the trace states next.
func (w *Walker) raised(t *thread, b *Block, e *event.Event) bool {
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
