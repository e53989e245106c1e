package counts

import (
	"reflect"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestBlocks would catch an execution of a block that is lost, doubled or given to another block where
// edges are not counted. Some blocks have one number, or none, or too high a one. Some executions
// are ambiguous, or of a part.
func TestBlocks(t *testing.T) {
	s := openEmpty(t)
	var blocks []*decoder.Block
	for i := range 200 {
		b := &decoder.Block{Addr: uint64(i * 16), End: uint64(i*16 + 3), N: 3, Lens: []uint8{1, 1, 1}, Class: isa.JumpInd}
		switch i % 5 {
		case 1:
			b.Number = uint32(i / 2) // two have it
		case 2:
			b.Number = maxTallies + uint32(i)
		case 3, 4:
			b.Number = uint32(i * 7)
		}
		blocks = append(blocks, b)
	}
	of := func(o Options) (list []Range, c *Counter) {
		c = New(s, &host.Filter{}, o)
		for k := range 1000 {
			b := &decoder.Batch{Stamps: make([]decoder.Stamp, 1)}
			b.Stamps[0].Time.Lo, b.Stamps[0].Time.Hi = uint64(k), uint64(k)
			for i := range k % 7 * 3 {
				x := decoder.BatchRange{Block: blocks[(k*k+i*i)%(1+k*len(blocks)/1000)], N: 3}
				if k%11 == 0 {
					x.N = uint16(1 + i%3)
				}
				if k%13 == 0 {
					x.Verdict = decoder.Ambiguous
				}
				b.Ranges = append(b.Ranges, x)
			}
			if err := c.Flow(b); err != nil {
				t.Fatal(err)
			}
			if k%100 == 0 {
				c.All(0).Ranges() // asked for while it goes on
			}
		}
		return c.All(0).Ranges(), c
	}
	want, with := of(Options{})
	got, without := of(Options{Blocks: true})
	if len(want) < 200 || !reflect.DeepEqual(got, want) || with.Instructions != without.Instructions {
		t.Errorf("%d ranges and %v without edges, %d and %v with them", len(got), without.Instructions, len(want), with.Instructions)
	}
	if n := len(without.All(0).Edges()); n > 0 {
		t.Errorf("%d edges were counted", n)
	}
}
