package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/calls"
	"github.com/ptdecode/ptdecode/decoder"
)

// newCallsCmd is the verb that says how often functions were called, and how long that took.
func newCallsCmd(a *app) *cobra.Command {
	return calls.New(&calls.Host{
		Session: func(args []string) (*decoder.Session, error) {
			s, err := a.session(args)
			if err == nil && noBytes(s) {
				err = noTrace(s)
				s.Close()
			}
			if err == nil {
				a.ui.noEvents(s, &a.open, args)
			}
			return s, err
		},
		Deliver: func(ctx context.Context, s *decoder.Session, q decoder.Query, sink calls.Sink) error {
			q.Jobs, q.Progress = a.open.jobs, a.ui.progress
			defer a.ui.done()
			return deliver(ctx, s, q, sink)
		},
		Times:   parseTimes,
		Streams: func(s *decoder.Session, cpus string) ([]int, error) { return streamsOf(s, cpus, "") },
		Ends:    a.whole,
		Say:     a.ui.say,
	})
}
