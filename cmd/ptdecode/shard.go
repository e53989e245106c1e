package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/shard"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/decoder"
)

// newMergeCmd is the verb that joins what shards wrote.
func newMergeCmd(a *app) *cobra.Command {
	return shard.NewMerge(map[string]shard.Joiner{
		"text": shard.Concatenate, "jsonl": shard.Concatenate, "tsv": shard.Concatenate, "digest": output.JoinDigests,
	}, func(ctx context.Context, j *shard.Joined, args []string, w io.Writer) error {
		root := newRoot(&app{in: a.in, out: w, ui: a.ui, joined: j})
		root.SetArgs(args)
		return root.ExecuteContext(ctx)
	})
}

// share gives c the flags of a verb whose work can be shared out (host.Host).
func (a *app) share(c *cobra.Command) func(*decoder.Session, decoder.Query, []string) (bool, error) {
	var f shard.Flags
	f.Give(c)
	return func(s *decoder.Session, q decoder.Query, args []string) (bool, error) {
		if a.joined != nil {
			return false, a.joined.Fits(s)
		}
		done, gaps, err := f.Flow(c, args, s, q, a.out, func(q decoder.Query, sink shard.Sink) error {
			defer a.ui.done()
			return deliver(c.Context(), s, q, sink)
		})
		if done && err == nil {
			err = a.whole(s, gaps)
		}
		return done, err
	}
}

// giveJoined gives sink the flow of parts, and closes it.
func giveJoined(j *shard.Joined, s *decoder.Session, sink host.Sink) error {
	err := j.Give(s, sink)
	if e := sink.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = j.Err
	}
	return err
}
