package counts

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestWalks would catch an execution, or an edge, that is lost, doubled or given to another one where ranges are counted by the path
// that they were walked as. What it is held against is the same flow without paths. Notes lie between and inside
// of them, and ranges that are ambiguous, or part of a block, around them.
func TestWalks(t *testing.T) {
	s := openEmpty(t)
	rnd := rand.New(rand.NewPCG(1, 5))
	var blocks []*decoder.Block
	for i := range 60 {
		blocks = append(blocks, &decoder.Block{Addr: uint64(i * 16), End: uint64(i*16 + 3), N: 3, Lens: []uint8{1, 1, 1}, Class: isa.JumpInd})
	}
	var paths [][]*decoder.Block
	for range 700 {
		var p []*decoder.Block
		for range 1 + rnd.IntN(9) {
			p = append(p, blocks[rnd.IntN(len(blocks))])
		}
		paths = append(paths, p)
	}
	by, plain := New(s, &host.Filter{}, Options{}), New(s, &host.Filter{}, Options{})
	if !by.AsksPaths() || New(s, &host.Filter{}, Options{Time: true}).AsksPaths() {
		t.Error("who counts times asks for paths, or who counts none does not")
	}
	for k := range 3000 {
		b := &decoder.Batch{Stamps: make([]decoder.Stamp, 1)}
		b.Stamps[0].Time = event.Time{Lo: uint64(k), Hi: uint64(k)}
		for range rnd.IntN(8) {
			switch rnd.IntN(6) {
			case 0:
				b.Ranges = append(b.Ranges, decoder.BatchRange{Block: blocks[rnd.IntN(60)], N: uint16(1 + rnd.IntN(3)), Verdict: decoder.Verdict(rnd.IntN(5))})
			case 1:
				n := decoder.Note{Kind: decoder.NoteEvent, At: len(b.Ranges)}
				n.Event.Kind, n.Event.From = event.Async, 5
				b.Notes = append(b.Notes, n)
			default:
				i := rnd.IntN(1 + rnd.IntN(len(paths)))
				b.Walked = slices.Grow(b.Walked, 1)[:len(b.Walked)+1]
				x := &b.Walked[len(b.Walked)-1]
				x.At, x.Number, x.N = uint32(len(b.Ranges)), uint32(i+1), uint8(len(paths[i]))
				for _, x := range paths[i] {
					b.Ranges = append(b.Ranges, decoder.BatchRange{Block: x, N: 3})
				}
			}
		}
		if n := len(b.Ranges); n > 0 && rnd.IntN(9) == 0 {
			b.Notes = []decoder.Note{{Kind: decoder.NoteTrackOn, At: rnd.IntN(n)}}
		}
		without := *b
		without.Walked = nil
		if by.Flow(b) != nil || plain.Flow(&without) != nil {
			t.Fatal("an error")
		}
		if k%500 > 0 && k < 2999 {
			continue // asked for while it goes on, too
		}
		got, want := by.All(0), plain.All(0)
		if !reflect.DeepEqual(got.Ranges(), want.Ranges()) || by.Instructions != plain.Instructions {
			t.Fatalf("%d batches: %d ranges, %v, want %d, %v", k, len(got.Ranges()), by.Instructions, len(want.Ranges()), plain.Instructions)
		}
		if g, w := got.Edges(), want.Edges(); !reflect.DeepEqual(g, w) || len(w) == 0 {
			t.Fatalf("%d batches: %d edges, want %d", k, len(g), len(w))
		}
	}
}
