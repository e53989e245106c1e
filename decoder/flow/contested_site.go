package flow

import (
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// option is one version of a contested instruction: pokes up to and including
// took are in effect at its site.
type option struct {
	b    *Block
	took int    // index of the newest poke in effect at the site, or -1: none of the contested ones
	next int    // index of the poke that is not in effect yet, or -1
	wait uint64 // how far the choice lies from the pokes' times, ns
}

// contested returns the block to execute at t.ip. When the code there depends
// on pokes whose moment the clock leaves open, the block ends before them. At
// such a site itself the packets at hand, or what t has seen, may leave one
// version, and contested returns that one. Otherwise it returns nil and forked,
// and w.options holds the possible versions.
func (w *Walker) contested(t *thread) (*Block, status) {
	t.choice, t.either = Certain, false
	if b := w.code.block(t.space, t.ip, t.mode, t.lo, t.hi); b != nil {
		return b, moved
	}
	// Evidence may say more than the clock.
	if t.floor > t.lo {
		if b := w.code.block(t.space, t.ip, t.mode, t.floor, t.hi); b != nil {
			t.choice = t.settledBy()
			return b, moved
		}
	}
	space := w.code.spaceOf(t.space, t.ip)
	one := w.code.read(space, t.ip, t.mode, t.floor, 0, 1)
	n := max(int(one.End-t.ip), 1)
	w.pokes = w.code.text.Between(w.pokes[:0], t.ip, n, t.floor, t.hi)
	if len(w.pokes) == 0 && one.N == 0 && (one.Span.From > t.floor || t.hi >= one.Span.Until) {
		// Unreadable now, readable in another epoch: its bytes come with a poke further on.
		w.pokes = w.code.text.Between(w.pokes[:0], t.ip, w.cfg.ISA.MaxLen(), t.floor, t.hi)
	}
	if len(w.pokes) == 0 {
		// The instruction at ip is plain: go on to the first that is not.
		b := one
		limit := w.firstContested(t, space)
		if limit > one.End {
			b = w.code.read(space, t.ip, t.mode, t.floor, limit, maxInsns)
		}
		return b, moved
	}
	return w.settle(t, space)
}

// firstContested returns the start of the first contested instruction after
// t.ip, in straight line.
func (w *Walker) firstContested(t *thread, space uint32) uint64 {
	b := w.code.read(space, t.ip, t.mode, t.floor, 0, maxInsns)
	pk := w.code.text.Between(w.pokes[:0], t.ip, int(b.End-t.ip)+w.cfg.ISA.MaxLen(), t.floor, t.hi)
	w.pokes = pk
	a := b.Addr
	for _, l := range b.Lens {
		for _, i := range pk {
			p := w.code.text.Poke(i)
			if p.Addr < a+uint64(l) && a < p.Addr+uint64(p.Len) {
				return a
			}
			if p.Len == 0 && slices.Contains(w.code.text.Between(pk[len(pk):], a, int(l), t.floor, t.hi), i) {
				return a
			}
		}
		a += uint64(l)
	}
	return a
}

// settledBy is the verdict of text that what t has seen decides.
func (t *thread) settledBy() Verdict {
	if t.trap {
		return Exception
	}
	return Trace
}

// settle lists the versions of the contested instruction at t.ip and drops
// those that cannot be. w.pokes holds the pokes that contest it:
//
//  1. It starts from the newest poke that t knows to be in effect.
//  2. For each number of further pokes it reads the instruction.
//  3. It drops a version without code, one in which t.ip lies inside an
//     instruction, and one that the packets at hand refute.
//  4. None left: the flow fails. Where t stands is a guess: the likeliest, and
//     nothing is settled. One left: the trace has settled it.
//  5. Several that all do the same: the flow goes on with the likeliest, unless
//     what is to come may tell them apart. Else the flow is forked.
func (w *Walker) settle(t *thread, space uint32) (*Block, status) {
	w.options = w.options[:0]
	pk := w.pokes
	first := t.behind(w.code.text, pk)
	if w.unsafe(pk[first:]) {
		t.doubt = true // until an event says where the flow is
	}
	when := w.estimate(t)
	var reason event.Reason = event.Mismatch
	for j := first; j <= len(pk); j++ {
		o := option{took: -1, next: -1}
		at := t.floor
		if j > 0 {
			o.took = pk[j-1]
			at = event.Epoch(o.took) + 1
			if p := w.code.text.Poke(o.took); p.Time > when {
				o.wait += p.Time - when
			}
		}
		if j < len(pk) {
			o.next = pk[j]
			if p := w.code.text.Poke(o.next); p.Time < when {
				o.wait += when - p.Time
			}
		}
		o.b = w.code.read(space, t.ip, t.mode, at, 0, 1)
		if o.b.N == 0 && w.noText(o) || w.inside(t, space, at, pk) {
			continue
		}
		if r := w.refuted(t, o.b); r != event.ReasonNone {
			reason = r
			continue
		}
		w.options = append(w.options, o)
	}
	switch {
	case len(w.options) == 0:
		return nil, fail(reason)
	case t.doubt:
		// Where the flow is has been guessed: the packets settle nothing.
		w.sortOptions()
		return w.options[0].b, moved
	case len(w.options) == 1:
		o := w.options[0]
		t.choice = t.settledBy()
		if first < len(pk) {
			t.choice = Trace
		}
		w.choose(t, o)
		return o.b, moved
	case w.alike() && !w.worthParting(t):
		// Whichever it was, it led to the same: nothing is learnt.
		w.sortOptions()
		t.choice, t.either = w.whichever(t), true
		return w.options[0].b, moved
	}
	return nil, forked
}

// unsafe reports whether what a CPU executes while pk are made may be another
// instruction than any text's.
func (w *Walker) unsafe(pk []int) bool {
	return slices.ContainsFunc(pk, func(i int) bool { return w.code.text.Poke(i).Unsafe })
}

// choose makes t one in which o is what was executed.
func (w *Walker) choose(t *thread, o option) {
	if o.took >= 0 {
		if p := w.code.text.Poke(o.took); !p.Free {
			if !t.knows(o.took) {
				t.trap = false
				t.saw(w.code.text, o.took)
				w.note(t, w.cut(t, Trace, o.took))
			}
			t.executes(o.took)
		}
		t.dated(w.code.text, o.took) // a trap before says less
	}
	t.penalty += o.wait
}

// alike reports whether all options do the same to the flow.
func (w *Walker) alike() bool {
	a := w.options[0].b
	for _, o := range w.options[1:] {
		b := o.b
		if a.N != b.N || a.End != b.End || a.Class != b.Class || a.Target != b.Target || a.Flags&^isa.FlagNop != b.Flags&^isa.FlagNop {
			return false
		}
	}
	return true
}

// cut is the note that poke i, -1 if none yet, takes effect where t stands.
func (w *Walker) cut(t *thread, v Verdict, i int) Note {
	n := Note{Kind: NoteCut, Verdict: v, Poke: i, IP: t.ip}
	if e := w.events.at(t.q); e != nil {
		n.Event.Off, n.Event.Time = e.Off, e.Time
	}
	return n
}

// noteVersions notes that another version than the first option's may have run
// at t.ip.
func (w *Walker) noteVersions(t *thread) {
	x := w.cut(t, Ambiguous, -1)
	for _, o := range w.options {
		x.Poke = max(x.Poke, o.took)
		if b := o.b; b != w.options[0].b {
			x.Others = append(x.Others, Stretch{IP: b.Addr, End: b.End, N: int(b.N), At: b.Span.From})
		}
	}
	w.note(t, x)
}

// fewThreads is how many cuts are followed at most for the sake of knowing
// which of two versions ran that lead to the same.
const fewThreads = 24

// worthParting reports whether what is to come may tell which of the options
// ran, although they lead to the same. Other code tells it if only one option
// allows that code, as a guarded poke waited for those before it or had ended
// before one of them began. A breakpoint met at their site tells it too.
func (w *Walker) worthParting(t *thread) bool {
	if len(w.threads) >= fewThreads || t.q-w.window.from > w.cfg.MaxEvents/2 {
		return false
	}
	guarded := func(i int) bool { return i >= 0 && w.code.text.Poke(i).Guarded }
	if slices.ContainsFunc(w.options, func(o option) bool { return guarded(o.took) || guarded(o.next) }) && !w.alikeInBytes() {
		return true
	}
	if slices.ContainsFunc(w.options, func(o option) bool { return w.shows(t, o) }) {
		return true
	}
	for i, e := w.nextBreak(t.q); e != nil && i < t.q+maxLook; i, e = w.nextBreak(i + 1) {
		if e.From == t.ip {
			return true
		}
	}
	return false
}

// maxShown is how many pokes are looked at, at most, for what an option shows.
const maxShown = 64

// shows reports whether t, if it executes o, learns that a guarded poke elsewhere
// is in effect, as that had ended when the poke that o took began.
func (w *Walker) shows(t *thread, o option) bool {
	if o.took < 0 {
		return false
	}
	lo, _ := w.code.text.Epochs(event.Time{Lo: w.code.text.Poke(o.took).Begin, Hi: math.MaxUint64})
	for i := t.floor; i < min(lo, t.floor+maxShown); i++ {
		if w.code.text.Poke(int(i)).Guarded && !t.knows(int(i)) {
			return true
		}
	}
	return false
}

// whichever is the verdict where all options lead to the same: Trace where they
// are the same bytes too, else Ambiguous, and the others are told of.
func (w *Walker) whichever(t *thread) Verdict {
	if w.alikeInBytes() {
		return Trace
	}
	w.noteVersions(t)
	return Ambiguous
}

// alikeInBytes reports whether all options, which do the same, are the same bytes.
func (w *Walker) alikeInBytes() bool {
	a := w.options[0].b
	return !slices.ContainsFunc(w.options[1:], func(o option) bool {
		return !w.align.text.sameCode(a, o.b, a.Addr, int(a.End-a.Addr))
	})
}

// refuted says why the packets at hand rule out that the one instruction of b
// is executed now; ReasonNone if they do not.
func (w *Walker) refuted(t *thread, b *Block) event.Reason {
	if b.N == 0 {
		if b.Stop == event.NoText {
			return event.ReasonNone // unknown text refutes nothing
		}
		return b.Stop
	}
	// A conditional branch goes either way, and is left to the walk.
	if b.Class != isa.Cond && w.contradicts(t, b, w.events.at(t.q)) {
		return event.Mismatch
	}
	return event.ReasonNone
}

// estimate returns the likeliest time of what t executes now, ns: where the
// clock gives only bounds, in proportion to the bytes of trace between them.
func (w *Walker) estimate(t *thread) uint64 {
	e := w.events.at(t.q)
	if t.n > 0 && t.q > w.events.base {
		e = w.events.at(t.q - 1)
	}
	lo, hi := e.Time.Lo, e.Time.Hi
	if hi < lo || hi == event.Always.Hi {
		return lo
	}
	if w.cfg.Progress == nil {
		return lo + (hi-lo)/2
	}
	return lo + uint64(float64(hi-lo)*w.cfg.Progress(e.Off))
}

// sortOptions puts the likeliest first.
func (w *Walker) sortOptions() {
	slices.SortStableFunc(w.options, func(a, b option) int {
		switch {
		case a.wait < b.wait:
			return -1
		case a.wait > b.wait:
			return 1
		}
		return 0
	})
}

// noText reports whether there is no text at all, rather than unknown text,
// in the version o: it lies before its code appeared or after it went.
func (w *Walker) noText(o option) bool {
	return (o.next >= 0 && w.code.text.Poke(o.next).Appears) || (o.took >= 0 && w.code.text.Poke(o.took).Goes)
}

// inside reports whether t.ip lies inside an instruction that a poke of pk
// wrote, in the code of epoch at. No patcher lets a CPU be there while it
// writes one instruction over several. Linux waits for all tasks to have left
// (kernel/kprobes.c, do_optimize_kprobes, v6.1).
func (w *Walker) inside(t *thread, space uint32, at event.Epoch, pk []int) bool {
	for _, i := range pk {
		p := w.code.text.Poke(i)
		if p.Addr >= t.ip {
			continue
		}
		b := w.code.read(space, p.Addr, t.mode, at, t.ip, maxInsns)
		if b.N > 0 && b.Class != isa.Break && b.End > t.ip {
			return true
		}
	}
	return false
}
