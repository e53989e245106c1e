package stm

import "math/bits"

// Append appends the half bytes of p, which must be as Next gives
// packets: then they are the half bytes that Next read. Where p starts in an
// upper half (Half 1), that of dst's last byte is used, which must be zero.
// Bits that have no room in the packet are dropped. A Bad packet holds no
// bytes, so nothing is appended.
//
// A last byte whose upper half is not used has a zero there: a Null.
func (p Packet) Append(dst []byte) []byte {
	if p.Kind == Bad || p.Kind >= NumKinds {
		return dst
	}
	w := writer{dst, p.Half != 0 && len(dst) > 0}
	if p.Half != 0 && len(dst) == 0 {
		w.put(0, 1)
	}
	c := &codes[p.Kind]
	if p.Kind == Async {
		w.put(0xffffffffff, 10)
		w.put(0xffffffffff, 10)
	}
	w.put(c.code, int(c.len))
	w.put(p.Value, int(c.data))
	if c.stamp {
		n := int(p.TSLen)
		switch {
		case n <= 12:
			w.put(uint64(n), 1)
		case n <= 14:
			n = 14
			w.put(0xd, 1)
		default:
			n = 16
			w.put(0xe, 1)
		}
		w.put(p.TS, n)
	}
	return w.dst
}

// code is how a kind is sent: len half bytes of code, data of data, and where
// stamp is set a timestamp.
type code struct {
	code  uint64
	len   uint8
	data  uint8
	stamp bool
}

// codes is indexed by Kind. Of an Async it is the end.
var codes = [NumKinds]code{
	Null: {0x0, 1, 0, false}, M8: {0x1, 1, 2, false}, MERR: {0x2, 1, 2, false}, C8: {0x3, 1, 2, false},
	D8: {0x4, 1, 2, false}, D16: {0x5, 1, 4, false}, D32: {0x6, 1, 8, false}, D64: {0x7, 1, 16, false},
	D8MTS: {0x8, 1, 2, true}, D16MTS: {0x9, 1, 4, true}, D32MTS: {0xa, 1, 8, true}, D64MTS: {0xb, 1, 16, true},
	D4: {0xc, 1, 1, false}, D4MTS: {0xd, 1, 1, true}, FlagTS: {0xe, 1, 0, true},
	GERR: {0xf2, 2, 2, false}, C16: {0xf3, 2, 4, false},
	D8TS: {0xf4, 2, 2, true}, D16TS: {0xf5, 2, 4, true}, D32TS: {0xf6, 2, 8, true}, D64TS: {0xf7, 2, 16, true},
	D8M: {0xf8, 2, 2, false}, D16M: {0xf9, 2, 4, false}, D32M: {0xfa, 2, 8, false}, D64M: {0xfb, 2, 16, false},
	D4TS: {0xfc, 2, 1, true}, D4M: {0xfd, 2, 1, false}, Flag: {0xfe, 2, 0, false}, Async: {0xf0, 2, 0, false},
	Version: {0xf00, 3, 1, false}, NullTS: {0xf01, 3, 0, true}, Trig: {0xf06, 3, 2, false},
	TrigTS: {0xf07, 3, 2, true}, Freq: {0xf08, 3, 8, false},
}

// writer appends half bytes.
type writer struct {
	dst  []byte
	open bool // the upper half of the last byte is free
}

// put appends the low n half bytes of v, the most significant first.
func (w *writer) put(v uint64, n int) {
	v = bits.RotateLeft64(v, 64-4*n)
	for range n {
		v = bits.RotateLeft64(v, 4)
		if b := byte(v & 15); w.open {
			w.dst[len(w.dst)-1] |= b << 4
		} else {
			w.dst = append(w.dst, b)
		}
		w.open = !w.open
	}
}
