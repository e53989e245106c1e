package calls

import (
	"reflect"
	"testing"
)

// TestCondensedSizes would catch sizes by which memory is counted that are not those of the types.
func TestCondensedSizes(t *testing.T) {
	for _, x := range []struct{ is, counts uintptr }{
		{reflect.TypeFor[detour]().Size(), detourBytes}, {reflect.TypeFor[ended]().Size(), endedBytes}, {reflect.TypeFor[foldedOf]().Size(), foldedBytes},
	} {
		if x.is > x.counts {
			t.Errorf("%d bytes count as %d", x.is, x.counts)
		}
	}
}
