package main

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptdecode/ptdecode/cmd/internal/shard"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// newMergeCmd is the verb that joins what shards wrote.
func newMergeCmd(*app) *cobra.Command {
	return shard.NewMerge(map[string]shard.Joiner{
		"text": shard.Concatenate, "jsonl": shard.Concatenate, "digest": output.JoinDigests,
	})
}

// A shard's lead is at first so much trace, bytes, and more where that is too little. It is
// all of the trace for the tree of calls, which depends on all calls before.
const (
	firstLead = 1 << 20
	wholeLead = math.MaxInt64
)

// traceBytes is how much trace there is, bytes.
func traceBytes(s *decoder.Session) (n int64) {
	for _, st := range s.Streams() {
		n += st.Size
	}
	return n
}

// part sets what q and p ask for to a part of the flow, if a shard is asked for, and begins
// its file.
func (o *flowFlags) part(c *cobra.Command, a *app, s *decoder.Session, q *decoder.Query, p *output.Options) (*shard.Part, error) {
	spec, err := shard.Parse(o.shard, os.Getenv)
	if err != nil {
		return nil, usagef("--shard %s", err)
	}
	if spec.Of == 0 {
		if o.shardDir != "" {
			return nil, usagef("--shard-dir %s: --shard I/N is missing", o.shardDir)
		}
		return nil, nil
	}
	for _, f := range []string{"reverse", "last", "runs"} {
		if c.Flags().Changed(f) {
			return nil, usagef("--shard %s: --%s does not go with it", o.shard, f)
		}
	}
	kind := p.Format.Name
	switch kind {
	case "digest":
		p.Format = output.FormatNamed("digest-part")
	case "text", "jsonl":
	default:
		return nil, usagef("--shard %s: --output %s does not go with it", o.shard, kind)
	}
	q.Shard, q.Shards, q.Lead = spec.I, spec.Of, firstLead
	switch p.Level {
	case rows.LevelCall:
		q.Lead = wholeLead
	case rows.LevelInsn, rows.LevelBlock:
		q.Lead = 0
	}
	return shard.NewPart(spec, shard.Head{Kind: kind, Call: callName(c, s)}, a.out, o.shardDir)
}

// callName stands for what a call asks for and of what: the shards of one call share it.
func callName(c *cobra.Command, s *decoder.Session) string {
	h := sha256.New()
	fmt.Fprintln(h, c.Name())
	c.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "shard", "shard-dir", "jobs", "memory", "quiet", "allow-gaps":
			return
		}
		fmt.Fprintln(h, f.Name, filepath.Base(f.Value.String())) // each machine may have the files elsewhere
	})
	for _, st := range s.Streams() {
		fmt.Fprintln(h, st.Name, st.Size)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}
