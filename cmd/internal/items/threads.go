package items

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder"
)

// slack is how long before a thread comes to a CPU, by the records, its first instructions may begin, ns. An
// instruction is a thread's by the middle of the time in which it may have run.
const slack = 100_000

// Stints is where to look for what a thread executed on a stream around a moment, ns.
type Stints struct {
	Last        uint64 // backwards from there; 0: it had not run by then, as far as records tell
	Next, Until uint64 // and forwards from Next to Until, MaxUint64: to the end; Next 0: it did not run again
}

// StintsOf returns where to look for what a thread executed on a stream around t, ns.
func StintsOf(s *decoder.Session, st *decoder.Stream, tid int32, t uint64) (x Stints) {
	if st.CPU < 0 {
		if st.TID == tid {
			x = Stints{t, t, math.MaxUint64}
		}
		return x
	}
	from, ran, ok := s.NextRunning(st.Index, 0, math.MinInt32)
	for ok {
		until, then, more := s.NextRunning(st.Index, from, ran)
		if !more {
			until = math.MaxUint64
		}
		if ran == tid {
			if from-min(from, slack) <= t {
				x.Last = min(t, until)
			}
			if until > t {
				if x.Until = until; x.Next == 0 {
					x.Next = max(t, from-min(from, slack))
				}
			}
		}
		from, ran, ok = until, then, more
	}
	return x
}

// RanBy returns what reports whether an item is an instruction that a thread executed on a stream.
func RanBy(s *decoder.Session, stream int, tid int32) func(*Item) bool {
	at, is := uint64(math.MaxUint64), false
	return func(it *Item) bool {
		if it.Note != nil {
			return false
		}
		if t := it.Time.Stated(); t != at {
			ran, _, _, ok := s.Running(stream, t)
			at, is = t, ok && ran == tid
		}
		return is
	}
}
