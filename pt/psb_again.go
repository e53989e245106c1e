package pt

import "bytes"

// psbAgain knows again a PSB+ that was read before. Where PSB+ come close together, most say
// the same but for the IP in their FUP, and each is read twice: as the end of a segment, and
// as the begin of the next. What a PSB+ says depends on its bytes alone, so nothing hangs on
// which were read before.
type psbAgain struct {
	known [16]psbRead // by what at says
}

// psbRead is a PSB+ and what it says.
type psbRead struct {
	n     int              // bytes; 0: none
	fup   int              // where in buf the payload of its FUP begins
	size  int              // of that payload, bytes; 0: there is none
	buf   [psbLongest]byte // the PSB+
	says  psbPlus          // offsets count from the PSB
	clock clock            // which knew nothing before
}

// psbLongest is how many bytes a PSB+ that is kept has at most.
const psbLongest = 96

// psbFrequency is where a real PSB+ has the payload of its CBR, bytes: by whether there is a FUP,
// with padding in front. That and the CR3 change more often than what else it says.
const (
	psbFrequency    = 50
	psbFrequencyFUP = 66
	psbCR3          = 25 // before that, bytes
)

// at returns where a PSB+ at buf's start is kept.
func (a *psbAgain) at(buf []byte) *psbRead {
	k, i := buf[len(psb)], psbFrequency
	if k == 0 && len(buf) > psbFrequencyFUP {
		i = psbFrequencyFUP
	}
	return &a.known[(uint32(buf[i])|uint32(buf[i-psbCR3])<<8|uint32(k)<<16)*0x9e3779b1>>28]
}

// read is readPSB where k knows nothing of the time yet, and l has no open block.
func (a *psbAgain) read(s *psbPlus, l *Lexer, k *clock, er *errata) {
	buf := l.buf[l.pos:]
	if len(buf) <= psbFrequency {
		*s = readPSB(l, k, er)
		return
	}
	p := a.at(buf)
	if !p.is(buf) {
		at := l.pos
		*s = readPSB(l, k, er)
		p.keep(s, buf[:l.pos-at], k, er)
		return
	}
	until, whole := k.until, k.whole
	*k = p.clock
	k.until, k.whole = until, whole
	p.tell(s, l, er)
}

// readAside is read with a clock of its own, set up as k is.
func (a *psbAgain) readAside(s *psbPlus, l *Lexer, k *clock, er *errata) {
	if buf := l.buf[l.pos:]; len(buf) > psbFrequency {
		if p := a.at(buf); p.is(buf) {
			p.tell(s, l, er)
			return
		}
	}
	own := *k
	own.Reset()
	a.read(s, l, &own, er)
}

// is reports whether p is the PSB+ at buf's start, but for the IP.
func (p *psbRead) is(buf []byte) bool {
	return p.n > 0 && p.n <= len(buf) && bytes.Equal(p.buf[:p.fup], buf[:p.fup]) && bytes.Equal(p.buf[p.fup+p.size:p.n], buf[p.fup+p.size:p.n])
}

// tell makes s what p, at l's place, says, and leaves l behind it.
func (p *psbRead) tell(s *psbPlus, l *Lexer, er *errata) {
	*s = p.says
	s.off = l.Off()
	s.end = s.off + int64(p.n)
	if p.size > 0 {
		v, _ := load(l.buf, l.pos+p.fup, p.size)
		s.ip = s.last.expand(v, p.buf[p.fup-1]>>5)
	}
	l.pos += p.n
	s.on = p.size > 0 && !(er.BDM70 && enableFollows(*l, er))
}

// keep makes p the PSB+ buf, which says s and led k to where it is, if these bytes say all of that.
func (p *psbRead) keep(s *psbPlus, buf []byte, k *clock, er *errata) {
	if !s.ok || s.bad || len(buf) > psbLongest {
		return
	}
	var l Lexer
	var x Packet
	fup, size, kind := 0, 0, PAD
	for l.Reset(buf, 0); fetch(&l, &x, er); {
		switch kind = x.Kind; kind {
		case PSB, PSBEND, PAD, MNT, ModeOther, PIP, VMCS, ModeExec, ModeTSX, TSC, TMA, CBR:
		case FUP:
			if size > 0 {
				return
			}
			fup, size = int(x.Off)+1, int(x.Len)-1
		default:
			return // the clock may ask for more than these bytes
		}
	}
	if kind != PSBEND {
		return
	}
	p.n, p.fup, p.size, p.says, p.clock = len(buf), fup, size, *s, *k
	p.says.last = 0
	copy(p.buf[:], buf)
}
