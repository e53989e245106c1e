// Package sim is a small machine that knows the truth. Several CPUs run real x86-64
// code while a patcher rewrites it. Each CPU fetches through an instruction cache
// that may serve old bytes until it is synchronised, and an Intel PT unit traces
// each.
//
// It returns what a decoder is given: packets, poke records, images, symbols. It
// also returns what a decoder must find: every retired instruction with its time
// and the bytes that were fetched, every trap, and when each CPU saw each poke.
//
// The machine computes no data: the outcome of a conditional branch and the
// target of an indirect one are drawn at random from those the program
// allows. Calls, returns, interrupts and IRET go truly through a stack.
//
// Packets follow the Intel SDM, volume 3C, chapter "Intel Processor Trace".
// Patching follows Linux's arch/x86/kernel, v6.1 and v7.3.4: alternative.c,
// jump_label.c, static_call.c, ftrace.c, kprobes/core.c, kprobes/opt.c. The scheme
// "xmc" follows the cross-modifying code of the immediate values and markers of
// LTTng's kernel patches.
//
// TestCuts checks what each scheme promises about the moment of a record against
// what the CPUs fetched. TestFollow checks what the packets say, by a follower that
// is told the bytes.
//
// Two things a decoder must bear are easily missed. A TIP right behind a TNT may
// have been held back with it. Then it is older than an MTC before that TNT, and so
// is all up to the next packet. And under the trap flag a debug exception leaves a
// probe's copy. The exception's source lies behind the copy, where no code was
// recorded.
//
// A second machine runs A64 words (the files arm_*.go and *_a64.go, SimulateA64).
// What traces its CPUs is one of two things:
//
//   - a script: what the decoder of an ETMv4 or ETE stream would state
//     (script_a64.go)
//   - a trace unit that writes the packets of ETMv4 or ETE (unit_v4*.go)
//
// The trace unit writes atoms in all formats, addresses and contexts in all forms,
// and exceptions with their preferred return addresses. It has a return stack and
// cycle counts, and speculation that is committed, cancelled and mispredicted. It
// sends timestamps, also those that markers announce, sent much later. It sends
// source addresses and Q elements, and takes exceptions to a hypervisor that
// changes machines. It has overflows and stretches that are not traced, and
// transactions that commit, are cancelled or fail.
//
// Its patcher follows arch/arm64, v6.1: jump_label.c, ftrace.c, patching.c,
// probes/kprobes.c. Where a word is rewritten without stopping anyone, a CPU may
// fetch new, old, new again, until it synchronises after the caches' maintenance
// (TestCutsA64). TestFollowA64 checks the scripts, TestFollowV4 the packets, and
// TestEventsV4 what their decoder makes of them.
//
// The same machine runs A32 and T32 (*_a32.go, SimulateA32), function by function
// one or the other. It has conditional instructions, IT blocks, calls that change
// the instruction set, and tables behind TBB. Its trace units write the packets of
// PTM or ETMv3.
//
// Its patcher follows arch/arm, v6.1: kernel/patch.c, kernel/jump_label.c,
// kernel/ftrace.c, probes/kprobes/core.c, probes/kprobes/opt-arm.c. It does all by
// stop_machine: conditional undefined instructions as probes, and jumps that take
// their place. Now and then it rewrites by one store, where DDI0406C, A3.5.4 allows
// that.
//
// Not simulated: the packets of other protocols, Armv7-M, user space (x86 CPUs go
// there, untraced), and changes of the address space. Nor are transactions on x86,
// power and PTWRITE packets, and a frequency that changes.
//
// Everything is drawn from Config.Seed: the same Config gives the same Run.
// Only tests import this package.
package sim
