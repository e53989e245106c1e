package pt

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// psbPlus is what a PSB+ says: the state at its PSB. Intel SDM, section
// "Decoder Synchronization (PSB+)".
type psbPlus struct {
	ok     bool  // PSBEND was there, or an OVF that stands for it
	bad    bool  // a packet in it has no place there: at off, up to end
	broken bool  // it is not whole, and not for want of bytes: what lies before it may be damaged too
	odd    bool  // it has several FUPs, or not its bytes alone say what it did to the clock or where it ends
	fup    int   // where the payload of its FUP begins, bytes from its begin
	len    int   // of that payload, bytes; 0: none
	off    int64 // offset of the PSB
	end    int64 // offset after its last packet
	on     bool  // there was a FUP: tracing is on at ip
	execution
	hasVMCS bool
	hasTSX  bool
	hasTSC  bool
	hasCBR  bool
	tsx     uint8
	cbr     uint8
	ip      uint64
	last    lastIP
	vmcs    uint64
	time    event.Time // stated by its TSC
	tsc     uint64     // the same in ticks
}

// readPSB reads the PSB+ whose PSB l stands at, feeds k with the timing packets
// in it, and leaves l behind it.
func readPSB(l *Lexer, k *clock, er *errata) psbPlus {
	var p Packet
	s := psbPlus{off: l.Off(), end: l.Off()}
	for {
		at := l.Off()
		more := fetch(l, &p, er)
		if !more || p.Kind == Bad {
			s.broken = more && (p.Arg != packettext.BadCut || l.pos < len(l.buf))
			l.SeekTo(at)
			return s
		}
		first := p.Off == s.off
		switch p.Kind {
		case PSB:
			if s.broken = !first; s.broken { // the PSBEND is missing
				l.SeekTo(at)
				return s
			}
		case PSBEND:
			s.ok, s.end = true, l.Off()
			if s.on && er.BDM70 && enableFollows(*l, er) {
				s.on = false // tracing is off, and the FUP means nothing; the mode holds
			}
			return s
		case OVF:
			l.SeekTo(at)
			s.ok, s.odd = true, true
			return s
		default:
			if !s.read(&p, k) {
				s.bad, s.broken = true, true
				l.SeekTo(at)
				return s
			}
		}
		s.end = l.Off()
	}
}

// read takes over one packet from inside a PSB+ and reports whether it has a
// place there.
func (s *psbPlus) read(p *Packet, k *clock) bool {
	switch p.Kind {
	case PAD, MNT, ModeOther:
	case FUP:
		s.ip, s.on = s.last.of(p)
		s.odd = s.odd || s.len != 0
		s.fup, s.len = int(p.Off-s.off)+1, int(p.Len)-1
	case PIP:
		s.hasCR3 = true
		s.cr3, s.nr = pip(p.Value)
	case VMCS:
		s.hasVMCS, s.vmcs = true, p.Value<<12
	case ModeExec:
		s.mode, s.hasMode = execMode(p.Value), true
	case ModeTSX:
		s.tsx, s.hasTSX = uint8(p.Value&3), true
	case OVF, Bad:
		return false
	case TSC:
		k.TSC(p.Value)
		s.hasTSC, s.time, s.tsc = true, k.NS(), k.lo
	case CBR:
		k.CBR(uint8(p.Value))
		s.hasCBR, s.cbr = true, uint8(p.Value)
	default:
		s.odd = s.odd || p.Kind != TMA
		return k.read(p, false)
	}
	return true
}

// enableFollows reports whether the next packet that is about the flow is a
// TIP.PGE: the sign of erratum BDM70. l is a copy.
func enableFollows(l Lexer, er *errata) bool {
	i := pads(l.buf, l.pos)
	if i < len(l.buf) && l.item == 0 && l.buf[i]&1 == 0 && l.buf[i] != 0x02 {
		return false // a short TNT
	}
	var p Packet
	for fetch(&l, &p, er) {
		switch p.Kind {
		case PAD, TSC, TMA, MTC, CYC, CBR, PIP, VMCS, ModeExec, ModeTSX, ModeOther, MNT:
		default:
			return p.Kind == PGE
		}
	}
	return false
}

// fill makes e the Sync that s states.
func (s *psbPlus) fill(e *event.Event) {
	e.Kind, e.Off, e.End = event.Sync, s.off, s.end
	if s.on {
		e.Flags |= event.FlagIP
		e.IP = s.ip
	}
	s.state(e)
	if s.hasTSC {
		e.Time = s.time
	}
}

// pip takes a PIP's payload apart: bits 51..5 of CR3 and the NR bit. Intel
// SDM, section "Paging Information (PIP) Packet".
func pip(v uint64) (cr3, nr uint64) { return v >> 1 << 5, v & 1 }

// execMode is the mode that a MODE.Exec states: bit 0 CS.L and EFER.LMA, bit 1
// CS.D. Intel SDM, table "MODE.Exec Packet Definition".
func execMode(v uint64) isa.Mode {
	switch v & 3 {
	case 1:
		return isa.Mode64
	case 2:
		return isa.Mode32
	case 0:
		return isa.Mode16
	}
	return isa.ModeUnknown
}

// lastIP is the register against which IPs are compressed: one for FUP, TIP,
// TIP.PGE and TIP.PGD. Intel SDM, section "IP Compression".
type lastIP uint64

// of returns the IP that p states, which becomes the last; false: p states none.
func (l *lastIP) of(p *Packet) (ip uint64, ok bool) {
	if p.Arg == 0 {
		return 0, false
	}
	return l.expand(p.Value, uint8(p.Arg)), true
}

// ipKeep is the part of the last IP that stays, by IPBytes. Form 3 is extended
// from its bit 47. Intel SDM, table "FUP/TIP IP Reconstruction".
var ipKeep = [8]uint64{1: ^uint64(0xffff), 2: ^uint64(0xffffffff), 4: ^uint64(0xffffffffffff)}

// expand returns the IP that payload v of form ipBytes stands for, which
// becomes the last.
func (l *lastIP) expand(v uint64, ipBytes uint8) uint64 {
	v |= uint64(*l) & ipKeep[ipBytes&7]
	if ipBytes == 3 {
		v = uint64(int64(v<<16) >> 16)
	}
	*l = lastIP(v)
	return v
}

// fetch reads the next packet, and mends what two errata (package defects) do to the bytes.
// SKZ84 makes a TMA corrupt and adds a byte: the TMA is passed over with that byte, as a
// PAD. SKD007 puts an OVF over the second byte of a CYC and what follows: it is told as the
// OVF. On other processors a TMA with a reserved bit set is bad, as what it says of the
// clock cannot be believed.
func fetch(l *Lexer, p *Packet, er *errata) bool {
	if !l.Next(p) {
		return false
	}
	switch {
	case p.Kind == TMA && p.Extra != 0 && !er.SKZ84:
		l.pos -= int(p.Len)
		return l.bad(p, packettext.BadForm, TMA, 0)
	case p.Kind == TMA && p.Extra != 0: // reserved bits, which tell the corrupt one
		l.pos = min(l.pos+1, len(l.buf))
		*p = Packet{Kind: PAD, Len: 8, Off: p.Off}
	case p.Kind == CYC && er.SKD007 && p.Len == 2 && p.Value>>5 == 1 &&
		l.pos < len(l.buf) && l.buf[l.pos] == 0xf3:
		// The CYC's second byte is 02, and F3 follows: together an OVF. F3 cannot be a CYC
		// of its own, since two CYCs in a row, neither of them full, are never sent.
		l.pos++
		l.block(0)
		*p = Packet{Kind: OVF, Len: 2, Off: p.Off + 1}
	}
	return true
}
