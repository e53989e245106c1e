package calls

import "github.com/ptdecode/ptdecode/decoder"

// simply goes over the ranges from i on as goesOver does, as long as these are simple. They have one
// stamp and are certain. They go straight on in the function, or are a brief call's beginning or
// end. It returns where it ends, and goesOver's insns, prev and here as of then. Most ranges
// need no more.
func simply(c *cpu, list []decoder.BatchRange, i int, stamp uint32, insns uint64, prev *decoder.Block, here bool) (end int, sum uint64, last *decoder.Block, seen bool) {
	all, list := len(list), list[i:]
	folds := (c.Fold || c.Brief) && c.top != nil && c.stated < c.tenure.until
	for len(list) > 0 {
		n, ran, ends := straight(list, stamp, &c.inside, c.returner, here)
		if n > 0 {
			insns, prev, here, list = insns+ran&c.counts, list[n-1].Block, false, list[n:]
		}
		if !ends || !folds || len(list) == 1 {
			break
		}
		x, next := &list[0], &list[1]
		k := x.Block
		if x.N != k.N || next.Stamp != stamp || !c.briefly(k, next.Block, insns+uint64(x.N), decoder.Certain) {
			break
		}
		insns, prev, here, list = 0, k, true, list[1:]
	}
	return all - len(list), insns, prev, here
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
