package etmv3

import (
	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// What single packets mean.

// packet reads one packet.
func (d *Decoder) packet(p *Packet) {
	if p.Kind == Branch {
		if d.flow.Synced {
			d.takeBranch(p)
			d.flowed = true
		}
		return
	}
	d.settle() // nothing else cancels
	switch p.Kind {
	case PHeader:
		d.takeHeader(p)
	case Bad:
		// The stream may end inside of a packet.
		d.flow.Bad(p.Off, p.End(), p.Info == packettext.BadCut && d.seg.Last, Kind(p.Exc) == ASync)
	case ISync, ISyncCycles:
		d.isync(p)
	case Timestamp:
		d.timestamp(p)
	case CycleCount:
		d.flow.Flush()
		d.flow.Payload(p.Off, p.End(), event.DetailCycleCount).Value = uint64(p.Cycles)
	case ContextID, VMID, Trigger, ExceptionRet:
		if d.flow.Synced {
			d.other(p)
		}
	}
}

// takeHeader reads a P-header. Before the first I-sync its instructions are not
// known, but cycles are counted.
func (d *Decoder) takeHeader(p *Packet) {
	switch {
	case p.N == 0:
		if p.Cycles > 0 {
			d.flow.Flush()
			d.flow.Payload(p.Off, p.End(), event.DetailCycleCount).Value = uint64(p.Cycles)
		}
	case d.flow.Synced:
		d.flow.Outcomes(p.Value, p.N, p.Off, p.End())
		d.newest, d.flowed = true, true // the newest stays to be told later
	}
}

// timestamp reads a timestamp. Nothing says that what the next packet tells was
// executed behind it, so it bounds what comes behind that.
func (d *Decoder) timestamp(p *Packet) {
	d.flow.Timestamp(v3.Timestamp{Value: p.Value, N: p.N, Off: p.Off}, p.End(), p.Info&1 != 0, true)
	d.flowed = false
}

// other reads packets that say nothing of the flow.
func (d *Decoder) other(p *Packet) {
	switch p.Kind {
	case ContextID:
		d.flow.Flush()
		d.flow.Context.ID = p.Context
		d.flow.Context.Flags |= event.PEHasID
		d.flow.TellContext(p.Off, p.End())
	case VMID:
		d.flow.Flush()
		d.flow.Context.VMID = uint32(p.Value)
		d.flow.Context.Flags |= event.PEHasVMID
		d.flow.TellContext(p.Off, p.End())
	case Trigger:
		d.flow.Flush()
		d.flow.Payload(p.Off, p.End(), event.DetailTrigger)
	case ExceptionRet:
		// On A and R cores an exception may cancel the instruction with it.
		if d.cfg.mProfile() {
			d.flow.Flush()
		}
		d.returned, d.newest = true, d.flow.N > 0
		d.retOff, d.retEnd = p.Off, p.End()
	}
}

// takeBranch reads a branch packet: where the last branch went, or an exception.
// Of several for one instruction the last counts.
func (d *Decoder) takeBranch(p *Packet) {
	if p.N == 5 {
		d.flow.Set, _ = addressSet(p.Value)
	}
	if p.Exc > 0 {
		d.flow.Set = d.flow.Set.WithAlt(p.Extra&v3.ExcAlt != 0)
	}
	d.flow.Merge(p.Value, p.N, d.form.Alternative)
	if !p.HasException() {
		if d.target.Kind == event.KindNone {
			d.settle() // else it is replaced
		}
		d.aim(p)
		return
	}
	if p.Cancels() {
		d.cancel()
	}
	n := p.Exception(d.cfg.mProfile())
	if n == v3.ExcNone {
		if d.target.Kind == event.KindNone {
			d.settle()
		}
		d.aim(p)
		d.settle()
		d.state(p)
		return
	}
	d.settle()
	d.flow.Flush()
	e := d.flow.Push(p.Off, p.End())
	e.Kind, e.Detail, e.Value, e.Flags = event.Async, event.DetailException, uint64(n), event.FlagHere
	if n == v3.ExcHalt && !d.cfg.mProfile() {
		e.Kind = event.AsyncDisable // the address is none: what runs in debug state is not traced
	} else {
		d.flow.Here(e)
		if !d.mayBreak(n) {
			e.Flags |= event.FlagIntr
		}
	}
	d.state(p)
}

// aim makes p's address the Target that waits.
func (d *Decoder) aim(p *Packet) {
	d.target = event.Event{Kind: event.Target, Off: p.Off, End: p.End(), Time: d.flow.When(p.End())}
	d.flow.Here(&d.target)
}

// mayBreak reports whether exception n can be a breakpoint's: BKPT, or an
// instruction that a debugger put there.
func (d *Decoder) mayBreak(n uint16) bool {
	if d.cfg.mProfile() {
		return n == excMDebugMonitor || n == excMHardFault || n == excMUsageFault
	}
	return n == v3.ExcPrefetchAbort || n == v3.ExcUndef
}

// state takes over the security state and mode of a Branch's exception bytes,
// and tells them if they are others.
func (d *Decoder) state(p *Packet) {
	if p.Exc > 0 {
		d.flow.SetState(uint16(p.Extra), p.Exc > 1 && p.Extra&excResume == 0, p.Off, p.End())
	}
}

// takeSync takes over all that an I-sync states. Where a load or store is in
// progress, the next instruction's address is the second. IHI0014Q, "I-sync
// instruction synchronization".
func (d *Decoder) takeSync(p *Packet) {
	if p.Info&infoNoAddress == 0 {
		d.flow.TakeAddress(p.Value, p.Info)
		if p.Info&infoJazelle != 0 {
			d.flow.Set = v3.Jazelle
		}
		if p.Exc > 0 {
			d.flow.Merge(p.Extra, p.Exc, d.form.Alternative)
		}
	}
	d.flow.TakeContext(p.Info, p.Context, p.N)
}

// isync reads an I-sync: tracing goes on there, or it is told where the flow
// is.
func (d *Decoder) isync(p *Packet) {
	d.flow.Flush()
	d.flowed = true
	d.settle() // what follows was executed behind it
	end := p.End()
	first := !d.flow.Synced
	d.takeSync(p)
	d.flow.Synced = true
	if !first && p.Reason() == v3.ReasonPeriodic {
		d.restate(p)
		d.flow.TellContext(p.Off, end)
		return
	}
	d.flow.TraceOn(p.Reason(), p.Off, end)
	d.flow.TellContext(p.Off, end)
	if p.Info&infoNoAddress == 0 {
		e := d.flow.Push(p.Off, end)
		e.Kind = event.Enable
		d.flow.Here(e)
	}
}

// restate tells where the flow is. The Target before it is for an indirect
// branch that was traced last: the I-sync takes a branch packet's place.
func (d *Decoder) restate(p *Packet) {
	if p.Info&infoNoAddress != 0 {
		return
	}
	e := d.flow.Push(p.Off, p.End())
	e.Kind = event.Target
	d.flow.Here(e)
	d.flow.Restate(p.Off, p.End())
}
