package a32

import (
	"encoding/binary"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestDataBarrier would catch a barrier in one of its encodings that is not
// known as one, and another instruction that is, ISB before all.
func TestDataBarrier(t *testing.T) {
	for _, c := range []struct {
		what string
		a32  uint32
		t32  uint32
		is   bool
	}{
		{"dmb sy", 0xf57ff05f, 0xf3bf8f5f, true},
		{"dsb ishst", 0xf57ff04a, 0xf3bf8f4a, true},
		{"isb", 0xf57ff06f, 0xf3bf8f6f, false},
		{"clrex", 0xf57ff01f, 0xf3bf8f2f, false},
		{"mcr p15, 0, r3, c7, c10, 5", 0xee073fba, 0xee073fba, true},
		{"mcr p15, 0, r0, c7, c10, 4", 0xee070f9a, 0xee070f9a, true},
		{"mcr p15, 0, r0, c7, c5, 4", 0xee070f95, 0xee070f95, false},
		{"mcr p15, 0, r0, c7, c10, 1", 0xee070f3a, 0xee070f3a, false},
		{"mrc p15, 0, r0, c7, c10, 4", 0xee170f9a, 0xee170f9a, false},
		{"nop", 0xe320f000, 0xf3af8000, false},
	} {
		if got := DataBarrier(binary.LittleEndian.AppendUint32(nil, c.a32), 0x8000, isa.ModeA32); got != c.is {
			t.Errorf("%s, A32: %v", c.what, got)
		}
		b := binary.LittleEndian.AppendUint16(nil, uint16(c.t32>>16))
		b = binary.LittleEndian.AppendUint16(b, uint16(c.t32))
		if got := DataBarrier(b, 0x8002, isa.ModeT32); got != c.is {
			t.Errorf("%s, T32: %v", c.what, got)
		}
		if DataBarrier(b[:3], 0x8002, isa.ModeT32) || DataBarrier(nil, 0x8000, isa.ModeA32) {
			t.Errorf("%s: a barrier though it is cut short", c.what)
		}
	}
	if !DataBarrier([]byte{0x9a, 0x0f, 0x07, 0x0e}, 0, isa.ModeA32) {
		t.Error("mcreq: no barrier")
	}
	if DataBarrier([]byte{0x07, 0xfe, 0x9a, 0x0f}, 0, isa.ModeT32) {
		t.Error("mcr2: a barrier")
	}
}
