package flow

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestBlockTable would catch a block that is lost, found where another lies, or still there
// after it was taken out, also as the table grows. A map is the twin.
func TestBlockTable(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for round := range 200 {
		var table blockTable
		twin := map[key]*Block{}
		places := 1 << (1 + round%10)
		for range 4 * places {
			k := key{uint64(rnd.IntN(places)) * 4, uint32(rnd.IntN(2)), []isa.Mode{isa.ModeUnknown, isa.ModeA64}[rnd.IntN(2)]}
			switch b := (&Block{Addr: k.addr, Space: k.space, Mode: k.mode}); rnd.IntN(3) {
			case 0:
				table.dropRoot(k)
				delete(twin, k)
			default:
				table.setRoot(k, b)
				twin[k] = b
			}
			if k.addr = uint64(rnd.IntN(places)) * 4; table.root(k) != twin[k] {
				t.Fatalf("round %d: at %v lies %v, want %v", round, k, table.root(k), twin[k])
			}
		}
		n := 0
		table.eachRoot(func(b *Block) {
			if n++; twin[b.key()] != b {
				t.Fatalf("round %d: %v is told, want %v", round, b, twin[b.key()])
			}
		})
		if n != len(twin) {
			t.Fatalf("round %d: %d blocks, want %d", round, n, len(twin))
		}
	}
}
