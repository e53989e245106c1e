package wire

// Size returns the length of a packet, bytes: length or, of bytes that are none, how
// many they are.
func Size(bad bool, bytes uint64, length uint8) int64 {
	if bad {
		return int64(bytes)
	}
	return int64(length)
}

// AppendASync appends an A-sync with n bytes of zeros.
func AppendASync(dst []byte, n uint8) []byte {
	for range n {
		dst = append(dst, 0)
	}
	return append(dst, 0x80)
}

// AppendBranch is AppendAddress of a branch packet, whose bit 0 marks it.
func AppendBranch(dst []byte, v uint64, n uint8) []byte {
	at := len(dst)
	dst = AppendAddress(dst, v, n)
	if len(dst) > at {
		dst[at] |= 1
	}
	return dst
}

// AppendAddress appends n address bytes, 5 at most: seven bits of v each, the
// lowest first, bit 7 saying that another follows; of a fifth all eight are v's.
func AppendAddress(dst []byte, v uint64, n uint8) []byte {
	n = min(n, 5)
	for i := range n {
		b := byte(v>>(7*i)) & 0x7f
		switch {
		case i == 4:
			b = byte(v >> 28)
		case i < n-1:
			b |= 0x80
		}
		dst = append(dst, b)
	}
	return dst
}

// AppendContext appends n bytes of a context ID, 4 at most, the lowest first.
func AppendContext(dst []byte, id uint32, n uint8) []byte {
	for i := range min(n, 4) {
		dst = append(dst, byte(id>>(8*i)))
	}
	return dst
}

// AppendTimestamp appends n bytes of a timestamp, 9 at most, seven bits of v each.
// It knows by the length alone which it is. Where one of 48 bits ends, at seven
// bytes, all eight bits of the last are its own. One of 64 has no such bit there.
func AppendTimestamp(dst []byte, v uint64, n uint8) []byte {
	n = min(n, 9)
	for i := range n {
		b := byte(v >> (7 * i))
		switch {
		case i < n-1:
			b |= 0x80
		case i != 6 && i != 8:
			b &= 0x7f
		}
		dst = append(dst, b)
	}
	return dst
}
