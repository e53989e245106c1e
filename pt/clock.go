package pt

import (
	"math"
	"math/bits"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// unknown is an upper bound that bounds nothing.
const unknown = math.MaxUint64

// clock reads timing packets, in stream order, into the interval in which the
// latest of them was sent. What the trace unit sends after that packet happened at
// or after the interval's lower bound. What it sent before happened at or before
// its upper one (Intel SDM, section "Tracking Time").
//
// TSC states a moment. MTC states an edge of the crystal clock, which the TMA
// behind a TSC ties to the TSC; that is exact but for edgeSlack. CYC counts
// core cycles, whose length is known from CBR only roughly (cycSlack). Times
// are TSC ticks.
type clock struct {
	conv   event.TimeConv
	num    uint64 // TSC ticks in den crystal ticks; 0: not known
	den    uint64
	p1     uint64 // TSC frequency, bus clocks; 0: not known
	freq   uint8  // MTCFreq
	near   uint64 // Config.NearTSC
	ref    uint64 // a full TSC value near the next one
	lo, hi uint64 // the interval
	floor  uint64 // lo as stated by TSC or MTC, without CYC
	until  uint64 // a moment known to be after all that is read, or unknown

	tied  bool   // a TMA has tied the crystal clock to the TSC
	first bool   // no MTC has come since that TMA
	doubt bool   // MTCs may have been lost, more than can be seen
	whole bool   // no whole turn of the MTC's bits was lost, whatever overflowed: see turns
	turn  uint64 // crystal ticks in a whole turn of the bits that MTCs are compared by
	last  uint8  // the latest MTC, or what the TMA tells of it
	low   uint64 // CTC below MTC's lowest bit, at the TMA
	tsc   uint64 // the TSC packet before the TMA
	edge  uint64 // TSC at the crystal edge that the TMA names
	sum   uint64 // crystal ticks from the MTC edge before that to the latest MTC

	cbr      uint64 // core frequency, bus clocks; 0: not known
	cbrMin   uint64 // least and greatest since the last CYC
	cbrMax   uint64
	cLo, cHi uint64 // when the cycle counter was 0
	cLost    bool   // the next CYC's count is not to be trusted
}

const (
	// edgeSlack widens an MTC's time, in ticks on both sides: TSC and FC are whole
	// ticks both, so the edge they name is known to within one. One more is for the
	// edge itself, which is a fraction of a tick off where the ratio is no whole
	// number.
	edgeSlack = 2

	// cycSlack is by what part the length of a core cycle may differ from what
	// CBR and the TSC's nominal frequency say: 1/cycSlack. The TSC is up to one
	// part in a hundred off nominal on some models (CPUID.15H tells its exact
	// frequency), and CBR is a whole number of bus clocks.
	cycSlack = 16
)

// newClock returns a clock that knows nothing yet.
func newClock(c Config) clock {
	k := clock{
		conv: c.TimeConv,
		freq: c.MTCFreq & 15,
		p1:   uint64(c.MaxNonTurboRatio),
		near: c.NearTSC,
	}
	if c.CTCNum != 0 && c.CTCDen != 0 {
		k.num, k.den = uint64(c.CTCNum), uint64(c.CTCDen)
		if k.num%k.den == 0 { // as most are; spares a division each MTC
			k.num, k.den = k.num/k.den, 1
		}
	}
	k.Reset()
	return k
}

// Reset makes k know nothing of the time.
func (k *clock) Reset() {
	*k = clock{
		conv: k.conv, freq: k.freq, p1: k.p1, num: k.num, den: k.den,
		near: k.near, ref: k.near,
		hi: unknown, until: unknown, cHi: unknown,
	}
}

// Ticks returns the interval of the latest timing packet, TSC ticks.
// hi is math.MaxUint64 where nothing bounds it.
func (k *clock) Ticks() (lo, hi uint64) { return k.lo, k.hi }

// NS returns the same interval in nanoseconds of the recording's clock.
func (k *clock) NS() event.Time { return event.Time{Lo: k.conv.Lo(k.lo), Hi: k.conv.Hi(k.hi)} }

// TSC reads a TSC packet: the lower 56 bits of the time stamp counter.
func (k *clock) TSC(v uint64) {
	t := fullTSC(v, k.ref)
	k.ref, k.tsc = t, t
	k.lo, k.hi, k.floor = t, t, t
	k.doubt = false
	k.tied = false // until a TMA comes: an MTC in between cannot be placed
	// The cycle counter was 0 at its last CYC, or when tracing was switched on
	// just now; neither is after t.
	k.cHi, k.cLo = t, min(k.cLo, t)
	k.cLost = false
}

// fullTSC returns the value nearest to ref whose lower 56 bits are v.
func fullTSC(v, ref uint64) uint64 {
	const top = 1 << 56
	d := (v - ref) & (top - 1)
	if d < top/2 {
		return ref + d
	}
	if back := top - d; back <= ref {
		return ref - back
	}
	return ref + d
}

// TMA reads a TMA packet: the low 16 bits of the crystal counter, and the TSC
// ticks since its last edge. Intel SDM, section "Timing MTC Alignment (TMA) Packet".
func (k *clock) TMA(ctc, fc uint16) {
	if k.num == 0 {
		return
	}
	k.edge = k.tsc - uint64(fc)
	k.low = uint64(ctc) & (1<<k.freq - 1)
	k.last = uint8(ctc >> k.freq)
	k.sum = 0
	k.tied, k.first, k.turn = true, true, 256<<k.freq
}

// MTC reads an MTC packet: 8 bits of the crystal counter from bit MTCFreq up.
// cyc says that a CYC stands directly before it and so tells the same moment.
func (k *clock) MTC(m uint8, cyc bool) {
	if !k.tied {
		return
	}
	// The TMA holds only 16 bits, so with MTCFreq above 8 it lacks the upper
	// bits of the first MTC.
	mask := uint8(0xff)
	if k.first && k.freq > 8 {
		mask = 1<<(16-k.freq) - 1
		k.turn = 1 << 16
	}
	d := (m - k.last) & mask
	switch {
	case k.first && mask == 0xff && d >= 0xf0:
		return // sent late: of before the TMA
	case d == 0 && !k.first:
		k.doubt = true // repeated, or a whole turn was lost
	}
	k.last, k.first = m, false
	k.sum += uint64(d) << k.freq
	if k.sum <= k.low {
		return // the edge lies before the TSC: nothing new
	}
	n := k.sum - k.low
	lo := addSat(k.edge, mulDiv(n, k.num, k.den))
	hi := addSat(lo, 1+edgeSlack)
	lo = max(lo-min(lo, edgeSlack), k.floor)
	hi = max(hi, lo)
	k.floor = lo
	// What CYCs added cannot be right beyond the edge.
	k.lo = max(lo, min(k.lo, hi))
	if k.doubt && !k.whole && k.lost(lo) {
		hi = unknown
	}
	k.hi = hi
	k.cHi = min(k.cHi, hi)
	if cyc {
		k.cLo = k.lo
	}
	k.cLo = min(k.cLo, k.cHi)
}

// lost reports whether a whole turn of the MTC's bits may have gone by unseen before an MTC.
// Without that turn the MTC is at tick lo; there must be time for a turn from there to until.
func (k *clock) lost(lo uint64) bool {
	return addSat(lo, mulDiv(k.turn, k.num, k.den)) <= k.until
}

// turns reports whether a whole turn of the MTC's bits may have been lost among
// the packets of l, which k has not read. A turn that is lost makes every MTC behind it
// that much later, up to the next TMA. None was lost if there is no time for it before the
// TSC that follows.
func (k clock) turns(l Lexer, er *errata) bool {
	mayBe := func() bool { return k.doubt && k.tied && !k.first && k.lost(k.floor) }
	end := k.until
	var p Packet
	for fetch(&l, &p, er) {
		if p.Kind == TSC {
			t := k
			t.TSC(p.Value)
			if k.until = t.tsc; mayBe() {
				return true
			}
			k.until = end
		}
		k.read(&p, false)
	}
	return mayBe()
}

// CYC reads a CYC packet: core cycles since the CYC before it.
func (k *clock) CYC(n uint64) {
	if k.p1 == 0 || k.cbr == 0 || k.cLost {
		k.cLost = false
		k.cLo, k.cHi = k.lo, unknown
	} else {
		k.cLo = addSat(k.cLo, mulDiv(n, k.p1*(cycSlack-1), k.cbrMax*cycSlack))
		k.cHi = addSat(k.cHi, addSat(mulDiv(n, k.p1*(cycSlack+1), k.cbrMin*cycSlack), 1))
		k.cLo = max(k.cLo, k.lo)
		k.cHi = max(k.cHi, k.cLo)
	}
	k.cbrMin, k.cbrMax = k.cbr, k.cbr
	k.lo, k.hi = k.cLo, k.cHi
}

// CBR reads a CBR packet: the core's frequency in bus clocks from here on.
func (k *clock) CBR(ratio uint8) {
	r := uint64(ratio)
	if r == 0 {
		return
	}
	if k.cbr == 0 {
		k.cbrMin, k.cbrMax = r, r
		// Of the cycles before this packet nothing is known.
		k.cLost = k.cLo != 0 || k.cLost
	}
	k.cbr, k.cbrMin, k.cbrMax = r, min(k.cbrMin, r), max(k.cbrMax, r)
}

// Overflow tells that packets were lost, timing packets among them. How many turns
// of the MTC's 8 bits went by is not known until the next TSC, and the cycle
// counter may have wrapped. Intel SDM, section "Overflow Impact on Timing Packets".
func (k *clock) Overflow() {
	k.doubt = true
	k.cLost = true
}

// mulDiv returns v*a/b rounded down, or MaxUint64 if it is greater.
func mulDiv(v, a, b uint64) uint64 {
	hi, lo := bits.Mul64(v, a)
	switch {
	case hi >= b:
		return math.MaxUint64
	case b == 1:
		return lo
	}
	q, _ := bits.Div64(hi, lo, b)
	return q
}

// addSat returns a+b, or MaxUint64 if it is greater.
func addSat(a, b uint64) uint64 {
	s, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return s
}

// after returns a tick that by c is not before a moment, ns, nor much behind it.
func after(c *event.TimeConv, ns uint64) uint64 {
	switch {
	case ns == unknown || !c.Valid:
		return ns
	case c.Mult == 0 || c.Shift >= 64:
		return unknown
	}
	d := ns + 2 - c.Zero // the rounding of Hi and of NS
	hi, lo := d>>(64-c.Shift), d<<c.Shift
	if hi >= uint64(c.Mult) {
		return unknown
	}
	t, _ := bits.Div64(hi, lo, uint64(c.Mult))
	return addSat(t, 1)
}
