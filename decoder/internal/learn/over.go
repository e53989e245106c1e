package learn

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Over is ideas that are laid over code.
type Over []Idea

// Fetch copies the code at addr to dst, with the ideas over what fetch gives. It returns
// how many bytes are known, and the epochs for which they are these.
func (o Over) Fetch(dst []byte, addr uint64, fetch func(dst []byte, addr uint64) (int, event.Span)) (int, event.Span) {
	n, span := fetch(dst, addr)
	for again := true; again; {
		again = false
		for i := range o {
			x := &o[i]
			if x.Addr > addr+uint64(n) || addr >= x.Addr+uint64(len(x.Code)) || n == len(dst) && x.Addr >= addr+uint64(n) {
				continue
			}
			from := max(x.Addr, addr)
			end := int(from-addr) + copy(dst[from-addr:], x.Code[from-x.Addr:])
			if end > n { // the code was not known up to here
				m, more := fetch(dst[end:], addr+uint64(end))
				n, span, again = end+m, span.Intersect(more), true
			}
		}
	}
	return n, span
}

// Bounds returns between which addresses the ideas lie.
func (o Over) Bounds() (lo, hi uint64) {
	lo = math.MaxUint64
	for i := range o {
		lo, hi = min(lo, o[i].Addr), max(hi, o[i].Addr+uint64(len(o[i].Code)))
	}
	return lo, hi
}

// Overlap reports whether an idea lies over a byte of [addr, end).
func (o Over) Overlap(addr, end uint64) bool {
	for k := range o {
		if x := &o[k]; x.Addr < end && addr < x.Addr+uint64(len(x.Code)) {
			return true
		}
	}
	return false
}
