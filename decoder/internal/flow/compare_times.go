package flow

import (
	"math"
	"slices"
)

// Two flows may hold the same instruction at different times: where the one uses up an outcome that the
// other leaves, the next events lead to different instructions. As either flow may be the true one, the
// bounds of that instruction's time are those of both.

// stamp returns where and when x, which is no gap, was executed.
func (x *item) stamp() *Stamp { return &x.n.out.Stamps[x.r.Stamp] }

// widenTime has a's time hold that of b, which it is in the other flow. It holds for all ranges of the same stamp.
func (al *aligner) widenTime(a, b *item) {
	x, y := &a.stamp().Time, &b.stamp().Time
	if x.Lo <= y.Lo && y.Hi <= x.Hi {
		return
	}
	x.Lo, x.Hi = min(x.Lo, y.Lo), max(x.Hi, y.Hi)
	al.wider = true
	al.touch(a.n)
}

// inOrder has bounds of time that became wider not go back in the flow that ends at n, since from: what
// stands behind another instruction was executed behind it.
func (al *aligner) inOrder(n *node, from point) {
	if !al.wider {
		return
	}
	al.wider = false
	path := al.pathSince(n, from)
	hi, lo := uint64(0), uint64(math.MaxUint64)
	for _, n := range slices.Backward(path) {
		stamps := from.stampsBehind(n)
		for i := range stamps {
			hi = max(hi, stamps[i].Time.Hi)
			stamps[i].Time.Hi = hi
		}
	}
	for _, n := range path {
		stamps := from.stampsBehind(n)
		for i := len(stamps) - 1; i >= 0; i-- {
			lo = min(lo, stamps[i].Time.Lo)
			stamps[i].Time.Lo = lo
		}
	}
}

// stampsBehind returns the stamps of n, which is p's node or one behind it, that ranges behind p have.
func (p point) stampsBehind(n *node) []Stamp {
	switch {
	case n != p.n:
		return n.out.Stamps
	case p.k < len(n.out.Ranges):
		return n.out.Stamps[n.out.Ranges[p.k].Stamp:]
	}
	return nil
}
