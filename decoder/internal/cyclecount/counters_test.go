package cyclecount

import (
	"slices"
	"testing"
)

// TestPT would catch a CYC packet that does not count, another one that does, and a packet at another place. What the packets of
// CoreSight count is compared with their flow in package calls.
func TestPT(t *testing.T) {
	const cyc5, pad, cyc2 = 5<<3 | 3, 0, 2<<3 | 3 // Intel SDM, "Cycle Count (CYC) Packet"
	want := []Counted{{Off: 100, End: 101, Cycles: 5}, {Off: 101, End: 102}, {Off: 102, End: 103, Cycles: 2}}
	var got []Counted
	c := &PT{}
	c.Lend([]byte{cyc5, pad, cyc2}, 100)
	for p := (Counted{}); c.Next(&p); {
		got = append(got, p)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
