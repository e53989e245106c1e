package explain

// notes returns what trace events tell of, as flow --notes and the table events name it: the
// kinds first, then the details in the order of event.Detail.
func notes() []Page {
	return []Page{
		{"context", ofNote, "An event that says what the CPU is from there on, such as its page table or its mode. The word behind it says what.", "", []string{"cr3", "mode", "tx-state"}},
		{"payload", ofNote, "An event that carries data and moves nothing, such as a frequency or what the program wrote. The word behind it says what.", "", []string{"cbr", "ptwrite"}},
		{"trouble", ofNote, "The trace could not be read on from there. A gap says why.", "", []string{"gap"}},
		{"async", ofNote, "An interrupt or an exception: the flow left an instruction from which it does not go on by itself.", "", []string{"hw int"}},
		{"on", ofNote, "Tracing comes on.", "", []string{"tr strt"}},
		{"off", ofNote, "Tracing goes off.", "", []string{"tr end"}},

		{"cr3", ofNote, "The page table that the CPU goes over to (the register CR3): another process runs from there on, or the kernel's half of the same one.", "", nil},
		{"vmcs", ofNote, "The virtual machine that the CPU enters, by the address of its control structure.", "", nil},
		{"mode", ofNote, "The CPU's mode: 16, 32 or 64 bits, and whether it takes interrupts.", "", nil},
		{"tx-begin", ofNote, "A memory transaction begins.", "", []string{"tx-abort"}},
		{"tx-commit", ofNote, "A memory transaction is committed: what it wrote counts.", "", nil},
		{"tx-abort", ofNote, "A memory transaction was given up. What ran in it has no effect, and the flow goes on at its fallback.", "", []string{"tx abrt"}},
		{"tx-state", ofNote, "Whether the CPU is inside of a memory transaction, stated anew at a sync point. It says nothing new, and is there on CPUs without transactions, too.", "", []string{"tx-begin"}},
		{"ptwrite", ofNote, "A number that the program wrote into the trace with the instruction PTWRITE.", "", nil},
		{"exstop", ofNote, "The CPU stopped executing, to sleep.", "", []string{"pwrx"}},
		{"mwait", ofNote, "The CPU waits by MWAIT, with these hints.", "", nil},
		{"pwre", ofNote, "The CPU enters a sleeping state (C-state).", "", nil},
		{"pwrx", ofNote, "The CPU has left a sleeping state, and what woke it.", "", nil},
		{"block-begin", ofNote, "A group of items begins, such as the registers at a sample (PEBS).", "", nil},
		{"block-item", ofNote, "One item of such a group.", "", nil},
		{"block-end", ofNote, "The group of items ends.", "", nil},
		{"cfe", ofNote, "A control-flow event: what kind of interrupt, exception or return the flow takes.", "", nil},
		{"evd", ofNote, "Data of a control-flow event, such as the address of a page fault.", "", nil},
		{"trigger", ofNote, "A trigger of the trace unit fired.", "", nil},
		{"cbr", ofNote, "The CPU's frequency, as a ratio of its core clock to the bus clock. It changes with load, and is stated at sync points.", "", nil},
		{"tracestop", ofNote, "Tracing stopped by an address filter.", "", nil},
		{"mnt", ofNote, "A packet of the CPU's vendor, for maintenance.", "", nil},
		{"no-sync", ofNote, "The stream could not be read before here.", "", nil},
		{"trace-on", ofNote, "Tracing starts, or goes on behind something that was not traced.", "", nil},
		{"exception", ofNote, "An Arm exception, with its number as the protocol has it.", "", nil},
		{"exception-return", ofNote, "An Arm exception returns.", "", nil},
		{"function-return", ofNote, "A function returns to another security state (Armv8-M).", "", nil},
		{"pe", ofNote, "What the Arm core is from there on: exception level, security state, context and machine.", "", nil},
		{"timestamp", ofNote, "The time by the trace's clock.", "", nil},
		{"timestamp-marker", ofNote, "What the next timestamp is of.", "", []string{"timestamp"}},
		{"cycle-count", ofNote, "How many cycles the core took since the last count.", "", nil},
		{"trace-event", ofNote, "A numbered event of the trace unit occurred, as it was set up.", "", nil},
		{"instrumentation", ofNote, "A number that the program wrote into the trace (TRCIT).", "", nil},
		{"software", ofNote, "What software wrote to a stimulus port (STM, ITM).", "", nil},
		{"hardware", ofNote, "What hardware told a trace macrocell: an event, a counter, a watchpoint.", "", nil},
		{"stp-sync", ofNote, "A sync point of the System Trace Protocol: master and channel are zero again.", "", nil},
		{"stream-error", ofNote, "An error that the trace source itself reports.", "", nil},
		{"local-timestamp", ofNote, "Time since the last local timestamp (ITM).", "", nil},
		{"data-sync", ofNote, "A marker that ties the data trace to the instructions.", "", nil},
	}
}

// columns returns words that stand in columns and titles.
func columns() []Page {
	return []Page{
		{"across", ofColumn, "Of calls --split-at POKE: the call began before the change and ended after it, or it is not known on which side it lies.", "", []string{"before", "after", "poke"}},
		{"callers not seen", ofColumn, "Of stacks of a window: the calls outside of this one began before the window, or in a gap, and nothing in the 2 ms before it shows which they are.", "", nil},
		{"fitted", ofColumn, "A return that fitted no call in progress: it leads to where none of the calls that were seen awaits one. The call began before the trace shows it or in a gap, or the code changes its return address.", "", []string{"gap"}},
		{"before", ofColumn, "Of calls --split-at POKE: the call ended before the change.", "", []string{"across"}},
		{"after", ofColumn, "Of calls --split-at POKE: the call began after the change.", "", []string{"across"}},
		{"batch", ofColumn, "Changes that the kernel made together, as one: their breakpoints go in and out at once. They have one number.", "", []string{"bp", "poke"}},
		{"step", ofColumn, "Where the verb step stands: one instruction of one CPU, at one moment. n goes on by one, p back; o, c and k go by calls and changes.", "", nil},
		{"settled by", ofColumn, "What settles which code ran at a change, and so how sure it is: the verdict.", "", []string{"verdict"}},
		{"total", ofColumn, "How long a call took, or all calls of a function, from the first instruction to the last: with what it called, interrupts, and the time that its thread did not run.", "", []string{"self", "open"}},
		{"self", ofColumn, "How long a call took without what it called, interrupts, and the time that its thread did not run.", "", []string{"total"}},
		{"open", ofColumn, "A call of which the trace does not show both ends. It has no time.", "", []string{"unseen", "total"}},
		{"resumed", ofColumn, "How a call began: tracing came on at its first instruction, or behind a gap.", "", []string{"unseen"}},
		{"unseen", ofColumn, "Of a call: it began before the trace shows it, or in a gap. Of a CPU at a change: what its trace does not tell of how it went over.", "", []string{"resumed", "gap"}},
		{"unwound", ofColumn, "How a call ended: a return led to a call outside of it, as by longjmp or a C++ exception.", "", nil},
		{"tail call", ofColumn, "How a call ended: by a jump to another function, which takes its place and returns to its caller.", "", nil},
		{"entered", ofColumn, "How often a function's first instruction ran.", "", nil},
		{"±", ofColumn, "How far off a time may be, either way: the trace states times now and then only.", "More timing packets make it less: cyc=1, or a smaller mtc_period.", nil},
	}
}
