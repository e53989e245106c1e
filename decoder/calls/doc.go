// Package calls turns decoded flow into calls: values with a function, a caller, a
// beginning, an end, how long it took, how many instructions ran, and how it ended.
//
// A Tree is a decoder.Sink. It takes the flow of all streams in order of time
// (decoder.Query.Merged) and keeps the calls in progress of each thread. It tells of each
// call twice: as it begins and as it ends. Each Call has its Caller, so that whoever draws
// stacks needs no tree of their own. Where rows for a list are wanted, with filters, package
// rows has them.
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
//   - Where a function is called and an interrupt comes before its first instruction, that
//     is one call, not two. It begins before the interrupt. Where a gap hides the
//     interrupt, it begins as the flow comes back to its first instruction.
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
// A thread has two stacks: its program's and the kernel's. Each entry from user space begins
// the kernel's anew, and calls of the kernel count their depth from there. Both move with
// the thread from CPU to CPU. Idle tasks, and threads that no record names, stay on their
// stream. Where the clock is coarse, a thread may come to one stream before the flow of
// another leaves it. Then its stack is not known there. What was in progress has Call.Gap,
// and ends with the other stream.
//
// Where the flow begins, and behind a gap, the records of switches say which thread runs. From
// there on the code shows when the kernel takes the next one's stack. The records count
// again where they say that another thread has run for long and the code showed no switch.
// Where a gap ends between the two records of a switch, the thread is not known until then.
//
// A return ends the innermost call that it fits, and unwinds those inside of it. One that fits
// no call leads into some function. Where that function is in progress, the calls inside of it
// are unwound. If it is not, a call takes their place of which the beginning is not known.
// Tree.Unmatched counts both. An indirect jump into the midst of a function in progress
// unwinds the calls inside of it, too. So longjmp and C++ exceptions are followed. Coroutines
// are, as far as each yields from functions of its own: a return fits a call of any of them.
//
// At a gap nobody knows which calls ended. They stay, with Call.Gap, until a return fits
// them. What ends in any other way is taken to have ended in the gap. A call that the flow is
// found in behind the gap has no Caller.
//
// Start reading in call.go and tree.go; moves.go says when a call begins, returns.go when it
// ends. Files such as brief.go, quickly.go and detour.go do the same work faster where less
// is asked for.
package calls
