package rows

import "github.com/ptdecode/ptdecode/decoder/isa"

// callsBack is the calls that threads are in, read backwards: a return enters and a call
// leaves. So calls outside of what was seen turn up last, and the depths of all that they hold
// are not known before.
type callsBack struct {
	tasks  map[taskKey]*backCalls
	cpus   map[int]*backCPU // by stream
	settle bool             // rows are kept until their depths are known
}

// backCalls is taskCalls, backwards.
type backCalls struct{ user, kernel backStack }

// backCPU is whose calls run on a stream's CPU.
type backCPU struct {
	now  *backCalls
	asks bool // before this, another thread may have run
}

// backStack is calls that lie one in another. Frames await the calls that they return from.
type backStack struct {
	callStack
	lacks *int // calls outside of frames, from which no return was seen; nil: not counted
}

func newCallsBack(settle bool) *callsBack {
	return &callsBack{tasks: map[taskKey]*backCalls{}, cpus: map[int]*backCPU{}, settle: settle}
}

// runningBack returns the calls of the thread that runs at r. Where symbols say where the kernel
// takes another thread's stack, the thread behind that is the one that ran last.
func (c *callsBack) runningBack(m *Maker, r *Row) *backCalls {
	st := r.Stream.Index
	cpu := c.cpus[st]
	if cpu == nil {
		cpu = &backCPU{asks: true}
		c.cpus[st] = cpu
	}
	if cpu.asks || m.names.takesStack(r) || !m.names.switches(r) || r.exits() && m.toProgram(r) {
		tid, _ := m.names.Thread(r)
		k := keyOf(tid, r.Stream)
		t := c.tasks[k]
		if t == nil {
			t = &backCalls{}
			t.user.beginsAnew(c.settle)
			t.kernel.beginsAnew(c.settle)
			c.tasks[k] = t
		}
		cpu.now = t
	}
	cpu.asks = r.Transfer.unseen() || r.Transfer == TransferSyscall
	return cpu.now
}

// exits reports whether r returns from an exception or a system call.
func (r *Row) exits() bool {
	t := r.Transfer &^ TransferTraceEnd
	return t == TransferSysret || t == TransferIret
}

// stackAt returns the calls of t that code at addr belongs to.
func (t *backCalls) stackAt(m *Maker, r *Row, addr uint64) *backStack {
	if m.names.machine(r).Kernel(addr) {
		return &t.kernel
	}
	return &t.user
}

// beginsAnew begins a stack anew. What it lacks before is known: rows have its address.
func (s *backStack) beginsAnew(settle bool) {
	s.clear()
	if s.lacks = nil; settle {
		s.lacks = new(int)
	}
}

// left takes a call, of which frame i awaits the return; -1: none does. Where others do, the call
// lies in those. It returns the call's depth.
func (s *backStack) left(i int) (depth int) {
	switch {
	case i >= 0:
		s.cut(i)
	case s.depth() == 0 && s.lacks != nil:
		*s.lacks++
	}
	return s.level()
}

// level returns how many calls the stack holds, below zero where some of those outside were left.
func (s *backStack) level() int {
	if s.lacks == nil {
		return s.depth()
	}
	return s.depth() - *s.lacks
}

// awaitsHandler returns the innermost frame of what was interrupted; -1: there is none.
func (s *backStack) awaitsHandler() int {
	for i := len(s.frames) - 1; i >= 0; i-- {
		if s.frames[i].ret == 0 {
			return i
		}
	}
	return -1
}

// callRowBack is callTree.callRow, backwards.
func (c *callsBack) callRowBack(m *Maker, r *Row) (call Row, ok bool) {
	call = asCall(r)
	t := c.runningBack(m, r)
	s := t.stackAt(m, r, r.IP)
	switch r.Transfer {
	case TransferSyscall, TransferInt, TransferVMEntry, TransferInterrupt, TransferTrap:
		call.Depth, call.lacks = c.interruptedBack(t, m, r)
		return call, m.lists(r)
	case TransferTraceStart:
		if s = t.stackAt(m, r, r.Addr); s == &t.kernel && m.names.fromUser(r) {
			s.beginsAnew(c.settle)
			return call, m.lists(r)
		}
		call.Depth, ok = s.level(), true
	case TransferSysret, TransferSysret | TransferTraceEnd, TransferIret, TransferIret | TransferTraceEnd:
		c.endedBack(t, m, r)
	default:
		call.Depth, ok = s.stepBack(m, r)
	}
	if call.lacks = s.lacks; s.lacks == nil {
		call.Depth = max(0, call.Depth)
	}
	return call, ok && m.lists(r)
}

// interruptedBack is taskCalls.interrupted, backwards. The depths of the kernel's calls are known then.
func (c *callsBack) interruptedBack(t *backCalls, m *Maker, r *Row) (depth int, lacks *int) {
	if m.fromProgram(r) {
		t.kernel.beginsAnew(c.settle)
		return 0, nil
	}
	s := t.stackAt(m, r, r.IP)
	return s.left(s.awaitsHandler()), s.lacks
}

// endedBack is taskCalls.ended, backwards.
func (c *callsBack) endedBack(t *backCalls, m *Maker, r *Row) {
	s := t.stackAt(m, r, r.IP)
	switch {
	case s == &t.kernel && m.toProgram(r):
		s.beginsAnew(c.settle)
	case r.Addr != r.IP+uint64(r.Len):
		s.enter(frame{})
	}
}

// stepBack takes any other branch as taskCalls.step does, backwards.
func (s *backStack) stepBack(m *Maker, r *Row) (depth int, ok bool) {
	names := &m.names
	switch r.Transfer {
	case TransferReturn:
		if !m.o.Thunks && names.inKernel(r, r.IP, callsOn) {
			s.enter(frame{ret: r.Addr, hidden: true})
			return 0, false
		}
		if ok = names.entry(r); !ok || !names.leadsOn(r, r.IP) {
			s.enter(frame{ret: r.Addr})
		}
		return s.level() - 1, ok // as a retpoline jumps
	case TransferCall:
		if m.skips(r) {
			return 0, false
		}
		i := s.awaiting(r.IP + uint64(r.Len))
		switch ok = names.entry(r); {
		case m.folds(r):
			if i >= 0 {
				s.cut(i)
			}
			return s.level(), ok
		case names.leadsOn(r, r.IP):
			return s.level(), ok // what it pushes, the thunk takes off itself
		}
		return s.left(i), ok
	case TransferAbort:
		return s.level(), true
	case TransferJump:
		if n := len(s.frames); n > 0 && m.returnsThence(r) && !s.frames[n-1].hidden {
			s.frames[n-1].hidden = true
			s.hidden++
		}
		return s.level() - 1, m.enters(r)
	}
	return 0, false
}

// returnsThence reports whether r is a jump from a trampoline, which is not listed, to a thunk through which
// it returns.
func (m *Maker) returnsThence(r *Row) bool {
	return !m.o.Thunks && m.names.inKernel(r, r.IP, callsOn) && m.names.inKernel(r, r.Addr, returnThunk)
}

// trapped takes a trap, and gives its row the depth. ended says that its handler's end was seen.
func (c *callsBack) trapped(m *Maker, r, trap *Row, ended bool) {
	t := c.runningBack(m, r)
	s := t.stackAt(m, r, r.IP)
	if c.interruptedBack(t, m, r); ended {
		switch in, _, ok := m.names.emulates(trap); {
		case ok && in.Class == isa.Call:
			s.left(s.awaiting(trap.IP + uint64(in.Len)))
		case ok && in.Class == isa.Return:
			s.enter(frame{ret: trap.Addr})
		}
	}
	if trap.Depth, trap.lacks = s.level(), s.lacks; s.lacks == nil {
		trap.Depth = max(0, trap.Depth)
	}
}

// settleDepths makes the depths of rows that were read backwards count from the outermost call
// that was seen of their thread, or of its last entry to the kernel.
func settleDepths(rows []Row) {
	for i := range rows {
		if r := &rows[i]; r.lacks != nil {
			r.Depth, r.lacks = max(0, r.Depth+*r.lacks), nil
		}
	}
}
