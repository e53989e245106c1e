package decoder

import "github.com/ptdecode/ptdecode/decoder/event"

// Bytes returns n bytes of the stream from offset off on, fewer at its end.
// They must not be changed.
func (st *Stream) Bytes(off, n int64) []byte { return st.data.Bytes(off, n) }

// Code copies the machine code at addr in an address space as of epoch at to
// dst and returns how many bytes of it are known.
func (s *Session) Code(dst []byte, space uint32, addr uint64, at event.Epoch) int {
	n, _ := s.text.Fetch(dst, space, addr, at)
	return n
}

// Likely returns the moment inside of t that what happened then is looked up
// by: half-way, or the lower bound where there is no upper one, ns.
func Likely(t event.Time) uint64 {
	if t.Hi == event.Always.Hi || t.Hi < t.Lo {
		return t.Lo
	}
	return t.Lo + (t.Hi-t.Lo)/2
}

// Running returns the thread that the stream traced at a time, ns; ok is false
// if it is not known.
func (s *Session) Running(st *Stream, time uint64) (t Task, ok bool) {
	if st.CPU >= 0 {
		return s.tasks.on(st.CPU, time)
	}
	pid, known := s.tasks.pids[st.TID]
	if !known {
		pid = -1
	}
	return Task{PID: pid, TID: st.TID, Comm: s.tasks.comm(st.TID, time)}, true
}
