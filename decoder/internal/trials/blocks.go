package trials

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/kcore"
)

// Blocks is blocks of one code, one cache for each way in which code is read. Other code is laid over them
// and lifted again: blocks of the rest are made once. Its methods are called while no one reads the caches.
type Blocks struct {
	caches  []*flow.Cache
	over    *kcore.Text // that is laid over them; nil: none that lies there longer than a trial
	changes int         // how often that became another one
}

// Changes returns how often the blocks became those of other code, but for trials. While it stays, blocks that were
// read before lie there still, or lie there again.
func (b *Blocks) Changes() int { return b.changes }

// NewBlocks returns caches as blocks of one code.
func NewBlocks(caches []*flow.Cache) *Blocks {
	for _, c := range caches {
		c.Lists()
	}
	return &Blocks{caches: caches}
}

// Over is code that is laid over other code.
type Over interface {
	// Overlap reports whether it has a byte of [addr, end).
	Overlap(addr, end uint64) bool
	// Bounds returns between which addresses it lies.
	Bounds() (lo, hi uint64)
}

// Anywhere is Over without bounds.
type Anywhere func(addr, end uint64) bool

// Overlap is k.
func (k Anywhere) Overlap(addr, end uint64) bool { return k(addr, end) }

// Bounds has everything lie within them.
func (Anywhere) Bounds() (lo, hi uint64) { return 0, math.MaxUint64 }

// Lay lays other code over that of the blocks, and returns what lifts it (flow.Cache.Lay). What was learned is
// lifted before.
func (b *Blocks) Lay(over Over) (lift func()) {
	b.Lift()
	lo, hi := over.Bounds()
	for _, c := range b.caches {
		c.Lay(lo, hi, over.Overlap)
	}
	return b.lift
}

// lift takes away what lies over the blocks.
func (b *Blocks) lift() {
	for _, c := range b.caches {
		c.Lift()
	}
}

// Lift takes away what was learned, if it lies over the blocks.
func (b *Blocks) Lift() {
	if b.Has(nil) {
		return
	}
	b.lift()
	b.over = nil
	b.changes++
}

// Has reports whether the blocks are of text; nil: of their own code.
func (b *Blocks) Has(text *kcore.Text) bool { return b.over == text }

// Learn lays over the blocks of base what was learned, with which the code is text. ok is false, and nothing
// lies over them, if the code may differ elsewhere, too. Records that tell of such code have it lie in other
// epochs.
func (b *Blocks) Learn(base, text *kcore.Text, list []kcore.Learned) (ok bool) {
	if b.Has(text) {
		return true
	}
	b.Lift()
	if base.Journal() != text.Journal() {
		return false
	}
	var over learn.Over
	for i := range list {
		l := &list[i]
		if l.Was != nil || len(text.Between(l.Addr, len(l.Code), 0, event.Epoch(text.Len()), nil)) > 0 {
			return false
		}
		over = append(over, learn.Idea{Addr: l.Addr, Code: l.Code})
	}
	b.Lay(over)
	b.over = text
	b.changes++
	return true
}

// Keep has the blocks be of what was learned from now on.
func (b *Blocks) Keep() {
	for _, c := range b.caches {
		c.KeepLaid()
	}
	b.over = nil
}
