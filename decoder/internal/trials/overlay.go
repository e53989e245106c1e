package trials

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
)

// Overlay is code with ideas laid over it, at every moment (flow.Text).
type Overlay struct {
	flow.Text
	Ideas learn.Over
}

// Fetch copies the code at addr as of epoch at.
func (o *Overlay) Fetch(dst []byte, space uint32, addr uint64, at event.Epoch) (int, event.Span) {
	if space != 0 {
		return o.Text.Fetch(dst, space, addr, at)
	}
	return o.Ideas.Fetch(dst, addr, func(dst []byte, addr uint64) (int, event.Span) { return o.Text.Fetch(dst, 0, addr, at) })
}

// Between appends the pokes in [lo, hi) that change the n bytes at addr, but for those
// that lie under an idea.
func (o *Overlay) Between(dst []int, addr uint64, n int, lo, hi event.Epoch) []int {
	start := len(dst)
	dst = o.Text.Between(dst, addr, n, lo, hi)
	kept := dst[:start]
	for _, i := range dst[start:] {
		if p := o.Text.Poke(i); !o.Ideas.Overlap(p.Addr, p.Addr+uint64(p.Len)) {
			kept = append(kept, i)
		}
	}
	return kept
}
