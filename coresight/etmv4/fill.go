package etmv4

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Fill reads packets into q, every field of them, and returns how many: fewer
// than len(q) only where no byte is left. It gives what as many calls of Next
// would.
func (l *Lexer) Fill(q []Packet) int {
	n := 0
	for n < len(q) {
		var got int
		got, l.pos = burst(q[n:], l.buf, l.pos)
		if l.base != 0 {
			for i := range q[n:][:got] {
				q[n+i].Off += l.base
			}
		}
		if n += got; n == len(q) || !l.Next(&q[n]) {
			break
		}
		n++
	}
	return n
}

// burst reads atoms, which come in short runs, and the addresses behind them from
// buf[pos:], as many in a row as there is room for a round of them in q. It
// returns how many packets, and where it ended. Neither how long a run is nor
// which form its address has can be foretold, and a wrong guess costs more than
// some packets: so five atoms are written whether they are there or not, the next
// packets going over what was none, and an address's form decides no branch, but
// what it is masked with and whether that is doubled.
func burst(q []Packet, buf []byte, pos int) (n, end int) {
	room := len(q)
	for len(q) >= 8 && pos <= len(buf)-17 {
		at := (*[17]byte)(buf[pos:])
		to := (*[8]Packet)(q)
		w := binary.LittleEndian.Uint64(at[:8])
		m := ^(w & (w << 1)) & topBits // bit 7 of each byte that is no atom: of an atom bits 7 and 6 are set
		if m == 0 {
			for i := range to {
				to[i] = single[at[i]]
				to[i].Off = int64(pos + i)
			}
			q = q[8:]
			pos += 8
			continue
		}
		k := bits.TrailingZeros64(m) >> 3
		to[0] = single[at[0]]
		to[0].Off = int64(pos)
		to[1] = single[at[1]]
		to[1].Off = int64(pos + 1)
		to[2] = single[at[2]]
		to[2].Off = int64(pos + 2)
		to[3] = single[at[3]]
		to[3].Off = int64(pos + 3)
		to[4] = single[at[4]]
		to[4].Off = int64(pos + 4)
		if k > 5 {
			to[5] = single[at[5]]
			to[5].Off = int64(pos + 5)
			to[6] = single[at[6]]
			to[6].Off = int64(pos + 6)
		}
		pos += k
		raw := binary.LittleEndian.Uint64(at[k&7+1:])
		f := &addresses[raw<<1&0x100|uint64(at[k&7])]
		if (raw|1)&f.reserved != 0 {
			q = q[k&7:]
			break
		}
		p := &to[k&7]
		*p = f.packet
		p.Off = int64(pos)
		pos += int(f.packet.Len)
		q = q[k&7+1:]
		v := raw & f.low
		v += v & 0x7f
		v += v & f.double
		p.Value = v | raw&f.high
	}
	return room - len(q), pos
}

// topBits is bit 7 of each byte.
const topBits = 0x8080_8080_8080_8080

// addressForm is how the bytes behind an address packet's header make an
// address.
type addressForm struct {
	packet   Packet // but for the address; Len is that of the whole packet
	reserved uint64 // bits that have no place in the address; all where it is no address packet
	low      uint64 // bits that lie in bytes of which the first has seven, one place too low: those of the first byte two
	double   uint64 // all where these lie yet one place higher
	high     uint64 // bits that stay
}

// addresses is the address packets that every configuration has, by their
// header and, in bit 8, the upper bit of the byte behind it.
var addresses = addressForms()

func addressForms() (t [512]addressForm) {
	for i := range t {
		t[i].reserved = math.MaxUint64
	}
	set := func(b uint8, f addressForm, k Kind, arg, n uint8, size int) {
		f.packet = Packet{Kind: k, Arg: arg, N: n, Len: uint8(size)}
		t[b] = f
		if k == AddrShort {
			f.packet.N, f.packet.Len, f.low = n+1, uint8(size+1), 0xff7f
		}
		t[0x100|int(b)] = f
	}
	for i := range uint8(3) {
		set(0x90+i, addressForm{}, AddrMatch, i, 0, 1)
	}
	for is := range uint8(2) {
		f := addressForm{low: 0x7f}
		if is == 0 {
			f.double = math.MaxUint64
		}
		set(0x95+is, f, AddrShort, is, 1, 2)
		f.reserved, f.low, f.high = 0x8080, 0x7f7f, 0xffff0000
		if is != 0 {
			f.reserved, f.low, f.high = 0x80, 0x7f, 0xffffff00
		}
		set(0x9a+is, f, Addr32, is, 0, 5)
		f.high |= 0xffffffff << 32
		set(0x9d+is, f, Addr64, is, 0, 9)
	}
	return t
}
