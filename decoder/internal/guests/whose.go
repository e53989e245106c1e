package guests

import (
	"fmt"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// Parts are the parts of streams: of the host, and of each guest.
type Parts struct {
	tasks *process.Tasks
	hosts []*stream.Stream
	pids  []int32          // of the guests' processes
	vmcs  map[uint64]int32 // the process of a VMCS, -1: of several
}

// Split has each of streams, which trace CPUs of a host, give only what the host
// executed, and what guests did of which nothing is known. pids are the processes of
// the others, which Of returns.
func Split(tasks *process.Tasks, streams []*stream.Stream, pids []int32) (*Parts, error) {
	p := &Parts{tasks: tasks, hosts: slices.Clone(streams), pids: pids, vmcs: map[uint64]int32{}}
	for i, pid := range pids {
		if slices.Contains(pids[:i], pid) {
			return nil, fmt.Errorf("%d: the process has a guest already", pid)
		}
	}
	for _, st := range p.hosts {
		if st.Protocol != stream.IntelPT {
			return nil, fmt.Errorf("%d: %s: the trace is %s's, and only Intel PT's tells of guests", pids[0], st.Name, st.Protocol.Name)
		}
	}
	for _, st := range p.hosts {
		p.survey(st)
	}
	for _, st := range p.hosts {
		st.Part = p.part(st, Host)
	}
	return p, nil
}

// part returns what takes the part of own out of st's events.
func (p *Parts) part(st *stream.Stream, own Machine) func(stream.Decoder) stream.Decoder {
	return func(d stream.Decoder) stream.Decoder {
		return NewPart(d, own, func(e *event.Event, vmcs uint64) Machine { return p.machine(st, e, vmcs) })
	}
}

// Of returns new streams of guest i, in the order of the host's. They have not begun.
func (p *Parts) Of(i int) (list []*stream.Stream) {
	for _, st := range p.hosts {
		list = append(list, st.PartOf(p.pids[i], p.part(st, Machine(i+1))))
	}
	return list
}

// survey notes which process each VMCS is of, where the records are sure of it.
func (p *Parts) survey(st *stream.Stream) {
	var vmcs uint64
	for e := range st.Events() {
		switch {
		case e.Detail == event.DetailVMCS && e.Kind == event.Context:
			vmcs = e.Value
		case e.Flags&event.FlagCR3 != 0 && e.Value2&1 != 0 && vmcs != 0:
			pid, sure := p.process(st, e)
			if !sure {
				break
			}
			if was, ok := p.vmcs[vmcs]; ok && was != pid {
				pid = -1
			}
			p.vmcs[vmcs] = pid
		}
	}
}

// process returns the process that ran where e was, by the records.
func (p *Parts) process(st *stream.Stream, e *event.Event) (pid int32, sure bool) {
	if st.CPU < 0 {
		return p.tasks.PID(st.TID)
	}
	t, ok := p.tasks.On(st.CPU, e.Time.Lo)
	return t.PID, ok && t.PID > 0 && p.tasks.Alone(st.CPU, e.Time)
}

// machine returns which guest runs by e: that of the process that ran, else that of
// the VMCS. Where nothing is known of either, it is the only guest that there is.
func (p *Parts) machine(st *stream.Stream, e *event.Event, vmcs uint64) Machine {
	pid, sure := p.process(st, e)
	if !sure {
		own, known := p.vmcs[vmcs]
		if _, any := p.tasks.Ever(0); !known && !any && len(p.pids) == 1 {
			return 1
		}
		pid = own
	}
	if i := slices.Index(p.pids, pid); i >= 0 {
		return Machine(i + 1)
	}
	return Other
}
