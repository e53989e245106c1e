package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newWordsTopic is the help topic that explains the words of the output. It is
// no verb: it does nothing.
func newWordsTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("What the words of the output mean.\n")
	b.WriteString("\n")
	for _, w := range words() {
		for i, line := range strings.Split(w.means, "\n") {
			word := ""
			if i == 0 {
				word = w.word
			}
			fmt.Fprintf(&b, "  %-11s %s\n", word, line)
		}
	}
	return &cobra.Command{
		Use:   "words",
		Short: "what the words of the output mean",
		Long:  strings.TrimSuffix(b.String(), "\n"),
	}
}

// meaning is what a word means.
type meaning struct{ word, means string }

// words returns the glossary, in the order of the alphabet.
func words() []meaning {
	return []meaning{
		{"armed", "A probe is armed while its breakpoint stands in the code. A CPU that comes there\ntakes a trap, and the probe's handler does the work of the covered instruction."},
		{"break", "A change to the code that no record names. It shows at the next recorded change\nof the address, whose old code is not what lay there."},
		{"code", "The machine code at an address at a moment: bytes and instructions."},
		{"cut", "The place in a CPU's flow where a change to the code took effect. Before it the\nCPU executed the old code, behind it the new."},
		{"element", "What an Arm trace states in one piece, under the name that OpenCSD has for it:\na range of instructions, an exception, a timestamp, ..."},
		{"epoch", "A moment of the code, as a number: how many of the recorded changes are done.\nEpoch 0 is before the first change."},
		{"gap", "A stretch of the flow that could not be followed, with its reason: lost trace,\nunknown code, a packet that contradicts the code, ..."},
		{"poke", "One change to the kernel's code: an address, the old bytes and the new. The\nkernel's own name for it is text poke."},
		{"range", "Instructions that were executed in a row, the last of which may branch."},
		{"run", "Instructions that were executed in a row and lie in a row in memory, with no gap\nand no exception between them."},
		{"scheme", "How the kernel makes a change while other CPUs run: with a breakpoint over the\nfirst byte (bp), with all CPUs stopped, with one atomic write, ..."},
		{"segment", "A stretch of a stream from one sync point to the next. It can be decoded on its\nown."},
		{"slot", "Memory that holds a copy of the instruction under a probe's breakpoint. A trap of\nthis kind was taken at the breakpoint behind the copy."},
		{"stream", "The trace of one source: a CPU, a thread, or a CoreSight trace ID."},
		{"sync point", "A packet from which decoding can begin, such as Intel PT's PSB."},
		{"trap", "A breakpoint exception: a CPU met a breakpoint in the code. Its kind says why the\nbreakpoint was there: window, armed, slot, ... It is debug where there was none: for\na hardware breakpoint or a single step of Arm."},
		{"verdict", "How it was settled which code an instruction was read from.\n  certain      by time: only one version of the code is possible\n  trace        by the trace: every other version contradicts it\n  exception    by a trap taken at the changed address\n  unconfirmed  as one of these, but the trace stated no address for long that the flow must reach\n  ambiguous    not settled: the likeliest of several versions is shown, or the trace contradicts the code a little further on"},
		{"window", "The time during which a change is being made. A CPU may meet the old code, the\nnew code, or a breakpoint."},
	}
}
