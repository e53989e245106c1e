package rows

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// branching is the classes that go elsewhere.
const branching = ^isa.ClassSet(1<<isa.Other | 1<<isa.Barrier | 1<<isa.Wait | 1<<isa.SetSpace | 1<<isa.TraceControl)

// branches lists a stream at the levels branch and call. The row of a branch
// needs the address at which the flow goes on, so the branch waits for it. Most
// wait for the next range of their batch alone: of these, the branches that are
// not taken never become rows.
type branches struct {
	folder
	begun   bool // at the level call: it was asked which thread runs
	waits   bool // a branch waits
	pending Row  // its row, once park made it
	place   place
	target  uint64 // its static target
	behind  uint64 // the address behind it

	batch *flow.Batch // whose range from ends in the branch that waits; nil: parked
	from  *flow.Range
}

// ran takes a range.
func (l *branches) ran(b *flow.Batch, x *flow.Range) error {
	k := x.Block
	if l.waits {
		if err := l.resolve(k.Addr); err != nil {
			return err
		}
	}
	if !l.m.queue.others {
		l.m.counts(b, x)
	}
	if endsInBranch(x) {
		l.waits, l.batch, l.from, l.target, l.behind = true, b, x, k.Target, k.End
	}
	return nil
}

// idle reports whether no handler runs, nor waits for its end: with Options.Rare no branch matters then.
func (f *folder) idle() bool { return len(f.frames) == 0 && len(f.held) == 0 }

// rare returns the first range from number i on of which a branch matters with Options.Rare:
// all do while a trap's handler runs. Else it is the one at which the note with number note lies.
func (l *branches) rare(b *flow.Batch, i, note int) int {
	if len(l.frames) > 0 {
		return i
	}
	l.waits = false
	if note < len(b.Notes) {
		return max(i, b.Notes[note].At)
	}
	return max(i, len(b.Ranges))
}

// lent ends a batch, which is lent. Where it says where the flow goes on, nothing waits.
func (l *branches) lent(b *flow.Batch) error {
	if l.waits && l.batch != nil && b.Onward != nil {
		return l.resolve(b.Onward.Addr)
	}
	l.park()
	return nil
}

// park has the branch that waits keep its place while other rows come: those of
// other streams, and of what lies between the ranges of this one.
func (l *branches) park() {
	if l.waits && l.batch != nil {
		l.pending, l.batch = branchRow(l.st, l.batch, l.from), nil
		l.place = l.m.queue.reserve()
	}
}

// endsInBranch reports whether the last instruction of x can go elsewhere.
func endsInBranch(x *flow.Range) bool { return x.N == x.Block.N && branching.Has(x.Block.Class) }

// branchRow returns the row of the branch at the end of x.
func branchRow(st *Stream, b *flow.Batch, x *flow.Range) Row {
	k, r := x.Block, rangeRow(st, b, x)
	r.Kind, r.N, r.IP, r.Class, r.Len = KindBranch, int(x.N), k.LastIP(), k.Class, k.Lens[k.N-1]
	return r
}

// note takes what lies between ranges.
func (l *branches) note(n *flow.Note) error {
	var err error
	l.park()
	switch {
	case !l.waits:
	case foundOff(n):
		err = l.stopped(n.IP)
	case n.Kind == flow.NoteTrackOff && n.Event.Kind == event.Disable:
		r := &l.pending
		r.Transfer, r.HasAddr, r.Addr = TransferTraceEnd|l.m.names.transferOf(r), n.Event.HasIP(), n.Event.IP
		return l.settle(r)
	case statesSource(n):
		err = l.resolve(sourceOf(n))
	}
	if err != nil {
		return err
	}
	return l.moved(n)
}

// resolve ends the wait: the flow went on at next.
func (l *branches) resolve(next uint64) error {
	l.waits = false
	if l.batch == nil {
		return l.m.queue.fill(l.place, func() error { return l.taken(&l.pending, l.target, l.behind, next) })
	}
	k := l.from.Block
	if k.Class == isa.Cond && (next != l.target || next == l.behind) {
		return nil // as taken says
	}
	if l.tree != nil && l.tree.quiet(l, k) {
		l.seen++
		return nil
	}
	l.pending = branchRow(l.st, l.batch, l.from)
	return l.taken(&l.pending, l.target, l.behind, next)
}

// settle ends the wait: r is the row of the branch.
func (l *branches) settle(r *Row) error {
	l.waits = false
	return l.m.queue.fill(l.place, func() error { return l.fold(r) })
}

// stopped ends the wait: tracing was found off, and the flow stood at ip.
func (l *branches) stopped(ip uint64) error {
	if ip != l.behind || !leavesUnsaid(l.pending.Class) {
		return l.resolve(ip)
	}
	l.pending.Transfer = l.m.names.transferOf(&l.pending)
	return l.settle(&l.pending)
}

// end makes the row of the branch that still waits.
func (l *branches) end() error {
	err := l.last()
	if e := l.unfold(); err == nil {
		err = e
	}
	return err
}

// last ends the wait: nothing follows.
func (l *branches) last() error {
	l.park()
	if !l.waits {
		return nil
	}
	r := &l.pending
	switch r.Class {
	case isa.Cond:
		return l.resolve(l.behind)
	case isa.Jump, isa.Call:
		return l.resolve(l.target)
	}
	r.Transfer = l.m.names.transferOf(r)
	return l.settle(r)
}

// leavesUnsaid reports whether a branch of class c goes elsewhere, always, and
// its code does not say where.
func leavesUnsaid(c isa.Class) bool {
	return branching.Has(c) && c != isa.Cond && c != isa.Jump && c != isa.Call
}

// taken makes the row of a branch after which the flow went on at next, if the
// branch was taken. If trace was lost in between, next may be a place to which a
// direct branch cannot go. A jump or call still went to its target. Whether a
// conditional branch was taken is then not known.
func (f *folder) taken(r *Row, target, behind, next uint64) error {
	if !f.m.names.leads(r, target, behind, next) {
		return nil
	}
	return f.fold(r)
}

// leads gives r, a branch, where it led, and reports whether it was taken: see taken.
func (n *Names) leads(r *Row, target, behind, next uint64) bool {
	if next == behind && target != behind && maySkip(r.Mode, r.Class) {
		return false
	}
	switch r.Class {
	case isa.Cond:
		if next != target || next == behind {
			return false
		}
	case isa.Jump, isa.Call:
		next = target
	}
	r.HasAddr, r.Addr, r.Transfer = true, next, n.transferOf(r)
	return true
}

// maySkip reports whether the flow can go on behind a branch of a mode and a class
// without one. In A32 and T32 any instruction may have a condition that it fails. A system call of
// A64 ends where its exception is taken from.
func maySkip(m isa.Mode, c isa.Class) bool {
	if m == isa.ModeA32 || m == isa.ModeT32 {
		return true
	}
	return c == isa.Syscall && m.RaisesSyscalls()
}

// foundOff reports whether n says that tracing was found off, and where the
// flow stood then. It stood behind the last branch, or at that branch's end if
// its destination was lost.
func foundOff(n *flow.Note) bool {
	return n.Kind == flow.NoteTrackOff && n.Event.Kind == event.Off && n.Event.Flags&event.FlagHere != 0
}

// statesSource reports whether n says where the flow was just before it.
func statesSource(n *flow.Note) bool {
	switch n.Kind {
	case flow.NoteGap:
		return n.Gap.IP != 0
	case flow.NoteTrap:
		return true
	case flow.NoteTrackOff:
		return n.Event.Kind == event.AsyncDisable
	case flow.NoteEvent:
		return n.Event.Kind == event.Async || (n.Event.Kind == event.Status && n.Event.HasIP())
	}
	return false
}

// sourceOf returns that address.
func sourceOf(n *flow.Note) uint64 {
	switch {
	case n.Kind == flow.NoteGap:
		return n.Gap.IP
	case n.Event.Kind == event.Status:
		return n.Event.IP
	}
	return n.Event.From
}

// moved makes the row of a note that is a transfer, or of any other note.
func (f *folder) moved(n *flow.Note) error {
	switch n.Kind {
	case flow.NoteTrackOff:
		if n.Event.Kind == event.Off && !foundOff(n) {
			return f.other(n) // it was off before
		}
	case flow.NoteTrap, flow.NoteTrackOn:
	case flow.NoteEvent:
		if n.Event.Kind != event.Async {
			return f.other(n)
		}
	case flow.NoteGap:
		f.settled, f.led = true, NoTransfer
		if err := f.entered(nil); err != nil {
			return err
		}
		if err := f.unfold(); err != nil {
			return err
		}
		return f.other(n)
	default:
		return f.other(n)
	}
	if f.m.o.Rare && n.Kind != flow.NoteTrap && f.idle() {
		return nil // no branch, that is
	}
	f.row = f.transfer(n)
	return f.fold(&f.row)
}

// transfer returns the row of a note that moves the flow.
func (s *stream) transfer(n *flow.Note) Row {
	e := &n.Event
	r := Row{
		Kind: KindBranch, Stream: s.st, Time: e.Time, Poke: n.Poke,
		IP: e.From, Addr: e.IP, HasAddr: e.HasIP(), Space: n.Space, Span: event.EveryEpoch,
	}
	switch n.Kind {
	case flow.NoteTrap:
		if r.Transfer, r.Trap = TransferTrap, n.Trap; n.Poke >= 0 {
			r.Verdict = n.Verdict
		}
	case flow.NoteTrackOn:
		r.Transfer, r.IP = TransferTraceStart, 0
	case flow.NoteTrackOff:
		if r.Transfer = TransferTraceEnd; e.Kind == event.AsyncDisable {
			r.Transfer |= TransferInterrupt
		} else {
			r.IP = n.IP
		}
	default:
		if r.Transfer = TransferInterrupt; e.Flags&event.FlagAbort != 0 {
			r.Transfer = TransferAbort
		}
		r.HasAddr = true
	}
	return r
}
