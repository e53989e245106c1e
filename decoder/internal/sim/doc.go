// Package sim is a small machine that knows the truth: several CPUs run real
// x86-64 bytes while a patcher rewrites them, each CPU through an instruction
// cache that may serve old bytes until it is synchronised, and each traced by
// its own Intel PT unit. It returns what a decoder is given (packets, poke
// records, images, symbols) and what a decoder must find (every retired
// instruction with the bytes it was fetched from, its time, every trap, and
// the moment at which each CPU saw each poke).
//
// The machine computes no data: the outcome of a conditional branch and the
// target of an indirect one are drawn at random from those the program
// allows. Calls, returns, interrupts and IRET go truly through a stack.
//
// Packets follow the Intel SDM, volume 3C, chapter "Intel Processor Trace";
// patching follows Linux's arch/x86/kernel (alternative.c, jump_label.c,
// static_call.c, ftrace.c, kprobes/core.c, kprobes/opt.c; v6.1 and v7.3.4) and,
// for the scheme "xmc", the cross-modifying code of the immediate values and
// markers of LTTng's kernel patches.
//
// What each scheme promises about the moment of a record is checked against
// what the CPUs fetched (TestCuts); what the packets say, by a follower that is
// told the bytes (TestFollow). Two things a decoder must bear are easily
// missed. A TIP that stands right behind a TNT may have been held back with
// it, and is then, with all up to the next packet, older than an MTC before
// that TNT. And under the trap flag a probe's copy is left by a debug
// exception whose source lies behind the copy, where no text was recorded.
//
// A second machine (the files arm_*.go and *_a64.go, SimulateA64) runs A64 words. What traces
// its CPUs is a script (script_a64.go: what the decoder of an ETMv4 or ETE
// stream would state) or a trace unit that writes the packets of ETMv4 or ETE
// (unit_v4*.go): atoms in all formats, addresses and contexts in all forms,
// exceptions with their preferred return addresses, a return stack, speculation
// that is committed, cancelled and mispredicted, cycle counts, timestamps (also
// those that markers announce, sent much later), source addresses, Q elements,
// exceptions to a hypervisor, which changes machines, overflows, stretches that
// are not traced, and transactions that commit, are cancelled or fail. Its patcher
// follows arch/arm64 (jump_label.c, ftrace.c, patching.c, probes/kprobes.c; v6.1).
// Where a word is rewritten without stopping anyone, a CPU may fetch new, old, new
// again, until it synchronises after the caches' maintenance (TestCutsA64).
// TestFollowA64 checks the scripts, TestFollowV4 the packets, and TestEventsV4
// what their decoder makes of them.
//
// The same machine runs A32 and T32 (*_a32.go, SimulateA32), function by function
// one or the other: conditional instructions, IT blocks, calls that change the
// instruction set, tables behind TBB. Its trace units write the packets of PTM
// or ETMv3. Its patcher follows arch/arm (kernel/patch.c, kernel/jump_label.c,
// kernel/ftrace.c, probes/kprobes/core.c, probes/kprobes/opt-arm.c; v6.1): all by
// stop_machine, with conditional undefined instructions as probes and jumps that
// take their place; and now and then by one store, where DDI0406C, A3.5.4 allows
// that.
//
// Not simulated: the packets of other protocols, Armv7-M, user
// space (x86 CPUs go there, untraced), changes of the address space, transactions
// on x86, power and PTWRITE packets, a frequency that changes.
//
// Everything is drawn from Config.Seed: the same Config gives the same Run.
// Only tests import this package.
package sim
