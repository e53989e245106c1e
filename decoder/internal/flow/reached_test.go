package flow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// recut returns ran, instructions by the event that led to them, as batches: in order, cut into
// ranges at random. Notes lie between, one behind each instruction that note says.
func recut(r *rand.Rand, ran []int64, note func(i int) bool) (out []*Batch) {
	var b *Batch
	for i := 0; i < len(ran); {
		if b == nil || r.IntN(4) == 0 {
			b = &Batch{}
			out = append(out, b)
		}
		n := 1
		for n < 1+r.IntN(4) && i+n < len(ran) && ran[i+n] == ran[i] && !note(i+n-1) {
			n++
		}
		if k := len(b.Stamps); k == 0 || b.Stamps[k-1].Off != ran[i] {
			b.Stamps = append(b.Stamps, Stamp{Off: ran[i]})
		}
		b.Ranges = append(b.Ranges, Range{Block: &Block{Addr: uint64(i), N: uint16(n)}, N: uint16(n), Stamp: uint32(len(b.Stamps) - 1)})
		i += n
		if note(i - 1) {
			b.Notes = append(b.Notes, Note{At: len(b.Ranges), Kind: NoteEvent, IP: uint64(i - 1)})
		}
	}
	return out
}

// itemsOf spells instructions and notes of b, in order.
func itemsOf(b *Batch) (out []string) {
	for n, r := range b.All() {
		switch {
		case r == nil && n.Kind == NoteGap:
			out = append(out, "gap")
		case r == nil:
			out = append(out, fmt.Sprint("note ", n.IP))
		default:
			for i := range int(r.N) {
				out = append(out, fmt.Sprint(int(r.Block.Addr)+i))
			}
		}
	}
	return out
}

// TestReached would catch an instruction or a note that is told twice, or not at all, where a
// segment is decoded anew after some of it was handed on. The new decoding has other ranges. Where the
// place lies within one, all of that is left out, and there is a gap. It goes forwards and backwards.
func TestReached(t *testing.T) {
	torn := 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 8))
		ran := make([]int64, 40)
		for i := range ran[1:] {
			ran[i+1] = ran[i] + int64(r.IntN(5)/4)
		}
		noted := r.Uint64() & r.Uint64()
		note := func(i int) bool { return noted>>i&1 == 1 }
		var whole []string
		for i := range ran {
			if whole = append(whole, fmt.Sprint(i)); note(i) {
				whole = append(whole, fmt.Sprint("note ", i))
			}
		}
		old, anew := recut(r, ran, note), recut(r, ran, note)
		d := Reached{Back: seed%2 == 1}
		if first := (&Batch{Notes: []Note{{Kind: NoteEvent, IP: 99}}}); seed%4 == 0 { // a note, and no range yet
			whole = append([]string{"note 99"}, whole...)
			old, anew = append([]*Batch{first}, old...), append([]*Batch{{Notes: slices.Clone(first.Notes)}}, anew...)
		} else if seed%4 == 1 {
			whole = append(whole, "note 99")
			old, anew = append(old, first), append(anew, &Batch{Notes: slices.Clone(first.Notes)})
		}
		if d.Back {
			slices.Reverse(old)
			slices.Reverse(anew)
		}
		var got []string
		take := func(b *Batch) {
			if x := itemsOf(b); d.Back {
				got = append(x, got...)
			} else {
				got = append(got, x...)
			}
		}
		for _, b := range old[:r.IntN(len(old)+1)] {
			d.Add(b)
			take(b)
		}
		before := len(got)
		active := d.Some()
		for _, b := range anew {
			if active && d.Cut(b) {
				active = false
			}
			take(b)
		}
		gap := slices.Index(got, "gap")
		if gap < 0 {
			if !slices.Equal(got, whole) {
				t.Fatalf("seed %d: %q behind %d, want %q", seed, got, before, whole)
			}
			continue
		}
		torn++
		lost := len(whole) + 1 - len(got) // of the range that was torn
		if lost < 1 || lost > 3 || !slices.Equal(slices.Concat(got[:gap], got[gap+1:]), slices.Concat(whole[:gap], whole[gap+lost:])) {
			t.Fatalf("seed %d: %q, want %q but for the range at the gap", seed, got, whole)
		}
	}
	if torn < 100 {
		t.Errorf("%d ranges were torn: too few to say anything", torn)
	}
}
