package main

import (
	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/shard"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
)

// newMergeCmd is the verb that joins what shards wrote.
func newMergeCmd(*app) *cobra.Command {
	return shard.NewMerge(map[string]shard.Joiner{
		"text": shard.Concatenate, "jsonl": shard.Concatenate, "digest": output.JoinDigests,
	})
}
