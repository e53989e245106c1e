package main

import (
	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/step"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder"
)

// newStepCmd is the verb that walks through the flow.
func newStepCmd(a *app) *cobra.Command {
	return step.New(&step.Host{Host: a.host(), In: a.in, Screen: func() bool { return terminal.Is(a.out) }, Time: filter.Moment, Streams: tracesOf})
}

// tracesOf returns the indices of the traces that --cpu and --id name.
func tracesOf(s *decoder.Session, cpus, ids string) ([]int, error) {
	f, err := (&filter.Flags{CPUs: cpus, IDs: ids}).Resolve(s)
	if err != nil {
		return nil, err
	}
	return f.Streams, nil
}
