package etmv4

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// TestFill would catch packets read many at a time that differ from those read one
// by one. It looks at the end of the bytes, of the packets asked for, behind bytes
// that are no packet.
func TestFill(t *testing.T) {
	random := func(r *rand.Rand) byte {
		switch r.IntN(12) {
		case 0, 1, 2:
			return byte(r.Uint32())
		case 3:
			return byte(0x90 + r.IntN(16))
		}
		return byte(0xc0 + r.IntN(64))
	}
	for name, c := range testConfigs {
		t.Run(name, func(t *testing.T) {
			packettest.Fill(t, 1000, dirty, func(q []Packet, off int64) { tidy(t, q, off) }, random,
				func(buf []byte) packettest.Lexer[Packet] { return NewLexer(c, buf, 7) })
		})
	}
}

// dirty is a packet of which every field is wrong, with all bits set.
var dirty = Packet{
	Kind: NumKinds, N: 0xff, Len: 0xff, Arg: 0xff, Extra: math.MaxUint32,
	Value: math.MaxUint64, Value2: math.MaxUint64, Off: -1,
}

// tidy places packets that Fill has read and clears what it leaves open of them,
// which must not show in their text or bytes.
func tidy(t *testing.T, q []Packet, off int64) {
	Place(q, off)
	for i := range q {
		p := q[i]
		switch p.Kind {
		case AtomF1, AtomF2, AtomF3, AtomF4, AtomF5, AtomF6:
			p.Value, p.Value2 = 0, 0
		case AddrMatch, AddrShort, Addr32, Addr64:
			p.Value2 = 0
		}
		packettest.Same(t, q[i], p)
		q[i] = p
	}
}
