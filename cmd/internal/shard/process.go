package shard

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
)

// Process is what verbs need of the command to share their work out, and to join it.
type Process struct {
	Joined *Joined   // flow is taken from these parts; nil: it is decoded
	Out    io.Writer // standard output
	// Decode gives what q asks for to sink, and closes it.
	Decode func(ctx context.Context, s *decoder.Session, q decoder.Query, sink host.Sink) error
	// Whole makes the exit code of the gaps met and of damage.
	Whole func(s *decoder.Session, gaps uint64) error
	// Contradicted is told that trace and code contradict each other in a shard's part.
	Contradicted func()
}

// Share gives c the flags of a verb whose work can be shared out. What it returns writes the
// part that they ask for of the flow that q asks for. done is false where they ask for none.
func (p *Process) Share(c *cobra.Command) func(s *decoder.Session, q decoder.Query, args []string) (done bool, err error) {
	var f Flags
	f.Give(c)
	return func(s *decoder.Session, q decoder.Query, args []string) (bool, error) {
		if p.Joined != nil {
			return false, p.Joined.fits(s)
		}
		done, gaps, err := f.writeFlow(c, args, s, q, p)
		if done && err == nil {
			err = p.Whole(s, gaps)
		}
		return done, err
	}
}

// Deliver gives what q asks for to sink, and closes it.
func (p *Process) Deliver(ctx context.Context, s *decoder.Session, q decoder.Query, sink host.Sink) error {
	if p.Joined == nil {
		return p.Decode(ctx, s, q, sink)
	}
	err := p.Joined.give(s, sink)
	if e := sink.Close(); err == nil {
		err = e
	}
	return err
}
