package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/bundle"
	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/heap"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/summary"
	"github.com/ptdecode/ptdecode/decoder"
)

// newBundleCmd is the verb that makes one self-contained file of a recording.
func newBundleCmd(a *app) *cobra.Command {
	return bundle.New(&bundle.Host{
		Config: a.config, Times: timesIn, Say: a.ui.say, Progress: a.ui.progress, Done: a.ui.done, Jobs: func() int { return a.open.jobs },
		Size: func(s string) (int64, error) { return heap.ParseSize(s, 0) },
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

// timesIn reads FROM,TO as --time has it, for the recording that c names.
func timesIn(c decoder.Config, flag string) (from, until uint64, err error) {
	if from, until, err = filter.ParseTimes(flag); err == nil {
		return from, until, nil
	}
	s, err := decoder.Open(c)
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	if from, until, err = filter.Times(s, flag); err != nil {
		return 0, 0, usagef("--time %s", err)
	}
	return from, until, nil
}
