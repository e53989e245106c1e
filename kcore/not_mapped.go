package kcore

import "github.com/ptdecode/ptdecode/decoder/event"

// notMapped is how many zeros where an instruction should be say that nothing was
// mapped there, bytes. /proc/kcore gives zeros for that (fs/proc/kcore.c, v6.1). No
// kernel has two ADD %AL,(%RAX) in a row.
const notMapped = 4

// NotMapped reports whether addr, where b lies as of an epoch, is among so many zeros that nothing was mapped there
// when /proc/kcore was copied. b is what Fetch copies.
func (t *Text) NotMapped(b []byte, addr uint64, at event.Epoch) bool {
	zeros := 0
	for zeros < min(len(b), notMapped) && b[zeros] == 0 {
		zeros++
	}
	if zeros == 0 {
		return false
	}
	if zeros == notMapped {
		return true
	}
	var before [notMapped]byte // on the heap
	left := notMapped - zeros
	n, _ := t.Fetch(before[:left], addr-uint64(left), at)
	return n == left && before == [notMapped]byte{}
}
