package pt

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// compound is what is known of a compound event whose last packet has not come
// yet. Intel SDM, section "Packet Relationships and Ordering" and table
// "Compound Packet Event Summary". Events that wait stand in the Decoder's
// queue, at the indices held here, and hold back what follows them.
type compound struct {
	waits  [maxWaits]uint8 // events that wait for a FUP's IP
	nw     int             // how many they are
	strict bool            // one of them cannot be without a FUP
	abort  int             // the one that is a transaction's abort, or -1
	async  int             // a FUP that waits for its TIP, or -1
	ovf    int             // an OVF that waits for an IP, or -1
	proof  bool            // outcomes have come behind that OVF, so tracing is on
	evds   uint8           // EVDs that wait for their CFE, a bit for each type

	fresh bool // nothing about the flow has come since the last Sync
	lone  bool // the FUP at async came while fresh: it may be an OVF's from before the PSB
	// What a MODE.Exec and a PIP stated of the branch to come. They bind to the next
	// packet of the flow only: see group.
	execution
	modeIF  uint64      // whether interrupts are enabled, by that MODE.Exec: 0 or 1
	modeOff int64       // where that MODE.Exec lies in the stream, bytes
	modeEnd int64       // and where it ends
	cause   event.Flags // FlagBreak or FlagIntr: what a CFE says of the next Async
}

// maxWaits is how many events may share a FUP.
const maxWaits = 16

func (c *compound) clear() { *c = compound{abort: -1, async: -1, ovf: -1} }

// open reports whether something waits.
func (c *compound) open() bool { return c.nw != 0 || c.async >= 0 || c.ovf >= 0 }

// group ends a group of packets that belong together: it forgets mode, address space and
// cause, which hold for the next packet of the flow only.
func (c *compound) group() { c.hasMode, c.hasCR3, c.cause = false, false, 0 }

// bind adds the mode and address space that were stated with the branch of e.
func (c *compound) bind(e *event.Event) {
	c.state(e)
	c.group()
}

// execution is the mode and the address space that a CPU executes in, as far as packets
// state them.
type execution struct {
	hasMode bool
	hasCR3  bool
	mode    isa.Mode
	cr3     uint64
	nr      uint64
}

// state adds mode and address space to e.
func (x *execution) state(e *event.Event) {
	if x.hasMode {
		e.Flags |= event.FlagMode
		e.Mode = uint8(x.mode)
	}
	if x.hasCR3 {
		e.Flags |= event.FlagCR3
		e.Value, e.Value2 = x.cr3, x.nr
	}
}

// wait makes an event that gets the IP of the next FUP, which must come if strict.
func (d *Decoder) wait(p *Packet, k event.Kind, detail event.Detail, strict bool) *event.Event {
	c := &d.comp
	if c.async >= 0 || c.nw == maxWaits {
		d.drop(p.Off)
	}
	e := d.push(p.Off, d.lx.Off())
	e.Kind, e.Detail = k, detail
	c.waits[c.nw] = uint8(d.tail - 1)
	c.nw++
	c.strict = c.strict || strict
	return e
}

// give hands ip to all that waits for a FUP.
func (d *Decoder) give(ip uint64) {
	c := &d.comp
	for _, i := range c.waits[:c.nw] {
		e := &d.queue[i]
		e.Kind, e.IP, e.End = event.Status, ip, d.lx.Off()
		e.Flags |= event.FlagIP
		if e.Detail == event.DetailTxState { // it was not known that tracing is on
			e.Detail, e.Value = txDetail(e.Value), 0
		}
		e.Time = d.times.when(e.Time.Lo, e.End)
	}
	c.nw, c.strict = 0, false
}

// forgo ends the wait of what in queue waits for a FUP: it stays without an IP.
func (c *compound) forgo(queue []event.Event) {
	for _, i := range c.waits[:c.nw] {
		if e := &queue[i]; e.Detail == event.DetailTxState {
			e.Value &= 1 // InTX: whether it was an abort cannot be told
		}
	}
	c.nw, c.strict, c.abort = 0, false, -1
}

// fup reads a FUP outside of a PSB+. Intel SDM, table "FUP Cases and IP Payload". What it
// is depends on what came before it, in this order:
//
//   - an OVF that waits: the IP is where the flow goes on
//   - events that wait for an IP, such as a PTW's: the IP is theirs. Behind an abort of a
//     transaction it is also the source of the transfer to the fallback
//   - a MODE.Exec alone: the mode changed at the IP, and control stayed there
//   - none of these: the IP is the source of an asynchronous branch, such as an interrupt,
//     whose TIP follows
//
// Where tracing is off nothing can be interrupted, so such a FUP is out of place. But right
// behind a Sync it may belong to an OVF before the PSB (lone).
func (d *Decoder) fup(p *Packet) {
	c := &d.comp
	ip, ok := d.last.of(p)
	if !ok {
		d.drop(p.Off)
		d.trouble(event.BadPacket, p.Off, d.lx.Off())
		return
	}
	if c.async >= 0 {
		d.drop(p.Off)
	}
	var flags event.Flags
	switch {
	case c.ovf >= 0:
		if d.unsure() {
			return
		}
		own := c.nw != 0 || !c.proof
		d.resume(ip, true)
		d.give(ip)
		switch {
		case c.abort >= 0:
			flags = event.FlagAbort
		case own:
			return
		}
		// An abort's FUP; or an interrupt's, which it may be as outcomes have come behind
		// the OVF. A TIP tells. Without one, drop takes it for the OVF's, since fresh is set.
		c.abort, c.fresh = -1, true
	case c.nw != 0:
		if c.hasMode {
			modeStatus(d, p, ip)
		}
		d.give(ip)
		if c.abort < 0 {
			c.fresh, c.cause = false, 0
			d.times.flush()
			return
		}
		c.abort = -1
		flags = event.FlagAbort
	case c.hasMode: // interrupts were enabled or disabled in place (event trace), nothing else
		modeStatus(d, p, ip)
		d.times.flush()
		return
	case d.state == powerOff && !c.fresh:
		d.trouble(event.BadPacket, p.Off, d.lx.Off())
		d.state = powerOff
		return
	}
	d.times.flush()
	e := d.push(p.Off, d.lx.Off())
	e.Kind, e.From, e.Flags = event.Async, ip, flags|c.cause
	if d.er.NextIP {
		e.Flags |= event.FlagNextIP
	}
	c.async, c.lone, c.fresh = d.tail-1, c.fresh, false
	c.group()
}

// modeStatus tells of a MODE.Exec that a FUP binds in place.
func modeStatus(d *Decoder, p *Packet, ip uint64) {
	c := &d.comp
	off := p.Off
	if c.modeEnd == off {
		off = c.modeOff
	}
	e := d.push(off, d.lx.Off())
	e.Kind, e.Detail = event.Status, event.DetailMode
	e.Flags, e.IP, e.Mode = event.FlagIP|event.FlagMode, ip, uint8(c.mode)
	e.Value, e.Value2 = c.modeIF, 1
	c.hasMode, c.fresh = false, false
}

// land completes the asynchronous branch that waits with where it went.
func (d *Decoder) land(k event.Kind, ip uint64, ok bool) {
	c := &d.comp
	e := &d.queue[c.async]
	e.Kind, e.End = k, d.lx.Off()
	if ok {
		e.IP = ip
		e.Flags |= event.FlagIP
	}
	d.comp.bind(e)
	e.Time = d.times.when(e.Time.Lo, e.End)
	c.async = -1
	d.times.flush()
}

// overflow reads an OVF. What waited lost its end with the packets that were
// dropped; that is no fault of the trace's.
func (d *Decoder) overflow(p *Packet) {
	c := &d.comp
	d.times.clk.Overflow()
	d.giveUp()
	if c.ovf >= 0 {
		return // one gap: nothing was stated since the one before
	}
	d.times.flush()
	e := d.push(p.Off, d.lx.Off())
	e.Kind = event.Overflow
	c.ovf, c.proof, c.fresh, c.evds = d.tail-1, false, false, 0
	c.group()
	d.state = powerUnknown
}

// resume completes the OVF that waits: tracing is on and goes on at ip, or off.
func (d *Decoder) resume(ip uint64, on bool) {
	c := &d.comp
	e := &d.queue[c.ovf]
	c.ovf, c.proof = -1, false
	d.state = powerOff
	if on {
		d.state = powerOn
		e.IP, e.End = ip, d.lx.Off()
		e.Flags |= event.FlagIP
		d.comp.bind(e)
	}
	e.Time = d.times.when(e.Time.Lo, e.End)
	d.times.flush()
}

// giveUp ends the wait for a FUP or TIP that is known not to come, as packets were lost.
// That the flow passed the FUP's IP stays known.
func (d *Decoder) giveUp() {
	c := &d.comp
	c.forgo(d.queue[:])
	if c.async >= 0 {
		e := &d.queue[c.async]
		ip := e.From
		*e = event.Event{Kind: event.Status, Flags: event.FlagIP, IP: ip, Off: e.Off, End: e.End, Time: e.Time}
		c.async = -1
	}
}

// drop ends every wait because the packet at offset at stands where none may. What could
// not be without its FUP or TIP is Trouble.
func (d *Decoder) drop(at int64) {
	c := &d.comp
	if c.ovf >= 0 {
		d.resume(0, false)
		d.state = powerUnknown
	}
	if c.nw != 0 {
		off := d.queue[c.waits[c.nw-1]].End
		strict := c.strict
		c.forgo(d.queue[:])
		if strict {
			d.trouble(event.BadPacket, max(off, d.queue[d.tail-1].Off), at)
		}
	}
	if c.async >= 0 {
		e := &d.queue[c.async]
		c.async = -1
		ip := e.From
		*e = event.Event{Off: e.Off, End: e.End, Time: e.Time}
		if c.lone { // an OVF's, which the PSB+ before it parted from it
			e.Kind, e.IP, e.Flags = event.Overflow, ip, event.FlagIP
			d.state = powerOn
			return
		}
		e.Kind, e.Reason, e.End = event.Trouble, event.BadPacket, at
		d.state = powerUnknown
	}
}

// unsure reports whether the FUP just read, behind an OVF, may not be the place where the
// flow goes on. By erratum APL12 a FUP is sent though tracing is off. By erratum SKD010 the
// OVF's own FUP may be missing, and this one be the source of an interrupt. Then its TIP
// follows at once, and the flow goes on there in either case.
func (d *Decoder) unsure() bool {
	c := &d.comp
	if c.proof || c.nw != 0 {
		return false
	}
	l := d.lx
	return d.er.APL12 && staysOff(&l, d.times.clk, &d.er, &d.close) || d.er.SKD010 && landsNext(d.lx, &d.er)
}

// staysOff reports whether tracing is off from l on: a TIP.PGE, a TraceStop or a
// PSB+ without an IP comes before any packet that only tracing sends. A second FUP
// is one, since erratum APL12 sends but one behind each OVF. l is left where the
// answer stood. What close says comes behind l's packets.
func staysOff(l *Lexer, k clock, er *errata, close *psbPlus) bool {
	var p Packet
	for fetch(l, &p, er) {
		switch p.Kind {
		case PGE, TraceStop:
			return true
		case PSB:
			l.pos -= int(p.Len)
			s := readPSB(l, &k, er)
			return s.ok && !s.on
		case PGD, TIP, TNTShort, TNTLong, FUP, OVF, Bad:
			return false
		}
	}
	return close.ok && !close.on
}

// landsNext reports whether l, behind a FUP, is at the rest of an asynchronous
// branch: nothing but what belongs to one stands before a TIP or TIP.PGD.
func landsNext(l Lexer, er *errata) bool {
	var p Packet
	for fetch(&l, &p, er) {
		switch p.Kind {
		case PAD, TSC, TMA, MTC, CYC, CBR, MNT, PIP, VMCS, ModeExec:
		default:
			return p.Kind == TIP || p.Kind == PGD
		}
	}
	return false
}

// ownFUP reports whether the FUP of an OVF follows at l, behind its PSB+ that has
// one too, with ip. It states the same, or no TIP completes it; last is the last
// IP.
func ownFUP(l Lexer, last lastIP, ip uint64, er *errata) bool {
	var p Packet
	for fetch(&l, &p, er) {
		switch p.Kind {
		case PAD, TSC, TMA, MTC, CYC, CBR, MNT:
		case FUP:
			at, ok := last.of(&p)
			return ok && at == ip || !landsNext(l, er)
		default:
			return false
		}
	}
	return false
}
