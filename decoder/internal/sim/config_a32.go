package sim

const workA32 = workA64 | WorkOptprobe

// DrawA32 is DrawA64 for SimulateA32.
func DrawA32(seed uint64) Config {
	c := DrawA64(seed)
	r := newRand(seed, 0xa32)
	c.Timing += PTMCoarse - A64Coarse + 2*Timing(r.n(2))
	c.Work = 0
	for c.Work == 0 {
		c.Work = Work(r.next()) & workA32
	}
	if r.n(3) > 0 {
		if c.Work &^= WorkUnsafe; c.Work == 0 {
			c.Work = WorkJump | WorkUndef
		}
	}
	return c
}

// SparseA32 is Sparse for SimulateA32.
func SparseA32(seed uint64) Config { return DrawA32(seed).sparse() }
