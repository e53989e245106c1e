package calls

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// cpu is what is known of a stream's flow.
type cpu struct {
	*Tree
	st       *decoder.Stream
	machine  *decoder.Session // that executes it
	switches string           // its kernel's function that takes another thread's stack

	// When the range that comes ran, and the one before it: bounds, and the last time that the
	// trace stated before, ns.
	now, last          event.Time
	stated, lastStated uint64
	place              int64 // in the stream, of the event that led there

	await  awaited        // what the flow does next
	prev   *decoder.Block // of the last range
	branch *decoder.Block // at the end of which the flow left
	from   uint64         // the instruction that leaves
	trap   trap           // whose handler begins

	thread *thread
	part   *stack // of thread, that the flow is in
	top    *Call  // the innermost one of part
	tenure tenure // of thread

	// returner is the block that last turned out to be nothing but a return thunk's return. The
	// flow may be said to be in the function that jumps there.
	returner *decoder.Block

	briefs briefs  // inside of top
	brief  Call    // of those the one that is told of
	cycles *cycles // nil: the trace counts none

	inside
}

// inside is the code that the flow is in: addresses from lo to lo+size are code's.
type inside struct {
	code            *function
	lo, size, inner uint64 // inner: max(size, 1)-1
	counts          uint64 // everything, or 0: what runs lies outside of the time that counts
}

// awaited is what the next range shows.
type awaited uint8

// What the flow does next.
const (
	nothing   awaited = iota // it goes on, or jumps
	callee                   // it was called
	caller                   // it is returned to
	undone                   // it was interrupted, or is user space
	handler                  // it is what handles an interrupt, exception or breakpoint
	service                  // it is what serves a system call
	begun                    // tracing came on
	lost                     // something: there was a gap
	elsewhere                // something: a virtual machine ran, or a transaction failed
)

// moment takes the time of ranges that have the stamp i. They ran after the event before
// was sent, and before the next one was. A packet of several outcomes is sent with the last.
func (c *cpu) moment(stamps []decoder.Stamp, i int) {
	s := &stamps[i]
	if s.Off != c.place {
		c.place, c.now.Lo = s.Off, c.stated
	}
	if ns := s.Time.Lo; c.await == handler {
		states(c, max(ns, c.stated)) // the handler ran after the exception, of which the time may be known better
	} else {
		states(c, ns)
	}
	c.now.Hi = math.MaxUint64
	if c.cycles != nil {
		c.cycles.Reach(s.Off)
	}
	for _, next := range stamps[i+1:] {
		if next.Off != s.Off {
			c.now.Hi = next.Time.Hi
			break
		}
	}
	if c.stated >= c.tenure.named {
		renamed(c)
	}
}

// states takes a time that the trace states, ns. A gap before it is over. 0: none is known here, as behind a sync point of
// Arm. What was stated before counts on.
func states(c *cpu, ns uint64) {
	if ns == 0 {
		return
	}
	if ns > c.stated {
		c.ranLost(c.st.Index, ns)
		c.lostAt[c.st.Index] = math.MaxUint64
	}
	c.stated = ns
}

// ranLost marks the calls of threads that ran in a stream's gap until a time, ns, by the records. It asks for each record once.
func (t *Tree) ranLost(stream int, until uint64) {
	for at := &t.lostAt[stream]; *at <= until && *at != math.MaxUint64; {
		tid, _, next, _ := t.Session.Running(stream, *at)
		if th := t.threads[keyOf(&t.cpus[stream], tid)]; th != nil {
			t.has(th)
			th.gap(next)
		}
		*at = next
	}
}

// renamed asks for the name of the thread that runs: it may have another one from now on. Brief calls that it is in
// become Calls, which know their name as they begin.
func renamed(c *cpu) {
	th := c.thread
	if th == nil {
		return
	}
	tid, comm, until, ok := c.Session.Running(c.st.Index, c.stated)
	if c.tenure.named = until; !ok || tid != th.tid || comm == th.comm {
		return
	}
	c.begins()
	th.comm, th.ran = comm, nil
}

// runs finds the thread that runs, by the records alone.
func (c *cpu) runs() {
	tid, comm, until, _ := c.Session.Running(c.st.Index, c.stated)
	th := c.threadOf(tid, comm)
	if left := th.left; c.tenure.open {
		th.inherits(c)
		th.left = left
	}
	c.goesBy(c.stated, th)
	c.tenure.first, c.tenure.named = true, until
}

// goesBy goes over to the thread that runs at a time, ns, by the records. They know none of a
// guest's threads.
func (c *cpu) goesBy(at uint64, th *thread) {
	for i := range c.lostAt { // th may have run there
		c.ranLost(i, at)
	}
	slack := uint64(switchSlack)
	if c.switches == "" {
		slack = 0
	}
	if c.tenure = tenureOf(c.Session, c.st.Index, th.tid, at, slack); slack > 0 && c.machine != c.Session {
		c.tenure.until = math.MaxUint64
	}
	c.goes(th)
}

// goes goes over to a thread.
func (c *cpu) goes(th *thread) {
	if th == c.thread {
		return
	}
	if old := c.thread; old != nil {
		old.seen, old.stream = c.last, c.st.Index
		if old.left = c.lastStated; !old.kept {
			old.forgotten(c)
		}
	}
	if th.kept && c.has(th) {
		// The records say that it left another stream, whose flow does not, or not yet.
		th.gap(math.MaxUint64)
		th.kept = false
		th = &thread{tid: th.tid, comm: th.comm, stream: th.stream, kept: true}
		c.threads[threadKey{th.tid, -1}] = th
	} else if lags(c, th) {
		th.gap(math.MaxUint64)
	}
	kernel := c.thread != nil && c.part == &c.thread.kernel
	c.thread = th
	if th.left != 0 {
		for _, p := range []*stack{&th.kernel, &th.user} {
			if n := len(p.calls); n > 0 {
				p.calls[n-1].away += c.clip(max(c.stated, th.left)) - c.clip(th.left)
			}
		}
		th.left = 0
	}
	c.turns(kernel)
}

// lags reports whether th, which c goes to, ran before in another stream by the records, and the flow of that has not come there
// yet. So it is where times are coarse. With Fold nobody asks, and condensed flow comes in another order.
func lags(c *cpu, th *thread) bool {
	for i := range c.cpus {
		o, ok := &c.cpus[i], !c.Fold && th.tid > 0 && i != c.st.Index && len(th.kernel.calls)+len(th.user.calls) > 0
		for at, tid := max(o.stated, o.tenure.since), int32(0); ok && at < c.tenure.since; {
			if at, tid, ok = c.Session.NextRunning(i, at, -1<<31); ok && tid == th.tid && at < c.tenure.since {
				return true
			}
		}
	}
	return false
}

// turns goes over to the kernel's part of the thread, or to the program's.
func (c *cpu) turns(kernel bool) {
	from := c.part
	if c.part = &c.thread.user; kernel {
		c.part = &c.thread.kernel
	}
	if from != c.part {
		c.cycles.moves(from, c.part)
	}
	innermost(c)
}

// switched goes over to the thread whose stack the kernel takes: the next one that records
// tell of. Where none does, it is not known which one that is.
func (c *cpu) switched() {
	if c.st.CPU < 0 {
		return // the stream is a thread's
	}
	st, th, n, host := c.st.Index, c.thread, &c.tenure, c.machine == c.Session
	if n.first && host {
		n.first = false
		tid, comm, until, _ := c.Session.Running(st, n.since)
		if came, before, ok := n.cameLate(c.Session, st, tid, c.part.calls); ok {
			_, was, _, _ := c.Session.Running(st, came-1)
			c.threadOf(before, was).inherits(c)
			c.goesBy(n.since, c.threadOf(tid, comm))
			n.named = until
			c.turns(true)
			return
		}
	}
	since, next, ok := c.Session.NextRunning(st, n.since, th.tid)
	ok = ok && host
	for ok && since < c.now.Lo { // records of threads that were not traced, or lost
		later, after, more := c.Session.NextRunning(st, since, next)
		if !more || later > c.now.Lo {
			break
		}
		since, next = later, after
	}
	if !ok || since > c.now.Hi+min(switchSlack, math.MaxUint64-c.now.Hi) {
		c.goesBy(c.stated, &thread{tid: -1, stream: st})
		return
	}
	_, comm, until, _ := c.Session.Running(st, since)
	c.goesBy(since, c.threadOf(next, comm))
	c.tenure.named = until
}

// leaves notes that the last instruction of k leaves the function in another way than by a
// jump.
func (c *cpu) leaves(k *decoder.Block) (awaits bool) {
	switch k.Class {
	case isa.Call, isa.CallInd:
		c.await = callee
	case isa.Return:
		c.await = caller
	case isa.FarReturn:
		c.await = undone
	case isa.Syscall:
		if k.Mode.RaisesSyscalls() {
			return false // an exception comes
		}
		c.await = service
	case isa.VMEnter:
		c.await = elsewhere
	}
	c.branch, c.from = k, k.LastIP()
	return true
}
