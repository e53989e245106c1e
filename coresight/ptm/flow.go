package ptm

import (
	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// What single packets mean.

// target takes over the address of a Branch or Waypoint, and the instruction
// set if it tells that. IHI0035B, "Branch address packet".
func (d *Decoder) target(p *Packet) {
	if p.N == 5 {
		d.flow.Set = v3.AddressSet(p.Value)
	}
	if p.Exc > 0 {
		d.flow.Set = d.flow.Set.WithAlt(p.Info&v3.ExcAlt != 0)
	}
	d.flow.Merge(p.Value, p.N, true)
}

// takeBranch reads a branch packet: an indirect branch that was taken, or an
// exception.
func (d *Decoder) takeBranch(p *Packet) {
	end := p.End()
	if p.Exc == 0 || p.Exception() == v3.ExcNone {
		d.flow.Outcomes(1, 1, p.Off, end)
		d.flow.Flush()
		d.target(p)
		e := d.flow.Push(p.Off, end)
		e.Kind = event.Target
		d.flow.Here(e)
		d.state(p)
		return
	}
	d.flow.Flush()
	d.target(p)
	e := d.flow.Push(p.Off, end)
	e.Kind, e.Detail, e.Flags = event.Async, event.DetailException, event.FlagHere
	e.Value = uint64(p.Exception())
	switch e.Value {
	case v3.ExcHalt:
		// The address is none: what runs in debug state is not traced.
		e.Kind = event.AsyncDisable
		d.state(p)
		return
	case v3.ExcPrefetchAbort, v3.ExcUndef:
		// BKPT, or an instruction that a debugger put there, or neither.
	default:
		e.Flags |= event.FlagIntr
	}
	d.flow.Here(e)
	d.state(p)
}

// state takes over the security state and mode of a Branch's exception bytes,
// and tells them if they are others.
func (d *Decoder) state(p *Packet) {
	if p.Exc > 0 {
		d.flow.SetState(p.Info, p.Exc > 1, p.Off, p.End())
	}
}

// newContext reads a context ID or VMID packet, which tell one that need not
// be another.
func (d *Decoder) newContext(p *Packet) {
	was := d.flow.Context
	switch p.Kind {
	case ContextID:
		d.flow.Context.ID = p.Context
		d.flow.Context.Flags |= event.PEHasID
	case VMID:
		d.flow.Context.VMID = uint32(p.Value)
		d.flow.Context.Flags |= event.PEHasVMID
	}
	if d.flow.Context != was {
		d.flow.Flush()
		d.flow.TellContext(p.Off, p.End())
	}
}

// takeSync takes over all that an I-sync states. IHI0035B, "I-sync, instruction
// synchronization packet".
func (d *Decoder) takeSync(p *Packet) {
	d.flow.TakeAddress(p.Value, p.Info)
	d.flow.TakeContext(p.Info, p.Context, p.N)
}

// isync reads an I-sync: tracing goes on there, or it is told where the flow
// is.
func (d *Decoder) isync(p *Packet) {
	d.flow.Flush()
	d.flow.Passed() // what follows was executed behind it
	end := p.End()
	was, set, first := d.flow.Context, d.flow.Set, !d.flow.Synced
	d.takeSync(p)
	d.flow.Synced = true
	if !first && p.Reason() == v3.ReasonPeriodic {
		d.flow.Restate(p.Off, end)
		if d.flow.Context != was {
			d.flow.TellContext(p.Off, end)
		}
		return
	}
	d.flow.TraceOn(p.Reason(), p.Off, end)
	if first || d.flow.Set != set || p.N > 0 || d.flow.Context != was {
		d.flow.TellContext(p.Off, end)
	}
	e := d.flow.Push(p.Off, end)
	e.Kind = event.Enable
	d.flow.Here(e)
}
