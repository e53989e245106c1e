package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/shard"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
)

// learnsNothing says what to do where trace and code contradict each other in a shard's part.
func (a *app) learnsNothing() {
	if !a.open.noLearn && a.open.learned == "" {
		a.ui.hint("a shard learns nothing of the code: write what pokes --learned -o jsonl says to a file, and give it to all shards with --learned")
	}
}

// newMergeCmd is the verb that joins what shards wrote.
func newMergeCmd(a *app) *cobra.Command {
	return shard.NewMerge(map[string]shard.Joiner{
		"text": shard.Concatenate, "jsonl": shard.Concatenate, "tsv": shard.Concatenate, "digest": output.JoinDigests,
	}, func(ctx context.Context, j *shard.Joined, args []string, w io.Writer) error {
		root := newRoot(&app{in: a.in, out: w, ui: a.ui, joined: j})
		root.SetArgs(args)
		return root.ExecuteContext(ctx)
	}, func(parts []string) error {
		a.ui.say("incomplete parts, as their shards said: %s", strings.Join(parts, " "))
		return a.gapCode()
	})
}
