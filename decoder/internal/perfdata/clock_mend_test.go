package perfdata

import (
	"bytes"
	"slices"
	"testing"
)

// ptRecording lays out a recording of Intel PT of one CPU, with TIME_CONV and AUXTRACE_INFO,
// and says where their bodies lie in the data.
func ptRecording() (f file, timeConv, auxInfo int) {
	a := tattr{typ: 8, config: 0x100e601, sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll}
	who := func(time uint64) []byte { return a.trailer(ident{pid: 7, tid: 7, time: time, cpu: 0}) }
	// 2 GHz, and a clock that began 5 s before the TSC did.
	conv := []uint64{31, 1 << 30, 5e9}
	auxInfo = headerSize
	data := record(TypeAuxtraceInfo, 0, uint32(AuxIntelPT), uint32(0), []uint64{
		8, conv[0], conv[1], conv[2], 1, 1 << 10, 1 << 11, 3, 0, 1, 1 << 9, 0xf << 14, 80, 2, 2, 10, 0,
	})
	timeConv = len(data) + headerSize
	data = append(data, record(TypeTimeConv, 0, conv, uint64(0), uint64(0), uint8(1), uint8(0), make([]byte, 6))...)
	trace := bytes.Repeat([]byte{0x02, 0x82}, 8)
	trace = append(trace, 0x02, 0x43, 0, 0, 0, 0, 0, 0)                   // PIP
	trace = append(trace, 0x19, 0x00, 0x94, 0x35, 0x77, 0, 0, 0, 2, 0x23) // TSC 2e9, PSBEND
	trace = append(trace, make([]byte, -len(trace)&7)...)
	data = append(data, record(TypeItraceStart, 0, int32(7), int32(7), who(6e9))...)
	data = append(data, record(TypeAux, 0, uint64(0), uint64(len(trace)), uint64(0), who(6e9+20000))...)
	data = append(data, auxtrace(0, 0, -1, 0, trace)...)
	desc := enc(uint32(1), uint32(128), a.bytes(), uint32(0), hstr("intel_pt//k"))
	return file{attrs: []tattr{a}, data: data, features: map[Feature][]byte{FeatureEventDesc: desc}}, timeConv, auxInfo
}

// TestMendClock would catch a wrong byte of what says how the clock runs, or how the trace was
// configured, that is believed though the recording tells of it. Trace would be
// put in time with other changes to code. What is right must stay.
func TestMendClock(t *testing.T) {
	f, timeConv, auxInfo := ptRecording()
	whole := fromBytes(t, f.bytes())
	want, info := *whole.TimeConv(), *whole.AuxInfo().PT
	if whole.Hints().Mended != 0 || len(whole.Streams()) != 1 || want.Zero != 5e9 {
		t.Fatalf("the whole one: %d mended, %+v", whole.Hints().Mended, want)
	}
	hit := func(at int, bit byte) *Recording {
		bad := f
		bad.data = slices.Clone(f.data)
		bad.data[at] ^= bit
		return fromBytes(t, bad.bytes())
	}
	for k := range 24 {
		small := k >= 8 && k < 10 || k >= 16 && k < 18 // off by less than what passes before the AUX record
		r := hit(timeConv+k, 0x47)
		if got := *r.TimeConv(); !small && got != want || r.AuxInfo().PT.TimeZero != info.TimeZero {
			t.Errorf("byte %d of TIME_CONV: %+v, want %+v", k, got, want)
		}
	}
	for at, bit := range map[int]byte{
		0: 0x07, 8: 0x55, 9: 0x10, 8 + 8*5 + 2: 0x01, 8 + 8*6 + 1: 0x40, 8 + 8*8: 0x30, 8 + 8*10: 0x02, 8 + 8*11 + 1: 0x01, 8 + 8*14: 0x70,
		8 + 8*4: 0x10, 8 + 8*9: 0x44, 8 + 8*4 + 1: 0x01,
	} {
		info := info
		info.CapUserTimeZero = info.CapUserTimeZero && (at < 8+8*4 || at >= 8+8*5) // what is no flag is taken as 0
		info.PerCPU = info.PerCPU && at != 8+8*9
		r := hit(auxInfo+at, bit)
		if r.AuxInfo() == nil || r.AuxInfo().PT == nil || *r.AuxInfo().PT != info || *r.TimeConv() != want || r.Hints().Mended != 1 {
			t.Errorf("byte %d of AUXTRACE_INFO: %+v, %d mended", at, r.AuxInfo(), r.Hints().Mended)
		}
	}
}

// TestClockStays would catch a wrong byte of AUXTRACE_INFO that changes a TIME_CONV which
// is right, and a difference between both that is not told.
func TestClockStays(t *testing.T) {
	const aux = 6e9 + 20000
	f, _, auxInfo := ptRecording()
	at := bytes.Index(f.data, f.attrs[0].trailer(ident{pid: 7, tid: 7, time: aux, cpu: 0}))
	for _, late := range []uint64{0, 3e6, 1e9} { // ns, by which the AUX record comes later
		f.data = slices.Clone(f.data)
		copy(f.data[at:], f.attrs[0].trailer(ident{pid: 7, tid: 7, time: aux + late, cpu: 0}))
		want := *fromBytes(t, f.bytes()).TimeConv()
		for k := 16; k < 40; k++ {
			for bit := byte(1); bit != 0; bit <<= 1 {
				bad := f
				bad.data = slices.Clone(f.data)
				bad.data[auxInfo+k] ^= bit
				r := fromBytes(t, bad.bytes())
				if found, _ := r.Trouble(); *r.TimeConv() != want || len(found) == 0 {
					t.Errorf("AUX record %d ns later, byte %d of AUXTRACE_INFO, bit %#x: %+v, want %+v; trouble %v", late, k, bit, *r.TimeConv(), want, found)
				}
			}
		}
	}
}

// TestTracedFrom would catch an AUX record before ITRACE_START that takes the bound from below
// away: trace could then be dated before its CPU traced.
func TestTracedFrom(t *testing.T) {
	r := &Recording{}
	rec := func(typ Type, time uint64) {
		x := Record{}
		x.Type, x.CPU, x.Time, x.Has = typ, 1, time, SampleTime
		traceTime(r, &x)
	}
	rec(TypeAux, 50)
	rec(TypeItraceStart, 40)
	rec(TypeItraceStart, 60)
	if got := r.traced[1]; got != (tracedIn{40, 50}) {
		t.Errorf("traced %+v, want from 40 to 50", got)
	}
}
