package itm

import (
	"math/rand/v2"
	"testing"
)

// randPacket returns a packet as the lexer gives them but for its place.
func randPacket(r *rand.Rand, _ int) Packet {
	p := Packet{Kind: Sync + Kind(r.IntN(int(NumKinds-Sync)))}
	v := r.Uint64() >> r.IntN(64) // small numbers as often as large ones
	switch p.Kind {
	case Sync:
		p.Value = 5 + v%40
	case SWIT, DWT:
		p.N = []uint8{1, 2, 4}[r.IntN(3)]
		p.Arg = uint8(r.IntN(32))
		p.Value = v & (1<<(8*p.N) - 1)
	case LTS1:
		p.N = uint8(1 + r.IntN(4))
		p.Arg = uint8(r.IntN(4))
		p.Value = v & (1<<(7*p.N) - 1)
	case LTS2:
		p.Value = 1 + v%6
	case GTS1:
		p.N = uint8(1 + r.IntN(4))
		p.Value = v & (1<<(7*p.N) - 1)
		if p.N == 4 {
			p.Arg = uint8(r.IntN(4))
			p.Value &= 1<<26 - 1
		}
	case GTS2:
		p.N = uint8(1 + r.IntN(6))
		p.Value = v & (1<<(7*p.N) - 1)
	case Ext:
		p.N = uint8(r.IntN(5))
		p.Arg = uint8(r.IntN(16))
		p.Value = v & (1<<(7*p.N) - 1)
	}
	return p
}

// Catches a search that misses a sync point at either end, takes one cut
// short, or does not take the last zeros.
func TestFindSync(t *testing.T) {
	packets.FindSync(t, map[string]int{
		"\x12\x00\x00" + syncPattern: 3, "\x01" + syncPattern[1:]: -1, syncPattern[:5] + "\x81": -1,
	})
}
