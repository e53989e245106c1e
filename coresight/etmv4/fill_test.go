package etmv4

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
)

// TestFill would catch packets read many at a time that differ from those read
// one by one: at the end of the bytes, of the packets asked for, behind bytes
// that are no packet.
func TestFill(t *testing.T) {
	random := func(r *rand.Rand) byte {
		if r.IntN(3) == 0 {
			return byte(r.Uint32())
		}
		return byte(0xc0 + r.IntN(64))
	}
	for name, c := range testConfigs {
		t.Run(name, func(t *testing.T) {
			tracetest.Fill(t, 500, Packet{Kind: NumKinds, N: 9, Len: 9, Arg: 9, Extra: 9, Value: 9, Value2: 9}, random,
				func(buf []byte) tracetest.Lexer[Packet] { return NewLexer(c, buf, 7) })
		})
	}
}
