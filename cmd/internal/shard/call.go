package shard

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Flags are the flags of a verb whose work can be shared out.
type Flags struct{ shard, dir string }

// Give gives c the flags.
func (f *Flags) Give(c *cobra.Command) {
	c.Flags().StringVar(&f.shard, "shard", "", "do only part I of N: `I/N`, or auto/N or auto for the number of a Slurm array's task or of a Kubernetes indexed Job; merge joins the parts")
	c.Flags().StringVar(&f.dir, "shard-dir", "", "write the part to a file in `DIR`, which appears when it is whole")
}

// Begin begins the part that a call of c does, of s, and has q ask for it. It goes to w, or
// to the directory that the flags name. kind is Head.Kind, never the flags that do not go with
// shards. Without --shard it returns nil.
func (f *Flags) Begin(c *cobra.Command, s *decoder.Session, q *decoder.Query, kind string, w io.Writer, never ...string) (*Part, error) {
	p, err := Parse(f.shard, os.Getenv)
	switch {
	case err != nil:
		return nil, &decoder.CallError{What: fmt.Sprintf("--shard %s", err)}
	case p.Of == 0 && f.dir != "":
		return nil, &decoder.CallError{What: fmt.Sprintf("--shard-dir %s: --shard I/N is missing", f.dir)}
	case p.Of == 0:
		return nil, nil
	}
	for _, n := range never {
		if x := c.Flags().Lookup(n); x.Value.String() != x.DefValue { // a variable may have set it
			return nil, &decoder.CallError{What: fmt.Sprintf("--shard %s: --%s does not go with it", f.shard, n)}
		}
	}
	q.Shard, q.Shards = p.I, p.Of
	return NewPart(p, Head{Kind: kind, Call: call(c, s)}, w, f.dir)
}

// call stands for what a call asks for and of what: the shards of one call share it.
func call(c *cobra.Command, s *decoder.Session) string {
	h := sha256.New()
	fmt.Fprintln(h, c.Name())
	c.Flags().Visit(func(f *pflag.Flag) {
		if !own(f.Name) {
			fmt.Fprintln(h, f.Name, filepath.Base(f.Value.String())) // each machine may have the files elsewhere
		}
	})
	fmt.Fprintln(h, streamsOf(s))
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// A shard's lead is at first so much trace, bytes, and more where that is too little.
const (
	firstLead = 1 << 20
	wholeLead = math.MaxInt64
)

// Rows runs deliver, which makes rows of a level of the flow that q asks for, with as much of
// the flow before the shard's part as they need. The tree of calls depends on all calls
// before.
func Rows(s *decoder.Session, q decoder.Query, l rows.Level, deliver func(decoder.Query, rows.Shard) error) error {
	trace := int64(0)
	for _, st := range s.Streams() {
		trace += st.Size
	}
	switch q.Lead = firstLead; l {
	case rows.LevelCall:
		q.Lead = wholeLead
	case rows.LevelInsn, rows.LevelBlock:
		q.Lead = 0
	}
	for {
		err := deliver(q, rows.Shard{I: q.Shard, Of: q.Shards, Anywhere: q.Lead == wholeLead})
		if err != rows.ErrLead {
			return err
		}
		if q.Lead *= 8; q.Lead > trace {
			q.Lead = wholeLead
		}
	}
}
