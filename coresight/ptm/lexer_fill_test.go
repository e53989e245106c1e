package ptm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// TestLexerFill would catch packets read many at a time that differ from those read
// one by one. It looks at the end of the bytes, of the packets asked for, behind
// bytes that are no packet, of reserved atoms and long addresses.
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
		return b&^1 | 0x80
	}
	lex := func(f Format) func(buf []byte) packettest.Lexer[Packet] {
		return func(buf []byte) packettest.Lexer[Packet] { return NewLexer(f, buf, 7) }
	}
	packettest.Fill(t, 2000, dirty, func(q []Packet, off int64) { tidy(t, q, off) }, random,
		lex(Format{}), lex(Format{CycleAccurate: true}), lex(Format{ContextBytes: 4, TS64: true}))
}

// dirty is a packet of which every field is wrong, with all bits set.
var dirty = Packet{
	Kind: NumKinds, Len: 0xff, N: 0xff, Exc: 0xff, CC: 0xff, Pad: 0xff, Info: 0xffff,
	Cycles: math.MaxUint32, Context: math.MaxUint32, Value: math.MaxUint64, Off: -1,
}

// tidy places packets that Fill has read and clears what it leaves open of them,
// which must not show in their text or bytes.
func tidy(t *testing.T, q []Packet, off int64) {
	Place(q, off)
	for i := range q {
		p := q[i]
		if (p.Kind == Atom || p.Kind == Branch && p.Exc == 0) && p.CC == 0 {
			p.Cycles, p.Context = 0, 0
		}
		packettest.Same(t, q[i], p)
		q[i] = p
	}
}
