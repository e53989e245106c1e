package main

import (
	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/diff"
)

// newDiffCmd is the verb that compares what two recordings executed.
func newDiffCmd(a *app) *cobra.Command {
	return diff.New(&diff.Host{
		Host: a.host(), Jobs: func() int { return a.open.jobs }, Progress: a.ui.progress, Done: a.ui.done,
		Exit: func(code int) error { return &exitError{code: code} },
	})
}
