package rows

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// callTree is the calls that threads are in, read forwards.
type callTree struct {
	tasks map[taskKey]*taskCalls
	cpus  map[int]*cpuCalls // by stream
	jumps []quietJump       // by slotOf
	steps steps
}

// quietJump is a block at the end of which a jump leads to no function, or to a return thunk
// that is not listed, as far as is known.
type quietJump struct {
	block *flow.Block
	no    bool // it does lead to one
	leads bool // from thunk to thunk
}

// taskKey names a thread; an idle task, or a thread that is not known, is a stream's own.
type taskKey struct {
	tid    int32
	stream int // -1: of any
}

// keyOf returns the key of a thread that runs on a stream.
func keyOf(tid int32, st *Stream) taskKey {
	if tid <= 0 || st.Machine != nil { // a guest's threads are not known
		return taskKey{tid, st.Index}
	}
	return taskKey{tid, -1}
}

// taskCalls is the calls of a thread: those of its program, and those of the kernel on its
// behalf. An entry from user space begins the kernel's anew.
type taskCalls struct {
	user, kernel callStack
	space        uint32 // the program's address space, when it went on last; 0: not known
}

// cpuCalls is whose calls run on a stream's CPU. Records tell when another thread runs, but
// the trace may not say where that is. The kernel's code does, where it takes another stack.
type cpuCalls struct {
	tid   int32
	since uint64 // ns, by the records; 0: not known
	now   *taskCalls
}

// callStack is calls that lie one in another.
type callStack struct {
	frames []frame
	before int // calls outside of frames that are not remembered
	hidden int // frames that are
}

// frame is one call: where it returns to.
type frame struct {
	ret   uint64 // 0: what was interrupted
	thunk bool   // a thunk made it, to jump by a return

	hidden bool // of a trampoline: what it calls is called by the function outside of it
}

// maxCalls bounds what is remembered of a stack; outer calls are forgotten.
const maxCalls = 1024

// maxUnwind is how far down a return is looked for: C++ exceptions and longjmp
// leave many calls at once.
const maxUnwind = 64

func newCallTree() *callTree {
	return &callTree{tasks: map[taskKey]*taskCalls{}, cpus: map[int]*cpuCalls{}, jumps: make([]quietJump, 1<<slotBits)}
}

// quiet reports whether the branch at the end of k, which was taken, changes nothing in the
// tree. Outside of a trap's handler a conditional branch does not, nor a jump that stays in
// its function.
func (c *callTree) quiet(l *branches, k *flow.Block) bool {
	if !l.begun {
		l.begun = c.cpus[l.st.Index] != nil
	}
	switch {
	case !l.begun, len(l.frames) > 0:
		return false
	case k.Class == isa.Cond:
		return true
	case k.Class != isa.Jump || k.Target == k.End:
		return false
	}
	q := &c.jumps[slotOf(k.Addr)]
	if q.block == k {
		return l.quietly(q)
	}
	n := &l.m.names
	r := branchRow(l.st, l.batch, l.from)
	r.Transfer, r.HasAddr, r.Addr = TransferJump, true, k.Target
	thunk := !l.m.o.Thunks && n.leadsOn(&r, k.Target)
	quiet := thunk && !n.toFunction(&r, k.Target) || !thunk && !l.m.enters(&r)
	if n.Lasting(&r, k.Target) {
		*q = quietJump{k, !quiet, thunk && n.leadsOn(&r, k.Addr)}
		return l.quietly(q)
	}
	return false
}

// quietly takes the jump q if it is quiet.
func (l *branches) quietly(q *quietJump) bool {
	if !q.no && !q.leads {
		l.led = NoTransfer
	}
	return !q.no
}

// of returns the calls of a thread that runs on a stream.
func (c *callTree) of(tid int32, st *Stream) *taskCalls {
	k := keyOf(tid, st)
	t := c.tasks[k]
	if t == nil {
		t = &taskCalls{}
		c.tasks[k] = t
	}
	return t
}

// running returns the calls of the thread that runs at r.
func (c *callTree) running(m *Maker, r *Row) *taskCalls {
	st := r.Stream.Index
	cpu := c.cpus[st]
	if cpu == nil {
		cpu = &cpuCalls{tid: -1}
		c.cpus[st] = cpu
	}
	if cpu.now == nil || r.Transfer == TransferTraceStart || !m.names.switches(r) {
		if tid, _ := m.names.Thread(r); cpu.now == nil || tid != cpu.tid {
			*cpu = cpuCalls{tid: tid, since: r.Time.Lo, now: c.of(tid, r.Stream)}
		}
	}
	return cpu.now
}

// switchSlack is how far behind the place where the kernel takes another thread's stack the
// record of it may lie, ns: perf_event_task_sched_in comes after that.
const switchSlack = 100_000

// switched goes over to the thread whose stack the kernel takes at r: the next one that
// records tell of. Where none does, it is not known which one that is.
func (c *callTree) switched(m *Maker, r *Row) {
	st := r.Stream.Index
	cpu := c.cpus[st]
	since, tid, ok := m.names.rec.NextRunning(st, cpu.since, cpu.tid)
	ok = ok && r.Stream.Machine == nil
	for ok && since < r.Time.Lo { // records of threads that were not traced, or lost
		later, next, more := m.names.rec.NextRunning(st, since, tid)
		if !more || later > r.Time.Lo {
			break
		}
		since, tid = later, next
	}
	if !ok || since > r.Time.Hi+min(switchSlack, math.MaxUint64-r.Time.Hi) {
		*cpu = cpuCalls{tid: -1, since: cpu.since, now: &taskCalls{}}
		return
	}
	*cpu = cpuCalls{tid, since, c.of(tid, r.Stream)}
}

// part returns the calls of t that code at addr belongs to.
func (t *taskCalls) part(m *Maker, r *Row, addr uint64) *callStack {
	if m.names.machine(r).Kernel(addr) {
		return &t.kernel
	}
	return &t.user
}

// depth returns how many calls the stack holds.
func (s *callStack) depth() int { return s.before + len(s.frames) - s.hidden }

// cut leaves the outer n frames.
func (s *callStack) cut(n int) {
	for i := range s.frames[n:] {
		if s.frames[n+i].hidden {
			s.hidden--
		}
	}
	s.frames = s.frames[:n]
}

// inPlace returns the depth of a function that is jumped to.
func (s *callStack) inPlace() int { return max(0, s.depth()-1) }

// jumps takes a jump, and returns the depth of the function that it leads to: in place of the
// one that it leaves. One that is listed stands for the trampoline that jumps to it.
func (s *callStack) jumps(listed bool) (depth int) {
	if n := len(s.frames); listed && n > 0 && s.frames[n-1].hidden {
		s.frames[n-1].hidden = false
		s.hidden--
	}
	return s.inPlace()
}

// clear begins a stack anew.
func (s *callStack) clear() { s.frames, s.before, s.hidden = s.frames[:0], 0, 0 }

// copied returns a stack that shares no memory with s.
func (s *callStack) copied() callStack {
	return callStack{append([]frame(nil), s.frames...), s.before, s.hidden}
}

// enter takes a call and returns its depth.
func (s *callStack) enter(f frame) int {
	if len(s.frames) >= maxCalls {
		for i := range maxCalls / 2 {
			if s.frames[i].hidden {
				s.hidden--
			} else {
				s.before++
			}
		}
		s.frames = append(s.frames[:0], s.frames[maxCalls/2:]...)
	}
	s.frames = append(s.frames, f)
	if f.hidden {
		s.hidden++
	}
	return s.depth() - 1
}

// awaiting returns the innermost call that awaits a return to addr; -1: none does.
func (s *callStack) awaiting(addr uint64) int {
	n := len(s.frames)
	for i := n - 1; i >= 0 && i >= n-maxUnwind; i-- {
		if s.frames[i].ret == addr {
			return i
		}
	}
	return -1
}

// leave takes a return to addr: matched if some call awaits it.
func (s *callStack) leave(addr uint64) (matched bool) {
	i := s.awaiting(addr)
	if i >= 0 {
		s.cut(i)
	}
	return i >= 0
}

// resume takes the return to what was interrupted; there may be nothing.
func (s *callStack) resume() {
	for i := len(s.frames) - 1; i >= 0; i-- {
		if s.frames[i].ret == 0 {
			s.cut(i)
			return
		}
	}
}

// pop takes out the innermost call.
func (s *callStack) pop() {
	switch n := len(s.frames); {
	case n > 0:
		s.cut(n - 1)
	case s.before > 0:
		s.before--
	}
}

// callRow makes a row of a branch that enters a function: IP is the function's
// address, Addr where it was entered from. ok is false where it enters none.
func (c *callTree) callRow(m *Maker, r *Row) (call Row, ok bool) {
	call = asCall(r)
	t := c.running(m, r)
	call.Depth, ok = t.step(m, r)
	if ok && m.names.takesStack(r) {
		c.switched(m, r)
	}
	return call, ok && m.lists(r)
}

// lists reports whether the function that r enters is listed: it is no thunk and no trampoline,
// or these are asked for.
func (m *Maker) lists(r *Row) bool {
	return m.o.Thunks || !m.names.leadsOn(r, r.Addr) && !m.names.inKernel(r, r.Addr, callsOn)
}

// asCall is r as a row of a call.
func asCall(r *Row) Row {
	call := *r
	call.Kind, call.IP, call.Addr, call.HasAddr = KindCall, r.Addr, r.IP, r.IP != 0
	return call
}

// step takes a branch: ok if it enters a function, at depth.
func (t *taskCalls) step(m *Maker, r *Row) (depth int, ok bool) {
	s := t.part(m, r, r.IP)
	switch r.Transfer {
	case TransferCall:
		if m.skips(r) {
			return 0, false
		}
		return s.enter(frame{r.IP + uint64(r.Len), m.names.leadsOn(r, r.IP), m.folds(r)}), m.names.entry(r)
	case TransferSyscall, TransferInt, TransferVMEntry, TransferInterrupt, TransferTrap:
		return t.interrupted(m, r), true
	case TransferAbort:
		return s.depth(), true
	case TransferReturn:
		return s.comesBack(m, r)
	case TransferIret, TransferIret | TransferTraceEnd, TransferSysret, TransferSysret | TransferTraceEnd:
		t.ended(m, r)
	case TransferTraceStart:
		return t.started(m, r), true
	case TransferJump:
		s.leaps(m, r)
		entered := m.enters(r)
		return s.jumps(entered && m.lists(r)), entered
	}
	return 0, false
}

// folds reports whether r calls a trampoline that is not listed, nor a level of the tree.
func (m *Maker) folds(r *Row) bool {
	return r.HasAddr && !m.o.Thunks && m.names.inKernel(r, r.Addr, callsOn)
}

// skips reports whether r is a call that skips an INT3 at most, to where no function begins. The
// kernel fills the CPU's return predictor so, and then takes the addresses off the stack
// (arch/x86/include/asm/nospec-branch.h, FILL_RETURN_BUFFER, v6.1).
func (m *Maker) skips(r *Row) bool {
	behind := r.IP + uint64(r.Len)
	if !r.HasAddr || r.Addr-behind > 1 {
		return false
	}
	p := m.names.At(r, r.Addr)
	return p.Sym == "" || p.Off != 0
}

// interrupted takes what enters the kernel, or nests in it, and returns its depth.
func (t *taskCalls) interrupted(m *Maker, r *Row) int {
	if m.fromProgram(r) {
		t.kernel.clear()
		return 0
	}
	return t.part(m, r, r.IP).enter(frame{})
}

// fromProgram reports whether r, an exception or a system call, enters the kernel from a program.
func (m *Maker) fromProgram(r *Row) bool {
	return r.Transfer == TransferSyscall || !m.names.machine(r).Kernel(r.IP) && (!r.HasAddr || m.names.machine(r).Kernel(r.Addr))
}

// toProgram reports whether r, which returns from an exception or a system call of the kernel, goes on
// in a program.
func (m *Maker) toProgram(r *Row) bool {
	return r.Transfer&^TransferTraceEnd == TransferSysret || !r.HasAddr || !m.names.machine(r).Kernel(r.Addr)
}

// comesBack takes a return: ok if it enters a function, as thunks do, and the code in which
// a new thread begins.
func (s *callStack) comesBack(m *Maker, r *Row) (depth int, ok bool) {
	if s.leave(r.Addr) {
		return 0, false
	}
	ok = m.names.entry(r)
	if s.leaps(m, r) {
		return s.inPlace(), ok
	}
	return s.goesTo(ok), ok
}

// goesTo takes a return that nothing awaits, and returns the depth of the function that it
// enters, if it does.
func (s *callStack) goesTo(enters bool) (depth int) {
	if !enters {
		s.pop() // the calls outside of it were not seen, or lost
		return 0
	}
	if n := len(s.frames); n > 0 && s.frames[n-1].thunk {
		s.pop()
	}
	return s.inPlace()
}

// ended takes the return from an exception or a system call.
func (t *taskCalls) ended(m *Maker, r *Row) {
	s := t.part(m, r, r.IP)
	switch {
	case s == &t.kernel && m.toProgram(r):
		s.clear()
	case r.Addr != r.IP+uint64(r.Len): // else the kernel synchronises the CPU (iret_to_self)
		s.resume()
	}
}

// started takes the beginning of tracing, and returns the depth there.
func (t *taskCalls) started(m *Maker, r *Row) int {
	t.resumes(m, r)
	s := t.part(m, r, r.Addr)
	if s == &t.kernel && m.names.fromUser(r) {
		s.clear()
	}
	return s.depth()
}

// resumes takes the beginning of tracing. If that is in a program, and another one than the thread ran before, its calls begin
// anew: what awaits a return is no longer mapped.
func (t *taskCalls) resumes(m *Maker, r *Row) {
	if !r.HasAddr || r.Space == 0 || m.names.machine(r).Kernel(r.Addr) {
		return
	}
	was := *r
	was.Space, t.space = t.space, r.Space
	if was.Space == 0 || was.Space == r.Space {
		return
	}
	for _, f := range t.user.frames {
		if f.ret != 0 {
			if p := m.names.At(&was, f.ret); p.Known && p != m.names.At(r, f.ret) {
				t.user.clear()
			}
			return
		}
	}
}

// enters reports whether the jump r enters a function. With thunks, slots of probes count.
func (m *Maker) enters(r *Row) bool {
	n := &m.names
	if m.o.Thunks && r.HasAddr && n.inKernel(r, r.Addr, inSlot) && !n.inKernel(r, r.IP, inSlot) {
		return true
	}
	return n.entry(r)
}

// entry reports whether the branch r enters a function: its destination is the
// first address of a symbol, or in another one than the branch.
func (n *Names) entry(r *Row) bool {
	if !r.HasAddr {
		return false
	}
	to := n.At(r, r.Addr)
	if to.Known && to.Sym != "" && to.Off == 0 {
		return !to.InSlot() || !n.machine(r).Kernel(r.Addr)
	}
	if r.Transfer != TransferCall {
		return false
	}
	from := n.At(r, r.IP)
	return !to.Known || !from.Known || from.Sym != to.Sym || to.Sym == ""
}
