package pt

import (
	"encoding/binary"
	"math/bits"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// longTNT is the second byte of a long TNT, behind 02.
const longTNT = 0xa3

// quick reads the packets that most of a trace is made of, outcomes and targets,
// enables and disables, from the bytes themselves. It reports false where another
// packet stands, or where one needs a closer look.
func (d *Decoder) quick(e *event.Event) bool {
	if d.lx.item != 0 || d.comp.open() {
		return false
	}
	buf, i := d.lx.buf, pads(d.lx.buf, d.lx.pos)
	d.lx.pos = i
	if i == len(buf) {
		return false
	}
	b := buf[i]
	if b&1 == 0 {
		return d.state != powerOff && d.outcomes(e, buf, i)
	}
	n := int(ipSize[b>>5])
	if n < 0 || len(buf)-i < 9 {
		return false
	}
	switch b & 0x1f {
	case 0x0d:
		return n != 0 && d.state != powerOff && quickTarget(d, e, buf, i, b>>5)
	case 0x01:
		d.lx.takeIP(&d.pk, PGD, i, n)
		d.disable(e, &d.pk)
		return true
	case 0x11:
		d.lx.takeIP(&d.pk, PGE, i, n)
		d.enable(e, &d.pk)
		return true
	}
	return false
}

// quickTarget reads the TIP at buf[i:], of form ipBytes, where it completes nothing
// that waits.
func quickTarget(d *Decoder, e *event.Event, buf []byte, i int, ipBytes uint8) bool {
	n := int(ipSize[ipBytes])
	ip := d.last.expand(binary.LittleEndian.Uint64(buf[i+1:])&(^uint64(0)>>(64-8*n)), ipBytes)
	d.lx.pos = i + 1 + n
	off := d.lx.base + int64(i)
	lo := d.aim(off)
	d.direct = true
	d.times.only(e, lo, off, off+1+int64(n))
	e.Kind, e.Flags, e.IP = event.Target, event.FlagIP, ip
	if d.comp.hasMode || d.comp.hasCR3 {
		d.comp.bind(e)
	}
	return true
}

// outcomes reads TNT packets that stand side by side at buf[start:], as far as
// their results fit one event.
func (d *Decoder) outcomes(e *event.Event, buf []byte, start int) bool {
	v, n, last, i, end := gather(buf, start)
	if end == start {
		return false
	}
	d.lx.pos = i
	d.comp.fresh, d.comp.hasCR3, d.comp.cause = false, false, 0
	if n == 0 {
		return true
	}
	off := d.lx.base + int64(start)
	lo := d.times.gathered(off)
	d.direct = true
	d.times.only(e, lo, off, d.lx.base+int64(end))
	e.Kind, e.Value, e.N, e.Last = event.Outcomes, v, uint8(n), uint8(last)
	return true
}

// pads passes over the PADs at buf[i:], most of which come several in a row.
func pads(buf []byte, i int) int {
	for len(buf)-i >= 8 {
		w := binary.LittleEndian.Uint64(buf[i:])
		if w != 0 {
			return i + bits.TrailingZeros64(w)>>3
		}
		i += 8
	}
	for i < len(buf) && buf[i] == 0 {
		i++
	}
	return i
}

// gather takes TNT packets from buf[i:], passing over PADs: their n results, the
// oldest in bit 63 of v, and how many of them the last packet has. It says where to go
// on, and where the last packet ends.
func gather(buf []byte, i int) (v uint64, n, last, next, end int) {
	end = i
	for i < len(buf) {
		b := buf[i]
		switch {
		case b == 0:
			i = pads(buf, i)
			continue
		case b&1 != 0:
			return v, n, last, i, end
		case b != 0x02:
			k := bits.Len8(b) - 2
			if n+k > 64 {
				return v, n, last, i, end
			}
			v |= uint64(b>>1&^(1<<k)) << (64 - n - k)
			n, last = n+k, k
			i++
		default:
			if len(buf)-i < 8 || buf[i+1] != longTNT {
				return v, n, last, i, end
			}
			w := binary.LittleEndian.Uint64(buf[i:]) >> 16
			k := bits.Len64(w) - 1
			if k < 0 || n+k > 64 {
				return v, n, last, i, end
			}
			v |= w &^ (1 << k) << (64 - n - k)
			n, last = n+k, k
			i += 8
		}
		end = i
	}
	return v, n, last, i, end
}

// step reads one packet and reports whether there was one. If it makes an event
// and none waits before it, the event goes to e and direct is set.
func (d *Decoder) step(e *event.Event) bool {
	if d.tail > queueSize-room { // too much waits for what does not come
		d.drop(d.lx.Off())
		return true
	}
	p := &d.pk
	if !fetch(&d.lx, p, &d.er) {
		return false
	}
	end := d.lx.Off()
	switch p.Kind {
	case PAD, ModeOther:
	case CYC:
		d.times.clk.CYC(p.Value)
		d.times.cycAt = end
		d.times.tick()
	case MTC:
		d.times.clk.MTC(uint8(p.Value), d.times.cycAt == p.Off)
		d.times.stated = true
		d.times.tick()
	case TSC:
		d.times.clk.TSC(p.Value)
		d.times.stated = true
		d.times.tick()
	case TMA:
		d.times.clk.TMA(uint16(p.Value), p.Arg)
	case TIP:
		d.target(e, p)
	case PGE:
		d.enable(e, p)
	case PGD:
		d.disable(e, p)
	case FUP:
		d.fup(p)
	case TNTShort, TNTLong:
		d.oddOutcomes(e, p)
	case OVF:
		d.overflow(p)
	case PSB:
		d.resync(p)
	case Bad:
		d.takeBad(p)
	default:
		d.other(p)
	}
	return true
}

// target reads a TIP.
func (d *Decoder) target(e *event.Event, p *Packet) {
	c := &d.comp
	c.fresh = false
	ip, ok := d.last.of(p)
	if c.ovf >= 0 && ok {
		// What should follow the OVF is missing (erratum SKD010, or lost too),
		// but here the flow is.
		d.giveUp()
		d.resume(ip, true)
		return
	}
	if c.nw != 0 || c.ovf >= 0 {
		d.drop(p.Off)
	}
	end := d.lx.Off()
	if c.async >= 0 {
		d.land(event.Async, ip, ok)
		d.state = powerOn
		return
	}
	if d.state == powerOff {
		d.trouble(event.BadPacket, p.Off, end)
	}
	e = d.slot(e, d.aim(p.Off), p.Off, end)
	e.Kind = event.Target
	if ok {
		e.IP = ip
		e.Flags |= event.FlagIP
	}
	d.comp.bind(e)
}

// aim returns the lower bound, ns, of a target sent at offset off, and notes
// that it was.
func (d *Decoder) aim(off int64) uint64 {
	lo := d.times.aimed(off)
	d.state = powerOn
	d.comp.fresh, d.comp.cause = false, 0
	return lo
}

// enable reads a TIP.PGE.
func (d *Decoder) enable(e *event.Event, p *Packet) {
	c := &d.comp
	ip, ok := d.last.of(p)
	end := d.lx.Off()
	if c.ovf >= 0 {
		d.resume(0, false)
	}
	if c.open() {
		d.drop(p.Off)
	}
	c.fresh = false
	if d.state == powerOn || !ok {
		d.trouble(event.BadPacket, p.Off, end)
		if !ok {
			return
		}
	}
	d.times.flush()
	e = d.slot(e, d.times.now, p.Off, end)
	e.Kind, e.IP, e.Flags = event.Enable, ip, event.FlagIP
	d.comp.bind(e)
	d.state = powerOn
}

// disable reads a TIP.PGD.
func (d *Decoder) disable(e *event.Event, p *Packet) {
	c := &d.comp
	ip, ok := d.last.of(p)
	end := d.lx.Off()
	c.fresh = false
	var flags event.Flags
	switch {
	case c.ovf >= 0: // erratum APL11: the overflow ended as tracing did
		d.queue[c.ovf].End = end
		d.giveUp()
		d.resume(0, false)
		c.group()
		return
	case c.async >= 0:
		d.land(event.AsyncDisable, ip, ok)
		d.state = powerOff
		return
	case c.abort >= 0: // an abort that leaves the traced code has no FUP
		d.giveUp()
		flags = event.FlagAbort
	case c.nw != 0:
		d.drop(p.Off)
	}
	if d.state == powerOff {
		d.trouble(event.BadPacket, p.Off, end)
		d.state = powerOff
		return
	}
	e = d.slot(e, d.times.targets(p.Off), p.Off, end)
	e.Kind, e.Flags = event.Disable, flags
	if ok {
		e.IP = ip
		e.Flags |= event.FlagIP
	}
	d.comp.bind(e)
	d.state = powerOff
	d.times.flush()
}

// oddOutcomes reads a TNT where something waits, where tracing is off, or
// inside a block.
func (d *Decoder) oddOutcomes(e *event.Event, p *Packet) {
	c := &d.comp
	if c.ovf >= 0 {
		d.giveUp()
		c.proof = true // tracing is on; where, cannot be told before an IP is stated
		return
	}
	if c.open() {
		d.drop(p.Off)
	}
	if d.state == powerOff {
		d.trouble(event.BadPacket, p.Off, d.lx.Off())
	}
	c.fresh, c.hasCR3, c.cause = false, false, 0
	if p.N != 0 {
		e = d.slot(e, d.times.gathered(p.Off), p.Off, d.lx.Off())
		e.Kind, e.Value, e.N, e.Last = event.Outcomes, p.Value<<(64-p.N), p.N, p.N
	}
}

// resync reads a PSB+ inside the segment.
func (d *Decoder) resync(p *Packet) {
	c := &d.comp
	d.lx.pos -= int(p.Len)
	if c.ovf < 0 {
		d.drop(p.Off)
	}
	c.group()
	c.evds = 0
	s := readPSB(&d.lx, &d.times.clk, &d.er)
	if c.ovf < 0 {
		d.sync(&s, event.FlagRestated)
		c.fresh = true
		return
	}
	// An OVF waits: the PSB+ is part of it. The FUP or TIP.PGE comes after, if at
	// all: where the PSB+ has a FUP, the flow is there.
	d.giveUp()
	d.times.tick()
	d.last, d.times.stated = s.last, true
	s.state(&d.queue[c.ovf])
	if s.on && !ownFUP(d.lx, d.last, s.ip, &d.er) {
		d.resume(s.ip, true)
		c.fresh = true
	}
	d.note(&s)
}

// takeBad tells of bytes that are no packet. The lexer is at the next PSB now, or
// at the segment's end.
func (d *Decoder) takeBad(p *Packet) {
	d.times.clk.Overflow()
	d.giveUp()
	if d.comp.ovf >= 0 {
		d.resume(0, false)
	}
	d.comp.group()
	d.comp.evds = 0
	r := event.BadPacket
	if p.Arg == packettext.BadCut && d.seg.Last && d.lx.pos == len(d.lx.buf) {
		r = event.Truncated
	}
	d.trouble(r, p.Off, d.lx.Off()).Flags = event.FlagNoPacket
	d.times.flush()
}
