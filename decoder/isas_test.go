package decoder

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestBarrierWaypoints would catch a DMB that spends no outcome where the trace
// unit sends one for it, or spends one where it does not: either shifts every
// outcome behind it to another branch.
func TestBarrierWaypoints(t *testing.T) {
	dmb := []byte{0x5f, 0xf0, 0x7f, 0xf5}
	for _, c := range []struct {
		protocol Protocol
		ccer     uint32
		want     isa.Class
	}{{PTM, 1 << 24, isa.Barrier}, {PTM, 0, isa.Other}, {ETMv3, 1 << 24, isa.Other}} {
		st := &Stream{Protocol: c.protocol, CS: coresight.Config{V3: coresight.ETMv3Registers{CCER: c.ccer}}}
		var in isa.Insn
		s := &Session{}
		if s.instructions(st).Decode(&in, dmb, 0x8000, isa.ModeA32); in.Class != c.want {
			t.Errorf("%v, ETMCCER %#x: DMB is %v, want %v", c.protocol, c.ccer, in.Class, c.want)
		}
		if !st.rules().Syncs.Has(isa.FarReturn) || c.want == isa.Barrier && st.rules().Syncs.Has(isa.Barrier) {
			t.Errorf("%v, ETMCCER %#x: synchronises: %b", c.protocol, c.ccer, st.rules().Syncs)
		}
	}
}
