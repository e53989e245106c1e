package process

import (
	"cmp"
	"slices"

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
}

// commAt is the moment from which a thread had a name.
type commAt struct {
	time uint64 // ns
	comm string
	exec bool // the name came with a new program
}

// NewTasks returns tasks of which nothing is known.
func NewTasks() *Tasks {
	return &Tasks{cpus: map[int32][]switchIn{}, comms: map[int32][]commAt{}, pids: map[int32]int32{}}
}

// Ran records that tid runs on cpu from time on.
func (k *Tasks) Ran(cpu int32, time uint64, pid, tid int32) {
	k.cpus[cpu] = append(k.cpus[cpu], switchIn{time, pid, tid})
	if pid >= 0 {
		k.pids[tid] = pid
	}
}

// Named records that tid is called comm from time on.
func (k *Tasks) Named(time uint64, pid, tid int32, comm string, exec bool) {
	k.comms[tid] = append(k.comms[tid], commAt{time, comm, exec})
	k.pids[tid] = pid
}

// Seal sorts what was recorded; lookups may follow.
func (k *Tasks) Seal() {
	for c := range k.cpus {
		slices.SortStableFunc(k.cpus[c], func(a, b switchIn) int { return cmp.Compare(a.time, b.time) })
	}
	for t := range k.comms {
		slices.SortStableFunc(k.comms[t], func(a, b commAt) int { return cmp.Compare(a.time, b.time) })
	}
}

// On returns the thread that ran on cpu at time; ok is false if it is not known.
func (k *Tasks) On(cpu int32, time uint64) (t Task, ok bool) {
	s := k.cpus[cpu]
	i, found := slices.BinarySearchFunc(s, time, func(a switchIn, t uint64) int { return cmp.Compare(a.time, t) })
	if found {
		for i+1 < len(s) && s[i+1].time == time {
			i++
		}
	} else {
		i--
	}
	if i < 0 {
		return Task{PID: -1, TID: -1}, false
	}
	return Task{PID: s[i].pid, TID: s[i].tid, Comm: k.Comm(s[i].tid, time)}, true
}

// Comm returns what tid was called at time, or what it was first called.
func (k *Tasks) Comm(tid int32, time uint64) string {
	if tid == 0 {
		return "swapper"
	}
	c := k.comms[tid]
	name := ""
	for i := range c {
		if i > 0 && c[i].time > time {
			break
		}
		name = c[i].comm
	}
	return name
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
	s := k.cpus[cpu]
	i, _ := slices.BinarySearchFunc(s, t.Lo, func(a switchIn, at uint64) int { return cmp.Compare(a.time, at+1) })
	for ; i < len(s) && s[i].time <= t.Hi; i++ {
		if i == 0 || s[i].pid != s[i-1].pid {
			return false
		}
	}
	return true
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
