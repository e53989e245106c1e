package etmv4

import (
	"math/rand/v2"
	"testing"
)

// TestFill would catch packets read many at a time that differ from those read
// one by one: at the end of the bytes, of the packets asked for, behind bytes
// that are no packet.
func TestFill(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for seed := range 500 {
		buf := make([]byte, r.IntN(200))
		for i := range buf {
			if buf[i] = byte(0xc0 + r.IntN(64)); r.IntN(3) == 0 {
				buf[i] = byte(r.Uint32())
			}
		}
		for _, c := range testConfigs {
			one, many := NewLexer(c, buf, 7), NewLexer(c, buf, 7)
			q := make([]Packet, 1+r.IntN(20))
			for {
				for i := range q {
					q[i] = Packet{Kind: NumKinds, N: 9, Extra: 9, Value: 9, Value2: 9}
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
