package main

import (
	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/step"
)

// newStepCmd is the verb that walks through the flow.
func newStepCmd(a *app) *cobra.Command {
	return step.New(&step.Host{Host: a.host(), In: a.in, Time: parseTime, Streams: streamsOf})
}
