package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/gist"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// newSummaryCmd is the verb that says on one screen what a recording's flow comes to.
func newSummaryCmd(a *app) *cobra.Command {
	var where filter.Flags
	c := withObjects(&cobra.Command{
		Use:   "summary REC",
		Short: "say on one screen what ran: instructions, how sure, gaps, changes, hottest functions",
		Long: `Decode a recording and show on one screen what ran: the time that it covers,
instructions by verdict, breakpoint exceptions, and the functions that executed the
most instructions. It counts gaps by reason, with what they cost and what to do, and
changes to the code by kind and by task. ptdecode help words explains verdict and gap.

--sym and --dso choose blocks of instructions by the first of them, --addr those that
lie there, or partly. Such a block counts whole.

The exit code is 3 where there are gaps. Where there is no trace at all, summary shows
the changes that are recorded, and the exit code is 1.`,
		Example: `  ptdecode summary perf.data
  ptdecode summary perf.data --cpu 1 --time 10%-20%
  ptdecode summary perf.data --comm 'sh,perf*' --dso '[kernel*'
  ptdecode summary perf.data -o jsonl | jq '{instructions, ambiguous, gaps}'`,
	}, func(c *cobra.Command, asJSON bool, args []string) error { return a.summary(c, &where, asJSON, args) })
	where.Add(c.Flags(), filter.All[:11]...)
	return c
}

// summary prints what the flow of a recording comes to.
func (a *app) summary(c *cobra.Command, where *filter.Flags, asJSON bool, args []string) error {
	if err := where.Wrong(); err != nil {
		return err
	}
	s, err := a.sessionFor(args, func(w *decoder.Warning) bool { return !w.NoTrace })
	if err != nil {
		return err
	}
	defer s.Close()
	a.ui.noEvents(s, &a.open, args)
	only, err := where.Resolve(s)
	if err != nil {
		return err
	}
	if noBytes(s) {
		return cmp.Or(gist.Untraced(s, only, func(j *gist.Object) error { return a.tell(j, asJSON) }), noTrace(s))
	}
	a.ui.doubtful(s, only, where.TIDs)
	q := decoder.Query{Jobs: a.open.jobs, Progress: a.ui.progress}
	only.Query(&q)
	x, err := report.Summarise(c.Context(), s, q)
	a.ui.done()
	if err != nil {
		return err
	}
	j := gist.New(s, x, only)
	j.Width = a.screen.width
	if err := a.tell(j, asJSON); err != nil {
		return err
	}
	if filters := flowFilters(c); !a.ui.noFlow(s, only.Streams, "flow ") && j.Instructions == 0 && filters != "" {
		a.ui.noRows(s, only.Streams, "nothing of the flow", only.From, only.Until, filters)
	}
	return a.whole(s, j.Gaps)
}
