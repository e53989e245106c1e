package pt

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// moments bounds when what events state happened. The rules are those in Decoder's comment.
type moments struct {
	clk    clock
	now    uint64 // ns: the clock's lower bound
	flow   uint64 // ns: now as of the latest flow packet; outcomes to come are not older
	tip    uint64 // ns: targets to come are not older
	tipNow uint64 // ns: now when the outcomes were sent that targets may have waited for
	cycAt  int64  // offset behind the CYC that was read last, so that it lies directly before a packet there; -1: none
	stated bool   // an MTC or TSC has come since the latest flow packet
	ahead  ahead
}

// tick takes over the clock's lower bound after a timing packet.
func (m *moments) tick() {
	if lo, _ := m.clk.Ticks(); lo != 0 {
		m.now = m.clk.conv.Lo(lo)
	}
}

// flush notes that the trace unit holds nothing back: all that follows is not
// older than now.
func (m *moments) flush() {
	m.flow, m.tip, m.tipNow = m.now, m.now, m.now
	m.stated = false
}

// when returns the time of what happened not before lo, ns, and was sent before
// offset end. Where the trace's time was set back, its two ends change places.
func (m *moments) when(lo uint64, end int64) event.Time {
	if m.ahead.off < end {
		m.ahead.search(end)
	}
	hi := m.ahead.hi
	if lo > hi {
		lo, hi = hi, lo
	}
	return event.Time{Lo: lo, Hi: hi}
}

// only makes e an event for the packets [off, end), of what happened not before
// lo, where no other waits to be handed out. Everything but Time is zero.
func (m *moments) only(e *event.Event, lo uint64, off, end int64) {
	if m.ahead.off < end {
		m.ahead.search(end)
	}
	*e = event.Event{}
	e.Off, e.End = off, end
	e.Time.Lo, e.Time.Hi = lo, m.ahead.hi
	if e.Time.Lo > e.Time.Hi {
		e.Time.Lo, e.Time.Hi = e.Time.Hi, e.Time.Lo
	}
}

// gathered returns the lower bound, ns, of outcomes sent at offset off, and
// notes that they were sent.
//
// The trace unit began to gather them behind the flow packet before, so they may be as old
// as that one. A CYC directly before the packet tells when their first branch was (Intel
// SDM, section "Cycle Packet Semantics"). But an MTC or TSC that came since that flow packet
// may have gone out while they were gathered. Then the first branch may be older.
func (m *moments) gathered(off int64) uint64 {
	lo := m.flow
	if m.cycAt == off && !m.stated {
		lo = m.now
	}
	m.tip, m.tipNow, m.flow, m.stated = lo, m.now, m.now, false
	return lo
}

// aimed returns the lower bound, ns, of a target sent at offset off, and notes that it
// was sent. The next target cannot have waited for the same outcomes if the clock went on
// since these were sent.
func (m *moments) aimed(off int64) uint64 {
	lo := m.targets(off)
	if m.now > m.tipNow {
		m.tip = m.now
	}
	m.flow, m.stated = m.now, false
	return lo
}

// targets returns the lower bound, ns, of a target sent at offset off. That is the moment of
// a CYC directly before it, else the bound of the outcomes that it may have waited for.
func (m *moments) targets(off int64) uint64 {
	if m.cycAt == off {
		return m.now
	}
	return m.tip
}

// ahead runs over the packets in front of the Decoder to find the timing
// packet that comes next.
type ahead struct {
	lx  Lexer
	clk clock
	er  errata
	off int64  // offset of the timing packet found
	hi  uint64 // ns: the upper bound that it gives
	end uint64 // ns: the upper bound that the segment's end gives
}

// reset starts at l's place. Where nothing is to be looked for, the segment's
// end bounds everything.
func (a *ahead) reset(l *Lexer, k *clock, end uint64, look bool) {
	a.end = end
	if !look {
		a.off, a.hi = math.MaxInt64, end
		return
	}
	a.lx, a.clk = *l, *k
	a.off, a.hi = -1, 0
}

// search makes the timing packet at or after off the one found.
func (a *ahead) search(off int64) {
	var p Packet
	cyc := int64(-1)
	for a.skip(); fetch(&a.lx, &p, &a.er); a.skip() {
		end := a.lx.Off()
		if !a.clk.read(&p, cyc == p.Off) {
			continue
		}
		if p.Kind == CYC {
			cyc = end
			// The count before an OVF may have wrapped.
			if b := a.lx.buf[a.lx.pos:]; len(b) > 1 && b[0] == 0x02 && b[1] == 0xf3 {
				continue
			}
		}
		if p.Off < off {
			continue
		}
		if _, hi := a.clk.Ticks(); hi != unknown && p.Kind != TMA && p.Kind != CBR && p.Kind != OVF && p.Kind != Bad {
			a.off, a.hi = p.Off, min(a.clk.conv.Hi(hi), a.end)
			return
		}
	}
	a.off, a.hi = math.MaxInt64, a.end
}

// read feeds k with p and reports whether it is about time. cyc says that a
// CYC stands directly before p.
func (k *clock) read(p *Packet, cyc bool) bool {
	switch p.Kind {
	case TSC:
		k.TSC(p.Value)
	case TMA:
		k.TMA(uint16(p.Value), p.Arg)
	case MTC:
		k.MTC(uint8(p.Value), cyc)
	case CYC:
		k.CYC(p.Value)
	case CBR:
		k.CBR(uint8(p.Value))
	case OVF, Bad:
		k.Overflow()
	default:
		return false
	}
	return true
}

// skip passes over the commonest packets that are not about time: short TNTs, PADs and TIPs.
// Inside of a block of items (BBP) the same bytes may be those of an item.
func (a *ahead) skip() {
	if a.lx.item != 0 {
		return
	}
	buf, i := a.lx.buf, a.lx.pos
loop:
	for i < len(buf) {
		b := buf[i]
		switch {
		case b&1 == 0 && b != 0x02:
			i++
		case b&0x1f == 0x0d && ipSize[b>>5] >= 0 && i+1+int(ipSize[b>>5]) <= len(buf):
			i += 1 + int(ipSize[b>>5])
		default:
			break loop
		}
	}
	a.lx.pos = i
}
