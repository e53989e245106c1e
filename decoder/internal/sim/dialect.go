package sim

// dialect is what the machine of Arm's CPUs must know of their instructions:
// there is one of A64, and one of A32 and T32.
type dialect interface {
	// layout returns where the kernel's text lies, and what is allocated while it
	// runs, in reach of a direct branch.
	layout() (text, dyn uint64)
	// decode reads the instruction w at addr. It knows the encodings that this
	// package emits and no more; it shares nothing with the decoder under test.
	decode(w uint32, addr uint64) insn
	// hotpatch reports whether a CPU that runs w at addr while it is rewritten to
	// another such instruction runs either the old or the new one.
	hotpatch(w uint32, addr uint64) bool
	// torn returns what a CPU may run at addr besides the old instruction and the
	// new one, of which w is one, where the architecture promises nothing.
	torn(w uint32, addr uint64) []uint32
	// nop, jump and call return an instruction of the length of w, at from.
	nop(w uint32, from uint64) uint32
	jump(w uint32, from, to uint64) uint32
	call(w uint32, from, to uint64) uint32
	// vectors names the entries of exceptions, and says which is whose.
	vectors() (names []string, of [numReasons]int)
	// handlers names the handlers.
	handlers() [numReasons]string
	// probeWords returns what stands for w at addr under a probe: a breakpoint, what
	// stands behind the probe's copy, and an undefined instruction.
	probeWords(w uint32, addr uint64) (hit, behind, undef uint32)

	// stops reports whether the kernel stops every CPU where it could do without.
	stops() bool
	// trampoline returns code for addr, or in T32 behind it, that calls tracer and returns.
	trampoline(addr, tracer uint64) (at uint64, words []uint32)

	// What follows writes one thing into a program.

	setUp(g *genArm)                      // what holds for the whole
	begin(g *genArm, l label)             // the instruction set of what is written next, which may be the function l
	prologue(g *genArm)                   // what may stand at a function's start
	traced(g *genArm)                     // what stands before a function's traced entry
	plain(g *genArm)                      // an instruction that goes on
	conditional(g *genArm)                // instructions that may fail a condition without being branches
	jumpTo(g *genArm, l label)            // a direct jump
	callTo(g *genArm, l label)            // a direct call
	condTo(g *genArm, l label, near bool) // a conditional branch; near: over a few plain instructions
	guardTo(g *genArm, l label)           // a conditional branch that an instruction follows
	callThrough(g *genArm, any bool)      // an indirect call
	jumpThrough(g *genArm)                // an indirect jump to another function
	choose(g *genArm)                     // an indirect jump through a table
	dispatch(g *genArm)                   // the jump from an exception's entry
	ret(g *genArm, odd bool)              // a return; odd: of a rarer kind
	barrier(g *genArm)                    // ISB
	raise(g *genArm)                      // what calls up an exception level
	warn(g *genArm)                       // a breakpoint that was always there
	undefined(g *genArm)                  // what is never executed
	interrupts(g *genArm, on bool)        // allows interrupts, or not
	yield(g *genArm)
	eret(g *genArm)
	place(g *genArm, d *draftArm) // a patch site, whose text variants gives
	variants(g *genArm, s *siteArm, d *draftArm) []uint32
}
