package wire

import "bytes"

// Zeros is how many zero bytes an A-sync has at least; 80 closes it.
const Zeros = 5

// MaxZeros is how many zero bytes are taken for one A-sync at most. What a
// trace unit sends has Zeros; more come from what was padded.
const MaxZeros = 250

// FindASync returns the offset in buf of the first A-sync at or after from,
// without zeros before the last five: they may belong to what comes before.
func FindASync(buf []byte, from int) (off int, ok bool) {
	for i := max(from, 0) + Zeros; i < len(buf); {
		n := bytes.IndexByte(buf[i:], 0x80)
		if n < 0 {
			return 0, false
		}
		i += n
		if [Zeros]byte(buf[i-Zeros:i]) == [Zeros]byte{} {
			return i - Zeros, true
		}
		i++
	}
	return 0, false
}

// BadEnd returns where bytes end that are no packet and begin at buf[from:]: at the next
// A-sync, or where buf does.
func BadEnd(buf []byte, from int) int {
	if end, ok := FindASync(buf, from+1); ok {
		return end
	}
	return len(buf)
}

// ASync returns the zero bytes of the A-sync that buf begins with, 0 if it
// begins with none; cut: its bytes end inside of what may be one.
func ASync(buf []byte) (zeros int, cut bool) {
	n := 0
	for n < len(buf) && n <= MaxZeros && buf[n] == 0 {
		n++
	}
	switch {
	case n > MaxZeros:
		return 0, false
	case n == len(buf):
		return 0, true
	case n < Zeros || buf[n] != 0x80:
		return 0, false
	}
	return n, false
}
