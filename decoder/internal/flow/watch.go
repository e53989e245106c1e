package flow

import "slices"

// Reads is what code was read: a set of addresses, which may have some more. It is 2 KiB.
type Reads [1 << (readsBits - 6)]uint64

// A bit of Reads stands for pieces of 1<<pieceBits bytes of code, by a hash.
const (
	readsBits = 14
	pieceBits = 4
)

// bitOf returns which bit stands for a piece.
func (r *Reads) bitOf(piece uint64) (word *uint64, bit uint64) {
	h := piece * 0x9e3779b97f4a7c15 >> (64 - readsBits)
	return &r[h>>6], 1 << (h & 63)
}

// note notes that code of [addr, end) was read.
func (r *Reads) note(addr, end uint64) {
	for p := addr >> pieceBits; p <= (end-1)>>pieceBits; p++ {
		word, bit := r.bitOf(p)
		*word |= bit
	}
}

// Has reports whether code of [addr, end) may have been read. Where it says no, none was.
func (r *Reads) Has(addr, end uint64) bool {
	for p := addr >> pieceBits; p <= (end-1)>>pieceBits; p++ {
		if word, bit := r.bitOf(p); *word&bit != 0 {
			return true
		}
	}
	return false
}

// Watch notes what code walks read. One goroutine uses it.
type Watch struct {
	Reads
	to      Sink
	latest  [1 << 10]*Block // that were noted, by number
	shelf   *Shelf
	shelved blockBits // what was executed of the blocks that the shelf has by number
}

// blockBits is blocks, by number: a bit each.
type blockBits []uint64

// contains reports whether block n is among them.
func (s blockBits) contains(n uint32) bool { return int(n>>6) < len(s) && s[n>>6]>>(n&63)&1 != 0 }

// Clear has w begin anew.
func (w *Watch) Clear() {
	clear(w.shelved)
	*w = Watch{shelf: w.shelf, shelved: w.shelved}
}

// shelves has w know a bit of each block that k has by number, and returns them.
func (w *Watch) shelves(k *Shelf) blockBits {
	if w.shelf != k {
		w.shelf = k
		clear(w.shelved)
	}
	if n := len(k.blocks)>>6 + 1 - len(w.shelved); n > 0 {
		w.shelved = append(w.shelved, make([]uint64, n)...)
	}
	return w.shelved
}

// read notes that code of [addr, end) was read.
func (w *Watch) read(addr, end uint64) {
	if w != nil {
		w.note(addr, end)
	}
}

// Sink returns a sink that notes what was executed, and hands it on. A walk tells w by itself what else
// it reads (Config.Watch).
func (w *Watch) Sink(to Sink) Sink {
	w.to = to
	return w
}

// Flow takes a batch.
func (w *Watch) Flow(b *Batch) error {
	w.Executed(b)
	return w.to.Flow(b)
}

// Executed notes what a batch executed.
func (w *Watch) Executed(b *Batch) {
	for i := range b.Ranges {
		w.ranLately(b.Ranges[i].Block)
	}
}

// ranLately notes that x was executed, if that is not among what was noted last.
func (w *Watch) ranLately(x *Block) {
	if k := &w.latest[x.Number%uint32(len(w.latest))]; *k != x {
		*k = x
		w.ran(x)
	}
}

// ran notes that x was executed.
func (w *Watch) ran(x *Block) { w.note(x.Addr, x.End+mostInsn) }

// CodeRead is what code was read: as Reads, and as blocks that a Shelf has.
type CodeRead struct {
	Reads
	ran blockBits
	of  *Shelf
}

// Read returns what code w was told of since it was cleared.
func (w *Watch) Read() *CodeRead { return &CodeRead{w.Reads, slices.Clone(w.shelved), w.shelf} }

// Size is what r takes in memory besides Reads, bytes.
func (r *CodeRead) Size() int64 { return int64(8 * len(r.ran)) }

// Asked is code of which it is asked who read it. One goroutine uses it, while none uses the Shelf.
type Asked struct {
	pieces []uint64
	of     *Shelf
	looked int      // at so many blocks of the shelf
	blocks []uint32 // those of them that were read from there, by number
}

// Ask returns the bytes at these addresses, in order, as what is asked for.
func Ask(at []uint64) (a Asked) {
	for _, x := range at {
		if p := x >> pieceBits; len(a.pieces) == 0 || a.pieces[len(a.pieces)-1] != p {
			a.pieces = append(a.pieces, p)
		}
	}
	return a
}

// ReadBy reports whether any of it may be among r. Where it says no, none is.
func (a *Asked) ReadBy(r *CodeRead) bool {
	for _, p := range a.pieces {
		if r.Reads.Has(p<<pieceBits, p<<pieceBits+1) {
			return true
		}
	}
	if r.of == nil {
		return false
	}
	if a.of != r.of {
		a.of, a.looked, a.blocks = r.of, 0, nil
	}
	for _, b := range a.of.added[a.looked:] {
		if slices.ContainsFunc(a.pieces, func(p uint64) bool { return p-b.piece < uint64(b.pieces) }) {
			a.blocks = append(a.blocks, b.number)
		}
	}
	a.looked = len(a.of.added)
	return slices.ContainsFunc(a.blocks, r.ran.contains)
}
