package heap

import (
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

// ParseSize reads a size: a number of bytes, or one with a unit. K, M and G are
// powers of 1024, also as KiB, MiB and GiB; KB, MB and GB are powers of 1000.
// Less than least is an error.
func ParseSize(s string, least int64) (int64, error) {
	digits := strings.TrimRight(s, "KMGiB")
	var unit int64
	switch strings.TrimPrefix(s, digits) {
	case "", "B":
		unit = 1
	case "K", "KiB":
		unit = 1 << 10
	case "M", "MiB":
		unit = 1 << 20
	case "G", "GiB":
		unit = 1 << 30
	case "KB":
		unit = 1e3
	case "MB":
		unit = 1e6
	case "GB":
		unit = 1e9
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || unit == 0 {
		return 0, fmt.Errorf("%q: need a size such as 256MiB, 1GiB or 500M", s)
	}
	if n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q: more than %d bytes", s, int64(math.MaxInt64))
	}
	if n *= unit; n < least {
		return 0, fmt.Errorf("%q: need %d MiB or more", s, least>>20)
	}
	return n, nil
}

// Limit has the runtime collect garbage in time, so that buffers and garbage
// together stay within memory, bytes, beside what the opened recording itself
// takes. It bounds nothing: what is held is bounded by what holds it. A lower
// limit, of GOMEMLIMIT, stays.
func Limit(memory int64) {
	held := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}} // read without stopping anything
	metrics.Read(held)
	limit := int64(held[0].Value.Uint64()) + memory/10*7
	if debug.SetMemoryLimit(-1) > limit {
		debug.SetMemoryLimit(limit)
	}
}
