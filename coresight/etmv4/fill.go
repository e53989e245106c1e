package etmv4

import "encoding/binary"

// Fill reads packets into q, every field of them, and returns how many: fewer
// than len(q) only where no byte is left. It gives what as many calls of Next
// would.
func (l *Lexer) Fill(q []Packet) int {
	n := 0
	for n < len(q) {
		if n += l.burst(q[n:]); n == len(q) || !l.Next(&q[n]) {
			break
		}
		n++
	}
	return n
}

// burst is Fill for as many packets in a row as it knows: atoms, which come in
// runs, and addresses between them. Which form an address has cannot be
// foretold, and a wrong guess costs more than the packet: so its form decides
// no branch, but what it is masked and shifted by.
func (l *Lexer) burst(q []Packet) int {
	buf, base, pos, n := l.buf, l.base, l.pos, 0
	for n < len(q) && pos < len(buf)-8 {
		b := buf[pos]
		p := &q[n]
		if b >= firstAtom {
			*p = single[b]
			p.Off = base + int64(pos)
			pos++
			n++
			continue
		}
		raw := binary.LittleEndian.Uint64(buf[pos+1 : pos+9 : pos+9])
		f := &addresses[uint(b)<<1&0x1fe|uint(raw>>7&1)]
		if f.size == 0 || raw&f.reserved != 0 {
			break
		}
		*p = f.packet
		p.Value = raw&f.low<<(f.lowBy&63) | raw&f.mid<<(f.midBy&63) | raw&f.high
		p.Off = base + int64(pos)
		pos += f.size
		n++
	}
	l.pos = pos
	return n
}

// addressForm is how the bytes behind an address packet's header make an
// address.
type addressForm struct {
	packet       Packet // but for the address
	size         int    // length of the packet, bytes; 0: it is no address
	reserved     uint64 // bits that have no place in the address
	low, mid     uint64 // bits that are shifted
	lowBy, midBy uint64 // by how much
	high         uint64 // bits that stay
}

// addresses is the address packets that every configuration has, by their
// header and, in bit 0, the upper bit of the byte behind it.
var addresses = addressForms()

func addressForms() (t [512]addressForm) {
	set := func(b uint8, f addressForm, k Kind, arg, n uint8, size int) {
		f.packet, f.size = Packet{Kind: k, Arg: arg, N: n, Len: uint8(size)}, size
		t[int(b)<<1] = f
		if k == AddrShort {
			f.packet.N, f.packet.Len, f.size, f.mid = n+1, uint8(size+1), size+1, 0xff00
		}
		t[int(b)<<1|1] = f
	}
	for i := range uint8(3) {
		set(0x90+i, addressForm{}, AddrMatch, i, 0, 1)
	}
	for is := range uint8(2) {
		f := addressForm{low: 0x7f, lowBy: uint64(2 - is), midBy: uint64(1 - is)}
		set(0x95+is, f, AddrShort, is, 1, 2)
		f.reserved, f.mid, f.high = 0x8080, 0x7f00, 0xffff0000
		if is != 0 {
			f.reserved, f.mid, f.high = 0x80, 0, 0xffffff00
		}
		set(0x9a+is, f, Addr32, is, 0, 5)
		f.high |= 0xffffffff << 32
		set(0x9d+is, f, Addr64, is, 0, 9)
	}
	return t
}
