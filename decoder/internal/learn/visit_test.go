package learn

import "testing"

// TestPasses would catch a visit that says nothing of a breakpoint which stays: the flow ends
// where its block begins, before it. It would also catch one that says something of code far
// from where it came by.
func TestPasses(t *testing.T) {
	v := Visit{IP: 0x1000, Path: []uint64{0x800, 0x7fc}}
	for addr, want := range map[uint64]bool{0x1000: true, 0x1009: true, 0x7fc: true, 0xfff: false, 0x1000 + aheadBytes: false, 0x900: false} {
		if v.passes(addr) != want {
			t.Errorf("%#x: passed %v, want %v", addr, !want, want)
		}
	}
}
