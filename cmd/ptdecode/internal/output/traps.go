package output

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// folder makes one row of a breakpoint exception, its handler's flow, and the
// return to where the flow goes on. The rows of a handler wait until its end is
// seen, and are dropped then. If it is not seen, they are shown as they are.
//
// An interrupt inside of the handler, another trap too, ends by a return of its
// own; a return to the next instruction ends none: it is how kernels synchronise
// the CPU (arch/x86/include/asm/sync_core.h, iret_to_self, v6.1).
//
// Read backwards, a return may end a trap's handler or an interrupt's: its rows
// wait until what began it tells.
type folder struct {
	rows   int // made in all
	held   []slot
	frames []frame // outermost first
}

// frame is, forwards, a trap that has not returned, or an interrupt inside of
// one; backwards, a return of which it is not known what it returns from.
type frame struct {
	trap  bool // forwards
	row   Row  // forwards: the trap's
	held  int  // rows that waited before
	since int  // of folder.rows
	to    uint64
	tid   int32
	calls callStack // at the level call, before it: backwards, the depth alone
}

// maxHandler bounds how many rows of a handler are kept waiting for its end.
const maxHandler = 1 << 14

// parts reports whether a branch ends all handlers: the flow was in user space,
// or is not seen any more.
func parts(flags string) bool {
	return flags == "syscall" || len(flags) > 3 && flags[:3] == "tr "
}

// returns reports whether r returns from an interrupt or a trap.
func (r *Row) returns() bool {
	return r.Flags == "iret" && r.HasAddr && r.Addr != r.IP+uint64(r.Len)
}

// trapRow returns the row of the trap r, of which the end is not seen.
func trapRow(r *Row) Row {
	t := *r
	t.Kind, t.HasAddr, t.Addr = RowTrap, false, 0
	return t
}

// fold takes a branch's row, in the order of the flow.
func (ln *lane) fold(r *Row) error {
	f := &ln.folder
	f.rows++
	n := len(f.frames) - 1
	switch {
	case n >= 0 && parts(r.Flags):
		if err := ln.unfold(); err != nil {
			return err
		}
	case r.Flags == "trap":
		return ln.opens(r)
	case n >= 0 && r.Flags == "hw int":
		f.frames = append(f.frames, frame{since: f.rows})
	case n >= 0 && r.returns():
		if f.frames[n].trap {
			return ln.folded(r.Addr)
		}
		f.frames = f.frames[:n]
	}
	if err := ln.pass(r); err != nil {
		return err
	}
	return ln.bound()
}

// opens takes a trap, whose handler's rows wait from now on.
func (ln *lane) opens(r *Row) error {
	f := &ln.folder
	k := frame{trap: true, row: trapRow(r), since: f.rows, tid: ln.p.names.task(r).tid}
	if ln.mode == LevelCall {
		s := ln.calls.of(k.tid)
		k.row.Depth = s.depth
		k.calls = callStack{slices.Clone(s.returns), s.depth}
		s.enter(0)
	}
	f.held = append(f.held, ln.p.queue.hold(&k.row))
	k.held = len(f.held)
	f.frames = append(f.frames, k)
	return ln.bound()
}

// folded ends the innermost trap, whose handler has returned to an address.
func (ln *lane) folded(to uint64) error {
	f := &ln.folder
	n := len(f.frames) - 1
	k := &f.frames[n]
	k.row.HasAddr, k.row.Addr = true, to
	ln.drop(k.held)
	if ln.mode == LevelCall {
		s := ln.calls.of(k.tid)
		*s = k.calls
		switch in, _, ok := ln.p.names.emulates(&k.row); {
		case ok && in.Class == isa.Call:
			s.enter(k.row.IP + uint64(in.Len))
		case ok && in.Class == isa.Return:
			s.leave(to)
		}
	}
	ln.p.queue.change(f.held[k.held-1], &k.row)
	if f.frames = f.frames[:n]; n > 0 {
		return nil
	}
	return ln.unfold()
}

// bound gives up the outermost frame while too many rows wait for it.
func (ln *lane) bound() error {
	f := &ln.folder
	for len(f.frames) > 0 && f.rows-f.frames[0].since >= maxHandler {
		f.frames = append(f.frames[:0], f.frames[1:]...)
		for !ln.p.backward && len(f.frames) > 0 && !f.frames[0].trap {
			f.frames = append(f.frames[:0], f.frames[1:]...) // inside of no trap that is waited for
		}
		n := len(f.held)
		if len(f.frames) > 0 {
			if n = f.frames[0].held; !ln.p.backward {
				n-- // the trap's own row waits too
			}
		}
		ln.show(n)
		for i := range f.frames {
			f.frames[i].held -= n
		}
		if err := ln.p.release(false); err != nil {
			return err
		}
	}
	return nil
}

// unfold waits for nothing any more: the flow is lost, or over.
func (ln *lane) unfold() error {
	f := &ln.folder
	if len(f.held) == 0 && len(f.frames) == 0 {
		return nil
	}
	f.frames = f.frames[:0]
	ln.show(len(f.held))
	return ln.p.release(false)
}

// foldBack is fold, backwards.
func (ln *lane) foldBack(r *Row) error {
	f := &ln.folder
	f.rows++
	n := len(f.frames) - 1
	switch {
	case parts(r.Flags):
		if err := ln.unfold(); err != nil {
			return err
		}
	case r.returns():
		k := frame{to: r.Addr, held: len(f.held), since: f.rows}
		if ln.mode == LevelCall {
			k.calls.depth = ln.calls.of(ln.p.names.task(r).tid).depth
		}
		f.frames = append(f.frames, k)
	case r.Flags == "trap":
		return ln.foldedBack(r)
	case n >= 0 && r.Flags == "hw int":
		err := ln.pass(r)
		if f.frames = f.frames[:n]; n == 0 && err == nil {
			err = ln.unfold()
		}
		return err
	}
	if err := ln.pass(r); err != nil {
		return err
	}
	return ln.bound()
}

// foldedBack takes a trap: the innermost return is its handler's, if there is one.
func (ln *lane) foldedBack(r *Row) error {
	f := &ln.folder
	t := trapRow(r)
	var s *callStack
	if ln.mode == LevelCall {
		s = ln.calls.of(ln.p.names.task(r).tid)
		s.depth--
	}
	n := len(f.frames) - 1
	if n >= 0 {
		k := f.frames[n]
		f.frames = f.frames[:n]
		ln.drop(k.held)
		t.HasAddr, t.Addr = true, k.to
		if s != nil {
			s.depth = k.calls.depth
			switch in, _, ok := ln.p.names.emulates(&t); {
			case ok && in.Class == isa.Call:
				s.depth--
			case ok && in.Class == isa.Return:
				s.depth++
			}
		}
	}
	if s != nil {
		t.Depth = s.depth
	}
	err := ln.put(&t)
	if n == 0 && err == nil {
		err = ln.unfold()
	}
	return err
}

// pass makes a row of a branch, or of the call that it is.
func (ln *lane) pass(r *Row) error {
	if ln.mode == LevelCall {
		return ln.call(r)
	}
	return ln.put(r)
}

// put hands a row on, or makes it wait.
func (ln *lane) put(r *Row) error {
	f := &ln.folder
	if len(f.frames) == 0 && len(f.held) == 0 {
		return ln.p.row(r)
	}
	f.held = append(f.held, ln.p.queue.hold(r))
	return nil
}

// drop removes the rows that wait, from the i-th on.
func (ln *lane) drop(i int) {
	f := &ln.folder
	for _, s := range f.held[i:] {
		ln.p.queue.decide(s, placeEmpty)
	}
	f.held = f.held[:i]
}

// show lets the first n rows that wait be printed, if the filters let them pass.
func (ln *lane) show(n int) {
	f := &ln.folder
	for _, s := range f.held[:n] {
		state := placeRow
		if at := ln.p.queue.at(s); at != nil && !ln.p.wanted(&at.row) {
			state = placeEmpty
		}
		ln.p.queue.decide(s, state)
	}
	f.held = append(f.held[:0], f.held[n:]...)
}

// of returns the calls of a thread.
func (c *callTree) of(tid int32) *callStack {
	s := c.stacks[tid]
	if s == nil {
		s = &callStack{}
		c.stacks[tid] = s
	}
	return s
}

// emulates returns what the handler of the trap r did in place of the
// breakpoint: in a patch's window, the first instruction of the new text; at a
// probe, the one that its breakpoint covers, if the flow goes on where that
// leads. ok is false where it did something else, or what is not known.
func (n *names) emulates(r *Row) (in isa.Insn, text []byte, ok bool) {
	if r.Poke < 0 {
		return in, nil, false
	}
	p := n.s.Text().Poke(r.Poke)
	switch {
	case r.Trap == flow.TrapWindow && n.s.Text().Journal().Traits(r.Poke).EmulatesNew && p.Addr == r.IP:
		text = p.New
	case r.Trap == flow.TrapArmed && r.HasAddr:
		text = n.covered(r)
	}
	if dec, mode := n.s.ISA(); dec.Decode(&in, text, r.IP, mode) != isa.OK {
		return in, nil, false
	}
	next := r.IP + uint64(in.Len)
	jumps := in.Class == isa.Call || in.Class == isa.Jump || in.Class == isa.Cond
	ok = r.Trap == flow.TrapWindow || in.Class == isa.Return || r.Addr == next || jumps && r.Addr == in.Target
	return in, text[:in.Len], ok
}

// covered returns the text that a probe's breakpoint covers at r, and what
// follows it.
func (n *names) covered(r *Row) []byte {
	text := n.s.Text()
	for _, i := range slices.Backward(text.Between(r.IP, 1, 0, event.Epoch(r.Poke)+1, nil)) {
		if p := text.Poke(i); p.Addr == r.IP && text.Journal().Traits(i).Arms && len(p.Old) == 1 {
			dec, _ := n.s.ISA()
			b := make([]byte, dec.MaxLen())
			return b[:n.s.Code(b, 0, r.IP, event.Epoch(i))]
		}
	}
	return nil
}

// emulated disassembles what the handler of the trap r did, "" if that is not
// known.
func (n *names) emulated(r *Row) string {
	_, text, ok := n.emulates(r)
	if !ok {
		return ""
	}
	_, mode := n.s.ISA()
	return n.s.Format(text, r.IP, mode, func(addr uint64) (string, uint64) {
		p := n.at(r, addr)
		if !p.ok || p.sym == "" {
			return "", 0
		}
		return p.sym, addr - p.off
	})
}

// distance returns how far behind the record of its poke the trap r was taken,
// ns, by the lower bound of its time; ok is false where either is not known.
func (n *names) distance(r *Row) (ns int64, ok bool) {
	if r.Poke < 0 || r.Time.Lo == 0 {
		return 0, false
	}
	return int64(r.Time.Lo - n.s.Text().Poke(r.Poke).Time), r.Time != event.Always
}
