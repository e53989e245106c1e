package ptm

import (
	"math/rand/v2"
	"testing"
)

// TestLexerFill would catch packets read many at a time that differ from those
// read one by one: at the end of the bytes, of the packets asked for, behind
// bytes that are no packet, of reserved atoms and long addresses.
func TestLexerFill(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for seed := range 2000 {
		buf := make([]byte, r.IntN(200))
		for i := range buf {
			switch r.IntN(8) {
			case 0:
				buf[i] = byte(r.Uint32())
			case 1, 2:
				buf[i] = byte(r.Uint32()) | 0x81
			case 3:
				buf[i] = byte(r.Uint32()) & 0x3f
			case 4:
				buf[i] = byte(r.Uint32())&0x3f | 1
			default:
				buf[i] = byte(r.Uint32())&^1 | 0x80
			}
		}
		for _, f := range []Format{{}, {CycleAccurate: true}, {ContextBytes: 4, TS64: true}} {
			one, many := NewLexer(f, buf, 7), NewLexer(f, buf, 7)
			q := make([]Packet, 1+r.IntN(20))
			for {
				for i := range q {
					q[i] = Packet{Kind: NumKinds, N: 9, Exc: 9, CC: 9, Pad: 9, Info: 9, Cycles: 9, Context: 9, Value: 9}
				}
				n := many.Fill(q)
				for i := range n {
					var p Packet
					if !one.Next(&p) || p != q[i] {
						t.Fatalf("seed %d: % x: Fill has %+v, Next %+v", seed, buf, q[i], p)
					}
				}
				if n < len(q) {
					if one.Next(&q[0]) {
						t.Fatalf("seed %d: % x: Fill ends before %+v", seed, buf, q[0])
					}
					break
				}
			}
		}
	}
}
