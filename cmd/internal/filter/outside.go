package filter

import (
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Outside says that a time, FROM and UNTIL in ns as Times returns them, lies beside the trace of
// some streams, nil for all, and what to do about it. said is empty where it does not.
func Outside(s *decoder.Session, only []int, from, until uint64) (said, hint string) {
	if from == 0 && until == 0 {
		return "", "" // when the trace runs need not be read
	}
	lo, hi := Traced(s, only)
	if lo == 0 {
		return "", ""
	}
	return Beside(from, until, lo, hi, "nothing is sure to have run", "the trace runs")
}

// Beside says that what lies from lo to hi, ns, lies beside a time that was asked for. nothing
// is what that time lacks, and there what lies elsewhere.
func Beside(from, until, lo, hi uint64, nothing, there string) (said, hint string) {
	if (from == 0 && until == 0) || (until == 0 || until >= lo) && from <= hi {
		return "", ""
	}
	seconds := func(ns uint64) string { return strings.TrimSuffix(event.Seconds(ns), " s") }
	span := event.Seconds(from) + " to the end"
	if until != 0 {
		span = seconds(from) + " to " + event.Seconds(until)
	}
	if max(from, until) < lo/1000 { // seconds, written without the point
		hint = "a time without a decimal point is nanoseconds"
	}
	return "--time: " + nothing + " from " + span + ": " + there + " from " + seconds(lo) + " to " + event.Seconds(hi), hint
}
