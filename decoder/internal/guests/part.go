package guests

import "github.com/ptdecode/ptdecode/decoder/event"

// Events gives the events of one segment after the other (stream.Decoder).
type Events interface {
	// Next gives the segment's next event; false at its end.
	Next(*event.Event) bool
	// Reset begins a segment.
	Reset(event.Segment)
}

// Machine says which machine runs: the host, or a guest by its number from 1 on.
type Machine int

// The machines that have no number of their own.
const (
	Host  Machine = 0
	Other Machine = -1 // a guest of which nothing is given
	lost  Machine = -2 // not known: what would say it may be among lost packets
)

// Whose says which guest runs where e states that one does. vmcs is the VMCS that was
// stated last, bytes; 0: none.
type Whose func(e *event.Event, vmcs uint64) Machine

// Part gives the events of one machine out of a CPU's. That of the host has those of
// guests of which nothing is given, too: the walker tells them apart.
type Part struct {
	src   Events
	own   Machine
	whose Whose
	now   Machine // which runs
	on    bool    // tracing is on
	vmcs  uint64  // stated last, bytes
}

// NewPart returns the part of own among the events of src.
func NewPart(src Events, own Machine, whose Whose) *Part {
	return &Part{src: src, own: own, whose: whose}
}

// Reset begins a segment. Its sync point says which machine runs.
func (p *Part) Reset(seg event.Segment) {
	p.src.Reset(seg)
	p.now, p.on = Host, false
}

// Next gives the machine's next event; false at the segment's end.
func (p *Part) Next(e *event.Event) bool {
	for p.src.Next(e) {
		if p.takes(e) {
			if p.own != Host {
				p.asRoot(e)
			}
			return true
		}
	}
	return false
}

// asRoot makes e, which is a guest's, tell of a machine that has no guests.
func (p *Part) asRoot(e *event.Event) {
	if e.Flags&event.FlagCR3 != 0 || e.Kind == event.Context && e.Detail == event.DetailCR3 {
		e.Value2 &^= 1
	}
}

// takes reports whether e is for the machine, as which e is changed.
func (p *Part) takes(e *event.Event) bool {
	was := p.now
	switch e.Kind {
	case event.End:
		return true
	case event.Sync, event.Overflow:
		return p.restarts(e)
	case event.Trouble: // any of them may have run in what is lost
		p.now = lost
		return was != lost
	case event.Context:
		return p.context(e)
	}
	if e.Flags&event.FlagCR3 != 0 {
		p.now = p.runs(e)
	}
	p.on = p.traced(e)
	switch left, came := p.has(was), p.has(p.now); {
	case left && came:
		return true
	case left:
		leave(e)
		return true
	case came:
		return arrive(e)
	}
	return false
}

// has reports whether what m executes is the part's.
func (p *Part) has(m Machine) bool { return m == p.own || p.own == Host && m == Other }

// runs returns which machine runs by e, which states an address space.
func (p *Part) runs(e *event.Event) Machine {
	switch {
	case e.Value2&1 == 0:
		return Host
	case p.now > Host || p.now == Other: // guests change only by way of the host
		return p.now
	}
	return p.whose(e, p.vmcs)
}

// traced reports whether tracing is on behind e.
func (p *Part) traced(e *event.Event) bool {
	switch e.Kind {
	case event.Enable:
		return true
	case event.Disable, event.AsyncDisable, event.Off:
		return false
	}
	return p.on
}

// restarts takes e, which says where the flow is whatever was before it. Behind an
// overflow that does not state it, nobody knows which machine runs: a VM entry or exit
// may be among the packets that were lost.
func (p *Part) restarts(e *event.Event) bool {
	switch {
	case e.Flags&event.FlagCR3 != 0:
		p.now = p.runs(e)
	case e.Kind == event.Overflow:
		p.now = lost
	}
	if p.on = e.HasIP(); !p.has(p.now) {
		e.Flags &^= event.FlagIP | event.FlagMode | event.FlagCR3
		e.IP = 0
	}
	return true
}

// context takes a change of address space, which binds to the next branch while
// tracing is on.
func (p *Part) context(e *event.Event) bool {
	switch e.Detail {
	case event.DetailVMCS:
		p.vmcs = e.Value
	case event.DetailCR3:
		now := p.runs(e)
		if !p.on {
			p.now = now
		}
		return p.has(now) && p.has(p.now)
	}
	return p.has(p.now)
}

// leave makes e, by which control leaves the machine, the end of tracing.
func leave(e *event.Event) {
	switch e.Kind {
	case event.Async, event.AsyncDisable:
		e.Kind = event.AsyncDisable
	default:
		e.Kind = event.Disable
	}
	e.Flags &^= event.FlagIP | event.FlagMode | event.FlagCR3
	e.IP, e.Value, e.Value2 = 0, 0, 0
}

// arrive makes e, by which control comes to the machine, the start of tracing. It
// reports whether that is where e goes.
func arrive(e *event.Event) bool {
	if !e.HasIP() || e.Kind == event.Disable || e.Kind == event.AsyncDisable {
		return false
	}
	e.Kind, e.Detail, e.From, e.N = event.Enable, event.DetailNone, 0, 0
	e.Flags &= event.FlagIP | event.FlagMode | event.FlagCR3
	return true
}
