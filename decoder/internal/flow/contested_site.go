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

// site settles which code a thread executes where a poke's moment lies inside what
// the clock allows. It reads the window to know whether another cut is worth it, and
// writes the cuts that it finds into the thread's flow.
type site struct {
	code     *reader
	events   *queue
	ahead    *lookout
	judge    *judge
	window   *window
	out      *writer
	progress func(off int64) float64 // see Config

	pokes   []int    // that contest the instruction
	options []option // what settle found
}

// contested returns the block to execute at t.ip. When the code there depends
// on pokes whose moment the clock leaves open, the block ends before them. At
// such a site itself the packets at hand, or what t has seen, may leave one
// version, and contested returns that one. Otherwise it returns nil and forked,
// and s.options holds the possible versions.
func (s *site) contested(t *thread) (*Block, status) {
	t.choice, t.either = Certain, false
	if b := s.code.block(t.space, t.ip, t.mode, t.lo, t.hi); b != nil {
		return b, moved
	}
	// Evidence may say more than the clock.
	if t.floor > t.lo {
		if b := s.code.block(t.space, t.ip, t.mode, t.floor, t.hi); b != nil {
			t.choice = t.settledBy()
			return b, moved
		}
	}
	space := s.code.spaceOf(t.space, t.ip)
	one := s.code.read(space, t.ip, t.mode, t.floor, 0, 1)
	n := max(int(one.End-t.ip), 1)
	s.pokes = s.code.text.Between(s.pokes[:0], t.ip, n, t.floor, t.hi)
	if len(s.pokes) == 0 && one.N == 0 && (one.Span.From > t.floor || t.hi >= one.Span.Until) {
		// Unreadable now, readable in another epoch: its bytes come with a poke further on.
		s.pokes = s.code.text.Between(s.pokes[:0], t.ip, s.code.dec.MaxLen(), t.floor, t.hi)
	}
	if len(s.pokes) == 0 {
		// The instruction at ip is plain: go on to the first that is not.
		b := one
		limit := s.firstContested(t, space, t.ip, t.mode)
		if limit > one.End {
			b = s.code.read(space, t.ip, t.mode, t.floor, limit, maxInsns)
		}
		return b, moved
	}
	return s.settle(t, space)
}

// firstContested returns the start of the first instruction from ip on, in
// straight line, that is contested as far as t knows.
func (s *site) firstContested(t *thread, space uint32, ip uint64, m isa.Mode) uint64 {
	b := s.code.read(space, ip, m, t.floor, 0, maxInsns)
	pk := s.code.text.Between(s.pokes[:0], ip, int(b.End-ip)+s.code.dec.MaxLen(), t.floor, t.hi)
	s.pokes = pk
	a := b.Addr
	for _, l := range b.Lens {
		for _, i := range pk {
			p := s.code.text.Poke(i)
			if p.Addr < a+uint64(l) && a < p.Addr+uint64(p.Len) {
				return a
			}
			if p.Len == 0 && slices.Contains(s.code.text.Between(pk[len(pk):], a, int(l), t.floor, t.hi), i) {
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
// those that cannot be. s.pokes holds the pokes that contest it:
//
//  1. It starts from the newest poke that t knows to be in effect.
//  2. For each number of further pokes it reads the instruction.
//  3. It drops a version without code, one in which t.ip lies inside an
//     instruction, and one that the packets at hand refute.
//  4. None left: the flow fails. Where t stands is a guess: the likeliest, and
//     nothing is settled. One left: the trace has settled it.
//  5. Several that all do the same: the flow goes on with the likeliest, unless
//     what is to come may tell them apart. Else the flow is forked.
func (s *site) settle(t *thread, space uint32) (*Block, status) {
	s.options = s.options[:0]
	pk := s.pokes
	first := t.behind(s.code.text, pk)
	if s.unsafe(pk[first:]) {
		t.doubt = true // until an event says where the flow is
	}
	when := s.estimate(t)
	var reason event.Reason = event.Mismatch
	for j := first; j <= len(pk); j++ {
		o := option{took: -1, next: -1}
		at := t.floor
		if j > 0 {
			o.took = pk[j-1]
			at = event.Epoch(o.took) + 1
			if p := s.code.text.Poke(o.took); p.Time > when {
				o.wait += p.Time - when
			}
		}
		if j < len(pk) {
			o.next = pk[j]
			if p := s.code.text.Poke(o.next); p.Time < when {
				o.wait += when - p.Time
			}
		}
		o.b = s.code.read(space, t.ip, t.mode, at, 0, 1)
		if o.b.N == 0 && s.noText(o) || s.inside(t, space, at, pk) {
			continue
		}
		if r := s.refuted(t, o.b); r != event.ReasonNone {
			reason = r
			continue
		}
		s.options = append(s.options, o)
	}
	switch {
	case len(s.options) == 0:
		return nil, fail(reason)
	case t.doubt, t.shadow && len(s.options) > 1:
		t.doubt = true
		// Where the flow is has been guessed: the packets settle nothing.
		s.sortOptions()
		return s.options[0].b, moved
	case len(s.options) == 1:
		o := s.options[0]
		t.choice = t.settledBy()
		if first < len(pk) {
			t.choice = Trace
		}
		s.choose(t, o)
		return o.b, moved
	case s.alike() && !s.worthParting(t):
		// Whichever it was, it led to the same: nothing is learnt.
		s.sortOptions()
		t.choice, t.either = s.whichever(t), true
		return s.options[0].b, moved
	}
	return nil, forked
}

// unsafe reports whether what a CPU executes while pk are made may be another
// instruction than any text's.
func (s *site) unsafe(pk []int) bool {
	return slices.ContainsFunc(pk, func(i int) bool { return s.code.text.Poke(i).Unsafe })
}

// choose makes t one in which o is what was executed.
func (s *site) choose(t *thread, o option) {
	if o.took >= 0 {
		if p := s.code.text.Poke(o.took); !p.Free {
			if !t.knows(o.took) {
				t.trap = false
				t.saw(s.code.text, o.took)
				s.out.note(t, s.cut(t, Trace, o.took))
			}
			t.executes(o.took)
		}
		t.dated(s.code.text, o.took) // a trap before says less
	}
	t.penalty += o.wait
}

// alike reports whether all options do the same to the flow.
func (s *site) alike() bool {
	a := s.options[0].b
	for _, o := range s.options[1:] {
		b := o.b
		if a.N != b.N || a.End != b.End || a.Class != b.Class || a.Target != b.Target || a.Flags&^isa.FlagNop != b.Flags&^isa.FlagNop {
			return false
		}
	}
	return true
}

// cut is the note that poke i, -1 if none yet, takes effect where t stands.
func (s *site) cut(t *thread, v Verdict, i int) Note {
	n := Note{Kind: NoteCut, Verdict: v, Poke: i, IP: t.ip}
	if e := s.events.at(t.q); e != nil {
		n.Event.Off, n.Event.Time = e.Off, e.Time
	}
	return n
}

// noteVersions notes that another version than the first option's may have run
// at t.ip.
func (s *site) noteVersions(t *thread) {
	x := s.cut(t, Ambiguous, -1)
	for _, o := range s.options {
		x.Poke = max(x.Poke, o.took)
		if b := o.b; b != s.options[0].b {
			x.Others = append(x.Others, Stretch{IP: b.Addr, End: b.End, N: int(b.N), At: b.Span.From})
		}
	}
	s.out.note(t, x)
}

// fewThreads is how many cuts are followed at most for the sake of knowing
// which of two versions ran that lead to the same.
const fewThreads = 24

// worthParting reports whether what is to come may tell which of the options
// ran, although they lead to the same. Other code tells it if only one option
// allows that code, as a guarded poke waited for those before it or had ended
// before one of them began. A breakpoint met at their site tells it too.
func (s *site) worthParting(t *thread) bool {
	if len(s.window.threads) >= fewThreads || t.q-s.window.from > s.window.cfg.MaxEvents/2 {
		return false
	}
	guarded := func(i int) bool { return i >= 0 && s.code.text.Poke(i).Guarded }
	if slices.ContainsFunc(s.options, func(o option) bool { return guarded(o.took) || guarded(o.next) }) && !s.alikeInBytes() {
		return true
	}
	if slices.ContainsFunc(s.options, func(o option) bool { return s.shows(t, o) }) {
		return true
	}
	for i, e := s.ahead.nextBreak(t.q); e != nil && i < t.q+maxLook; i, e = s.ahead.nextBreak(i + 1) {
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
func (s *site) shows(t *thread, o option) bool {
	if o.took < 0 {
		return false
	}
	lo, _ := s.code.text.Epochs(event.Time{Lo: s.code.text.Poke(o.took).Begin, Hi: math.MaxUint64})
	for i := t.floor; i < min(lo, t.floor+maxShown); i++ {
		if s.code.text.Poke(int(i)).Guarded && !t.knows(int(i)) {
			return true
		}
	}
	return false
}

// whichever is the verdict where all options lead to the same: Trace where they
// are the same bytes too, else Ambiguous, and the others are told of.
func (s *site) whichever(t *thread) Verdict {
	if s.alikeInBytes() {
		return Trace
	}
	s.noteVersions(t)
	return Ambiguous
}

// alikeInBytes reports whether all options, which do the same, are the same bytes.
func (s *site) alikeInBytes() bool {
	a := s.options[0].b
	return !slices.ContainsFunc(s.options[1:], func(o option) bool {
		return !s.window.align.text.sameCode(a, o.b, a.Addr, int(a.End-a.Addr))
	})
}

// refuted says why the packets at hand rule out that the one instruction of b
// is executed now; ReasonNone if they do not.
func (s *site) refuted(t *thread, b *Block) event.Reason {
	if b.N == 0 {
		if b.Stop == event.NoText {
			return event.ReasonNone // unknown text refutes nothing
		}
		return b.Stop
	}
	// A conditional branch goes either way, and is left to the walk.
	if b.Class != isa.Cond && s.judge.contradicts(t, b, s.events.at(t.q)) {
		return event.Mismatch
	}
	return event.ReasonNone
}

// estimate returns the likeliest time of what t executes now, ns: where the
// clock gives only bounds, in proportion to the bytes of trace between them.
func (s *site) estimate(t *thread) uint64 {
	e := s.events.at(t.q)
	if t.n > 0 && t.q > s.events.base {
		e = s.events.at(t.q - 1)
	}
	lo, hi := e.Time.Lo, e.Time.Hi
	if hi < lo || hi == event.Always.Hi {
		return lo
	}
	if s.progress == nil {
		return lo + (hi-lo)/2
	}
	return lo + uint64(float64(hi-lo)*s.progress(e.Off))
}

// sortOptions puts the likeliest first.
func (s *site) sortOptions() {
	slices.SortStableFunc(s.options, func(a, b option) int {
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
func (s *site) noText(o option) bool {
	return (o.next >= 0 && s.code.text.Poke(o.next).Appears) || (o.took >= 0 && s.code.text.Poke(o.took).Goes)
}

// inside reports whether t.ip lies inside an instruction that a poke of pk
// wrote, in the code of epoch at. No patcher lets a CPU be there while it
// writes one instruction over several. Linux waits for all tasks to have left
// (kernel/kprobes.c, do_optimize_kprobes, v6.1).
func (s *site) inside(t *thread, space uint32, at event.Epoch, pk []int) bool {
	for _, i := range pk {
		p := s.code.text.Poke(i)
		if p.Addr >= t.ip {
			continue
		}
		b := s.code.read(space, p.Addr, t.mode, at, t.ip, maxInsns)
		if b.N > 0 && b.Class != isa.Break && b.End > t.ip {
			return true
		}
	}
	return false
}
