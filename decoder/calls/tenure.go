package calls

import (
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// tenure is how long a thread runs on a CPU, by the records of switches. Times are in ns.
type tenure struct {
	since uint64 // it runs then: the record of the next switch comes behind that
	until uint64 // another one runs from then on, whatever the code shows
	slack uint64 // how much later that is than the record says
	named uint64 // the thread's name stays the same until then
	first bool   // the flow began at since, or went on behind a gap; no switch was seen since
	open  bool   // it is one of two threads, and not known which
}

// switchSlack is how far from the place where the kernel takes another thread's stack the
// record of it may lie, ns. perf_event_task_sched_out comes before that place, and
// perf_event_task_sched_in behind it (kernel/sched/core.c, context_switch, v6.1).
const switchSlack = 100_000

// tenureOf returns the tenure of a thread that runs at a time, ns.
func tenureOf(s *decoder.Session, stream int, tid int32, at, slack uint64) tenure {
	n := tenure{since: at, until: math.MaxUint64, slack: slack, named: math.MaxUint64}
	if next, _, ok := s.NextRunning(stream, at, tid); ok {
		n.until = next + min(slack, math.MaxUint64-next)
	}
	return n
}

// over reports whether another thread runs at a moment of which the trace stated a time before,
// ns. Where the code shows switches, all of the moment has to lie behind the end.
func (n *tenure) over(stated uint64, now event.Time) bool {
	return stated >= n.until && (n.slack == 0 || now.Lo >= n.until)
}

// cameLate reports whether the thread that ran at since, tid, takes its stack only with the
// first switch behind that: its record lies before since. It returns when, ns, and
// who ran before. The calls are those in progress at the switch.
func (n *tenure) cameLate(s *decoder.Session, stream int, tid int32, calls []*Call) (came uint64, before int32, ok bool) {
	for _, call := range calls {
		if call.Sym == "__schedule" && call.How != Unseen && call.began >= n.since {
			return 0, 0, false // the record of this switch comes behind since
		}
	}
	at := n.since - min(n.since, switchSlack)
	ran, _, _, ok := s.Running(stream, at)
	for ok {
		var next int32
		if at, next, ok = s.NextRunning(stream, at, ran); !ok || at > n.since {
			break
		}
		came, before, ran = at, ran, next
	}
	later, _, more := s.NextRunning(stream, n.since, tid)
	return came, before, came != 0 && (!more || later-n.since >= n.since-came)
}

// goesUnknown goes over to a thread that is not known, behind a gap in the kernel, and reports whether it did. It does so between the
// two records of a switch: the kernel takes the next thread's stack there, so either may run.
func goesUnknown(c *cpu) bool {
	tid, _, _, _ := c.Session.Running(c.st.Index, c.stated)
	in, next, ok := c.Session.NextRunning(c.st.Index, c.stated, -1)
	if !ok || next != tid || in-c.stated > switchSlack || c.machine != c.Session || c.thread != nil && c.thread.tid == tid {
		return false
	}
	c.goesBy(c.stated, &thread{tid: -1, stream: c.st.Index})
	c.tenure.until, c.tenure.first, c.tenure.open = in, true, true
	return true
}

// inherits gives th the calls of the thread that c is in, if these all began with its tenure: it was th that ran. What
// it did before is not known then. If another stream is in th by now, nobody comes back to those of c.
func (th *thread) inherits(c *cpu) {
	of := c.thread
	all := slices.Concat(of.user.calls, of.kernel.calls)
	if slices.ContainsFunc(all, func(x *Call) bool { return x.began < c.tenure.since }) {
		all = nil
	} else if c.has(th) {
		th = &thread{tid: th.tid, comm: th.comm, stream: c.st.Index}
	} else {
		th.gap(math.MaxUint64)
	}
	if len(all) > 0 {
		th.user.calls, th.kernel.calls = append(th.user.calls, of.user.calls...), append(th.kernel.calls, of.kernel.calls...)
		of.user, of.kernel = stack{}, stack{}
	}
	for _, call := range all {
		call.TID, call.Comm, call.counts = th.tid, th.comm, false
	}
	if th.seen, th.left = c.last, c.lastStated; !th.kept {
		th.forgotten(c)
	}
}
