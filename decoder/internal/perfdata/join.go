package perfdata

import "bytes"

func (s *Stream) add(p Piece) {
	if len(p.data) == 0 {
		return
	}
	p.Off = s.Size
	s.Size += p.Len()
	s.Pieces = append(s.Pieces, p)
}

// trim takes n bytes off the stream's end.
func (s *Stream) trim(n int64) {
	for n > 0 && len(s.Pieces) > 0 {
		p := &s.Pieces[len(s.Pieces)-1]
		k := min(n, p.Len())
		p.data = p.data[:p.Len()-k]
		s.Size -= k
		n -= k
		if p.Len() == 0 {
			s.Pieces = s.Pieces[:len(s.Pieces)-1]
		}
	}
}

// auxAlign is PERF_AUXTRACE_RECORD_ALIGNMENT (tools/perf/util/auxtrace.h):
// perf record pads the data of an AUXTRACE record to it with zeros and counts
// the padding in its size.
const auxAlign = 8

// join lines up the pieces by their offsets in the AUX area. end is where the
// AUX records say that the data ends, 0 if they do not.
func (s *Stream) join(pieces []Piece, end uint64) {
	var at uint64 // in the AUX area, after the last piece
	for i, p := range pieces {
		over := at - p.AuxOff
		switch {
		case i == 0 || p.AuxOff == at:
		case p.AuxOff > at:
			s.Losses = append(s.Losses, Loss{s.Size, s.Size, LossGap, 0})
		case over < auxAlign:
			s.trim(int64(over))
		case s.repeats(p.data, over):
			p.data = p.data[min(over, uint64(len(p.data))):]
			p.FileOff += int64(over)
			p.AuxOff = at
		default:
			s.Losses = append(s.Losses, Loss{s.Size, s.Size, LossGap, 0})
		}
		at = p.AuxOff + uint64(len(p.data))
		s.add(p)
	}
	if pad := at - end; end != 0 && at > end && pad < auxAlign {
		s.trim(int64(pad))
	}
}

// repeats reports whether the first over bytes of b, or all of b if it is
// shorter, are what the stream's last over bytes start with.
func (s *Stream) repeats(b []byte, over uint64) bool {
	if over > uint64(s.Size) {
		return false
	}
	b = b[:min(over, uint64(len(b)))]
	var buf [4096]byte
	for off := s.Size - int64(over); len(b) > 0; {
		n, _ := s.ReadAt(buf[:min(len(buf), len(b))], off)
		if n == 0 || !bytes.Equal(buf[:n], b[:n]) {
			return false
		}
		off += int64(n)
		b = b[n:]
	}
	return true
}

// joinSnapshots appends snapshots, each without the start that the one before
// it ends with. A snapshot is a copy of the whole buffer, however little is new
// in it. perf's own decoder does the same by PSB
// (tools/perf/util/intel-pt-decoder/intel-pt-decoder.c, intel_pt_find_overlap).
func (s *Stream) joinSnapshots(pieces []Piece) {
	var prev []byte
	for i, p := range pieces {
		whole := p.data
		if i > 0 {
			if n, pad := overlapPadded(prev, p.data); n > 0 {
				s.trim(int64(pad))
				p.data = p.data[n:]
				p.FileOff += int64(n)
				p.AuxOff += uint64(n)
			} else {
				s.Losses = append(s.Losses, Loss{s.Size, s.Size, LossSnapshot, p.Time})
			}
		}
		s.add(p)
		prev = whole
	}
}

// overlapPadded is overlap for a snapshot a that may end in up to 7 bytes of
// padding. pad is how many. A snapshot of a buffer not yet full has any length,
// as has that of a sample.
func overlapPadded(a, b []byte) (n, pad int) {
	for pad = 0; pad < auxAlign; pad++ {
		if pad > 0 && (len(a) == 0 || a[len(a)-1] != 0) {
			break
		}
		if pad > 0 {
			a = a[:len(a)-1]
		}
		if n = overlap(a, b); n > 0 {
			return n, pad
		}
	}
	return 0, 0
}

// minOverlap is the shortest overlap of snapshots that is taken for one,
// bytes: shorter equal stretches (a PSB is 16) meet by chance.
const minOverlap = 64

// overlap is the length of the longest end of a that b starts with, 0 if that
// is shorter than minOverlap or one byte repeated (padding, which proves
// nothing). Two rolling hashes, of a's last and b's first n bytes, are
// compared for every n; the bytes decide.
func overlap(a, b []byte) int {
	const base = 0x9E3779B97F4A7C15 | 1
	n := min(len(a), len(b))
	var tail, lead, pow uint64 = 0, 0, 1
	var found [8]int // the longest candidates, in a ring
	k := 0
	for i := range n {
		tail += uint64(a[len(a)-1-i]+1) * pow
		lead = lead*base + uint64(b[i]+1)
		pow *= base
		if tail == lead && i+1 >= minOverlap {
			found[k%len(found)] = i + 1
			k++
		}
	}
	for j := k - 1; j >= max(0, k-len(found)); j-- {
		l := found[j%len(found)]
		if bytes.Equal(a[len(a)-l:], b[:l]) {
			if bytes.Equal(b[1:l], b[:l-1]) {
				return 0
			}
			return l
		}
	}
	return 0
}
