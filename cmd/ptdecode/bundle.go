package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/bundle"
	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/summary"
	"github.com/ptdecode/ptdecode/decoder"
)

// newBundleCmd is the verb that makes one self-contained file of a recording.
func newBundleCmd(a *app) *cobra.Command {
	return bundle.New(&bundle.Host{
		Config: a.config, Times: filter.ParseTimes, Say: a.ui.say, Progress: a.ui.progress, Done: a.ui.done, Jobs: func() int { return a.open.jobs },
		Info: func(w io.Writer, c decoder.Config) error {
			s, err := decoder.Open(c)
			if err != nil {
				return err
			}
			defer s.Close()
			summary.Gather(s).Print(w)
			return nil
		},
	})
}
