package pt

import "bytes"

// psbAgain keeps the PSB+ that were read last, so that one with the same bytes need not be
// read packet by packet. Where PSB+ come close together, most say the same but for the IP in
// their FUP. And each is read twice: as the end of a segment, and as the begin of the next.
// What a PSB+ says depends on its bytes alone. So the answer is the same whichever were read
// before.
type psbAgain struct {
	known [16]psbRead // those that are kept, by psbPlace
	last  int         // index in known of the one that was found last
	fresh clock       // a clock that knows nothing of the time
}

// psbRead is a PSB+ and what it says.
type psbRead struct {
	n     int              // bytes; 0: none
	buf   [psbLongest]byte // the PSB+
	says  psbPlus
	clock clock // behind it
}

// psbLongest is how many bytes a PSB+ that is kept has at most.
const psbLongest = 96

// psbFrequency says where a real PSB+ has the payload of its CBR, bytes, and psbFrequencyFUP where
// it is if there is a FUP, with padding in front. A CR3 lies psbCR3 before that. Both change
// more often than what else it says.
const psbFrequency, psbFrequencyFUP, psbCR3 = 50, 66, 25

// psbPlace returns where a PSB+ at buf's start is kept: there, or at the place beside. buf reaches
// beyond psbFrequency.
func psbPlace(buf []byte) int {
	k, i := buf[len(psb)], psbFrequency
	if k == 0 && len(buf) > psbFrequencyFUP {
		i = psbFrequencyFUP
	}
	return int((uint32(buf[i]) | uint32(buf[i-psbCR3])<<8 | uint32(k)<<16) * 0x9e3779b1 >> 28)
}

// find returns what is kept of the PSB+ at buf's start, or nil. The one that was found last is
// mostly the next one too.
func (a *psbAgain) find(buf []byte) *psbRead {
	if p := &a.known[a.last]; p.is(buf) {
		return p
	}
	if len(buf) <= psbFrequency {
		return nil
	}
	for k, i := 0, psbPlace(buf); k < 2; k, i = k+1, i^1 {
		if p := &a.known[i]; p.is(buf) {
			a.last = i
			return p
		}
	}
	return nil
}

// is reports whether p is the PSB+ at buf's start, but for the IP.
func (p *psbRead) is(buf []byte) bool {
	if p.n == 0 || p.n > len(buf) {
		return false
	}
	from, to := p.says.fup, p.says.fup+p.says.len
	return bytes.Equal(p.buf[to:p.n], buf[to:p.n]) && (to == 0 || bytes.Equal(p.buf[:from], buf[:from]))
}

// read is readPSB where k knows nothing of the time yet, and l has no open block. k may be nil: then
// nobody asks for the time.
func (a *psbAgain) read(s *psbPlus, l *Lexer, k *clock, er *errata) {
	buf := l.buf[l.pos:]
	p := a.find(buf)
	if p == nil {
		own := a.fresh
		if k == nil {
			k = &own
		}
		*s = readPSB(l, k, er)
		a.keep(s, buf, k)
		return
	}
	if k != nil {
		until, whole := k.until, k.whole
		*k = p.clock
		k.until, k.whole = until, whole
	}
	*s = p.says
	s.off, s.end = l.Off(), l.Off()+int64(p.n)
	if s.len > 0 {
		v, _ := load(buf, s.fup, s.len)
		s.ip = s.last.expand(v, buf[s.fup-1]>>5)
	}
	l.pos += p.n
	s.on = s.len > 0 && !(er.BDM70 && enableFollows(*l, er))
}

// keep keeps the PSB+ that buf begins with, which says s and led k to where it is, if its bytes say
// all of that. It takes the place of the one that was kept in that place before the last.
func (a *psbAgain) keep(s *psbPlus, buf []byte, k *clock) {
	n := int(s.end - s.off)
	if !s.ok || s.bad || s.odd || n > psbLongest || len(buf) <= psbFrequency {
		return
	}
	i := psbPlace(buf)
	a.known[i^1] = a.known[i]
	p := &a.known[i]
	p.n, p.says, p.clock = n, *s, *k
	p.says.last = 0
	copy(p.buf[:], buf[:n])
}
