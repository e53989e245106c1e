package calls

import "github.com/ptdecode/ptdecode/decoder"

// simply goes over the ranges from i on as goesOver does, as long as these are simple. They have one
// stamp and are certain. They go straight on in the function, or are a brief call's beginning or
// end. It returns where it ends, and goesOver's insns, prev and here as of then. Most ranges
// need no more.
func simply(c *cpu, list []decoder.BatchRange, i int, stamp uint32, insns uint64, prev *decoder.Block, here bool) (end int, sum uint64, last *decoder.Block, seen bool) {
	lo, size, inner, counts, returner := c.lo, c.size, c.inner, c.counts, c.returner
	folds := (c.Fold || c.Brief) && c.top != nil && c.stated < c.tenure.until
	for ; i < len(list); i++ {
		x := &list[i]
		k := x.Block
		if x.Stamp != stamp || x.Verdict != decoder.Certain || !here && (k.Addr-lo-1 >= inner || k.End-lo > size) && k != returner {
			break
		}
		if !ending.Has(k.Class % 32) {
			insns, prev, here = insns+uint64(x.N)&counts, k, false
			continue
		}
		if !folds || x.N != k.N || i+1 == len(list) || list[i+1].Stamp != stamp || !c.briefly(k, list[i+1].Block, insns+uint64(x.N), decoder.Certain) {
			break
		}
		insns, prev, here = 0, k, true
		lo, size, inner = c.lo, c.size, c.inner
	}
	return i, insns, prev, here
}
