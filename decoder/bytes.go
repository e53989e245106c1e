package decoder

import "github.com/ptdecode/ptdecode/decoder/event"

// chunkBytes is how much of a stream Chunks gives at once at least, bytes.
const chunkBytes = 1 << 20

// Chunks gives the stream's bytes from its first sync point on, in pieces that
// begin at sync points, each with its offset. A piece is lent until the next.
func (st *Stream) Chunks(yield func(off int64, b []byte) bool) {
	for i := 0; i < len(st.segs); {
		from, to := st.segs[i].Off, st.Size
		for i++; i < len(st.segs); i++ {
			if st.segs[i].Off-from >= chunkBytes {
				to = st.segs[i].Off
				break
			}
		}
		if !yield(from, st.data.Bytes(from, to-from)) {
			return
		}
	}
}

// Code copies the machine code at addr in an address space as of epoch at to
// dst and returns how many bytes of it are known.
func (s *Session) Code(dst []byte, space uint32, addr uint64, at event.Epoch) int {
	n, _ := s.text.Fetch(dst, space, addr, at)
	return n
}

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
