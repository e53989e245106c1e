package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseTime reads a moment as the outputs print it: seconds with a decimal
// point (text) or whole nanoseconds (JSON). It returns nanoseconds.
func parseTime(s string) (uint64, error) {
	sec, frac, ok := strings.Cut(s, ".")
	if !ok {
		ns, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no time: need seconds with a decimal point, or nanoseconds", s)
		}
		return ns, nil
	}
	whole, err := strconv.ParseUint(sec, 10, 64)
	if sec == "" {
		whole, err = 0, nil
	}
	if err != nil || !isNumber(frac) || len(frac) > 9 || whole > math.MaxUint64/1_000_000_000-1 {
		return 0, fmt.Errorf("%q is no time: need seconds with a decimal point, or nanoseconds", s)
	}
	ns, _ := strconv.ParseUint(frac+strings.Repeat("0", 9-len(frac)), 10, 64)
	return whole*1_000_000_000 + ns, nil
}

// parseTimes reads FROM,TO. Either may be missing and is 0 then; a single time is
// FROM.
func parseTimes(s string) (from, to uint64, err error) {
	if s == "" {
		return 0, 0, nil
	}
	a, b, _ := strings.Cut(s, ",")
	if a != "" {
		if from, err = parseTime(a); err != nil {
			return 0, 0, err
		}
	}
	if b != "" {
		if to, err = parseTime(b); err != nil {
			return 0, 0, err
		}
	}
	if to != 0 && to < from {
		return 0, 0, fmt.Errorf("%s: ends before it begins", s)
	}
	return from, to, nil
}
