package etmv3

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// TestLexerFill would catch packets read many at a time that differ from those read
// one by one. It looks at the end of the bytes, of the packets asked for, behind
// bytes that are no packet, of branches with exception bytes.
func TestLexerFill(t *testing.T) {
	random := func(r *rand.Rand) byte {
		b := byte(r.Uint32())
		switch r.IntN(8) {
		case 0:
			return b
		case 1, 2:
			return b | 0x81
		case 3:
			return b & 0x3f
		case 4:
			return b&0x3f | 1
		}
		return b&^3 | 0x80
	}
	for _, f := range formats {
		packettest.Fill(t, 1000, dirty, func(q []Packet, off int64) { tidy(t, q, off) }, random,
			func(buf []byte) packettest.Lexer[Packet] { return NewLexer(f, buf, 7) })
	}
}

// dirty is a packet of which every field is wrong, with all bits set.
var dirty = Packet{
	Kind: NumKinds, Len: 0xff, N: 0xff, Exc: 0xff, CC: 0xff, Pad: 0xff, Info: 0xffff,
	Cycles: math.MaxUint32, Context: math.MaxUint32, Value: math.MaxUint64, Extra: math.MaxUint64, Off: -1,
}

// tidy places packets that Fill has read and clears what it leaves open of them,
// which must not show in their text or bytes.
func tidy(t *testing.T, q []Packet, off int64) {
	Place(q, off)
	for i := range q {
		p := q[i]
		if p.Kind == PHeader || p.Kind == Branch && p.Exc == 0 {
			p.Extra = 0
		}
		packettest.Same(t, q[i], p)
		q[i] = p
	}
}
