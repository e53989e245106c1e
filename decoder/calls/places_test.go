package calls

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
)

// TestMorePlaces would catch a table of places that loses some as it grows, or grows beyond its bound.
func TestMorePlaces(t *testing.T) {
	tree := &Tree{places: make([]place, 4)}
	f := make([]function, 4)
	var blocks []*decoder.Block
	for n := range f {
		b := &decoder.Block{Number: uint32(4 + n)}
		blocks = append(blocks, b)
		*tree.slot(b) = place{function: &f[n], block: b}
	}
	for _, n := range []uint32{9, 1000, placesMost + 5} {
		tree.morePlaces(n)
		if got := len(tree.places); got <= int(min(n, placesMost-1)) || got > placesMost {
			t.Errorf("room for %d blocks up to number %d", got, n)
		}
		for i, b := range blocks {
			if p := tree.slot(b); p.block != b || p.function != &f[i] {
				t.Errorf("up to number %d: block %d is lost", n, b.Number)
			}
		}
	}
}

// TestWritesAhead would catch memory of places that is written ahead where a block's place is already: it would
// be lost.
func TestWritesAhead(t *testing.T) {
	tree := &Tree{places: make([]place, placesFirst)}
	var blocks []*decoder.Block
	for _, n := range []uint32{1, 5000, 4999, 2, 7048, 3000, placesFirst - 1, 9000, placesFirst, placesFirst + 3000, 2*placesFirst - 1, 7} {
		if int(n) >= len(tree.places) {
			tree.morePlaces(n)
		}
		tree.writesAhead(int(n))
		b := &decoder.Block{Number: n}
		*tree.slot(b) = place{block: b}
		for _, b := range append(blocks, b) {
			if tree.slot(b).block != b {
				t.Errorf("behind block %d, block %d is lost", n, b.Number)
			}
		}
		if blocks = append(blocks, b); tree.written <= int(n) {
			t.Errorf("block %d lies where nothing was written", n)
		}
	}
}

// TestFind would catch functions that begin at one address and are taken for one: where a name changed, as
// a JIT's does, or files have one each.
func TestFind(t *testing.T) {
	tree := &Tree{found: map[functionAt]*function{}}
	at := functionAt{addr: 0x1000}
	for i, f := range []*function{{at: at, Sym: "one"}, {at: at, Sym: "two"}, {at: at, Sym: "one", File: "[m]"}} {
		if got := tree.find(at, f.Sym, f.File); got != nil {
			t.Errorf("%s %s: found %s %s", f.Sym, f.File, got.Sym, got.File)
		}
		if tree.finds(f); f.Function != i {
			t.Errorf("%s %s has number %d, want %d", f.Sym, f.File, f.Function, i)
		}
	}
	for _, f := range tree.functions {
		if got := tree.find(at, f.Sym, f.File); got != f {
			t.Errorf("%s %s: found %v", f.Sym, f.File, got)
		}
	}
}
