package flow

// written writes to all of t, which is new, and returns it. It is for tables that are read before they
// are written. A system lends such memory one page of zeros for all of it. The first write then takes that
// page away from all CPUs, which interrupts them.
func written[T any](t []T) []T {
	clear(t)
	return t
}
