package wire

// Stamp is a timestamp of which packets replace the low bits.
type Stamp struct {
	Wide bool // of 64 bits, not 48
	Gray bool // sent as a Gray code

	sent  uint64 // as sent, all bits told so far
	known bool   // all bits have been told since Reset
}

// Reset forgets what has been told.
func (s *Stamp) Reset() { s.sent, s.known = 0, false }

// Known reports whether all bits have been told, and are not zero: that stands
// for a time that the trace unit does not know.
func (s *Stamp) Known() bool { return s.known && s.sent != 0 }

// Update takes the n bytes of a packet, which hold seven bits each. It takes all
// eight of a ninth, and six of the seventh where the timestamp is not wide. It
// returns the time in ticks; bits that were never told are zero.
func (s *Stamp) Update(v uint64, n uint8) uint64 {
	whole, width := uint8(7), 48
	if s.Wide {
		whole, width = 9, 64
	}
	if n >= whole {
		s.sent, s.known = v&(^uint64(0)>>(64-width)), true
	} else {
		mask := uint64(1)<<(7*n) - 1
		s.sent = s.sent&^mask | v&mask
	}
	if s.Gray {
		return Binary(s.sent)
	}
	return s.sent
}

// Binary returns the number whose Gray code is g.
func Binary(g uint64) uint64 {
	for n := 1; n < 64; n *= 2 {
		g ^= g >> n
	}
	return g
}

// Code returns the Gray code of v.
func Code(v uint64) uint64 { return v ^ v>>1 }
