package output

import (
	"slices"
	"strings"
)

// callTree is the calls that a lane is in, a stack a thread: read backwards, a
// return enters and a call leaves.
type callTree struct {
	backward bool
	stacks   map[int32]*callStack // by TID
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

func newCallTree(backward bool) callTree {
	return callTree{backward: backward, stacks: map[int32]*callStack{}}
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

// call makes a row of a branch that enters a function: IP is the function's
// address, Addr where it was entered from.
func (ln *lane) call(r *Row) error {
	s := ln.calls.of(ln.p.names.task(r).tid)
	c := *r
	c.Kind, c.IP, c.Addr, c.HasAddr = RowCall, r.Addr, r.IP, r.IP != 0
	if ln.calls.backward {
		return ln.callBack(r, &c, s)
	}
	switch r.Flags {
	case "call", "syscall", "int", "vmentry":
		c.Depth = s.enter(r.IP + uint64(r.Len))
		if !ln.entry(r) {
			return nil
		}
	case "hw int", "trap", "tx abrt":
		c.Depth = s.enter(0)
	case "return":
		if s.leave(r.Addr) || !ln.entry(r) {
			return nil
		}
		c.Depth = s.depth // a return used as a jump
	case "iret", "sysret":
		s.leave(0)
		return nil
	case "tr strt":
		c.Depth = s.depth
	case "jmp":
		if !ln.entry(r) {
			return nil
		}
		c.Depth = max(0, s.depth-1) // in place of the function that it leaves
	default:
		return nil
	}
	return ln.put(&c)
}

// callBack is call, backwards.
func (ln *lane) callBack(r, c *Row, s *callStack) error {
	switch c.Flags {
	case "return", "iret", "sysret":
		s.depth++
		if c.Flags != "return" || !ln.entry(r) {
			return nil
		}
		c.Depth = s.depth - 1
	case "call", "syscall", "int", "vmentry", "hw int", "trap", "tx abrt":
		s.depth--
		if c.Flags == "call" && !ln.entry(r) {
			return nil
		}
		c.Depth = s.depth
	case "tr strt":
		c.Depth = s.depth
	case "jmp":
		if !ln.entry(r) {
			return nil
		}
		c.Depth = s.depth - 1
	default:
		return nil
	}
	return ln.put(c)
}

// entry reports whether the branch enters a function: its destination is the
// first address of a symbol, or in another one than the branch.
func (ln *lane) entry(r *Row) bool {
	if !r.HasAddr {
		return false
	}
	to := ln.p.names.at(r, r.Addr)
	if to.ok && to.sym != "" && to.off == 0 {
		return true
	}
	if r.Flags != "call" {
		return false
	}
	from := ln.p.names.at(r, r.IP)
	return !to.ok || !from.ok || from.sym != to.sym || to.sym == ""
}

// settleDepths makes the depths of rows that were read backwards count from
// the outermost.
func settleDepths(rows []Row) {
	least := map[string]int{}
	for i := range rows {
		if r := &rows[i]; r.Kind == RowCall {
			least[r.Stream.Name] = min(least[r.Stream.Name], r.Depth)
		}
	}
	for i := range rows {
		rows[i].Depth -= least[rows[i].Stream.Name]
	}
}

// indents is enough blanks for any depth that is shown.
var indents = strings.Repeat(" ", 2*64)

// indent returns the blanks in front of a call of a depth.
func indent(depth int) string {
	return indents[:2*min(max(depth, 0), len(indents)/2)]
}
