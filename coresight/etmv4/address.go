package etmv4

// address is where instructions lie: IS 0 is A64 or A32, 1 is T32.
type address struct {
	ip uint64
	is uint8
}

// history is the last addresses that packets stated, the newest first: what a
// compressed address is completed from. DDI0487, "Address compression".
type history [3]address

// remember makes a the newest address.
func (h *history) remember(a address) {
	h[2], h[1], h[0] = h[1], h[0], a
}

// complete returns the address whose n low bits are low, and whose other bits are
// those of the newest.
func (h *history) complete(low uint64, n, is uint8) address {
	return address{h[0].ip>>n<<n | low, is}
}

// of returns the address that p, which holds one, states, and makes it the
// newest. A source address goes into the same history as a target.
func (h *history) of(p *Packet) address {
	var a address
	switch p.Kind {
	case AddrMatch, SrcMatch:
		a = h[min(p.Arg, 2)]
	default:
		low, n := p.Address()
		a = h.complete(low, n, p.Arg)
	}
	h.remember(a)
	return a
}

// ofQ returns the address that p, a Q of a type that has one, states, and makes
// it the newest.
func (h *history) ofQ(p *Packet) address {
	var a address
	switch p.Arg {
	case QShort0, QShort1, QLong0, QLong1:
		_, is := p.sent()
		low, n := p.Address()
		a = h.complete(low, n, is)
	default:
		a = h[min(p.Arg, 2)]
	}
	h.remember(a)
	return a
}

// sent returns how many bytes of an address p has, and which IS it is of.
func (p *Packet) sent() (n, is uint8) {
	switch p.Kind {
	case AddrShort, SrcShort:
		return min(p.N, 2), p.Arg & 1
	case Addr32, AddrCtxt32, Src32:
		return 4, p.Arg & 1
	case Addr64, AddrCtxt64, Src64:
		return 8, p.Arg & 1
	case Q:
		switch p.Arg {
		case QShort0, QShort1:
			return min(p.N, 2), p.Arg - QShort0
		case QLong0, QLong1:
			return 4, p.Arg - QLong0
		}
	}
	return 0, 0
}

// Address returns the low bits of the address whose bytes p has, and how many they
// are. A short one has 9 or 17 (T32: 8 or 16), others 32 or 64; 0: p has none.
func (p *Packet) Address() (low uint64, n uint8) {
	size, is := p.sent()
	switch size {
	case 0:
		return 0, 0
	case 1, 2:
		return short(p.Value) << (2 - is), 8*size + 1 - is
	}
	low, _ = long(p.Value, is)
	return low, 8 * size
}

// reserved returns the bits of p's address bytes that have no place in it: see
// long.
func (p *Packet) reserved() uint64 {
	if size, is := p.sent(); size > 2 {
		_, r := long(p.Value, is)
		return uint64(r)
	}
	return 0
}

// SetAddress gives p, whose Kind, Arg and N are set, the bytes that state the
// low bits of addr; none, with Value 0, where such a packet has none.
func (p *Packet) SetAddress(addr uint64) { p.setAddress(addr, 0) }

// setAddress is SetAddress with the reserved bits that long returns.
func (p *Packet) setAddress(addr uint64, reserved uint32) {
	size, is := p.sent()
	low := addr >> (2 - is) & 0x7f
	switch {
	case size == 0:
		p.Value = 0
	case size == 1:
		p.Value = low
	case size == 2:
		p.Value = low | 0x80 | addr>>(9-is)&0xff<<8
	case is == 0:
		p.Value = addr&^0xffff | addr>>1&0x7f00 | low
	default:
		p.Value = addr&^0xff | low
	}
	if size == 4 {
		p.Value &= 0xffffffff
	}
	if size > 2 {
		p.Value |= uint64(reserved&1) << 7
		if is == 0 {
			p.Value |= uint64(reserved&2) << 14
		}
	}
}

// short returns the number in the bytes of a short address.
func short(raw uint64) uint64 { return raw&0x7f | raw>>8&0xff<<7 }

// long returns the address in the bytes of a long one, and the bits that have no
// place in it. These are bit 7 of the first byte and, but for T32, of the second.
// DDI0487, "Target Address packets".
func long(raw uint64, is uint8) (addr uint64, reserved uint32) {
	if is != 0 {
		return raw&^0xff | raw&0x7f<<1, uint32(raw >> 7 & 1)
	}
	return raw&^0xffff | raw&0x7f00<<1 | raw&0x7f<<2, uint32(raw>>7&1 | raw>>14&2)
}

// shortBytes returns the bytes of the short address at the front of buf, and how
// many; 0: they are cut short.
func shortBytes(buf []byte) (raw uint64, n uint8) {
	switch {
	case len(buf) > 0 && buf[0] < 0x80:
		return uint64(buf[0]), 1
	case len(buf) > 1:
		return uint64(buf[0]) | uint64(buf[1])<<8, 2
	}
	return 0, 0
}
