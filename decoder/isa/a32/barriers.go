package a32

import "github.com/ptdecode/ptdecode/decoder/isa"

// DataBarrier reports whether the instruction at the front of text is a DMB or a
// DSB. It lies at addr and executes in mode m. Writes of CP15DMB and CP15DSB count
// too. Decode has them as isa.Other, which is right for most trace units: a Program
// Trace Macrocell may take them for waypoints (IHI0035B, "Waypoint instructions";
// ETMCCER bit 24). DDI0406C, "DMB", "DSB", "CP15DMB", "CP15DSB".
func (Decoder) DataBarrier(text []byte, addr uint64, m isa.Mode) bool {
	w, n, s := load(text, addr, m)
	if s != isa.OK || n != 4 {
		return false
	}
	if m == isa.ModeT32 {
		switch w & 0xffff_fff0 {
		case 0xf3bf_8f40, 0xf3bf_8f50:
			return true
		}
		if w>>28 != 14 {
			return false
		}
	} else {
		switch w & 0xffff_fff0 {
		case 0xf57f_f040, 0xf57f_f050:
			return true
		}
		if w>>28 == 15 {
			return false
		}
	}
	switch w & 0x0fff_0fff {
	case 0x0e07_0f9a, 0x0e07_0fba:
		return true
	}
	return false
}
