package ptm

import (
	"encoding/binary"
	"math/bits"
)

// Fill reads packets into q, every field of them, and returns how many: fewer
// than len(q) only where no byte is left. It gives what as many calls of Next
// would.
func (l *Lexer) Fill(q []Packet) int {
	n := 0
	for n < len(q) {
		if !l.form.CycleAccurate {
			got, pos := burst(q[n:], l.buf, l.pos)
			if l.base != 0 {
				for i := range got {
					q[n+i].Off += l.base
				}
			}
			n, l.pos = n+got, pos
		}
		if n == len(q) || !l.Next(&q[n]) {
			break
		}
		n++
	}
	return n
}

// burst reads Atom and plain Branch packets from buf[pos:], as many in a row as
// there is room for in q. It returns how many, and where it ended.
func burst(q []Packet, buf []byte, pos int) (n, end int) {
	for i := range q {
		if pos < 0 || pos >= len(buf)-7 {
			return i, pos
		}
		p := &q[i]
		head := binary.LittleEndian.Uint64(buf[pos:])
		if head&1 == 0 {
			e := &single[uint8(head)]
			if e.Kind == Bad {
				return i, pos
			}
			*p = *e
			p.Off = int64(pos)
			pos++
			continue
		}
		// A fifth byte ends the address whatever its bit 7.
		last := bits.TrailingZeros64(^head&0x80808080|1<<39) >> 3
		f := &branches[last&7]
		if head&f.info != 0 {
			return i, pos // exception bytes follow
		}
		*p = f.packet
		p.Value = squeeze(head & f.mask)
		p.Off = int64(pos)
		pos += last + 1
	}
	return len(q), pos
}

// branchForm is what a Branch packet's bytes are by how many they are. It is 64
// bytes, so that its place in branches is found by a shift.
type branchForm struct {
	packet Packet // but for the address
	mask   uint64 // bits of the address
	info   uint64 // bit that says that exception bytes follow
	_      [2]uint64
}

// branches is Branch packets by their last byte's place.
var branches = branchForms()

func branchForms() (t [8]branchForm) {
	for i := range t[:5] {
		n := uint8(i + 1)
		t[i] = branchForm{packet: Packet{Kind: Branch, Len: n, N: n}, mask: 1<<(8*n) - 2}
		if n > 1 {
			t[i].info = 1 << (8*n - 2)
		}
	}
	return t
}
