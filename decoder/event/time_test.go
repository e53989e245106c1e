package event

import "testing"

// TestLikely would catch a moment outside of its bounds, and an overflow. It would catch a
// moment long before the recording, where there is no lower bound.
func TestLikely(t *testing.T) {
	for in, want := range map[Time]uint64{
		{10, 20}: 15, {7, 7}: 7, {5, Always.Hi}: 5, Always: 0, {}: 0, {20, 10}: 20,
		{0, 20}: 20, {0, 1}: 1, {1, 3}: 2,
		{Always.Hi - 3, Always.Hi - 1}: Always.Hi - 2,
	} {
		if got := in.Likely(); got != want {
			t.Errorf("%v: %d, want %d", in, got, want)
		}
	}
}
