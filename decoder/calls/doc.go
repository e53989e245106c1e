// Package calls turns decoded flow into calls: values with a function, a caller, a
// beginning, an end, how long it took, how many instructions ran, and how it ended.
//
// A Tree is a decoder.Sink. It takes the flow of all streams in order of time
// (decoder.Query.Merged) and keeps the calls in progress of each thread. It tells of each
// call twice: as it begins and as it ends. A call's callers are those in progress, so who
// draws stacks needs no tree of his own.
//
//	t := &calls.Tree{Session: s, OnEnd: func(c *calls.Call) { ... }}
//	err := s.Flow(ctx, decoder.Query{Merged: true, Bounds: true}, t)
//	t.Close()
//
// What it takes to be a call:
//
//   - A function is entered where the flow comes to its first instruction from elsewhere.
//     It may come by a call, a jump, an interrupt, a return, by running on into it, or as
//     tracing begins.
//   - A jump is a tail call: the function takes the place of the one that jumped. So is a
//     jump of a function to its own first instruction.
//   - An interrupt before the first instruction does not make it two calls. The call begins
//     before that. Where a gap hides the interrupt it begins with its first instruction.
//   - Where a breakpoint lies at the first instruction, the call counts as entered.
//   - Functions that hold what compilers moved out of another one (NAME.cold) lie inside of
//     that one's call. A jump back ends them.
//   - Thunks (retpolines, return thunks, trampolines of static calls, PLT stubs) belong to
//     the call that they serve. Package rows knows their names.
//   - Trampolines of ftrace and BPF are folded as well. What they call is a call of the function
//     that is traced.
//   - Slots of probes are no functions. What runs there, as the instruction that a probe
//     stands in place of, is the call's of the function that has the probe.
//   - Without symbols a function is what a call leads to.
//
// A thread has two stacks: its program's and the kernel's, which each entry from user space
// begins anew. Calls of the kernel count their depth from there. Both move with the thread
// from CPU to CPU. Idle tasks, and threads that no record names, are their stream's own.
// Where the clock is coarse, a thread may come to one stream before the flow of another leaves
// it. Then its stack is not known there: what was in progress has Call.Gap, and ends with
// the other stream.
//
// Where the flow begins, and behind a gap, the thread is that of the records of switches. From
// there on the code shows when the kernel takes the next one's stack. Where the records say
// that another thread has run for long and the code showed no switch, the records count.
//
// A return ends the innermost call that it fits, and unwinds those inside of it: longjmp,
// C++ exceptions, coroutines. One that fits none leads into a function: where that is in
// progress, the calls inside of it are unwound. Else a call of which the beginning is not
// known takes the place. Tree.Unmatched counts both.
//
// At a gap nobody knows which calls ended. They stay, with Call.Gaps, until a return fits
// them. What ends in another way then ended in the gap, as far as anybody knows.
package calls
