package rows

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// branchesBack is branches, backwards: the address at which the flow goes on is
// there already when its branch comes.
type branchesBack struct {
	folder
	known  bool   // next is known
	next   uint64 // where the flow goes on
	seen   bool   // something is known of what lies behind
	off    bool   // tracing was found off at next
	offRow *Row   // tracing went off: waits for the branch that it was
}

// ran takes a range.
func (l *branchesBack) ran(b *flow.Batch, x *flow.Range) error {
	l.m.counts(b, x)
	if endsInBranch(x) {
		if err := l.branched(branchRow(l.st, b, x), x.Block); err != nil {
			return err
		}
	}
	l.goesOn(x.Block.Addr)
	return nil
}

// goesOn notes where the flow goes on.
func (l *branchesBack) goesOn(ip uint64) { l.known, l.seen, l.off, l.next = true, true, false, ip }

// branched makes the row of the branch at the end of k: where the flow went on
// is known, or tracing ended there.
func (l *branchesBack) branched(r Row, k *flow.Block) error {
	if off := l.offRow; off != nil {
		l.offRow = nil
		off.IP, off.Class, off.Space, off.Mode, off.Len, off.Span = r.IP, r.Class, r.Space, r.Mode, r.Len, r.Span
		off.Verdict, off.Time = r.Verdict, r.Time
		off.Transfer = TransferTraceEnd | l.m.names.transferOf(&r)
		return l.fold(off)
	}
	unsaid := leavesUnsaid(r.Class)
	switch {
	case l.known && !(l.off && l.next == k.End && unsaid):
		return l.taken(&r, k.Target, k.End, l.next)
	case !l.known && (r.Class == isa.Jump || r.Class == isa.Call):
		return l.taken(&r, k.Target, k.End, k.Target)
	case l.known, unsaid && !l.seen: // the trace ends here
		r.Transfer = l.m.names.transferOf(&r)
		return l.fold(&r)
	}
	return nil
}

// note takes what lies between ranges.
func (l *branchesBack) note(n *flow.Note) error {
	if err := l.wentOff(); err != nil {
		return err
	}
	if n.Kind == flow.NoteTrackOff && n.Event.Kind == event.Disable {
		r := l.transfer(n)
		l.offRow, l.known = &r, false
		return nil
	}
	err := l.moved(n)
	switch {
	case statesSource(n):
		l.goesOn(sourceOf(n))
	case foundOff(n):
		l.goesOn(n.IP)
		l.off = true
	case n.Kind == flow.NoteTrackOn:
		l.known, l.seen = false, true
	}
	return err
}

// wentOff makes the row of tracing that went off, if it still waits: no branch
// is seen there.
func (l *branchesBack) wentOff() error {
	r := l.offRow
	if r == nil {
		return nil
	}
	l.offRow = nil
	return l.fold(r)
}

// end makes the rows that still wait.
func (l *branchesBack) end() error {
	err := l.wentOff()
	if e := l.entered(nil); err == nil {
		err = e
	}
	if e := l.unfold(); err == nil {
		err = e
	}
	return err
}
