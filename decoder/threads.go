package decoder

// Ran reports whether a thread ran on a CPU that was recorded, or was traced
// itself; any, whether it is known of any thread.
func (s *Session) Ran(tid int32) (known, any bool) {
	for _, st := range s.streams {
		if st.CPU < 0 && st.TID >= 0 {
			known, any = known || st.TID == tid, true
		}
	}
	for _, ins := range s.tasks.cpus {
		for i := range ins {
			if any = true; ins[i].tid == tid {
				return true, true
			}
		}
	}
	return known, any
}

// Running returns the thread that a stream traced at a time, ns, and its name;
// ok is false if it is not known.
func (s *Session) Running(stream int, time uint64) (tid int32, comm string, ok bool) {
	st := s.streams[stream]
	if st.CPU < 0 {
		return st.TID, s.tasks.comm(st.TID, time), true
	}
	t, ok := s.tasks.on(st.CPU, time)
	return t.TID, t.Comm, ok
}
