package kcore

import "github.com/ptdecode/ptdecode/decoder/event"

// notMapped is how many zeros where an instruction should be say that nothing was
// mapped there, bytes. /proc/kcore gives zeros for that (fs/proc/kcore.c, v6.1). No
// kernel has two ADD %AL,(%RAX) in a row.
const notMapped = 4

// FetchMapped is Fetch of code of /proc/kcore: it copies nothing if addr is among so many zeros that nothing
// was mapped there when the copy was made. span is for what it looked at, too.
func (t *Text) FetchMapped(dst []byte, addr uint64, at event.Epoch) (n int, span event.Span) {
	n, span = t.Fetch(dst, addr, at)
	if n == 0 || dst[0] != 0 {
		return n, span
	}
	zeros := 1
	for zeros < notMapped && (zeros < n && dst[zeros] == 0 || zeros >= n && t.isZero(addr+uint64(zeros), at, &span)) {
		zeros++
	}
	for before := uint64(1); zeros < notMapped && t.isZero(addr-before, at, &span); before++ {
		zeros++
	}
	if zeros == notMapped {
		n = 0
	}
	return n, span
}

// isZero reports whether the byte at addr is known to be a zero as of an epoch; it narrows span.
func (t *Text) isZero(addr uint64, at event.Epoch, span *event.Span) bool {
	one := [1]byte{1} // on the heap
	n, s := t.Fetch(one[:], addr, at)
	*span = span.Intersect(s)
	return n == 1 && one[0] == 0
}
