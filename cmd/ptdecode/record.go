package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/recorder"
)

// newRecordCmd is the verb that has perf record with what decoding needs.
func newRecordCmd(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "record [PERF RECORD'S ARGUMENTS] -- CMD",
		Short: "have perf record with what decoding needs, and copy the code that came meanwhile",
		Long: `Have perf record a trace with what decoding needs: a copy of the kernel's code
(--kcore), the changes to it, switches of threads, times. On 64-bit Arm, where the
kernel tells of no change, hardware breakpoints record them: as many as the CPUs have
room for. All arguments go to perf record, behind what is added. Without -e the
machine's trace unit is recorded, in the kernel.

First the machine is looked at: what is missing is said, and how to get it. When perf
has ended, the kernel's code, symbols and modules are copied once more, to kcore_late
in the recording's directory. The other verbs use both copies. The recording is then
opened as they do it, and what it lacks is said.

Nothing is written outside of that directory (-o DIR, default perf.data), which must
not be there yet. Ctrl-C ends the recording; a second one the copying. SIGUSR2 goes on
to perf, which takes a snapshot with -S. What the command's exit code is does not
matter here.

Exit codes: 0 recorded; 1 nothing recorded; 2 wrong usage; 3 the recording lacks
something; 130 interrupted while the code was copied.`,
		Example: `  ptdecode record -a -- sleep 1                     # the machine's trace unit, in the kernel
  ptdecode record -a -e intel_pt/cyc/k -o boot.pt -- make test
  ptdecode record -a -e dummy -- sleep 10           # no trace: the kernel's changes alone
  ptdecode record -a -S -e cs_etm//k                # snapshots: kill -USR2, then Ctrl-C
  ptdecode record --dry-run -a -- sleep 1           # print what would be run`,
		DisableFlagParsing: true,
	}
	c.Flags().Bool("dry-run", false, "print perf's command line, and record nothing; must come first")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 && (args[0] == "-h" || args[0] == "--help") {
			return c.Help()
		}
		if len(args) == 0 {
			return usagef("record needs perf record's arguments, such as -a -- sleep 1")
		}
		dry := args[0] == "--dry-run"
		if dry {
			args = slices.Clone(args[1:])
		}
		whole, err := recorder.Run(recorder.Config{Args: args, DryRun: dry, In: a.in, Out: a.out, Errs: a.ui.w, Say: a.ui.say, Hint: a.ui.hint})
		if err == nil && !whole {
			err = &exitError{code: exitGaps}
		}
		return err
	}
	return c
}
