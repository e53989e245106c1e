package event

import (
	"math"
	"math/bits"
)

// TimeConv turns ticks of a trace's clock into nanoseconds of the recording's clock.
// That is Zero + (ticks × Mult >> Shift), the product in 128 bits, the sum modulo 2^64
// (Zero may stand for a negative number). Linux, include/uapi/linux/perf_event.h
// (time_zero, time_mult, time_shift of struct perf_event_mmap_page), v6.12. The zero
// value takes ticks as nanoseconds.
//
// A counter may be narrower than 64 bits, and had passed Cycles when the recording
// began. Its ticks are those behind Cycles, modulo the counter: first they become
// Cycles + ((ticks - Cycles) & Mask). Linux, the same header (time_cycles,
// time_mask); tools/perf/util/tsc.c, tsc_to_perf_time; v6.1.
type TimeConv struct {
	Shift  uint16 // bits
	Mult   uint32
	Zero   uint64 // ns
	Cycles uint64 // ticks
	Mask   uint64 // of the counter's bits
	Short  bool   // Cycles and Mask count
	Valid  bool   // false: ticks are taken as nanoseconds
}

// NS returns the moment of tick t in nanoseconds, rounded down.
func (c *TimeConv) NS(t uint64) uint64 {
	if !c.Valid {
		return t
	}
	if c.Short {
		t = c.Cycles + (t-c.Cycles)&c.Mask
	}
	hi, lo := bits.Mul64(t, uint64(c.Mult))
	if c.Shift >= 64 {
		return c.Zero + hi>>min(c.Shift-64, 63)
	}
	return c.Zero + (hi<<(64-c.Shift) | lo>>c.Shift)
}

// Lo returns a moment in nanoseconds that is not after tick t. It is one less than
// the conversion says: whoever stamped the other records of the recording may have
// rounded otherwise.
func (c *TimeConv) Lo(t uint64) uint64 {
	if !c.Valid || t == 0 {
		return t
	}
	ns := c.NS(t)
	return ns - min(ns, 1)
}

// Hi returns a moment in nanoseconds that is not before tick t.
func (c *TimeConv) Hi(t uint64) uint64 {
	if !c.Valid || t == math.MaxUint64 {
		return t
	}
	ns := c.NS(t)
	return ns + min(math.MaxUint64-ns, 1)
}
