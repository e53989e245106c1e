package etmv3

import (
	"encoding/binary"
	"math/bits"

	"github.com/ptdecode/ptdecode/coresight/internal/wire"
)

// Fill reads packets into q and returns how many: fewer than len(q) only where no
// byte is left. They are what as many calls of Next would give, but for two fields.
// PlaceAt sets Off. Extra holds anything in a packet whose kind does not name it, or
// that has no exception bytes.
func (l *Lexer) Fill(q []Packet) int {
	n := 0
	for n < len(q) {
		var got int
		got, l.Pos = burst(q[n:], l.Buf, l.Pos, l.quick)
		n += got
		if n == len(q) || !l.Next(&q[n]) {
			break
		}
		n++
	}
	return n
}

// burst reads P-headers and Branch packets of up to four bytes from buf[pos:]. It
// reads as many in a row as q has room for, and leaves open what Fill does. It
// returns how many, and where it ended.
func burst(q []Packet, buf []byte, pos int, t *quickForms) (n, end int) {
	for i := range q {
		if pos < 0 || pos >= len(buf)-7 {
			return i, pos
		}
		p := &q[i]
		w := binary.LittleEndian.Uint64(buf[pos:])
		if e := &t.bytes[uint8(w)]; e.head != 0 {
			p.setHead(e.head)
			p.Cycles, p.Context, p.Value = e.cycles, 0, e.value
			pos++
			continue
		}
		last := bits.TrailingZeros64(^w&0x80808080|1<<39) >> 3
		f := &t.branches[last&7]
		if w&f.other != 1 {
			return i, pos
		}
		p.setHead(f.head)
		p.Cycles, p.Context, p.Value = 0, 0, wire.Squeeze(w&f.mask)
		pos += last + 1
	}
	return len(q), pos
}

// head returns p but for Cycles, Context, Value, Extra and its place.
func (p *Packet) head() uint64 {
	return uint64(p.Kind) | uint64(p.Len)<<8 | uint64(p.N)<<16 | uint64(p.Exc)<<24 | uint64(p.CC)<<32 | uint64(p.Pad)<<40 | uint64(p.Info)<<48
}

// setHead sets what head returns: all of it is one store.
func (p *Packet) setHead(w uint64) {
	p.Kind, p.Len, p.N, p.Exc = Kind(w), uint8(w>>8), uint8(w>>16), uint8(w>>24)
	p.CC, p.Pad, p.Info = uint8(w>>32), uint8(w>>40), uint16(w>>48)
}

// quickForms is what burst knows of the packets of a form of trace.
type quickForms struct {
	heads    [256]Packet      // the P-header of each first byte, of kind Bad where it is none
	bytes    [256]briefPacket // the P-header or Branch of one byte that each byte is
	branches [8]branchForm    // Branch packets of two to four bytes by their last byte's place
}

// briefPacket is a packet of one byte; head 0: none.
type briefPacket struct {
	head, value uint64
	cycles      uint32
}

// branchForm is what a Branch packet's bytes are by how many they are. It is 32
// bytes, so that its place among others is found by a shift.
type branchForm struct {
	head  uint64 // of the packet
	mask  uint64 // bits of the address
	other uint64 // bits of which bit 0 alone is set, unless another packet is there
	_     uint64
}

// fill makes t of the P-headers of a form of trace; alternative: its exception bytes are in
// the alternative encoding.
func (t *quickForms) fill(headers *[256]Packet, alternative bool) {
	t.heads = *headers
	for b := range t.bytes {
		p := headers[b]
		if b < 0x80 && b&1 != 0 {
			p = Packet{Kind: Branch, Len: 1, N: 1, Value: uint64(b - 1)}
		}
		if p.Kind != Bad {
			t.bytes[b] = briefPacket{p.head(), p.Value, p.Cycles}
		}
	}
	for n := uint8(2); n <= 4; n++ {
		p := Packet{Kind: Branch, Len: n, N: n}
		f := &t.branches[n-1]
		f.head, f.mask, f.other = p.head(), wire.AddressBits&(1<<(8*n)-2), 1
		if alternative {
			f.other |= 1 << (8*n - 2)
		}
	}
}
