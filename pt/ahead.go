package pt

import "math"

// ahead runs over the packets in front of the Decoder to find the timing
// packet that comes next.
type ahead struct {
	lx  Lexer
	clk clock
	off int64  // offset of the timing packet found
	hi  uint64 // ns: the upper bound that it gives
	end uint64 // ns: the upper bound that the segment's end gives
}

// reset starts at l's place. Where nothing is to be looked for, the segment's
// end bounds everything.
func (a *ahead) reset(l *Lexer, k *clock, end uint64, look bool) {
	a.lx, a.clk, a.end = *l, *k, end
	a.off, a.hi = -1, 0
	if !look {
		a.off, a.hi = math.MaxInt64, end
	}
}

// search makes the timing packet at or after off the one found.
func (a *ahead) search(off int64, er *errata) {
	var p Packet
	cyc := int64(-1)
	for a.skip(); fetch(&a.lx, &p, er); a.skip() {
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
			a.off, a.hi = p.Off, min(a.clk.conv.hi(hi), a.end)
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

// skip passes over the commonest packets that are not about time.
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
