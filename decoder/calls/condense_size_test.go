package calls

import (
	"testing"
	"unsafe"
)

// TestCondensedSizes would catch sizes by which memory is counted that are not those of the types.
func TestCondensedSizes(t *testing.T) {
	for _, x := range []struct{ is, counts uintptr }{
		{unsafe.Sizeof(detour{}), detourBytes}, {unsafe.Sizeof(ended{}), endedBytes}, {unsafe.Sizeof(foldedOf{}), foldedBytes},
	} {
		if x.is > x.counts {
			t.Errorf("%d bytes count as %d", x.is, x.counts)
		}
	}
}
