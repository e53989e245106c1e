package recording

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
)

// made makes a record of its fields, in their own widths, with a sample_id.
func made(typ perfdata.Type, misc perfdata.Misc, fields ...any) *perfdata.Record {
	r := &perfdata.Record{Type: typ, Misc: misc, File: "f", Off: 64}
	for _, f := range fields {
		b, err := binary.Append(nil, binary.LittleEndian, f)
		if err != nil {
			panic(err)
		}
		r.Body = append(r.Body, b...)
	}
	r.Ident = perfdata.Ident{Time: 7, ID: 3, StreamID: 4, PID: 10, TID: 11, CPU: 1,
		Has: perfdata.SampleTime | perfdata.SampleTID | perfdata.SampleCPU}
	return r
}

// TestEventOf would catch a field of a record that the event stream does not
// carry, or carries under another name.
func TestEventOf(t *testing.T) {
	name := func(s string) []byte { return append([]byte(s), make([]byte, 8-len(s)%8)...) }
	for _, c := range []struct {
		rec  *perfdata.Record
		want string
	}{
		{made(perfdata.TypeNamespaces, 0, int32(5), int32(6), uint64(1), uint64(77), uint64(88)),
			`"type":"namespaces","time":7,"cpu":1,"pid":5,"tid":6,"by_pid":10,"by_tid":11,"id":3,"stream_id":4,"namespaces":[{"dev":77,"ino":88}]`},
		{made(perfdata.TypeCgroup, 0, uint64(9), name("/a")), `"type":"cgroup","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"cgroup_id":9,"path":"/a"`},
		{made(perfdata.TypeBPFEvent, 0, uint16(1), uint16(2), uint32(3), [8]byte{1, 2}),
			`"type":"bpf","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"kind":"load","flags":2,"bpf_id":3,"tag":"0102000000000000"`},
		{made(perfdata.TypeAuxOutputHWID, 0, uint64(0xabc)), `"type":"aux_output_hw_id","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"hw_id":"abc"`},
		{made(perfdata.TypeLostSamples, 0, uint64(12)), `"type":"lost_samples","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"lost":12`},
		{made(perfdata.TypeLost, 0, uint64(2), uint64(12)), `"type":"lost","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"lost_id":2,"lost":12`},
		{made(perfdata.TypeExit, 0, int32(1), int32(2), int32(3), int32(4), uint64(6)),
			`"type":"exit","time":7,"cpu":1,"pid":1,"tid":3,"ppid":2,"ptid":4,"by_pid":10,"by_tid":11,"id":3,"stream_id":4`},
		{made(perfdata.TypeSwitchCPUWide, perfdata.MiscSwitchOut|perfdata.MiscSwitchPreempt, int32(1), int32(2)),
			`"type":"switch","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"misc":24576,"out":true,"preempt":true,"other_pid":1,"other_tid":2`},
		{made(perfdata.TypeSwitch, 0), `"type":"switch","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"record":14`},
		{made(perfdata.TypeAux, 0, uint64(16), uint64(32), uint64(1)), `"type":"aux","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"flags":1,"offset":"10","size":32`},
		{made(perfdata.TypeKsymbol, 0, uint64(16), uint32(32), uint16(2), uint16(1), name("x")),
			`"type":"ksymbol","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"addr":"10","len":32,"name":"x","kind":"ool","gone":true`},
		{made(perfdata.TypeMmap2, perfdata.MiscMmapBuildID, int32(1), int32(2), uint64(3), uint64(4), uint64(5), uint8(2), [3]byte{}, [20]byte{8, 9}, uint32(5), uint32(6), name("y")),
			`"type":"mmap","time":7,"cpu":1,"pid":1,"tid":2,"by_pid":10,"by_tid":11,"id":3,"stream_id":4,"misc":16384,"addr":"3","len":4,"flags":6,"pgoff":"5","file":"y","prot":5,"build_id":"0809"`},
		{made(perfdata.TypeAuxtraceError, 0, uint32(1), uint32(2), int32(3), int32(4), int32(5), uint32(1), uint64(0x66), uint64(77), [64]byte{'m'}),
			`"type":"auxtrace_error","time":77,"cpu":3,"pid":4,"tid":5,"id":3,"stream_id":4,"kind":"1","ip":"66","code":2,"message":"m"`},
		{made(perfdata.TypeThrottle, 0, uint64(1), uint64(2), uint64(3)),
			`"type":"record","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"record":5,"raw":"010000000000000002000000000000000300000000000000"`},
	} {
		e, err := eventOf(c.rec)
		if err != nil {
			t.Errorf("%s: %v", c.rec.Type, err)
			continue
		}
		line, err := sideband.Append(nil, &e)
		if err != nil || !sameFields(string(line), "{"+c.want+"}\n") {
			t.Errorf("%s: %v\n%swant\n{%s}", c.rec.Type, err, line, c.want)
		}
		c.rec.Body = c.rec.Body[:len(c.rec.Body)/4]
		if _, err := eventOf(c.rec); err == nil && c.rec.Type != perfdata.TypeSwitch && c.rec.Type != perfdata.TypeThrottle {
			t.Errorf("%s cut short is taken", c.rec.Type)
		}
	}
}

// TestSampleTrace would catch hardware trace that a sample carries written into
// the event stream, and a sample's other fields lost with it.
func TestSampleTrace(t *testing.T) {
	rec := made(perfdata.TypeSample, 0, uint64(0x77), uint64(16), [16]byte{2, 0x82})
	for _, x := range []struct {
		sample uint64
		want   string
	}{
		{perfdata.SampleIP | perfdata.SampleAux, `"raw":"77000000000000001000000000000000","offset":"10","size":16`},
		{perfdata.SampleIP, `"raw":"77000000000000001000000000000000` + "02820000000000000000000000000000" + `"`},
	} {
		rec.Attr = &perfdata.Attr{SampleType: x.sample}
		e, err := eventOf(rec)
		if err != nil {
			t.Fatal(err)
		}
		line, err := sideband.Append(nil, &e)
		want := `{"type":"record","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"record":9,` + x.want + "}\n"
		if err != nil || !sameFields(string(line), want) {
			t.Errorf("%v\n%swant\n%s", err, line, want)
		}
	}
}

// sameFields compares objects of JSON whatever the order of their fields.
func sameFields(a, b string) bool {
	var x, y map[string]any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return cmp.Equal(x, y)
}

// TestConversion would catch a TIME_CONV record's narrow counter that is lost on the
// way to CoreSight's clock, or is believed of a record that does not state
// one. It would also catch one that Intel PT's clock of 64 bits silently passes over.
func TestConversion(t *testing.T) {
	for _, c := range []struct {
		name      string
		event     sideband.Fields
		short, pt bool
	}{
		{"three words", sideband.Fields{Mult: 2}, false, true},
		{"wide", sideband.Fields{Mult: 2, Cycles: 9, Mask: 0xff, HasCycles: true, CapZero: true}, false, true},
		{"no offset", sideband.Fields{Mult: 2, HasCycles: true}, false, false},
		{"all 64 bits", sideband.Fields{Mult: 2, Cycles: 9, Mask: math.MaxUint64, HasCycles: true, CapZero: true, CapShort: true}, true, true},
		{"8 bits", sideband.Fields{Mult: 2, Cycles: 9, Mask: 0xff, HasCycles: true, CapZero: true, CapShort: true}, true, false},
		{"not there", sideband.Fields{Mult: 2, Cycles: 9, Mask: 0xff, CapShort: true}, false, true},
	} {
		f := newFacts(&Config{})
		f.note(&sideband.Record{Type: sideband.TypeTimeConv, Fields: c.event}, place{})
		if got := *f.timeConv; got.Short != c.short || got.Cycles != c.event.Cycles || got.Mask != uint64(c.event.Mask) || got.Mult != 2 {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got := f.conversion(); got.Valid != c.pt {
			t.Errorf("%s: Intel PT: %+v", c.name, got)
		}
	}
}

// TestConversionStays would catch a clock that is read from a damaged record which has
// become a TIME_CONV, though two records before it agree. Where nothing agrees, the newest
// one counts.
func TestConversionStays(t *testing.T) {
	for _, agree := range []bool{false, true} {
		f := newFacts(&Config{})
		f.auxInfo = &perfdata.AuxInfo{PT: &perfdata.IntelPT{TimeShift: 31, TimeMult: 1 << 31, TimeZero: 5}}
		first := sideband.Fields{Shift: 31, Mult: 1 << 31, Zero: 5}
		if !agree {
			first.Zero++
		}
		for _, e := range []sideband.Fields{first, {Mult: 11, Zero: 4085194574}} {
			f.note(&sideband.Record{Type: sideband.TypeTimeConv, Fields: e}, place{})
		}
		want := uint32(11)
		if agree {
			want = first.Mult
		}
		if got := f.conversion(); got.Mult != want {
			t.Errorf("agree %v: %+v", agree, got)
		}
	}
}
