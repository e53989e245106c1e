package event

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Catches a conversion that loses high bits, rounds a bound to the wrong side, or
// converts what stands for "not known". Catches one that does not count on where a
// counter begins at 0 again.
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
		// A counter of 56 bits that was 16 before its end: 16 more, and 16 more again.
		{TimeConv{Mult: 40, Zero: 1000, Cycles: 1<<56 - 16, Mask: 1<<56 - 1, Short: true, Valid: true}, 16, 2882303761517119079, 2882303761517119081},
		{TimeConv{Mult: 40, Zero: 1000, Cycles: 1<<56 - 16, Mask: 1<<56 - 1, Short: true, Valid: true}, 1<<56 - 1, 2882303761517118399, 2882303761517118401},
		{TimeConv{Mult: 40, Zero: 1000, Cycles: 1<<56 - 16, Mask: 1<<56 - 1, Valid: true}, 16, 1639, 1641},
		// The upper half of what was counted is in Cycles alone: 32 and 3·256+100 make 4·256+32.
		{TimeConv{Mult: 2, Cycles: 3<<8 + 100, Mask: 0xff, Short: true, Valid: true}, 32, 2111, 2113},
		{TimeConv{Mult: 2, Cycles: 3<<8 + 100, Mask: 0xff, Short: true, Valid: true}, 100, 1735, 1737},
		{TimeConv{Mult: 2, Cycles: 100, Mask: math.MaxUint64, Short: true, Valid: true}, 32, 63, 65},
		{TimeConv{Cycles: 100, Mask: 0xff, Short: true}, 32, 32, 32},
		{TimeConv{Shift: 0, Mult: 1, Zero: 0, Valid: true}, math.MaxUint64 - 1, math.MaxUint64 - 2, math.MaxUint64},
	} {
		if lo, hi := c.conv.Lo(c.ticks), c.conv.Hi(c.ticks); lo != c.lo || hi != c.hi {
			t.Errorf("%+v of %d: [%d, %d], want [%d, %d]", c.conv, c.ticks, lo, hi, c.lo, c.hi)
		}
	}
}

// slowNS is TimeConv.NS in numbers of any size: the definition.
func slowNS(c *TimeConv, t uint64) uint64 {
	if !c.Valid {
		return t
	}
	v := new(big.Int).SetUint64(t)
	v.Mul(v, big.NewInt(int64(c.Mult)))
	v.Rsh(v, uint(c.Shift))
	v.Add(v, new(big.Int).SetUint64(c.Zero))
	return v.And(v, new(big.Int).SetUint64(^uint64(0))).Uint64()
}

// TestTimeConvNS holds the conversion against its definition. It would catch a
// product that is cut to 64 bits, and a sum that does not wrap.
func TestTimeConvNS(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		c := TimeConv{Shift: uint16(r.IntN(100)), Mult: r.Uint32(), Zero: r.Uint64(), Valid: r.IntN(10) != 0}
		tick := r.Uint64() >> r.IntN(64)
		if got, want := c.NS(tick), slowNS(&c, tick); got != want {
			t.Fatalf("%+v of %d: %d, want %d", c, tick, got, want)
		}
	}
}
