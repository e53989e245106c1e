package main

import (
	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/summary"
	"github.com/ptdecode/ptdecode/decoder"
)

// newInfoCmd is the verb that says what a recording holds.
func newInfoCmd(a *app) *cobra.Command {
	return withObjects(&cobra.Command{
		Use:   "info REC",
		Short: "say what a recording holds, what is missing, and how to get it",
		Long: `Say what a recording holds: where it comes from, its trace streams and how they
were configured, and how many changes to the code it has of each kind. Say where
code and symbols come from, when the copy of the kernel was made, and what was
lost. Say what is missing, and what to do about it. Nothing is decoded.

The exit code is 3 where the recording is damaged.`,
		Example: `  ptdecode info perf.data
  ptdecode info snapshot/             # sources, buffers, cores, what is wrong
  ptdecode info --pt 0:cpu0.pt --events e.jsonl --kcore kcore
  ptdecode info perf.data -o jsonl | jq .pokes`,
	}, a.info)
}

// info prints what a recording holds.
func (a *app) info(_ *cobra.Command, asJSON bool, args []string) error {
	s, err := a.sessionFor(args, func(*decoder.Warning) bool { return false }) // info prints them itself
	if err != nil {
		return err
	}
	defer s.Close()
	if err := a.tell(summary.Gather(s), asJSON); err != nil {
		return err
	}
	return a.whole(s, 0)
}
