package main

import (
	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/decoder"
)

// flowFlags are the flags of flow.
type flowFlags struct {
	digest       bool
	segmentBytes int64
}

// newFlowCmd is the verb that prints what was executed.
func newFlowCmd(a *app) *cobra.Command {
	var o flowFlags
	c := &cobra.Command{
		Use:     "flow REC",
		Short:   "print what each CPU executed",
		Example: "  ptdecode flow perf.data --digest",
		Args:    maxArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.flow(c, &o, args) },
	}
	f := c.Flags()
	f.BoolVar(&o.digest, "digest", false, "print CPU INSTRUCTIONS SHA256 a CPU: the hash over the addresses of retired instructions, 64-bit little-endian words")
	f.Int64Var(&o.segmentBytes, "segment-bytes", 0, "trace a worker takes at once, `BYTES`")
	f.MarkHidden("segment-bytes")
	return c
}

func (a *app) flow(c *cobra.Command, o *flowFlags, args []string) error {
	s, err := a.session(args)
	if err != nil {
		return err
	}
	defer s.Close()
	d := output.NewDigest(s, a.out, output.GapLines(s, a.ui.say))
	q := decoder.Query{Jobs: a.open.jobs, SegmentBytes: o.segmentBytes, Progress: a.ui.progress}
	err = s.Flow(c.Context(), q, d)
	if e := d.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return a.gaps(d.Gaps())
}
