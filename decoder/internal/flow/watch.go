package flow

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
	to     Sink
	latest [1 << 10]*Block // that were noted, by number
}

// Clear has w begin anew.
func (w *Watch) Clear() { *w = Watch{} }

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
	for i := range b.Ranges {
		x := b.Ranges[i].Block
		if k := &w.latest[x.Number%uint32(len(w.latest))]; *k != x {
			*k = x
			w.note(x.Addr, x.End+mostInsn)
		}
	}
	return w.to.Flow(b)
}
