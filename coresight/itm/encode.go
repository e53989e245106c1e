package itm

// Append appends the bytes of p, which must be as Next gives packets:
// then they are the bytes that Next read. Bits that have no room in the packet
// are dropped. A Bad packet holds no bytes, so nothing is appended: its bytes
// are those at [Off, End) of the stream.
func (p Packet) Append(dst []byte) []byte {
	switch p.Kind {
	case Sync:
		for range min(p.Value, 1<<30) {
			dst = append(dst, 0)
		}
		return append(dst, 0x80)
	case Overflow:
		return append(dst, 0x70)
	case SWIT:
		return appendPayload(dst, p.Arg<<3, p)
	case DWT:
		return appendPayload(dst, p.Arg<<3|4, p)
	case LTS1:
		return appendMore(append(dst, 0xc0|p.Arg&3<<4), p.Value, p.N)
	case LTS2:
		return append(dst, byte(p.Value&7)<<4)
	case GTS1:
		if p.N == 4 {
			p.Value = p.Value&(1<<26-1) | uint64(p.Arg&3)<<26
		}
		return appendMore(append(dst, 0x94), p.Value, p.N)
	case GTS2:
		return appendMore(append(dst, 0xb4), p.Value, p.N)
	case Ext:
		b := p.Arg&7<<4 | 0x08 | p.Arg&extHardware>>1
		if p.N > 0 {
			b |= 0x80
		}
		return appendMore(append(dst, b), p.Value, p.N)
	}
	return dst
}

// appendPayload appends the header with the size of p in it, and its payload.
func appendPayload(dst []byte, header byte, p Packet) []byte {
	switch p.N {
	case 1:
		return append(dst, header|1, byte(p.Value))
	case 2:
		return append(dst, header|2, byte(p.Value), byte(p.Value>>8))
	}
	return append(dst, header|3, byte(p.Value), byte(p.Value>>8), byte(p.Value>>16), byte(p.Value>>24))
}

// appendMore appends the low 7 × n bits of v, 7 a byte, the lowest first; bit
// 7 says that another byte follows.
func appendMore(dst []byte, v uint64, n uint8) []byte {
	for i := range int(n) {
		b := byte(v & 0x7f)
		if i < int(n)-1 {
			b |= 0x80
		}
		dst = append(dst, b)
		v >>= 7
	}
	return dst
}
