package explain

import "slices"

// The kinds of words.
const (
	ofGap    = "reason of a gap"
	ofSure   = "verdict"
	ofTrap   = "kind of a trap"
	ofChange = "kind of a change"
	ofScheme = "scheme of a change"
	ofBranch = "kind of a branch"
	ofNote   = "note of the trace"
	ofColumn = "word of a column"
)

// pages returns all pages, by what they are of.
func pages() []Page {
	return slices.Concat(reasons(), verdicts(), traps(), changes(), schemes(), branches(), notes(), columns(), glossary())
}

// reasons returns the reasons of gaps, in the order of event.Reason.
func reasons() []Page {
	return []Page{
		{"bad-packet", ofGap, "Bytes of the trace are no packet, or a packet stands where none of its kind may stand. Decoding goes on at the next sync point.",
			"Some CPUs write wrong packets: these are errata, and which there are depends on the model. info prints the CPU's model. Where it prints none, as of raw trace, give it with --cpu-model FAMILY/MODEL/STEPPING. On a model that is known for them, they are worked around already.\nIf the model is right, the trace was damaged on its way: copied in part, cut, or written over.", []string{"truncated", "sync point"}},
		{"truncated", ofGap, "The trace ends inside of a packet, or inside of several that belong together. What follows is in no file.",
			"At the end of a stream this is usual: recording stopped there. Elsewhere the recorder dropped trace: record with a larger AUX buffer, perf record -m ,64M. For a snapshot, stop and flush the trace unit before its buffer is saved.", []string{"lost"}},
		{"overflow", ofGap, "The trace unit could not hand on its packets as fast as it made them, and dropped some. It says so in the trace itself.",
			"Trace less: the kernel or user programs only (intel_pt//k, //u), with address filters, with fewer timing packets (no cyc=1, a larger mtc_period), or without cycle counts on Arm.", []string{"lost"}},
		{"lost", ofGap, "The recorder dropped trace: its buffer was full before it was written to the file. The records of perf say so.",
			"Record with a larger AUX buffer (perf record -m ,64M), to a faster disk, or trace less.", []string{"overflow"}},
		{"no-text", ofGap, "The code at an address is not known: no file holds it, or it is not known what lay there at that moment. Without code, nobody knows how many branches its packets stand for.",
			"For kernel code give --kcore FILE, a copy of /proc/kcore; for modules and BPF programs one made after the recording, too. For programs, --symfs DIR or --buildid-dir DIR. For raw bytes, --text FILE@ADDR. info lists which code there is. The hint of the gap says which of these fits.", []string{"epoch", "mismatch"}},
		{"bad-insn", ofGap, "The bytes at an address are no instruction. The flow never should have come there, so the code before it is another than the one that ran.",
			"See mismatch.", []string{"mismatch"}},
		{"mismatch", ofGap, "Trace and code contradict each other: the trace has a branch outcome where the code has no branch, an address at which the code cannot be, or the reverse. What lies before it is ambiguous, back to what confirmed it.",
			"ptdecode check says whether the code is of the same boot, and what changed without a record. A copy of the kernel made at another time needs the records of all changes between: perf record --kcore, and -e dummy for text_poke events. pokes --learned says what the trace tells of the code that lay there.", []string{"ambiguous", "bad-insn", "reserved-outcome"}},
		{"no-sync", ofGap, "These bytes lie before the first sync point, so there is no place to begin from.",
			"A buffer that wrapped around begins anywhere, and this is usual then. Sync points come more often with a smaller psb_period (intel_pt/psb_period=0/). If the bytes are many, the trace may be damaged, or of another protocol than the one given.", []string{"sync point"}},
		{"loop", ofGap, "The code goes around in a circle that the trace says nothing of, for longer than any code does. It is not the code that ran.",
			"See mismatch.", []string{"mismatch"}},
		{"no-call", ofGap, "A return was traced as one branch outcome, as a return to its call, but that call lies before a gap or before the trace began. Where it returned to is not known.",
			"Behind another gap this goes with it: see that one's reason. To have the target of each return in the trace, record with noretcomp=1 (intel_pt/noretcomp=1/k), or on Arm without the return stack. Where no gap lies before it, the code is not what ran: see mismatch.", []string{"mismatch", "sync point"}},
		{"no-outcomes", ofGap, "Conditional branches are not in the trace: TNT packets were switched off.",
			"Record without notnt=1.", nil},
		{"no-path", ofGap, "The trace tells how many instructions ran, not which way they took (a Q element of Arm's ETMv4). More than one way is as long and leads to where the flow goes on. What all ways go through is shown.",
			"Have the unit tell of each branch: switch Q elements off (TRCCONFIGR.QE = 0).", []string{"element"}},
		{"no-address", ofGap, "The trace tells of an exception, and not where it went. The flow is taken up at the next address that the trace states.",
			"The packet behind the exception is missing: the trace was filtered there, or damaged. Trace the exception levels that the vectors run at, too, or give the unit's real configuration (info prints what is taken).", []string{"bad-packet"}},
		{"reserved-outcome", ofGap, "The trace says that a branch without a condition was not taken, or that an instruction that traps did not. So other code ran there. The flow goes on straight, ambiguous up to the next address that the trace states.",
			"See mismatch.", []string{"mismatch", "ambiguous"}},
	}
}

// verdicts returns the verdicts, the surest first.
func verdicts() []Page {
	return []Page{
		{"certain", ofSure, "Time settles which code ran: only one version of it is possible at that moment. What is certain was executed.", "", []string{"epoch"}},
		{"trace", ofSure, "The code changed about then. Each other place in the flow where the change may have taken effect contradicts the trace.", "", []string{"cut"}},
		{"exception", ofSure, "A breakpoint exception taken at the changed address settles which code lay there.", "", []string{"trap", "window"}},
		{"unconfirmed", ofSure, "Settled as one of the others, but for very long the trace stated no address that the flow must reach. If the code is wrong, it would not have shown.",
			"More memory (--memory) lets flow wait longer for such an address.", []string{"certain"}},
		{"ambiguous", ofSure, "Not settled. Several versions of the code fit the trace, and the likeliest is shown; or the trace contradicts the code a little further on.",
			"flow --level insn --verdict ambiguous lists where. check counts them, and says why. More timing packets (cyc=1, mtc_period=0) leave less open; where a gap follows, see its reason.", []string{"cut", "mismatch"}},
	}
}

// traps returns the kinds of traps.
func traps() []Page {
	return []Page{
		{"window", ofTrap, "The CPU met the breakpoint that stands over an instruction while the kernel changes it. The handler does what the new instruction does, or lets it run again.", "", []string{"exception", "bp"}},
		{"armed", ofTrap, "The CPU met a probe's breakpoint, put there by an earlier change. The handler runs the probe, and a copy of the instruction.", "", []string{"kprobe", "slot"}},
		{"slot", ofTrap, "The CPU met the breakpoint behind a copy of a probed instruction. The handler leads it back to the code behind the probe.", "", []string{"armed"}},
		{"debug", ofTrap, "A hardware breakpoint or a single step of Arm: the code there is no breakpoint.", "", nil},
		{"unknown", ofTrap, "A breakpoint of which no record tells.", "check says what changed without a record.", []string{"break"}},
	}
}

// changes returns the kinds of changes.
func changes() []Page {
	return []Page{
		{"jump-label", ofChange, "A static branch was switched: a NOP became a jump, or the reverse.", "", nil},
		{"static-call", ofChange, "A static call got another target: the calls themselves, or the trampoline that leads there.", "", nil},
		{"ftrace", ofChange, "A function's entry calls a tracer, or no longer. Or a call inside of a tracer's trampoline changed.", "", []string{"trampoline"}},
		{"kprobe", ofChange, "A probe's breakpoint was put in or taken out.", "", []string{"armed", "optprobe"}},
		{"optprobe", ofChange, "A probe's breakpoint became a jump, or the jump a breakpoint again.", "", []string{"kprobe"}},
		{"slot", ofChange, "A copy of a probed instruction was written, or the detour of an optimised probe.", "", []string{"kprobe"}},
		{"trampoline", ofChange, "A tracer's trampoline came or went.", "", []string{"ftrace"}},
		{"bpf", ofChange, "The code of a BPF program, or a call to one.", "", nil},
		{"unknown", ofChange, "Neither the bytes nor the symbols say what the change was made for.", "", nil},
	}
}

// schemes returns how changes are made.
func schemes() []Page {
	return []Page{
		{"bp", ofScheme, "With a breakpoint: the first byte becomes INT3, all CPUs synchronise, the other bytes change, then the first byte. A CPU that comes there meanwhile takes a trap.", "", []string{"window"}},
		{"stop_machine", ofScheme, "All other CPUs are stopped while the bytes change.", "", nil},
		{"atomic", ofScheme, "One aligned word is written at once. Each CPU sees it a little later.", "", nil},
	}
}

// branches returns the kinds of branches, the field "flags".
func branches() []Page {
	return []Page{
		{"jmp", ofBranch, "An unconditional branch, direct or by an address in a register or memory.", "", nil},
		{"jcc", ofBranch, "A conditional branch that was taken.", "", nil},
		{"call", ofBranch, "A call of a function.", "", nil},
		{"return", ofBranch, "A return from a function.", "", []string{"no-call"}},
		{"syscall", ofBranch, "A system call.", "", nil},
		{"sysret", ofBranch, "The return from a system call.", "", nil},
		{"int", ofBranch, "An exception that an instruction asks for.", "", nil},
		{"iret", ofBranch, "The return from an exception or an interrupt.", "", nil},
		{"vmentry", ofBranch, "The entry into a virtual machine.", "", nil},
		{"hw int", ofBranch, "An interrupt, or a fault.", "", nil},
		{"trap", ofBranch, "A breakpoint exception, with its handler in one line. --raw-traps shows the handler.", "", []string{"window", "armed", "slot"}},
		{"tx abrt", ofBranch, "A transaction was aborted.", "", nil},
		{"tr strt", ofBranch, "Tracing came on here.", "", nil},
		{"tr end", ofBranch, "Tracing went off here; a second word says during which kind of branch.", "", nil},
	}
}
