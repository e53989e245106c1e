package decoder

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

// Running returns the thread that a stream traced at a time, ns, and its name;
// ok is false if it is not known, or there is no such stream.
func (s *Session) Running(stream int, time uint64) (tid int32, comm string, ok bool) {
	if stream < 0 || stream >= len(s.streams) {
		return -1, "", false
	}
	st := s.streams[stream]
	if st.CPU < 0 {
		return st.TID, s.rec.Processes.Tasks.Comm(st.TID, time), st.TID >= 0
	}
	t, ok := s.rec.Processes.Tasks.On(st.CPU, time)
	return t.TID, t.Comm, ok
}
