package rows

import "slices"

// callTree is the calls that a stream is in, a stack for each thread. Read
// backwards, a return enters and a call leaves.
type callTree struct {
	stacks map[int32]*callStack // by TID
}

// callStack is one thread's calls. Depths are relative to where it was first
// seen: read backwards they can fall below zero.
type callStack struct {
	returns []uint64 // where each call would return to; 0: an interrupt
	depth   int
}

// maxCalls bounds what is remembered of a thread's calls; older ones are
// forgotten.
const maxCalls = 1024

// maxUnwind is how far down a return is looked for: C++ exceptions and longjmp
// leave many calls at once.
const maxUnwind = 64

func newCallTree() *callTree { return &callTree{stacks: map[int32]*callStack{}} }

// of returns the calls of a thread.
func (c *callTree) of(tid int32) *callStack {
	s := c.stacks[tid]
	if s == nil {
		s = &callStack{}
		c.stacks[tid] = s
	}
	return s
}

// running returns the calls of the thread that ran at r.
func (c *callTree) running(m *Maker, r *Row) *callStack {
	tid, _ := m.names.Thread(r)
	return c.of(tid)
}

// enter takes a call that returns to addr and returns its depth.
func (s *callStack) enter(addr uint64) int {
	if len(s.returns) >= maxCalls {
		s.returns = slices.Delete(s.returns, 0, maxCalls/2)
	}
	s.returns = append(s.returns, addr)
	s.depth++
	return s.depth - 1
}

// leave takes a return to addr: matched if some call awaits it. Every return
// leaves one call at least, as retpolines and the like do.
func (s *callStack) leave(addr uint64) (matched bool) {
	n := len(s.returns)
	for i := n - 1; i >= 0 && i >= n-maxUnwind; i-- {
		if s.returns[i] == addr {
			s.depth -= n - i
			s.returns = s.returns[:i]
			return true
		}
	}
	if n > 0 {
		s.returns = s.returns[:n-1]
		s.depth--
	}
	return false
}

// callRow makes a row of a branch that enters a function: IP is the function's
// address, Addr where it was entered from. ok is false where it enters none.
func (c *callTree) callRow(m *Maker, r *Row, backward bool) (call Row, ok bool) {
	s := c.running(m, r)
	call = *r
	call.Kind, call.IP, call.Addr, call.HasAddr = KindCall, r.Addr, r.IP, r.IP != 0
	if backward {
		call.Depth, ok = s.stepBack(&m.names, r)
	} else {
		call.Depth, ok = s.step(&m.names, r)
	}
	return call, ok
}

// step takes a branch: ok if it enters a function, at depth.
func (s *callStack) step(names *Names, r *Row) (depth int, ok bool) {
	switch r.Transfer {
	case TransferCall, TransferSyscall, TransferInt, TransferVMEntry:
		return s.enter(r.IP + uint64(r.Len)), names.entry(r)
	case TransferInterrupt, TransferTrap, TransferAbort:
		return s.enter(0), true
	case TransferReturn:
		if s.leave(r.Addr) || !names.entry(r) {
			return 0, false
		}
		return s.depth, true // a return used as a jump
	case TransferIret, TransferSysret:
		s.leave(0)
	case TransferTraceStart:
		return s.depth, true
	case TransferJump:
		return max(0, s.depth-1), names.entry(r) // in place of the function that it leaves
	}
	return 0, false
}

// stepBack is step, backwards.
func (s *callStack) stepBack(names *Names, r *Row) (depth int, ok bool) {
	switch r.Transfer {
	case TransferReturn:
		s.depth++
		return s.depth - 1, names.entry(r)
	case TransferIret, TransferSysret:
		s.depth++
	case TransferCall:
		s.depth--
		return s.depth, names.entry(r)
	case TransferSyscall, TransferInt, TransferVMEntry, TransferInterrupt, TransferTrap, TransferAbort:
		s.depth--
		return s.depth, true
	case TransferTraceStart:
		return s.depth, true
	case TransferJump:
		return s.depth - 1, names.entry(r)
	}
	return 0, false
}

// entry reports whether the branch r enters a function: its destination is the
// first address of a symbol, or in another one than the branch.
func (n *Names) entry(r *Row) bool {
	if !r.HasAddr {
		return false
	}
	to := n.At(r, r.Addr)
	if to.Known && to.Sym != "" && to.Off == 0 {
		return true
	}
	if r.Transfer != TransferCall {
		return false
	}
	from := n.At(r, r.IP)
	return !to.Known || !from.Known || from.Sym != to.Sym || to.Sym == ""
}

// settleDepths makes the depths of rows that were read backwards count from
// the outermost.
func settleDepths(rows []Row) {
	least := map[string]int{}
	for i := range rows {
		if r := &rows[i]; r.Kind == KindCall {
			least[r.Stream.Name] = min(least[r.Stream.Name], r.Depth)
		}
	}
	for i := range rows {
		rows[i].Depth -= least[rows[i].Stream.Name]
	}
}
