package perfdata

import "math"

// rounds follows the rounds in which perf record empties its buffers. What is
// written in a round is no older than what was newest when the round before it
// ended (tools/perf/util/session.c, process_finished_round, v6.1).
type rounds struct {
	newest uint64 // time of the newest record, ns
	ended  uint64 // newest when the last round ended
	done   uint64 // up to here nothing is missing
}

// finish takes a FINISHED_ROUND record.
func (r *rounds) finish() { r.done, r.ended = r.ended, r.newest }

// incomplete notes that the part just scanned is cut: what comes later than
// its rounds tell, or than the last record of some CPU, may be missing. A
// CPU's records are in the order of their times.
func (s *scanner) incomplete() {
	h := &s.r.hints
	done := max(s.round.done, s.oldest())
	if h.Incomplete {
		done = min(done, h.CompleteTo)
	}
	h.Incomplete, h.CompleteTo = true, done
}

// oldest is the least of the times of the CPUs' last records, 0 where not all
// buffers are known or one has no record yet.
func (s *scanner) oldest() uint64 {
	at := uint64(math.MaxUint64)
	for i := range s.r.idIndex {
		c := s.r.idIndex[i].CPU
		if c < 0 || int(c) >= len(s.seen) {
			return 0
		}
		at = min(at, s.seen[c])
	}
	if len(s.r.idIndex) == 0 {
		return 0
	}
	return at
}
