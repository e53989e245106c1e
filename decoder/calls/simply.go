package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// simply goes over the ranges from i on as goesOver does, as long as these are simple. They have one
// stamp and are certain. They go straight on in the function, or are a brief call's beginning or
// end. It returns where it ends, and goesOver's insns, prev and here as of then. Most ranges
// need no more.
func simply(c *cpu, list []decoder.BatchRange, i int, stamp uint32, insns uint64, prev *decoder.Block, here bool) (end int, sum uint64, last *decoder.Block, seen bool) {
	if c.isBrisk() {
		return briskly(c, list, i, stamp, insns, prev, here)
	}
	folds := (c.Fold || c.Brief) && c.top != nil && c.stated < c.tenure.until
	for {
		n, ran, ends := straight(list[i:], stamp, &c.inside, c.returner, here)
		if n > 0 {
			i += n
			insns, prev, here = insns+ran&c.counts, list[i-1].Block, false
		}
		if !ends || !folds || i+1 >= len(list) {
			return i, insns, prev, here
		}
		k, to := list[i].Block, &list[i+1]
		if list[i].N != k.N || to.Stamp != stamp || flow.IsDetour(&list[i]) {
			return i, insns, prev, here
		}
		done := false
		if all := insns + uint64(k.N); k.Class == isa.Return {
			done = returnsBriefly(c, k, to.Block, all, decoder.Certain)
		} else {
			done = c.briefly(k, to.Block, all, decoder.Certain)
		}
		if !done {
			return i, insns, prev, here
		}
		insns, prev, here = 0, k, true
		i++
	}
}

// straight counts the ranges at the beginning of list that go straight on in code and for which
// nothing is to be done, and their instructions. ends says that one more follows, which leaves in
// another way than by a jump. The first lies in the code where here is set. It calls nothing: so
// what the loop needs stays in registers.
func straight(list []decoder.BatchRange, stamp uint32, in *inside, returner *decoder.Block, here bool) (n int, insns uint64, ends bool) {
	lo, size, inner := in.lo, in.size, in.inner
	for i := range list {
		x := &list[i]
		k := x.Block
		if x.Stamp != stamp || x.Verdict != decoder.Certain || (k.Addr-lo-1 >= inner || k.End-lo > size) && k != returner && (!here || i > 0) {
			return i, insns, false
		}
		if ending.Has(k.Class % 32) {
			return i, insns, true
		}
		insns += uint64(x.N)
	}
	return len(list), insns, false
}
