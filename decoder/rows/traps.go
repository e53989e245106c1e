package rows

import "github.com/ptdecode/ptdecode/decoder/isa"

// folder makes one row of a breakpoint exception, its handler's flow, and the
// return to where the flow goes on. The rows of a handler wait until its end is
// seen, and are dropped then. If it is not seen, they are listed as they are.
//
// An interrupt or another trap inside of the handler ends by a return of its
// own. A return to the next instruction ends nothing: kernels use it to
// synchronise the CPU (arch/x86/include/asm/sync_core.h, iret_to_self, v6.1).
//
// Read backwards, a return may end a trap's handler or an interrupt's. Its rows
// wait until the trap or the interrupt is met.
type folder struct {
	stream
	backward bool
	tree     *callTree  // at the level call, forwards; else nil
	back     *callsBack // at the level call, backwards; else nil
	call     Row        // at the level call, the last one; here, so that it is not allocated
	led, was Transfer   // at the level call, forwards: how the thunk was entered that the flow is in, and was before the last branch
	served   servedCall // at the level call, backwards

	seen    int       // branches in all
	settled bool      // forwards: whatever came before the first of them, no handler of then is waited for
	held    []place   // rows that wait
	frames  []handler // outermost first
}

// handler is a trap that has not returned, or an interrupt inside of one.
// Backwards it is a return, and it is not known yet from what.
type handler struct {
	trap  bool // forwards
	row   Row  // forwards: the trap's
	held  int  // rows that waited before
	since int  // of folder.seen
	to    uint64
	calls callStack  // at the level call, before it
	of    *callStack // whose calls are so
}

// maxHandler bounds how many branches of a handler wait for its end.
const maxHandler = 1 << 14

// endsHandlers reports whether a transfer ends all handlers: the flow was in
// user space, or is not seen any more.
func (t Transfer) endsHandlers() bool { return t == TransferSyscall || t.unseen() }

// returns reports whether r returns from an interrupt or a trap.
func (r *Row) returns() bool {
	return r.Transfer == TransferIret && r.HasAddr && r.Addr != r.IP+uint64(r.Len)
}

// trapRow returns the row of the trap r, of which the end is not seen.
func trapRow(r *Row) Row {
	t := *r
	t.Kind, t.HasAddr, t.Addr = KindTrap, false, 0
	return t
}

// fold takes a branch's row, in the order in which the flow comes.
func (f *folder) fold(r *Row) error {
	if err := f.entered(r); err != nil {
		return err
	}
	if f.tree != nil {
		f.was, f.led = f.led, f.m.led(r, f.led)
	}
	switch {
	case f.m.o.RawTraps:
		return f.list(r)
	case f.backward:
		return f.foldBack(r)
	}
	f.seen++
	f.settled = f.settled || r.Transfer.endsHandlers() || f.seen >= maxHandler
	n := len(f.frames) - 1
	switch {
	case n >= 0 && r.Transfer.endsHandlers():
		if err := f.unfold(); err != nil {
			return err
		}
	case r.Transfer == TransferTrap:
		return f.opens(r)
	case n >= 0 && r.Transfer == TransferInterrupt:
		f.frames = append(f.frames, handler{since: f.seen})
	case n >= 0 && r.returns():
		if f.frames[n].trap {
			return f.returned(r.Addr)
		}
		f.frames = f.frames[:n]
	}
	if err := f.list(r); err != nil {
		return err
	}
	return f.bound()
}

// opens takes a trap, whose handler's rows wait from now on.
func (f *folder) opens(r *Row) error {
	h := handler{trap: true, row: trapRow(r), since: f.seen}
	if f.tree != nil {
		t := f.tree.running(f.m, r)
		h.of = t.part(f.m, r, r.IP)
		h.row.Depth, h.calls = h.of.depth(), h.of.copied()
		t.interrupted(f.m, r)
	}
	f.held = append(f.held, f.m.queue.hold(&h.row))
	h.held = len(f.held)
	f.frames = append(f.frames, h)
	return f.bound()
}

// returned ends the innermost trap, whose handler has returned to an address.
func (f *folder) returned(to uint64) error {
	n := len(f.frames) - 1
	h := &f.frames[n]
	h.row.HasAddr, h.row.Addr = true, to
	f.drop(h.held)
	if f.tree != nil {
		*h.of = h.calls
		switch in, _, ok := f.m.names.emulates(&h.row); {
		case ok && in.Class == isa.Call:
			h.of.enter(frame{ret: h.row.IP + uint64(in.Len)})
		case ok && in.Class == isa.Return && !h.of.leave(to):
			h.of.pop()
		}
	}
	f.m.queue.change(f.held[h.held-1], &h.row)
	if f.frames = f.frames[:n]; n > 0 {
		return nil
	}
	return f.unfold()
}

// bound gives up the outermost handler while too many rows wait for it.
func (f *folder) bound() error {
	for len(f.frames) > 0 && f.seen-f.frames[0].since >= maxHandler {
		f.frames = append(f.frames[:0], f.frames[1:]...)
		for !f.backward && len(f.frames) > 0 && !f.frames[0].trap {
			f.frames = append(f.frames[:0], f.frames[1:]...) // inside of no trap that is waited for
		}
		n := len(f.held)
		if len(f.frames) > 0 {
			if n = f.frames[0].held; !f.backward {
				n-- // the trap's own row waits too
			}
		}
		f.show(n)
		for i := range f.frames {
			f.frames[i].held -= n
		}
		if err := f.m.queue.release(false); err != nil {
			return err
		}
	}
	return nil
}

// sure reports whether it is known which handlers the flow is in, also where what came
// before was not given.
func (f *folder) sure() bool { return f.settled || f.m.o.RawTraps }

// unfold waits for nothing any more: the flow is lost, or over.
func (f *folder) unfold() error {
	if len(f.held) == 0 && len(f.frames) == 0 {
		return nil
	}
	f.frames = f.frames[:0]
	f.show(len(f.held))
	return f.m.queue.release(false)
}

// foldBack is fold, backwards.
func (f *folder) foldBack(r *Row) error {
	f.seen++
	n := len(f.frames) - 1
	switch {
	case r.Transfer.endsHandlers():
		if err := f.unfold(); err != nil {
			return err
		}
	case r.returns():
		f.frames = append(f.frames, handler{to: r.Addr, held: len(f.held), since: f.seen})
	case r.Transfer == TransferTrap:
		return f.began(r)
	case n >= 0 && r.Transfer == TransferInterrupt:
		err := f.list(r)
		if f.frames = f.frames[:n]; n == 0 && err == nil {
			err = f.unfold()
		}
		return err
	}
	if err := f.list(r); err != nil {
		return err
	}
	return f.bound()
}

// began takes, backwards, a trap: the innermost return is its handler's, if
// there is one.
func (f *folder) began(r *Row) error {
	t := trapRow(r)
	n := len(f.frames) - 1
	if n >= 0 {
		h := f.frames[n]
		f.frames = f.frames[:n]
		f.drop(h.held)
		t.HasAddr, t.Addr = true, h.to
	}
	if f.back != nil {
		f.back.trapped(f.m, r, &t, n >= 0)
	}
	err := f.put(&t)
	if n == 0 && err == nil {
		err = f.unfold()
	}
	return err
}

// list makes a row of a branch, or of the call that it is.
func (f *folder) list(r *Row) error {
	var ok bool
	switch {
	case f.tree != nil:
		f.call, ok = f.tree.callRow(f.m, r)
		f.m.madeBy(&f.call, r, f.was)
	case f.back != nil:
		if f.call, ok = f.back.callRowBack(f.m, r); ok && f.m.leaves(r) {
			return f.serves()
		}
	default:
		return f.put(r)
	}
	if !ok {
		return nil
	}
	return f.put(&f.call)
}

// put hands a row on, or makes it wait.
func (f *folder) put(r *Row) error {
	if len(f.frames) == 0 && len(f.held) == 0 {
		return f.m.add(r)
	}
	f.held = append(f.held, f.m.queue.hold(r))
	return nil
}

// drop removes the rows that wait, from the i-th on.
func (f *folder) drop(i int) {
	for _, p := range f.held[i:] {
		f.m.queue.decide(p, placeEmpty)
	}
	f.held = f.held[:i]
}

// show lets the first n rows that wait be listed, if the filters let them pass.
func (f *folder) show(n int) {
	for _, p := range f.held[:n] {
		state := placeRow
		if at := f.m.queue.at(p); at != nil && !f.m.wants(&at.row) {
			state = placeEmpty
		}
		f.m.queue.decide(p, state)
	}
	f.held = append(f.held[:0], f.held[n:]...)
}
