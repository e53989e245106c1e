package coresight

import (
	"math"
	"testing"
)

// Catches a conversion that loses high bits, rounds a bound to the wrong side,
// or converts what stands for "not known".
func TestTimeConv(t *testing.T) {
	half := TimeConv{Shift: 1, Mult: 1, Zero: 100, Valid: true}
	for _, c := range []struct {
		conv   TimeConv
		ticks  uint64
		lo, hi uint64
	}{
		{TimeConv{}, 7, 7, 7},
		{TimeConv{}, math.MaxUint64, math.MaxUint64, math.MaxUint64},
		{half, 7, 102, 104},
		{half, 0, 0, 101},
		{TimeConv{Shift: 32, Mult: 1 << 31, Zero: 0, Valid: true}, 1 << 40, 1<<39 - 1, 1<<39 + 1},
		{TimeConv{Shift: 0, Mult: 3, Zero: math.MaxUint64 - 1, Valid: true}, 4, 9, 11},
		{TimeConv{Shift: 70, Mult: 1 << 31, Zero: 5, Valid: true}, 1 << 50, 1<<11 + 4, 1<<11 + 6},
		{TimeConv{Shift: 0, Mult: 1, Zero: 0, Valid: true}, math.MaxUint64 - 1, math.MaxUint64 - 2, math.MaxUint64},
	} {
		if lo, hi := c.conv.Lo(c.ticks), c.conv.Hi(c.ticks); lo != c.lo || hi != c.hi {
			t.Errorf("%+v of %d: [%d, %d], want [%d, %d]", c.conv, c.ticks, lo, hi, c.lo, c.hi)
		}
	}
}
