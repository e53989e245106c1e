package repair

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// TestMarkEvents would catch doubt that ends sooner or later by stamps that no range has, or by
// where flow is cut into batches.
func TestMarkEvents(t *testing.T) {
	const wrong = 2 // of the ranges, one an event
	blocks := [7]flow.Block{}
	blocks[wrong].Addr = 0x1000
	doubtful := func(r *flow.Range, _ event.Time) bool { return r.Block.Addr == 0x1000 }
	for _, extra := range []int{0, 1, 3} { // stamps that no range has, behind each
		for _, size := range []int{1, 2, 7} { // ranges in a batch
			var got verdicts
			m := Mark(&got, doubtful)
			for from := 0; from < len(blocks); from += size {
				var b flow.Batch
				for i := from; i < min(from+size, len(blocks)); i++ {
					b.Ranges = append(b.Ranges, flow.Range{Block: &blocks[i], Stamp: uint32(len(b.Stamps))})
					for k := range 1 + extra {
						b.Stamps = append(b.Stamps, flow.Stamp{Off: int64(10*i + k)})
					}
				}
				if err := m.Flow(&b); err != nil {
					t.Fatal(err)
				}
			}
			for i, v := range got {
				if want := i >= wrong && i <= wrong+eventsBehind; (v == flow.Ambiguous) != want {
					t.Errorf("%d stamps more, %d ranges a batch: range %d is %v", extra, size, i, v)
				}
			}
		}
	}
}
