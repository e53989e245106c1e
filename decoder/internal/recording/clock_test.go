package recording

import (
	"math"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
)

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
