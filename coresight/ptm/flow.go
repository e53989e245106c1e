package ptm

import "github.com/ptdecode/ptdecode/decoder/event"

// What single packets mean.

// target takes over the address of a Branch or Waypoint, and the instruction
// set if it tells that. IHI0035B, "Branch address packet".
func (d *Decoder) target(p *Packet) {
	s := d.set
	if p.N == 5 {
		s = addressSet(p.Value)
	}
	if alt := p.Info&excAlt != 0; p.Exc > 0 && alt && s == setThumb {
		s = setThumbEE
	} else if p.Exc > 0 && !alt && s == setThumbEE {
		s = setThumb
	}
	a, n := s.bits(p.Value, p.N)
	mask := uint64(1)<<n - 1
	d.addr = d.addr&^mask | a&mask
	d.set = s
}

// branch reads a branch packet: an indirect branch that was taken, or an
// exception.
func (d *Decoder) branch(p *Packet) {
	end := p.End()
	if p.Exc == 0 || p.Exception() == ExcNone {
		d.outcome(1, 1, p.Off, end)
		d.flush()
		d.target(p)
		e := d.push(p.Off, end)
		e.Kind = event.Target
		d.here(e)
		d.state(p)
		return
	}
	d.flush()
	d.target(p)
	e := d.push(p.Off, end)
	e.Kind, e.Detail, e.Flags = event.Async, event.DetailException, event.FlagHere
	e.Value = uint64(p.Exception())
	switch e.Value {
	case ExcHalt:
		// The address is none: what runs in debug state is not traced.
		e.Kind = event.AsyncDisable
		d.state(p)
		return
	case ExcPrefetchAbort, ExcUndef:
		// BKPT, or an instruction that a debugger put there, or neither.
	default:
		e.Flags |= event.FlagIntr
	}
	d.here(e)
	d.state(p)
}

// state takes over the security state and mode of a Branch's exception bytes,
// and tells them if they are others.
func (d *Decoder) state(p *Packet) {
	if p.Exc == 0 {
		return
	}
	was := d.ctx.flags
	d.ctx.put(event.PENonSecure, p.Info&excNS != 0)
	d.ctx.put(event.PEAltISA, p.Info&excAlt != 0)
	if p.Exc > 1 {
		d.ctx.put(event.PEHyp, p.Info&excHyp != 0)
	}
	if d.ctx.flags != was {
		d.context(p.Off, p.End())
	}
}

func (c *context) put(flag uint64, on bool) {
	c.flags &^= flag
	if on {
		c.flags |= flag
	}
}

// context tells the context, by the packets [off, end).
func (d *Decoder) context(off, end int64) *event.Event {
	e := d.push(off, end)
	e.Kind, e.Detail = event.Context, event.DetailPE
	e.Value, e.Value2 = uint64(d.ctx.vmid)<<32|uint64(d.ctx.id), d.ctx.flags
	return e
}

// newContext reads a context ID or VMID packet, which tell one that need not
// be another.
func (d *Decoder) newContext(p *Packet) {
	was := d.ctx
	switch p.Kind {
	case ContextID:
		d.ctx.id = p.Context
		d.ctx.flags |= event.PEHasID
	case VMID:
		d.ctx.vmid = uint32(p.Value)
		d.ctx.flags |= event.PEHasVMID
	}
	if d.ctx != was {
		d.flush()
		d.context(p.Off, p.End())
	}
}

// take takes over all that an I-sync states. IHI0035B, "I-sync, instruction
// synchronization packet".
func (d *Decoder) take(p *Packet) {
	d.addr = p.Value &^ 1
	switch {
	case p.Value&1 == 0:
		d.set = setARM
	case p.Info&infoAlt != 0:
		d.set = setThumbEE
	default:
		d.set = setThumb
	}
	d.ctx.put(event.PENonSecure, p.Info&infoNS != 0)
	d.ctx.put(event.PEAltISA, p.Info&infoAlt != 0)
	d.ctx.put(event.PEHyp, p.Info&infoHyp != 0)
	if p.N > 0 {
		d.ctx.id = p.Context
		d.ctx.flags |= event.PEHasID
	}
}

// isync reads an I-sync: tracing goes on there, or it is told where the flow
// is.
func (d *Decoder) isync(p *Packet) {
	d.flush()
	d.passed() // what follows was executed behind it
	end := p.End()
	was, set, first := d.ctx, d.set, !d.synced
	d.take(p)
	d.synced = true
	if !first && p.Reason() == ReasonPeriodic {
		e := d.push(p.Off, end)
		e.Kind, e.Flags = event.Sync, event.FlagRestated
		d.here(e)
		if d.ctx != was {
			d.context(p.Off, end)
		}
		return
	}
	if p.Reason() == ReasonOverflow {
		d.push(p.Off, end).Kind = event.Overflow
	}
	e := d.push(p.Off, end)
	e.Kind, e.Detail, e.Value = event.Off, event.DetailTraceOn, uint64(p.Reason())
	if first || d.set != set || p.N > 0 || d.ctx != was {
		d.context(p.Off, end)
	}
	e = d.push(p.Off, end)
	e.Kind = event.Enable
	d.here(e)
}
