package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/recorder"
)

// newRecordCmd is the verb that has perf record with what decoding needs.
func newRecordCmd(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "record [PERF RECORD'S ARGUMENTS] -- CMD",
		Short: "have perf record with what decoding needs, and copy the code that came meanwhile",
		Long: `Run perf record with all that decoding needs: a copy of the kernel's code (--kcore), the
changes to it, switches of threads, times. 64-bit Arm kernels do not report changes.
There, hardware breakpoints record them: as many as the CPUs have room for. All
arguments go to perf record, after what ptdecode adds. Without -e, perf records the
machine's trace unit, in the kernel.

First, record checks the machine, and says what is missing and how to get it. When perf
has ended, record copies the kernel's code, symbols and modules once more, to kcore_late
in the recording's directory. The other verbs use both copies. Then it opens the
recording, and says what that lacks.

Nothing is written outside of that directory (-o DIR, default perf.data), which must
not exist yet. Ctrl-C ends the recording, and a second Ctrl-C the copying. SIGUSR2 is
passed on to perf, which takes a snapshot with -S. The exit code of CMD is ignored.

Exit codes: 0 recorded; 1 nothing recorded; 2 wrong usage; 3 the recording lacks
something; 130 interrupted while the code was copied.`,
		Example: `  ptdecode record -a -- sleep 1            # the machine's unit, in the kernel
  ptdecode record -a -e intel_pt/cyc/k -o boot.pt -- make test
  ptdecode record -a -e dummy -- sleep 10  # no trace: the kernel's changes
  ptdecode record -a -S -e cs_etm//k       # snapshots: kill -USR2, then Ctrl-C
  ptdecode record --dry-run -a -- sleep 1           # print what would be run`,
		DisableFlagParsing: true,
	}
	// What other verbs read, this one does not.
	c.SetUsageTemplate(strings.Replace(c.UsageTemplate(), "{{if .HasAvailableInheritedFlags}}", "{{if false}}", 1))
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
		whole, err := recorder.Run(c.Context(), recorder.Config{Args: args, DryRun: dry, In: a.in, Out: a.out, Errs: a.ui.w, Say: a.ui.say, Hint: a.ui.hint})
		if err == nil && !whole {
			err = &exitError{code: exitGaps}
		}
		return err
	}
	return c
}
