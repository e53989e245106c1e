package decoder

import (
	"math"
	"testing"

	"github.com/ptdecode/ptdecode/kcore"
)

// TestConversion would catch a TIME_CONV record's narrow counter that is lost on
// the way to CoreSight's clock, one that is taken from a record that has no such
// fields or does not say that they count, and one that Intel PT's clock, which has
// 64 bits, silently passes over.
func TestConversion(t *testing.T) {
	for _, c := range []struct {
		name      string
		event     kcore.StreamFields
		short, pt bool
	}{
		{"three words", kcore.StreamFields{Mult: 2}, false, true},
		{"wide", kcore.StreamFields{Mult: 2, Cycles: 9, Mask: 0xff, HasCycles: true, CapZero: true}, false, true},
		{"no offset", kcore.StreamFields{Mult: 2, HasCycles: true}, false, false},
		{"all 64 bits", kcore.StreamFields{Mult: 2, Cycles: 9, Mask: math.MaxUint64, HasCycles: true, CapZero: true, CapShort: true}, true, true},
		{"8 bits", kcore.StreamFields{Mult: 2, Cycles: 9, Mask: 0xff, HasCycles: true, CapZero: true, CapShort: true}, true, false},
		{"not there", kcore.StreamFields{Mult: 2, Cycles: 9, Mask: 0xff, CapShort: true}, false, true},
	} {
		f := newFacts(&Config{})
		f.note(&kcore.StreamEvent{Type: kcore.EventTimeConv, StreamFields: c.event}, place{})
		if got := *f.timeConv; got.Short != c.short || got.Cycles != c.event.Cycles || got.Mask != uint64(c.event.Mask) || got.Mult != 2 {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got := f.conversion(); got.Valid != c.pt {
			t.Errorf("%s: Intel PT: %+v", c.name, got)
		}
	}
}
