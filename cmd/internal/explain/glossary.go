package explain

// glossary returns the words of the output that are neither reasons, verdicts nor kinds,
// in the order of the alphabet.
func glossary() []Page {
	return []Page{
		{Word: "armed", Of: "word", Means: "A probe is armed while its breakpoint stands in the code. A CPU that comes there\ntakes a trap, and the probe's handler does the work of the covered instruction."},
		{Word: "break", Of: "word", Means: "A change to the code that no record names. It shows at the next recorded change\nof the address, whose old code is not what lay there."},
		{Word: "code", Of: "word", Means: "The machine code at an address at a moment: bytes and instructions."},
		{Word: "cut", Of: "word", Means: "The place in a CPU's flow where a change to the code took effect. Before it the\nCPU executed the old code, behind it the new."},
		{Word: "element", Of: "word", Means: "What an Arm trace states in one piece, under the name that OpenCSD has for it:\na range of instructions, an exception, a timestamp, ..."},
		{Word: "epoch", Of: "word", Means: "A moment of the code, as a number: how many of the recorded changes are done.\nEpoch 0 is before the first change."},
		{Word: "gap", Of: "word", Means: "A stretch of the flow that could not be followed, with its reason: lost trace,\nunknown code, a packet that contradicts the code, ..."},
		{Word: "poke", Of: "word", Means: "One change to the kernel's code: an address, the old bytes and the new. The\nkernel's own name for it is text poke."},
		{Word: "range", Of: "word", Means: "Instructions that were executed in a row, the last of which may branch."},
		{Word: "run", Of: "word", Means: "Instructions that were executed in a row and lie in a row in memory, with no gap\nand no exception between them."},
		{Word: "scheme", Of: "word", Means: "How the kernel makes a change while other CPUs run: with a breakpoint over the\nfirst byte (bp), with all CPUs stopped, with one atomic write, ..."},
		{Word: "segment", Of: "word", Means: "A stretch of a stream from one sync point to the next. It can be decoded on its\nown."},
		{Word: "slot", Of: "word", Means: "Memory that holds a copy of the instruction under a probe's breakpoint. A trap of\nthis kind was taken at the breakpoint behind the copy."},
		{Word: "stream", Of: "word", Means: "The trace of one source: a CPU, a thread, or a CoreSight trace ID."},
		{Word: "sync point", Of: "word", Means: "A packet from which decoding can begin, such as Intel PT's PSB."},
		{Word: "trap", Of: "word", Means: "A breakpoint exception: a CPU met a breakpoint in the code. Its kind says why the\nbreakpoint was there: window, armed, slot, ... It is debug where there was none: for\na hardware breakpoint or a single step of Arm."},
		{Word: "verdict", Of: "word", Means: "How it was settled which code an instruction was read from.\n  certain      by time: only one version of the code is possible\n  trace        by the trace: every other version contradicts it\n  exception    by a trap taken at the changed address\n  unconfirmed  as one of these, but the trace stated no address for long that the flow must reach\n  ambiguous    not settled: the likeliest of several versions is shown, or the trace contradicts the code a little further on"},
		{Word: "window", Of: "word", Means: "The time during which a change is being made. A CPU may meet the old code, the\nnew code, or a breakpoint."},
	}
}
