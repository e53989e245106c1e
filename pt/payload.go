package pt

import "github.com/ptdecode/ptdecode/decoder/event"

// other reads the packets that neither move the flow nor tell the time.
func (d *Decoder) other(p *Packet) {
	switch p.Kind {
	case ModeExec:
		c := &d.comp
		c.hasMode, c.mode, c.modeIF = true, execMode(p.Value), p.Value>>2&1
		c.modeOff, c.modeEnd = p.Off, d.lx.Off()
	case ModeTSX:
		d.modeTSX(p)
	case PIP:
		d.takePIP(p)
	case VMCS:
		d.tellOf(p, event.Context, event.DetailVMCS, p.Value<<12, 0)
	case CBR:
		d.times.clk.CBR(uint8(p.Value))
		d.tellOf(p, event.Payload, event.DetailCBR, p.Value, 0)
	case MNT:
		d.tellOf(p, event.Payload, event.DetailMaintenance, p.Value, 0)
	case PSBEND:
		d.drop(p.Off)
		d.trouble(event.BadPacket, p.Off, d.lx.Off())
	case TraceStop:
		d.settle(p)
		d.tellOf(p, event.Payload, event.DetailTraceStop, 0, 0)
	case CFE:
		d.takeCFE(p)
	case EVD:
		typ := p.Arg & 0x3f
		if !d.comp.adds(typ) {
			d.settle(p)
			d.trouble(event.BadPacket, p.Off, d.lx.Off())
			return
		}
		d.tellOf(p, event.Payload, event.DetailEVD, p.Value, uint64(typ))
	default:
		d.software(p)
	}
}

// software reads the packets of PTWRITE, power events, blocks and triggers.
func (d *Decoder) software(p *Packet) {
	switch p.Kind {
	case PTW:
		d.owner(p, p.Flag, event.DetailPTWrite, p.Value, uint64(4+4*p.Arg))
	case EXSTOP:
		if !p.Flag {
			d.settle(p)
		}
		d.owner(p, p.Flag, event.DetailExStop, 0, 0)
	case MWAIT:
		e := d.wait(p, event.Payload, event.DetailMWait, false)
		e.Value, e.Value2 = p.Value&0xff, p.Value>>32&3
	case PWRE:
		e := d.wait(p, event.Payload, event.DetailPwrEnter, false)
		e.Value, e.Value2 = p.Value>>12&0xf, p.Value>>8&0xf|p.Value&0x80
	case PWRX:
		d.settle(p)
		d.tellOf(p, event.Payload, event.DetailPwrExit, p.Value>>4&0xf, p.Value&0xf|p.Value>>8&0xf<<8)
	case BBP:
		size := uint64(8)
		if p.Value&0x80 != 0 {
			size = 4
		}
		d.tellOf(p, event.Payload, event.DetailBlockBegin, p.Value&0x1f, size)
	case BIP:
		d.tellOf(p, event.Payload, event.DetailBlockItem, p.Value, uint64(p.Arg))
	case BEP:
		d.owner(p, p.Flag, event.DetailBlockEnd, 0, 0)
	case TRIG:
		d.owner(p, p.Arg&trigIP != 0, event.DetailTrigger, uint64(p.Extra), p.Value)
	}
}

// tellOf makes an event of p alone.
func (d *Decoder) tellOf(p *Packet, k event.Kind, detail event.Detail, v, v2 uint64) {
	e := d.push(p.Off, d.lx.Off())
	e.Kind, e.Detail, e.Value, e.Value2 = k, detail, v, v2
}

// owner makes an event of p, which owns the FUP behind it if ip is set.
func (d *Decoder) owner(p *Packet, ip bool, detail event.Detail, v, v2 uint64) {
	if !ip {
		d.tellOf(p, event.Payload, detail, v, v2)
		return
	}
	e := d.wait(p, event.Payload, detail, true)
	e.Value, e.Value2 = v, v2
}

// settle ends the wait for a FUP that need not come, as that of MWAIT and PWRE. An
// OVF waits on for its own, unless a FUP is missing that had to come before.
func (d *Decoder) settle(p *Packet) {
	switch c := &d.comp; {
	case c.nw == 0:
	case c.ovf >= 0 && !c.strict:
		c.forgo(d.queue[:])
	default:
		d.drop(p.Off)
	}
}

// takePIP reads a PIP: part of the asynchronous branch that is open, or bound to
// the code; in that case the branch directly after it carries it too.
func (d *Decoder) takePIP(p *Packet) {
	c := &d.comp
	c.cr3, c.nr = pip(p.Value)
	c.hasCR3 = true
	if c.async < 0 {
		d.tellOf(p, event.Context, event.DetailCR3, c.cr3, c.nr)
	}
}

// modeTSX reads a MODE.TSX: bit 0 InTX, bit 1 TXAbort, the other three reserved. Intel
// SDM, table "MODE.TSX Packet Definition".
func (d *Decoder) modeTSX(p *Packet) {
	if p.Value&3 == 3 {
		d.drop(p.Off)
		d.trouble(event.BadPacket, p.Off, d.lx.Off())
		return
	}
	switch {
	case d.comp.ovf >= 0:
		// If tracing is on, a FUP tells where (erratum SKD010). Until then Value has
		// both bits.
		d.wait(p, event.Context, event.DetailTxState, false).Value = p.Value & 3
		if d.comp.abort = -1; p.Value&2 != 0 {
			d.comp.abort = d.tail - 1
		}
		return
	case d.state == powerOff:
		// Nothing is traced, so no FUP tells where.
		d.tellOf(p, event.Context, event.DetailTxState, p.Value&1, 0)
		return
	}
	detail := txDetail(p.Value & 3)
	d.wait(p, event.Payload, detail, true)
	if detail == event.DetailTxAbort {
		d.comp.abort = d.tail - 1
	}
}

// txDetail returns what a MODE.TSX with these bits, not both of them, says of a
// transaction.
func txDetail(bits uint64) event.Detail {
	return [...]event.Detail{event.DetailTxCommit, event.DetailTxBegin, event.DetailTxAbort}[bits]
}

// Types of a CFE packet. Intel SDM, "Event Trace"; libipt at 8978561f,
// libipt/include/intel-pt.h.in: v2.1 lacks SWINTR and SYSCALL.
const (
	cfeINTR       = 1
	cfeIRET       = 2
	cfeRSM        = 4
	cfeVMENTRY    = 7
	cfeVMEXIT     = 8
	cfeVMEXITINTR = 9
	cfeUIRET      = 13
	cfeSWINTR     = 14
	cfeSYSCALL    = 15
	vectorBreak   = 3
	cfeTypeMask   = 0x1f
	cfeHasIP      = 0x80
	cfeNotByEvent = 1<<cfeIRET | 1<<cfeRSM | 1<<cfeVMENTRY | 1<<cfeUIRET | 1<<cfeSYSCALL
)

// The types of EVD packets that belong to a CFE of one kind. libipt at 8978561f,
// libipt/include/intel-pt.h.in.
const (
	evdCR2  = 0 // address of a page fault
	evdVMXQ = 1 // qualification of a VM exit
	evdVMXR = 2 // reason of a VM exit
)

// adds takes over an EVD of a type and reports whether it can add to the CFE that
// is to come, as those before it do.
func (c *compound) adds(typ uint16) bool {
	if typ > evdVMXR {
		return true
	}
	bit := uint8(1) << typ
	if c.evds&(bit|1<<evdCR2) != 0 || c.evds != 0 && typ == evdCR2 {
		c.evds = 0
		return false
	}
	c.evds |= bit
	return true
}

// completes reports whether a CFE of a type can be what the EVDs before it add to.
func (c *compound) completes(typ uint64) bool {
	evds := c.evds
	c.evds = 0
	switch evds {
	case 0:
		return true
	case 1 << evdCR2:
		return typ == cfeINTR
	}
	return typ == cfeVMEXIT || typ == cfeVMEXITINTR
}

// takeCFE reads a CFE. With its IP bit set the next FUP is its own; else it says
// what the asynchronous branch behind it is.
func (d *Decoder) takeCFE(p *Packet) {
	typ := p.Value & cfeTypeMask
	vector := uint64(p.Arg)
	has := p.Value&cfeHasIP != 0
	if !d.comp.completes(typ) || has && typ == cfeRSM {
		d.settle(p)
		d.trouble(event.BadPacket, p.Off, d.lx.Off())
	}
	d.owner(p, has, event.DetailCFE, typ, vector)
	switch {
	case cfeNotByEvent>>typ&1 != 0:
		d.comp.cause = 0
	case (typ == cfeINTR || typ == cfeSWINTR) && vector == vectorBreak:
		d.comp.cause = event.FlagBreak
	default:
		d.comp.cause = event.FlagIntr
	}
}
