package perfdata

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// Mending what says how Intel PT's clock runs, and how its trace was configured. TIME_CONV
// and AUXTRACE_INFO both tell of the clock; AUX records tell when trace had been written.

// ptWords are words of AUXTRACE_INFO's private area that are the same on all machines, as
// the kernel gives the bits of its PMU's config (arch/x86/events/intel/pt.c,
// pt_formats_attr, v6.1). Where the PMU has no such bit the word is 0.
var ptWords = [...]struct {
	i    int
	want uint64
}{{5, 1 << 10}, {6, 1 << 11}, {10, 1 << 9}, {11, 0xf << 14}, {14, 1 << 1}}

// Words that are flags (tools/perf/util/intel-pt.h, v6.1).
const (
	capUserTimeZero = 4
	snapshotMode    = 8
	perCPUMmaps     = 9
)

// mendAuxInfo corrects bytes of AUXTRACE_INFO of Intel PT: words that are the same on all
// machines, and the kind if these words are there. A flag that is neither 0 nor 1 is taken as 0.
func (s *scanner) mendAuxInfo() {
	const first = 8 // of the private area
	b, le := s.rec.Body, binary.LittleEndian
	if len(b) < first+8*intelPTWords {
		return
	}
	there := 0
	for _, w := range ptWords {
		if le.Uint64(b[first+8*w.i:]) == w.want {
			there++
		}
	}
	if there < len(ptWords)-1 {
		return
	}
	if kind := le.Uint32(b); AuxKind(kind) != AuxIntelPT {
		s.mended("kind %d, taken as %s", kind, AuxIntelPT)
		le.PutUint32(b, uint32(AuxIntelPT))
	}
	fix := func(i int, to uint64) {
		s.mended("word %d is %#x, taken as %#x", i, le.Uint64(b[first+8*i:]), to)
		le.PutUint64(b[first+8*i:], to)
	}
	for _, w := range ptWords {
		if x := le.Uint64(b[first+8*w.i:]); x != 0 && x != w.want && oneByte(x^w.want) {
			fix(w.i, w.want)
		}
	}
	for _, i := range [...]int{capUserTimeZero, snapshotMode, perCPUMmaps} { // flags: they are 0 or 1
		if le.Uint64(b[first+8*i:]) > 1 {
			fix(i, 0)
		}
	}
	if t := s.pmuType(); t != 0 && le.Uint64(b[first:]) != t && oneByte(le.Uint64(b[first:])^t) {
		fix(0, t)
	}
}

// mended tells that the record just read was mended.
func (s *scanner) mended(format string, args ...any) {
	s.r.hints.Mended++
	s.r.trouble(s.rec.File, s.rec.Off, "record "+s.rec.Type.String()+": "+format, args...)
}

// pmuType is the type of the events of Intel PT, 0: there is none, or not one alone.
func (s *scanner) pmuType() (t uint64) {
	for _, a := range s.r.attrs {
		named := s.r.header.PMUs[a.Type] == AuxIntelPT.String() || strings.HasPrefix(a.Name, AuxIntelPT.String()+"/")
		if !named || uint64(a.Type) == t {
			continue
		}
		if t != 0 {
			return 0
		}
		t = uint64(a.Type)
	}
	return t
}

// oneByte reports whether one byte alone of x is not 0.
func oneByte(x uint64) bool {
	return x != 0 && bits.TrailingZeros64(x)/8 == (bits.Len64(x)-1)/8
}

// conv is how a clock becomes perf's, as TIME_CONV and AUXTRACE_INFO say it: ns = zero +
// (ticks * mult >> shift), modulo 2^64.
type conv struct{ shift, mult, zero uint64 }

// convAt reads the three at b.
func convAt(b []byte) conv {
	return conv{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
}

// time converts ticks, ns.
func (c conv) time(ticks uint64) uint64 {
	hi, lo := bits.Mul64(ticks, c.mult)
	return c.zero + (hi<<(64-c.shift&63) | lo>>(c.shift&63))
}

// mendClock corrects TIME_CONV where one byte differs from what AUXTRACE_INFO says. It does so
// only where trace cannot have been made when TIME_CONV says, and can when the other does.
// Where both are possible TIME_CONV stays, and the difference is told.
func mendClock(r *Recording, timeConv, auxInfo *Record) {
	const words = 16 // of AUXTRACE_INFO, before the shift
	if timeConv.Body == nil || auxInfo.Body == nil || r.auxInfo == nil || r.auxInfo.PT == nil || len(timeConv.Body) < 24 || len(auxInfo.Body) < words+24 {
		return
	}
	a, b := timeConv.Body[:24], auxInfo.Body[words:words+24]
	if differing(a, b) != 1 {
		return
	}
	x, y := possible(r, convAt(a)), possible(r, convAt(b))
	if x || !y {
		r.trouble(timeConv.File, timeConv.Off, "record %s: differs from what %s says of the clock, and is kept", timeConv.Type, auxInfo.Type)
		return
	}
	copy(a, b)
	r.hints.Mended++
	r.trouble(timeConv.File, timeConv.Off, "record %s: the trace's times do not fit, the conversion of %s is taken", timeConv.Type, auxInfo.Type)
	if m, err := timeConv.TimeConv(); err == nil {
		r.timeConv = &m
	}
}

// possible reports whether c gives the trace of streams times that it can have: none after the
// last AUX record of its CPU, nor before the ITRACE_START record. It is false where no
// stream tells.
func possible(r *Recording, c conv) (ok bool) {
	if c.shift > 63 || c.mult == 0 {
		return false
	}
	for i := range r.streams {
		st := &r.streams[i]
		at, known := r.traced[st.CPU]
		last, there := tscNear(st.Bytes(max(0, st.Size-mostPSB), mostPSB), bytes.LastIndex)
		first, too := tscNear(st.Bytes(0, mostPSB), bytes.Index)
		if st.CPU < 0 || !known || !there || !too || at.to == 0 {
			continue
		}
		if int64(at.to-c.time(last)) < 0 || int64(c.time(first)-at.from) < -clockSlack {
			return false
		}
		ok = true
	}
	return ok
}

const (
	mostPSB    = 1 << 20 // bytes of a stream in which a TSC is looked for
	clockSlack = 1000    // ns, by which the conversion's rounding may be off, and more
)

// tracedIn is when a CPU's trace was made, as records tell, ns; 0: none does.
type tracedIn struct{ from, to uint64 }

// traceTime notes the time of an ITRACE_START or AUX record.
func traceTime(r *Recording, rec *Record) {
	if !rec.HasTime() || rec.CPU < 0 {
		return
	}
	if r.traced == nil {
		r.traced = map[int32]tracedIn{}
	}
	at := r.traced[rec.CPU]
	switch {
	case rec.Type == TypeAux:
		at.to = max(at.to, rec.Time)
	case at.from == 0 || rec.Time < at.from:
		at.from = rec.Time
	}
	r.traced[rec.CPU] = at
}

// tscNear returns the TSC behind the PSB in b that find finds.
func tscNear(b []byte, find func(b, sep []byte) int) (tsc uint64, ok bool) {
	i := find(b, syncPoints[0])
	if i < 0 {
		return 0, false
	}
	b = b[i+len(syncPoints[0]):]
	for len(b) > 8 {
		n := 0
		switch {
		case b[0] == 0x19:
			return binary.LittleEndian.Uint64(b) >> 8, true
		case b[0] == 0x02:
			n = int(psbPlus[b[1]])
		case b[0]&0x1f == 0x1d:
			n = [...]int{1, 3, 5, 7, 7, 1, 9, 1}[b[0]>>5] // FUP
		case b[0] == 0x99:
			n = 2 // MODE
		case b[0] == 0:
			n = 1
		}
		if n == 0 {
			return 0, false
		}
		b = b[n:]
	}
	return 0, false
}

// psbPlus are the sizes of packets of two bytes of header that stand between PSB and PSBEND,
// by the second byte: PIP, TMA, CBR, VMCS (SDM, "Packet Definitions").
var psbPlus = [256]uint8{0x43: 8, 0x73: 7, 0x03: 4, 0xc8: 7}
