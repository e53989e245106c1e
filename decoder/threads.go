package decoder

import "math"

// Ran reports whether a thread ran on a CPU that was recorded, or was traced
// itself; any, whether it is known of any thread.
func (s *Session) Ran(tid int32) (known, any bool) {
	for _, st := range s.streams {
		if st.CPU < 0 && st.TID >= 0 {
			known, any = known || st.TID == tid, true
		}
	}
	ran, some := s.rec.Processes.Tasks.Ever(tid)
	return known || ran, any || some
}

// NextRunning returns the first thread other than tid that records say ran on a stream's
// CPU after a time, ns, and from when on. ok is false if it is not known.
func (s *Session) NextRunning(stream int, after uint64, tid int32) (time uint64, next int32, ok bool) {
	if stream < 0 || stream >= len(s.streams) || s.streams[stream].CPU < 0 {
		return 0, -1, false
	}
	return s.rec.Processes.Tasks.Next(s.streams[stream].CPU, after, tid)
}

// Running returns the thread that a stream traced at a time, and its name. It also returns
// until when the answer stays the same. Times are in ns. ok is false if the thread is not known, or
// there is no such stream.
func (s *Session) Running(stream int, time uint64) (tid int32, comm string, until uint64, ok bool) {
	if stream < 0 || stream >= len(s.streams) {
		return -1, "", math.MaxUint64, false
	}
	k, st := s.rec.Processes.Tasks, s.streams[stream]
	if st.CPU < 0 {
		comm, until = k.Comm(st.TID, time)
		return st.TID, comm, until, st.TID >= 0
	}
	t, until, ok := k.On(st.CPU, time)
	return t.TID, t.Comm, until, ok
}
