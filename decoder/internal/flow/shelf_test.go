package flow

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestShelf would catch a batch that is told otherwise than it was when it was kept: another block, part of one, a
// verdict, or a moment. It is told as a whole, and range by range. Blocks of two caches may have one number. It would catch more than may be kept.
func TestShelf(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0x5e1f))
	var blocks []*Block
	for i := range 3000 {
		blocks = append(blocks, &Block{Addr: uint64(i), N: uint16(1 + r.IntN(300)), Number: uint32(i % 2500)})
	}
	var k Shelf
	var was []*Batch
	var list []*Kept
	strange, size, flat := 0, int64(0), int64(0)
	for range 400 {
		b := &Batch{Stream: r.IntN(3)}
		stamp, at := 0, r.IntN(len(blocks))
		for range r.IntN(600) {
			if at = (at + r.IntN(9)) % len(blocks); r.IntN(30) == 0 {
				at = r.IntN(len(blocks))
			}
			x := Range{Block: blocks[at], Stamp: uint32(stamp), N: blocks[at].N}
			switch r.IntN(40) {
			case 0:
				x.N = uint16(1 + r.IntN(int(x.N)))
			case 1:
				x.Verdict = Verdict(r.IntN(int(numVerdicts)))
			case 2:
				x.flags = rangeFlags(r.IntN(256))
			case 3:
				stamp += r.IntN(5)
			default:
				stamp += r.IntN(2)
			}
			b.Ranges = append(b.Ranges, x)
		}
		s := Stamp{Off: r.Int64N(1 << 40)}
		for range stamp + 1 {
			if s.Off += r.Int64N(4); r.IntN(50) == 0 {
				s.Time = event.Time{Lo: r.Uint64(), Hi: math.MaxUint64}
			}
			b.Stamps = append(b.Stamps, s)
		}
		for range r.IntN(3) {
			b.Notes = append(b.Notes, Note{At: r.IntN(600), IP: r.Uint64()})
		}
		k.Keep(b, math.MaxInt64, nil)
		x := k.Keep(b, math.MaxInt64, nil) // of blocks that it knows
		if y := k.Keep(b, x.Size()-1, nil); y != nil {
			t.Fatalf("%d bytes are kept, of %d at most", y.Size(), x.Size()-1)
		}
		was, list, size, flat = append(was, b), append(list, x), size+x.Size(), flat+BatchFilled(b)
	}
	got := &Batch{}
	has := 0
	seek := func(b *Block) bool { return b.Addr%997 == 5 } // of blocks with numbers of their own, and with another's
	s := &Sought{Is: seek}
	for i, x := range list {
		want := slices.ContainsFunc(was[i].Ranges, func(r Range) bool { return seek(r.Block) })
		if x.Has(s) != want {
			t.Fatalf("batch %d has a block that is sought: %v, want %v", i, !want, want)
		}
		n := 0
		for _, r := range was[i].Ranges {
			n += int(r.N)
		}
		if want {
			has++
		}
		if x.Insns() != n {
			t.Fatalf("batch %d: %d instructions, want %d", i, x.Insns(), n)
		}
		goThrough(t, s.Pass(x), was[i], seek)
		x.Fill(got)
		strange = max(strange, len(x.others))
		if w := was[i]; got.Stream != w.Stream || !slices.Equal(got.Ranges, w.Ranges) || !slices.Equal(got.Stamps, w.Stamps) ||
			!slices.EqualFunc(got.Notes, w.Notes, func(a, b Note) bool { return a.At == b.At && a.IP == b.IP }) {
			t.Fatalf("batch %d is told otherwise than it was", i)
		}
	}
	if strange < 100 || size > flat/3 || has < 50 || has > len(list)-50 {
		t.Errorf("%d blocks whose number is another's; %d bytes in place of %d; %d of %d have a block that is sought", strange, size, flat, has, len(list))
	}
}

// goThrough goes through what was kept of a batch, by its ranges.
func goThrough(t *testing.T, p Passing, b *Batch, seek func(*Block) bool) {
	t.Helper()
	i := 0
	for ; p.Next(); i++ {
		if i == len(b.Ranges) {
			t.Fatal("there is a range too many")
		}
		x := &b.Ranges[i]
		if p.Block != x.Block || p.N != x.N || p.Is != seek(x.Block) || p.Off != b.Stamps[x.Stamp].Off {
			t.Fatalf("range %d: %d instructions of %#x, sought %v, of the event at %d; want %+v", i, p.N, p.Block.Addr, p.Is, p.Off, x)
		}
	}
	if i < len(b.Ranges) {
		t.Fatalf("there are %d ranges, want %d", i, len(b.Ranges))
	}
}
