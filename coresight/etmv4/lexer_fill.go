package etmv4

import (
	"encoding/binary"
	"math/bits"
)

// Fill reads packets into q and returns how many: fewer than len(q) only where no
// byte is left. They are what as many calls of Next would give, but for three
// fields. PlaceAt sets Off. Value and Value2 hold anything in a packet whose kind
// does not name them.
func (l *Lexer) Fill(q []Packet) int {
	n := 0
	for n < len(q) {
		var got int
		got, l.Pos = burst(q[n:], l.Buf, l.Pos, bytesTables)
		if n += got; n == len(q) || !l.Next(&q[n]) {
			break
		}
		n++
	}
	return n
}

// burst reads rounds of up to seven atoms and one address from buf[pos:], while q
// has nine places and buf 17 bytes. It leaves open what Fill does. It returns how
// many packets, and where it ended. A mispredicted branch costs more than a store.
// So burst always writes five atoms: the next packet overwrites what is no atom.
// The form of an address is a mask from a table. The next round waits for the place
// where it begins, so little decides that.
func burst(q []Packet, buf []byte, pos int, t *tables) (n, end int) {
	// k below is 8 at most for all that the compiler knows: at and to have room for
	// that, and need no check.
	for n <= len(q)-9 && pos <= len(buf)-17 {
		at := (*[17]byte)(buf[pos:])
		to := (*[9]Packet)(q[n:])
		w := binary.LittleEndian.Uint64(at[:8])
		m := ^(w & (w << 1)) & topBits // bit 7 of each byte that is no atom: of an atom bits 7 and 6 are set
		if m == 0 {
			for i, b := range at[:8] {
				to[i].setHead(t.heads[b])
			}
			n += 8
			pos += 8
			continue
		}
		k := bits.TrailingZeros64(m) >> 3
		b := at[k]
		size := int(t.sizes[b]) + int(at[k+1]>>7&t.more[b])
		to[0].setHead(t.heads[at[0]])
		to[1].setHead(t.heads[at[1]])
		to[2].setHead(t.heads[at[2]])
		to[3].setHead(t.heads[at[3]])
		to[4].setHead(t.heads[at[4]])
		if k > 5 {
			to[5].setHead(t.heads[at[5]])
			to[6].setHead(t.heads[at[6]])
		}
		pos += k
		n += k
		if size == 0 {
			break
		}
		raw := binary.LittleEndian.Uint64(at[k+1:])
		f := &t.addresses[raw<<1&0x100|uint64(b)]
		p := &to[k]
		p.setHead(f.head)
		p.Value = raw & f.mask
		pos += size
		n++
	}
	return n, pos
}

// topBits is bit 7 of each byte.
const topBits = 0x8080_8080_8080_8080

// head returns p but for its values and its place.
func (p *Packet) head() uint64 {
	return uint64(p.Kind) | uint64(p.N)<<8 | uint64(p.Len)<<16 | uint64(p.Arg)<<24 | uint64(p.Extra)<<32
}

// setHead sets what head returns: all of it is one store.
func (p *Packet) setHead(w uint64) {
	p.Kind, p.N, p.Len, p.Arg, p.Extra = Kind(w), uint8(w>>8), uint8(w>>16), uint8(w>>24), uint32(w>>32)
}

// tables is what bytes say of packets that every configuration has.
type tables struct {
	heads       [256]uint64 // of the packets of one byte, by that byte
	sizes, more [256]uint8  // by the header of an address packet: its length, bytes, and what is added where bit 7 of the byte behind it is set; 0: no address packet
	addresses   [512]struct {
		head uint64 // of an address packet, by its header and, in bit 8, bit 7 of the byte behind it
		mask uint64 // the bits of its address
	}
}

// bytesTables is given to burst rather than known to it: it lies in one register so.
var bytesTables = newTables()

func newTables() *tables {
	t := new(tables)
	for i := range t.heads {
		t.heads[i] = single[i].head()
	}
	set := func(b, n uint8, p Packet) {
		p.Len = n + 1
		t.sizes[b] = p.Len
		for long := range 2 {
			if long > 0 && p.Kind == AddrShort {
				p.N++
				p.Len++
				t.more[b], n = 1, 2
			}
			a := &t.addresses[long<<8|int(b)]
			a.head, a.mask = p.head(), 1<<(8*n)-1
		}
	}
	for i := range uint8(3) {
		set(0x90+i, 0, Packet{Kind: AddrMatch, Arg: i})
	}
	for is := range uint8(2) {
		set(0x95+is, 1, Packet{Kind: AddrShort, Arg: is, N: 1})
		set(0x9a+is, 4, Packet{Kind: Addr32, Arg: is})
		set(0x9d+is, 8, Packet{Kind: Addr64, Arg: is})
	}
	return t
}
