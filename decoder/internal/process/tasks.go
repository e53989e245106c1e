package process

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Task names a thread.
type Task struct {
	PID, TID int32
	Comm     string
}

// Tasks knows which thread ran where and when, and what it was called.
type Tasks struct {
	cpus  map[int32][]switchIn // by CPU, in time order once sealed
	comms map[int32][]commAt   // by TID, in time order once sealed
	pids  map[int32]int32      // TID to PID
}

// switchIn is the moment from which a thread ran on a CPU.
type switchIn struct {
	time uint64 // ns
	pid  int32
	tid  int32
	same int32 // index of the first of the switches in a row that are of this process; set by Seal
	// again is how long after time another record told the same, ns; 0: none did, or at that time. Of a switch
	// mostly two records tell: of the thread that goes, and of the one that comes.
	again uint32
}

// start returns when the thread began to run, ns.
func (s *switchIn) start() uint64 { return s.time }

// commAt is the moment from which a thread had a name.
type commAt struct {
	time uint64 // ns
	comm string
	exec bool // the name came with a new program
}

// start returns when the thread got the name, ns.
func (c *commAt) start() uint64 { return c.time }

// NewTasks returns tasks of which nothing is known.
func NewTasks() *Tasks {
	return &Tasks{cpus: map[int32][]switchIn{}, comms: map[int32][]commAt{}, pids: map[int32]int32{}}
}

// Ran records that tid runs on cpu from time on.
func (k *Tasks) Ran(cpu int32, time uint64, pid, tid int32) {
	k.cpus[cpu] = putSwitch(k.cpus[cpu], switchIn{time: time, pid: pid, tid: tid})
	if pid >= 0 {
		k.pids[tid] = pid
	}
}

// putSwitch adds x to list, or to its last element if that says the same.
func putSwitch(list []switchIn, x switchIn) []switchIn {
	if n := len(list) - 1; n >= 0 {
		l := &list[n]
		if l.again == 0 && l.pid == x.pid && l.tid == x.tid && l.time <= x.time && x.time-l.time <= math.MaxUint32 {
			l.again = uint32(x.time - l.time)
			return list
		}
	}
	return append(list, x)
}

// inOrder returns list in time order, as if each record had an element of its own. It has no room to spare.
func inOrder(list []switchIn) []switchIn {
	last, sorted := uint64(0), true
	for i := range list {
		sorted = sorted && list[i].time >= last
		last = list[i].time + uint64(list[i].again)
	}
	if sorted {
		return slices.Clone(list)
	}
	var all []switchIn
	for _, x := range list {
		later := x.time + uint64(x.again)
		x.again = 0
		if all = append(all, x); later > x.time {
			x.time = later
			all = append(all, x)
		}
	}
	slices.SortStableFunc(all, func(a, b switchIn) int { return cmp.Compare(a.time, b.time) })
	list = list[:0]
	for _, x := range all {
		list = putSwitch(list, x)
	}
	return slices.Clone(list)
}

// Named records that tid is called comm from time on.
func (k *Tasks) Named(time uint64, pid, tid int32, comm string, exec bool) {
	k.comms[tid] = append(k.comms[tid], commAt{time, comm, exec})
	k.pids[tid] = pid
}

// Seal sorts what was recorded; lookups may follow.
func (k *Tasks) Seal() {
	for cpu := range k.cpus {
		in := inOrder(k.cpus[cpu])
		k.cpus[cpu] = in
		for i := range in {
			if in[i].same = int32(i); i > 0 && in[i].pid == in[i-1].pid {
				in[i].same = in[i-1].same
			}
		}
	}
	for t := range k.comms {
		slices.SortStableFunc(k.comms[t], func(a, b commAt) int { return cmp.Compare(a.time, b.time) })
	}
}

// lastStarted returns the index of the last of list that started at time, ns, or
// before it; -1 if none did. The list is in time order.
func lastStarted[T any, P interface {
	*T
	start() uint64
}](list []T, time uint64) int {
	return sort.Search(len(list), func(i int) bool { return P(&list[i]).start() > time }) - 1
}

// thread returns the numbers of the thread that ran on cpu at time, and when the next one started. ok is false if
// it is not known, and the numbers are -1.
func (k *Tasks) thread(cpu int32, time uint64) (pid, tid int32, until uint64, ok bool) {
	in := k.cpus[cpu]
	i := lastStarted(in, time)
	if until = nextStart(in, i); i < 0 {
		return -1, -1, until, false
	}
	return in[i].pid, in[i].tid, until, true
}

// nextStart returns when the one of list behind i started, ns; the end of time if there is none.
func nextStart[T any, P interface {
	*T
	start() uint64
}](list []T, i int) uint64 {
	if i+1 < len(list) {
		return P(&list[i+1]).start()
	}
	return math.MaxUint64
}

// Belongs records that tid is a thread of the process pid.
func (k *Tasks) Belongs(pid, tid int32) { k.pids[tid] = pid }

// Next returns the first thread that records say ran on cpu after a time, ns, other than
// tid, and from when on; ok is false if there is none.
func (k *Tasks) Next(cpu int32, after uint64, tid int32) (time uint64, next int32, ok bool) {
	in := k.cpus[cpu]
	i := lastStarted(in, after)
	if i >= 0 && in[i].tid != tid {
		if again := in[i].time + uint64(in[i].again); again > after {
			return again, in[i].tid, true
		}
	}
	for i++; i < len(in); i++ {
		if in[i].tid != tid {
			return in[i].time, in[i].tid, true
		}
	}
	return 0, -1, false
}

// On returns the thread that ran on cpu at time, with its name, and until when the answer stays the same, ns. ok is
// false if the thread is not known.
func (k *Tasks) On(cpu int32, time uint64) (t Task, until uint64, ok bool) {
	if t.PID, t.TID, until, ok = k.thread(cpu, time); ok {
		comm, renamed := k.Comm(t.TID, time)
		t.Comm, until = comm, min(until, renamed)
	}
	return t, until, ok
}

// PID returns the process of a thread; ok is false if it is not known.
func (k *Tasks) PID(tid int32) (pid int32, ok bool) {
	pid, ok = k.pids[tid]
	return pid, ok
}

// Comm returns what tid was called at time, or what it was first called, and until when, ns.
func (k *Tasks) Comm(tid int32, time uint64) (comm string, until uint64) {
	c := k.comms[tid]
	switch i := lastStarted(c, time); {
	case tid == 0:
		return "swapper", math.MaxUint64
	case len(c) == 0:
		return "", math.MaxUint64
	default:
		return c[max(i, 0)].comm, nextStart(c, max(i, 0))
	}
}

// Latest returns the newest name of tid recorded so far.
func (k *Tasks) Latest(tid int32) string {
	if c := k.comms[tid]; len(c) > 0 {
		return c[len(c)-1].comm
	}
	return ""
}

// Alone reports whether one process ran on cpu all through t.
func (k *Tasks) Alone(cpu int32, t event.Time) bool {
	in := k.cpus[cpu]
	from, to := lastStarted(in, t.Lo), lastStarted(in, t.Hi)
	return from >= to || from >= 0 && int(in[to].same) <= from
}

// Ever reports whether tid ran on some CPU; any, whether it is known of any
// thread.
func (k *Tasks) Ever(tid int32) (ran, any bool) {
	for _, ins := range k.cpus {
		for i := range ins {
			if any = true; ins[i].tid == tid {
				return true, true
			}
		}
	}
	return false, any
}

// EachComm gives the names of all threads, until yield returns false. A name may come more
// than once.
func (k *Tasks) EachComm(yield func(comm string) bool) {
	if len(k.cpus) > 0 && !yield("swapper") {
		return
	}
	for _, list := range k.comms {
		for i := range list {
			if !yield(list[i].comm) {
				return
			}
		}
	}
}
