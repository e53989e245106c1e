package flow

// Walked is ranges of a batch that were walked as a path: the same blocks as each time before, all of them executed
// whole, and certain. A sink that keeps by Number what such ranges come to need not look at each of them.
type Walked struct {
	At     uint32 // index in Batch.Ranges of the first
	Number uint32 // of the path, from 1 on: where it is the same, the blocks are
	N      uint8  // ranges
}

// PathSink is a Sink that may ask for Batch.Walked. Where another stands in front of it, there is none.
type PathSink interface {
	Sink
	AsksPaths() bool // reports whether it does
}

// AsksPaths reports whether sink asks which ranges were walked as paths.
func AsksPaths(sink Sink) bool {
	x, ok := sink.(PathSink)
	return ok && x.AsksPaths()
}

// pathNumbers bounds the paths that have a number.
const pathNumbers = 1 << 16

// walked notes that the ranges from at on are p's, if p has a number or can get one.
func (w *Walker) walked(p *path, at int) {
	if p.number == 0 {
		n := w.exec.code.cache.paths
		if n.Load() >= pathNumbers {
			return
		}
		p.number = n.Add(1)
	}
	b := &w.exec.out.batch
	b.Walked = append(b.Walked, Walked{uint32(at), p.number, p.n})
}

// splitWalked leaves in b what of b.Walked lies before range at, and appends to dst what lies behind, counted from there.
// What lies on both sides is left out.
func (b *Batch) splitWalked(dst []Walked, at int) []Walked {
	k := len(b.Walked)
	for k > 0 && int(b.Walked[k-1].At) >= at {
		k--
	}
	for _, x := range b.Walked[k:] {
		x.At -= uint32(at)
		dst = append(dst, x)
	}
	if k > 0 && int(b.Walked[k-1].At)+int(b.Walked[k-1].N) > at {
		k--
	}
	b.Walked = b.Walked[:k]
	return dst
}

// Unwalk forgets Walked: verdicts of b's ranges may change.
func (b *Batch) Unwalk() { b.Walked = b.Walked[:0] }
