package etmv3

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// What single packets mean.

// packet reads one packet.
func (d *Decoder) packet(p *Packet) {
	if p.Kind == Branch {
		if d.synced {
			d.branch(p)
			d.flowed = true
		}
		return
	}
	d.settle() // nothing else cancels
	switch p.Kind {
	case PHeader:
		d.header(p)
	case Bad:
		d.bad(p)
	case ISync, ISyncCycles:
		d.isync(p)
	case Timestamp:
		d.timestamp(p)
	case CycleCount:
		d.flush()
		d.payload(p, event.DetailCycleCount).Value = uint64(p.Cycles)
	case ContextID, VMID, Trigger, ExceptionRet:
		if d.synced {
			d.other(p)
		}
	}
}

// header reads a P-header. Before the first I-sync its instructions are not
// known, but cycles are counted.
func (d *Decoder) header(p *Packet) {
	switch {
	case p.N == 0:
		if p.Cycles > 0 {
			d.flush()
			d.payload(p, event.DetailCycleCount).Value = uint64(p.Cycles)
		}
	case d.synced:
		d.outcomes(p.Value, p.N, p.Off, p.End())
		d.flowed = true
	}
}

// timestamp reads a timestamp. Nothing says that what the next packet tells was
// executed behind it, so it bounds what comes behind that.
func (d *Decoder) timestamp(p *Packet) {
	d.flush()
	t := d.stamp.Update(p.Value, p.N)
	lo := d.lo
	if d.stamp.Known() {
		d.lo = d.cfg.TimeConv.Lo(t)
	}
	e := d.payload(p, event.DetailTimestamp)
	e.Value, e.Value2 = t, uint64(p.Info&1)
	if d.stamp.Known() {
		d.lo, d.late, d.isLate, d.flowed = lo, d.lo, true, false
	}
}

// other reads packets that say nothing of the flow.
func (d *Decoder) other(p *Packet) {
	switch p.Kind {
	case ContextID:
		d.flush()
		d.ctx.id = p.Context
		d.ctx.flags |= event.PEHasID
		d.context(p.Off, p.End())
	case VMID:
		d.flush()
		d.ctx.vmid = uint32(p.Value)
		d.ctx.flags |= event.PEHasVMID
		d.context(p.Off, p.End())
	case Trigger:
		d.flush()
		d.payload(p, event.DetailTrigger)
	case ExceptionRet:
		// On A and R cores an exception may cancel the instruction with it.
		if d.cfg.mProfile() {
			d.flush()
		}
		d.returned, d.newest = true, d.n > 0
		d.retOff, d.retEnd = p.Off, p.End()
	}
}

// payload tells a packet that says nothing of the flow.
func (d *Decoder) payload(p *Packet, k event.Detail) *event.Event {
	e := d.push(p.Off, p.End())
	e.Kind, e.Detail = event.Payload, k
	return e
}

// bad tells of bytes that are no packet; nothing is known up to the next
// I-sync behind them. Zeros at the end may be an A-sync cut short: they take
// nothing away.
func (d *Decoder) bad(p *Packet) {
	d.flush()
	cut := p.Info == packettext.BadCut && d.seg.Last
	if cut && Kind(p.Exc) == ASync {
		return
	}
	e := d.push(p.Off, p.End())
	e.Kind, e.Reason = event.Trouble, event.BadPacket
	if cut {
		e.Reason = event.Truncated
		return // the end of the stream
	}
	d.lose(p.Off, p.End())
}

// merge replaces the low bits of the address told last by those of address
// bytes. IHI0014Q, "Branch Packets".
func (d *Decoder) merge(v uint64, n uint8) {
	a, used := d.set.bits(v, n, d.form.Alternative)
	mask := uint64(1)<<used - 1
	d.addr = d.addr&^mask | a&mask
}

// branch reads a branch packet: where the last branch went, or an exception.
// Of several for one instruction the last counts.
func (d *Decoder) branch(p *Packet) {
	if p.N == 5 {
		d.set, _ = addressSet(p.Value)
	}
	if alt := p.Extra&excAlt != 0; p.Exc > 0 && alt && d.set == setThumb {
		d.set = setThumbEE
	} else if p.Exc > 0 && !alt && d.set == setThumbEE {
		d.set = setThumb
	}
	d.merge(p.Value, p.N)
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
	if n == ExcNone {
		if d.target.Kind == event.KindNone {
			d.settle()
		}
		d.aim(p)
		d.settle()
		d.state(p)
		return
	}
	d.settle()
	d.flush()
	e := d.push(p.Off, p.End())
	e.Kind, e.Detail, e.Value, e.Flags = event.Async, event.DetailException, uint64(n), event.FlagHere
	if n == ExcHalt && !d.cfg.mProfile() {
		e.Kind = event.AsyncDisable // the address is none: what runs in debug state is not traced
	} else {
		d.here(e)
		if !d.mayBreak(n) {
			e.Flags |= event.FlagIntr
		}
	}
	d.state(p)
}

// aim makes p's address the Target that waits.
func (d *Decoder) aim(p *Packet) {
	d.target = event.Event{Kind: event.Target, Off: p.Off, End: p.End(), Time: d.when(p.End())}
	d.here(&d.target)
}

// mayBreak reports whether exception n can be a breakpoint's: BKPT, or an
// instruction that a debugger put there.
func (d *Decoder) mayBreak(n uint16) bool {
	if d.cfg.mProfile() {
		return n == ExcMDebugMonitor || n == ExcMHardFault || n == ExcMUsageFault
	}
	return n == ExcPrefetchAbort || n == ExcUndef
}

// state takes over the security state and mode of a Branch's exception bytes,
// and tells them if they are others.
func (d *Decoder) state(p *Packet) {
	if p.Exc == 0 {
		return
	}
	was := d.ctx.flags
	d.ctx.put(event.PENonSecure, p.Extra&excNS != 0)
	d.ctx.put(event.PEAltISA, p.Extra&excAlt != 0)
	if p.Exc > 1 && p.Extra&excResume == 0 {
		d.ctx.put(event.PEHyp, p.Extra&excHyp != 0)
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
func (d *Decoder) context(off, end int64) {
	e := d.push(off, end)
	e.Kind, e.Detail = event.Context, event.DetailPE
	e.Value, e.Value2 = uint64(d.ctx.vmid)<<32|uint64(d.ctx.id), d.ctx.flags
}

// take takes over all that an I-sync states. Where a load or store is in
// progress, the next instruction's address is the second. IHI0014Q, "I-sync
// instruction synchronization".
func (d *Decoder) take(p *Packet) {
	if p.Info&infoNoAddress == 0 {
		d.addr = p.Value &^ 1
		switch {
		case p.Info&infoJazelle != 0:
			d.set = setJazelle
		case p.Value&1 == 0:
			d.set = setARM
		case p.Info&infoAlt != 0:
			d.set = setThumbEE
		default:
			d.set = setThumb
		}
		if p.Exc > 0 {
			d.merge(p.Extra, p.Exc)
		}
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
	d.flowed = true
	d.settle() // what follows was executed behind it
	end := p.End()
	first := !d.synced
	d.take(p)
	d.synced = true
	if !first && p.Reason() == ReasonPeriodic {
		d.restate(p)
		d.context(p.Off, end)
		return
	}
	if p.Reason() == ReasonOverflow {
		d.push(p.Off, end).Kind = event.Overflow
	}
	e := d.push(p.Off, end)
	e.Kind, e.Detail, e.Value = event.Off, event.DetailTraceOn, uint64(p.Reason())
	d.context(p.Off, end)
	if p.Info&infoNoAddress == 0 {
		e = d.push(p.Off, end)
		e.Kind = event.Enable
		d.here(e)
	}
}

// restate tells where the flow is. The Target before it is for an indirect
// branch that was traced last: the I-sync takes a branch packet's place.
func (d *Decoder) restate(p *Packet) {
	if p.Info&infoNoAddress != 0 {
		return
	}
	e := d.push(p.Off, p.End())
	e.Kind = event.Target
	d.here(e)
	e = d.push(p.Off, p.End())
	e.Kind, e.Flags = event.Sync, event.FlagRestated
	d.here(e)
}
