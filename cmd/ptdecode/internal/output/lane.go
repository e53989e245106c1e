package output

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// lane makes rows of one stream's flow. A branch's row needs the address at
// which the flow goes on: read forwards, the branch waits for it; read
// backwards, it is there already.
type lane struct {
	p     *Printer
	st    *Stream
	mode  Level
	calls callTree

	folder folder

	// Level element: the gap behind which nothing was executed yet, for want of
	// machine code; backwards the exception before which nothing was, and slot is
	// the place of the row that may lie between the two.
	unread *flow.Note

	// Forwards: the branch that waits, and its place among the rows.
	waits   bool
	pending Row
	slot    slot
	target  uint64 // the pending branch's static target
	end     uint64 // the address behind it

	// Backwards: where the flow goes on.
	known  bool
	next   uint64
	offRow *Row // tracing went off: waits for the branch that it was
	behind bool // something was executed behind it
	off    bool // there tracing was found off
}

func newLane(p *Printer, st *Stream) *lane {
	return &lane{p: p, st: st, mode: p.o.Level, calls: newCallTree(p.backward)}
}

// ran takes a range.
func (ln *lane) ran(b *flow.Batch, r *flow.Range) error {
	k := r.Block
	row := Row{
		Stream: ln.st, Time: b.Stamps[r.Stamp].Time, Verdict: r.Verdict, Poke: -1,
		Space: k.Space, Mode: k.Mode, Span: k.Span, IP: k.Addr,
	}
	switch ln.mode {
	case LevelInsn:
		return ln.insns(row, r)
	case LevelElement:
		return ln.element(row, r)
	case LevelBlock:
		row.Kind, row.N, row.HasAddr, row.Addr = RowBlock, int(r.N), true, k.Addr
		for _, l := range k.Lens[:r.N] {
			row.Addr += uint64(l)
		}
		if r.N == k.N {
			row.Class = k.Class
		}
		return ln.p.row(&row)
	}
	if ln.waits {
		if err := ln.resolve(k.Addr); err != nil {
			return err
		}
	}
	ln.p.counter.count(r)
	row.Kind, row.N = RowBranch, int(r.N)
	if branches := r.N == k.N && branching.Has(k.Class); branches {
		row.IP, row.Class, row.Len = k.LastIP(), k.Class, k.Lens[k.N-1]
		if ln.p.backward {
			if err := ln.branched(row, k); err != nil {
				return err
			}
		} else {
			ln.waits, ln.pending, ln.target, ln.end = true, row, k.Target, k.End
			ln.slot = ln.p.reserve()
		}
	}
	ln.goesOn(k.Addr)
	return nil
}

// insns makes a row of each instruction of r.
func (ln *lane) insns(row Row, r *flow.Range) error {
	k := r.Block
	row.N = 1
	if ln.p.backward {
		a := k.Addr
		for _, l := range k.Lens[:r.N] {
			a += uint64(l)
		}
		for i := int(r.N) - 1; i >= 0; i-- {
			a -= uint64(k.Lens[i])
			if err := ln.insn(row, k, i, a); err != nil {
				return err
			}
		}
		return nil
	}
	a := k.Addr
	for i, l := range k.Lens[:r.N] {
		if err := ln.insn(row, k, i, a); err != nil {
			return err
		}
		a += uint64(l)
	}
	return nil
}

// insn makes the row of instruction i of k, which lies at a.
func (ln *lane) insn(row Row, k *flow.Block, i int, a uint64) error {
	row.IP, row.Len = a, k.Lens[i]
	if i == int(k.N)-1 {
		row.Class = k.Class
	}
	return ln.p.row(&row)
}

// branching is the classes that go elsewhere.
const branching = ^isa.ClassSet(1<<isa.Other | 1<<isa.Barrier | 1<<isa.Wait | 1<<isa.SetSpace | 1<<isa.TraceControl)

// resolve ends the wait: the flow went on at next.
func (ln *lane) resolve(next uint64) error {
	ln.waits = false
	ln.p.fill(ln.slot)
	err := ln.taken(&ln.pending, ln.target, ln.end, next)
	if e := ln.p.filled(); err == nil {
		err = e
	}
	return err
}

// settle ends the wait: r is the row of the branch.
func (ln *lane) settle(r *Row) error {
	ln.waits = false
	ln.p.fill(ln.slot)
	err := ln.emit(r)
	if e := ln.p.filled(); err == nil {
		err = e
	}
	return err
}

// taken makes the row of a branch after which the flow went on at next, if it
// was taken. Where the trace was lost in between, next is not where a direct
// branch can go: a jump or call went to its target all the same, and of a
// conditional branch nothing is known.
func (ln *lane) taken(r *Row, target, end, next uint64) error {
	if next == end && target != end && falls(r) {
		return nil
	}
	switch r.Class {
	case isa.Cond:
		if next != target || next == end {
			return nil
		}
	case isa.Jump, isa.Call:
		next = target
	}
	r.HasAddr, r.Addr, r.Flags = true, next, ln.p.flags(r)
	return ln.emit(r)
}

// falls reports whether r, if the flow goes on behind it, goes nowhere by itself:
// in Arm's older instruction sets any instruction may have a condition that it
// fails, and a system call ends where its exception is taken from.
func falls(r *Row) bool {
	switch r.Mode {
	case isa.ModeA32, isa.ModeT32:
		return true
	case isa.ModeA64:
		return r.Class == isa.Syscall
	}
	return false
}

// branched is taken, backwards: where the flow went on is known, or tracing
// ended there.
func (ln *lane) branched(r Row, k *flow.Block) error {
	if off := ln.offRow; off != nil {
		ln.offRow = nil
		off.IP, off.Class, off.Space, off.Mode, off.Len, off.Span = r.IP, r.Class, r.Space, r.Mode, r.Len, r.Span
		off.Verdict, off.Time = r.Verdict, r.Time
		off.Flags = "tr end " + ln.p.flags(&r)
		return ln.emit(off)
	}
	if !ln.known {
		switch {
		case r.Class == isa.Jump || r.Class == isa.Call:
			return ln.taken(&r, k.Target, k.End, k.Target)
		case r.Class != isa.Cond && !ln.behind: // the trace ends here
			r.Flags = ln.p.flags(&r)
			return ln.emit(&r)
		}
		return nil
	}
	if ln.off && ln.next == k.End && leaps.Has(r.Class) && r.Class != isa.Jump && r.Class != isa.Call {
		r.Flags = ln.p.flags(&r)
		return ln.emit(&r)
	}
	return ln.taken(&r, k.Target, k.End, ln.next)
}

// note takes what lies between ranges.
func (ln *lane) note(n *flow.Note) error {
	if ln.mode == LevelElement {
		return ln.noteElement(n)
	}
	if ln.mode != LevelBranch && ln.mode != LevelCall {
		return ln.other(n)
	}
	if ln.p.backward {
		return ln.noteBack(n)
	}
	switch {
	case !ln.waits:
	case stood(n):
		if err := ln.stopped(n.IP); err != nil {
			return err
		}
	case n.Kind == flow.NoteTrackOff && n.Event.Kind == event.Disable:
		r := &ln.pending
		r.Flags, r.HasAddr, r.Addr = "tr end "+ln.p.flags(r), n.Event.HasIP(), n.Event.IP
		return ln.settle(r)
	case states(n):
		if err := ln.resolve(from(n)); err != nil {
			return err
		}
	}
	return ln.moved(n)
}

// stood reports whether n says that tracing was found off, and where the flow
// stood then: behind the last branch, or at its source's end where the address
// that it led to was lost with what follows.
func stood(n *flow.Note) bool {
	return n.Kind == flow.NoteTrackOff && n.Event.Kind == event.Off && n.Event.Flags&event.FlagHere != 0
}

// stopped ends the wait: tracing was found off, and the flow stood at ip.
func (ln *lane) stopped(ip uint64) error {
	if c := ln.pending.Class; ip != ln.end || !leaps.Has(c) || c == isa.Jump || c == isa.Call {
		return ln.resolve(ip)
	}
	ln.pending.Flags = ln.p.flags(&ln.pending)
	return ln.settle(&ln.pending)
}

// leaps is the classes that do not go on to the next instruction.
const leaps = branching &^ (1 << isa.Cond)

// goesOn notes, backwards, where the flow goes on.
func (ln *lane) goesOn(ip uint64) { ln.known, ln.behind, ln.off, ln.next = true, true, false, ip }

// noteBack is note, backwards.
func (ln *lane) noteBack(n *flow.Note) error {
	if off := ln.offRow; off != nil {
		ln.offRow = nil
		if err := ln.emit(off); err != nil {
			return err
		}
	}
	if n.Kind == flow.NoteTrackOff && n.Event.Kind == event.Disable {
		r := ln.transfer(n)
		ln.offRow, ln.known = &r, false
		return nil
	}
	err := ln.moved(n)
	switch {
	case states(n):
		ln.goesOn(from(n))
	case stood(n):
		ln.goesOn(n.IP)
		ln.off = true
	case n.Kind == flow.NoteTrackOn:
		ln.known, ln.behind = false, true
	}
	return err
}

// states reports whether n says where the flow was just before it.
func states(n *flow.Note) bool {
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

// from returns that address.
func from(n *flow.Note) uint64 {
	switch {
	case n.Kind == flow.NoteGap:
		return n.Gap.IP
	case n.Event.Kind == event.Status:
		return n.Event.IP
	}
	return n.Event.From
}

// moved makes the row of a note that is a transfer; the others go their way.
func (ln *lane) moved(n *flow.Note) error {
	switch n.Kind {
	case flow.NoteTrackOff:
		if n.Event.Kind == event.Off && !stood(n) {
			return ln.other(n) // it was off before
		}
	case flow.NoteTrap, flow.NoteTrackOn:
	case flow.NoteEvent:
		if n.Event.Kind != event.Async {
			return ln.other(n)
		}
	default:
		return ln.other(n)
	}
	r := ln.transfer(n)
	return ln.emit(&r)
}

// transfer returns the row of a note that moves the flow.
func (ln *lane) transfer(n *flow.Note) Row {
	e := &n.Event
	r := Row{
		Kind: RowBranch, Stream: ln.st, Time: e.Time, Poke: n.Poke,
		IP: e.From, Addr: e.IP, HasAddr: e.HasIP(), Span: event.EveryEpoch,
	}
	switch n.Kind {
	case flow.NoteTrap:
		if r.Flags, r.Trap = "trap", n.Trap; n.Poke >= 0 {
			r.Verdict = n.Verdict
		}
	case flow.NoteTrackOn:
		r.Flags, r.IP = "tr strt", 0
	case flow.NoteTrackOff:
		if r.Flags = "tr end"; e.Kind == event.AsyncDisable {
			r.Flags = "tr end hw int"
		} else {
			r.IP = n.IP
		}
	default:
		if r.Flags = "hw int"; e.Flags&event.FlagAbort != 0 {
			r.Flags = "tx abrt"
		}
		r.HasAddr = true
	}
	return r
}

// other makes the row of a note that moves nothing.
func (ln *lane) other(n *flow.Note) error {
	r := Row{Kind: RowEvent, Stream: ln.st, Time: n.Event.Time, IP: n.IP, Poke: n.Poke, Verdict: n.Verdict, Event: n}
	if n.Kind == flow.NoteGap {
		if err := ln.unfold(); err != nil {
			return err
		}
		r.Kind, r.Time, r.IP = RowGap, n.Gap.Time, n.Gap.IP
		return ln.p.row(&r)
	}
	if !ln.p.o.Notes && !ln.p.o.JSON {
		return nil
	}
	return ln.p.row(&r)
}

// emit passes a branch on, or makes a call of it.
func (ln *lane) emit(r *Row) error {
	switch {
	case ln.p.o.RawTraps:
		return ln.pass(r)
	case ln.p.backward:
		return ln.foldBack(r)
	}
	return ln.fold(r)
}

// finish is called when nothing follows.
func (ln *lane) finish() error {
	if ln.mode == LevelElement {
		return nil
	}
	err := ln.last()
	if e := ln.unfold(); err == nil {
		err = e
	}
	return err
}

// last makes the row of the branch that still waits.
func (ln *lane) last() error {
	if off := ln.offRow; off != nil {
		ln.offRow = nil
		return ln.emit(off)
	}
	if !ln.waits {
		return nil
	}
	r := &ln.pending
	switch r.Class {
	case isa.Cond:
		return ln.resolve(ln.end)
	case isa.Jump, isa.Call:
		return ln.resolve(ln.target)
	}
	r.Flags = ln.p.flags(r)
	return ln.settle(r)
}

// flags returns the word for a branch instruction.
func (p *Printer) flags(r *Row) string {
	switch r.Class {
	case isa.Jump, isa.JumpInd, isa.FarJump, isa.JumpAbs:
		return "jmp"
	case isa.Cond:
		return "jcc"
	case isa.Call, isa.CallInd:
		return "call"
	case isa.Return:
		return "return"
	case isa.Syscall:
		return "syscall"
	case isa.SoftInt, isa.Break, isa.Undefined:
		return "int"
	case isa.VMEnter:
		return "vmentry"
	case isa.FarReturn:
		return p.farReturn(r)
	}
	return r.Class.String()
}

// farReturn tells SYSRET and SYSEXIT (0f 07, 0f 35) from the returns of
// interrupts. Intel SDM, volume 2, "Opcode Map".
func (p *Printer) farReturn(r *Row) string {
	b := p.names.bytes(r)
	for len(b) > 2 {
		b = b[1:] // prefixes
	}
	if len(b) == 2 && b[0] == 0x0f && (b[1] == 0x07 || b[1] == 0x35) {
		return "sysret"
	}
	return "iret"
}
