package etmv4

// maxPend is how many elements may wait to be committed. No trace unit has more
// than a few hundred; what waits for more is no trace.
const maxPend = 1 << 16

// speculation holds the elements that may yet be cancelled. DDI0487, "Speculation".
type speculation struct {
	max    uint32 // P0 elements that wait at most
	pend   []elem // elements not committed, the oldest first
	first  int    // index of the first of them
	depth  uint64 // P0 elements among them
	unseen uint64 // P0 elements not committed that came before the segment
}

// forget drops all elements; unseen P0 elements from before are not committed.
func (s *speculation) forget(unseen uint64) {
	s.pend, s.first, s.depth, s.unseen = s.pend[:0], 0, 0, unseen
}

// empty reports whether nothing can be cancelled.
func (s *speculation) empty() bool { return s.unseen == 0 && s.first == len(s.pend) }

// waiting returns how many P0 elements are not committed.
func (s *speculation) waiting() uint64 { return s.depth + s.unseen }

// add takes the next element, and hands those that stand to out. Each P0 element makes the
// depth one greater, and the trace unit has committed the oldest ones beyond its greatest
// depth without a packet (TRCIDR8.MAXSPEC). It reports false where too many elements wait.
func (s *speculation) add(x *elem, out *emitter) bool {
	p0 := x.kind == elAtoms || x.p0
	if s.empty() && (!p0 || s.max == 0) {
		out.shape(x)
		return true
	}
	if len(s.pend)-s.first >= maxPend {
		return false
	}
	if s.first > 1024 && s.first > len(s.pend)/2 {
		s.pend = append(s.pend[:0], s.pend[s.first:]...)
		s.first = 0
	}
	s.pend = append(s.pend, *x)
	if p0 {
		s.depth += x.count()
		if n := s.depth + s.unseen; n > uint64(s.max) {
			s.commit(n-uint64(s.max), out)
		}
	}
	return true
}

// count returns how many P0 elements x is.
func (x *elem) count() uint64 {
	switch {
	case x.kind == elAtoms:
		return uint64(x.n)
	case x.p0:
		return 1
	}
	return 0
}

// commit hands the n oldest P0 elements to out, and what stands before them. It
// reports false where there are not so many.
func (s *speculation) commit(n uint64, out *emitter) bool {
	k := min(n, s.unseen)
	s.unseen -= k
	n -= k
	for n > 0 && s.first < len(s.pend) {
		x := &s.pend[s.first]
		c := x.count()
		if c > n { // some of its atoms
			part := *x
			part.n = uint8(n)
			part.value >>= c - n
			x.n -= part.n
			x.value &= 1<<x.n - 1
			s.depth -= n
			out.shape(&part)
			return true
		}
		n -= c
		s.depth -= c
		s.first++
		out.shape(x)
	}
	if s.depth+s.unseen == 0 { // what follows the last P0 element cannot be cancelled any more
		for ; s.first < len(s.pend); s.first++ {
			out.shape(&s.pend[s.first])
		}
		s.pend, s.first = s.pend[:0], 0
	}
	return n == 0
}

// cancel takes back the n newest P0 elements, and what has come since the
// oldest of them but for what a Cancel leaves. It reports false where there are
// not so many.
func (s *speculation) cancel(n uint64, out *emitter) bool {
	for i := len(s.pend) - 1; i >= s.first && n > 0; i-- {
		x := &s.pend[i]
		switch c := x.count(); {
		case c > n:
			x.n -= uint8(n)
			x.value >>= n
			s.depth -= n
			n = 0
		case c > 0:
			n -= c
			s.depth -= c
			x.kind, x.p0 = elNone, false
		case !x.keep:
			x.kind = elNone
		}
	}
	k := min(n, s.unseen)
	s.unseen -= k
	s.commit(0, out)
	return n == k
}

// mispredict turns the newest atom round, and drops the addresses behind it. It
// reports false where there is none.
func (s *speculation) mispredict() bool {
	for i := len(s.pend) - 1; i >= s.first; i-- {
		switch x := &s.pend[i]; x.kind {
		case elAtoms:
			x.value ^= 1
			return true
		case elTarget:
			x.kind = elNone
		}
	}
	return s.unseen > 0
}

// discard drops what is not committed, and hands what says nothing of the flow to
// out.
func (s *speculation) discard(out *emitter) {
	pend := s.pend[s.first:]
	s.forget(0)
	for i := range pend {
		if x := &pend[i]; x.keep && x.kind == elPayload {
			out.shape(x)
		}
	}
}
