package filter

// lead is how long before a window calls are followed, ns: what they were called from is known
// then as it begins.
const lead = 2_000_000

// Lead returns the moment from which calls of a window are followed that begins at from,
// ns, not 0.
func Lead(from uint64) uint64 { return max(1, from-min(from, lead)) }

// NotSeen stands in stacks of a window for calls that began before they could be seen.
const NotSeen = "[callers not seen]"
