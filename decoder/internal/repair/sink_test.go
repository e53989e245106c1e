package repair

import (
	"fmt"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// verdicts keeps the verdicts of flow.
type verdicts []flow.Verdict

func (v *verdicts) Flow(b *flow.Batch) error {
	for i := range b.Ranges {
		*v = append(*v, b.Ranges[i].Verdict)
	}
	return nil
}

// TestSink would catch doubt that ends with a batch: what follows code in doubt is ambiguous
// up to the second event behind it, wherever the flow is cut into batches.
func TestSink(t *testing.T) {
	d := Doubts{list: []Doubt{{Addr: 0x1002, End: 0x1003, Time: event.Always}}, reach: []uint64{0x1003}}
	at := func(addr uint64) *flow.Block { return &flow.Block{Addr: addr, End: addr + 4, N: 1, Lens: []uint8{4}} }
	// Two ranges behind each event; the third range reads what is in doubt.
	var blocks []*flow.Block
	for i := range 12 {
		blocks = append(blocks, at(uint64(0x2000+16*i)))
	}
	blocks[2] = at(0x1000)
	want := "[0 0 4 4 4 4 4 4 0 0 0 0]"
	for cut := range len(blocks) + 1 {
		var got verdicts
		sink := d.Sink(&got)
		for _, part := range [][2]int{{0, cut}, {cut, len(blocks)}} {
			// A batch begins with the stamp at which the one before it ended.
			first := max(part[0]-1, 0) / 2
			b := &flow.Batch{Stamps: []flow.Stamp{{Off: int64(first)}}}
			for i := part[0]; i < part[1]; i++ {
				for first+len(b.Stamps)-1 < i/2 {
					b.Stamps = append(b.Stamps, flow.Stamp{Off: int64(first + len(b.Stamps))})
				}
				b.Ranges = append(b.Ranges, flow.Range{Block: blocks[i], N: 1, Stamp: uint32(len(b.Stamps) - 1)})
			}
			if err := sink.Flow(b); err != nil {
				t.Fatal(err)
			}
		}
		if fmt.Sprintf("%d", got) != want {
			t.Errorf("cut at %d: verdicts %d, want %s", cut, got, want)
		}
	}
}
