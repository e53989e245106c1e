package ptm

import (
	"encoding/binary"
	"math/bits"

	"github.com/ptdecode/ptdecode/coresight/internal/wire"
)

// Fill reads packets into q and returns how many: fewer than len(q) only where no
// byte is left. They are what as many calls of Next would give, but for three
// fields. PlaceAt sets Off. Cycles and Context hold anything in a packet without
// cycle count and context ID.
func (l *Lexer) Fill(q []Packet) int {
	n := 0
	for n < len(q) {
		if !l.form.CycleAccurate {
			var got int
			got, l.Pos = burst(q[n:], l.Buf, l.Pos)
			n += got
		}
		if n == len(q) || !l.Next(&q[n]) {
			break
		}
		n++
	}
	return n
}

// burst reads Atom and plain Branch packets from buf[pos:], as many in a row as there
// is room for in q, but for what Fill leaves open. It returns how many, and where it
// ended.
func burst(q []Packet, buf []byte, pos int) (n, end int) {
	for i := range q {
		if pos < 0 || pos >= len(buf)-7 {
			return i, pos
		}
		p := &q[i]
		head := binary.LittleEndian.Uint64(buf[pos:])
		if head&1 == 0 {
			e := &brief[uint8(head)]
			if e.head == 0 {
				return i, pos
			}
			p.setHead(e.head)
			p.Value = e.value
			pos++
			continue
		}
		// A fifth byte ends the address whatever its bit 7.
		last := bits.TrailingZeros64(^head&0x80808080|1<<39) >> 3
		f := &branches[last&7]
		if head&f.info != 0 {
			return i, pos // exception bytes follow
		}
		p.setHead(f.head)
		p.Value = wire.Squeeze(head & f.mask)
		pos += last + 1
	}
	return len(q), pos
}

// head returns p but for Cycles, Context, Value and its place.
func (p *Packet) head() uint64 {
	return uint64(p.Kind) | uint64(p.Len)<<8 | uint64(p.N)<<16 | uint64(p.Exc)<<24 | uint64(p.CC)<<32 | uint64(p.Pad)<<40 | uint64(p.Info)<<48
}

// setHead sets what head returns: all of it is one store.
func (p *Packet) setHead(w uint64) {
	p.Kind, p.Len, p.N, p.Exc = Kind(w), uint8(w>>8), uint8(w>>16), uint8(w>>24)
	p.CC, p.Pad, p.Info = uint8(w>>32), uint8(w>>40), uint16(w>>48)
}

// briefPacket is a packet of one byte.
type briefPacket struct{ head, value uint64 }

// brief is the packet of single that each byte is; head 0: none.
var brief = briefPackets()

func briefPackets() (t [256]briefPacket) {
	for i := range t {
		if p := &single[i]; p.Kind != Bad {
			t[i] = briefPacket{p.head(), p.Value}
		}
	}
	return t
}

// branchForm is what a Branch packet's bytes are by how many they are. It is 32
// bytes, so that its place in branches is found by a shift.
type branchForm struct {
	head uint64 // of the packet
	mask uint64 // bits of the address
	info uint64 // bit that says that exception bytes follow
	_    uint64
}

// branches is Branch packets by their last byte's place.
var branches = branchForms()

func branchForms() (t [8]branchForm) {
	for i := range t[:5] {
		n := uint8(i + 1)
		p := Packet{Kind: Branch, Len: n, N: n}
		t[i] = branchForm{head: p.head(), mask: wire.AddressBits & (1<<(8*n) - 2)}
		if n > 1 {
			t[i].info = 1 << (8*n - 2)
		}
	}
	return t
}
