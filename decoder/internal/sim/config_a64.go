package sim

// What traces an A64 CPU, and how densely it states the time: coarse is a
// timestamp each few thousand ticks, fine each few ticks.
const (
	A64Coarse   = NumTimings + iota // a script: what a trace unit's decoder would state
	A64Fine                         //
	ETMv4Coarse                     // packets of ETMv4
	ETMv4Fine                       //
	ETECoarse                       // packets of ETE
	ETEFine                         //
	PTMCoarse                       // packets of PTM: of A32 and T32, as those of ETMv3
	PTMFine                         //
	ETMv3Coarse                     //
	ETMv3Fine                       //
	AllTimings                      // one more than the last
)

// What only the A64 machine's patcher does. It knows WorkJump, WorkFtrace,
// WorkKprobe and WorkStop too: B and BL for NOP by one store, BRK by stop_machine
// or by one store, anything by stop_machine.
const (
	WorkUnsafe Work = WorkLoad << (1 + iota) // instructions outside of the hot-patch list, by one store
	WorkUndef                                // probes made of an undefined instruction, by stop_machine (arm32's kprobes)

	workA64 = WorkJump | WorkFtrace | WorkKprobe | WorkStop | WorkUnsafe | WorkUndef
)

// DrawA64 returns a Config for SimulateA64 whose every choice is drawn from
// seed: small enough (2,000 instructions a CPU) that thousands run in seconds.
func DrawA64(seed uint64) Config {
	r := newRand(seed, 0xa64)
	c := drawSize(seed, &r)
	c.PokeGap = 100 + r.n(1000)
	c.drawPace(&r)
	c.Timing = A64Coarse + Timing(r.n(2))
	c.RetStack = int(r.n(16))
	c.PSBBytes = 200 + int(r.n(3000))
	c.IRQ = 100 + r.n(1500)
	for c.Work == 0 {
		c.Work = Work(r.next()) & workA64
	}
	if r.n(4) > 0 { // what cannot be known is asked of the minority
		if c.Work &^= WorkUnsafe; c.Work == 0 {
			c.Work = WorkJump | WorkFtrace
		}
	}
	if r.one(2) {
		c.Window = 400 + r.n(4000)
	}
	if r.one(2) {
		c.Funcs, c.IRQ = 6+int(r.n(4)), 1000+r.n(5000)
	}
	c.Stamps = 1 + r.n(60)
	if c.Timing == A64Coarse {
		c.Stamps = 500 + r.n(20000)
	}
	c.drawOverflows(&r)
	return c
}

// SparseA64 is Sparse for SimulateA64.
func SparseA64(seed uint64) Config { return DrawA64(seed).sparse() }

// WithETM returns c with trace units that write packets, of ETMv4 or ETE as the
// seed has it, in place of scripts. A third of the programs that ETE traces have
// transactions.
func (c Config) WithETM() Config {
	r := newRand(c.Seed, 0xe7)
	c.Timing += ETMv4Coarse - A64Coarse + 2*Timing(r.n(2))
	c.Tx = c.Timing >= ETECoarse && r.one(3)
	return c
}
