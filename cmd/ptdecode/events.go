package main

import (
	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
)

// newEventsCmd is the verb that writes the event stream.
func newEventsCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "events REC",
		Short: "write everything in a recording but its trace, as JSON Lines",
		Long: `Write everything in a recording but the bytes of its trace: changes to the code,
threads and switches, mappings, losses, the trace's configuration and clock.
Together with the raw trace and a kcore, flow --events decodes as the recording
does.

Each line is one JSON object; docs/formats/events.md has the fields. A stream
that is read with --events is written again as it was. A snapshot contains no
such events, so its stream is only the header line.`,
		Example: `  ptdecode events perf.data > e.jsonl
  ptdecode events perf.data | jq 'select(.type == "text_poke")'
  ptdecode flow --pt 0:cpu0.pt --pt 1:cpu1.pt --kcore kcore --events e.jsonl
  ptdecode events perf.data --kallsyms kallsyms  # Arm: changes from breakpoints
  ptdecode events --events e.jsonl                  # checks the file`,
		Args: host.MaxArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := a.config(args)
			if err != nil {
				return err
			}
			warns, err := host.Until(a.ctx, func() ([]decoder.Warning, error) { return decoder.WriteEvents(c, a.out) })
			if a.ui.warn(warns); err != nil {
				return err
			}
			return a.undamaged(warns)
		},
	}
}
