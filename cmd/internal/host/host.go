// Package host is what verbs in packages of their own need of the command: its flags,
// its messages, its exit codes. The command fills in a Host and hands it to each verb's
// constructor. So verbs do not import the command, and tests can give them another Host.
package host

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Host is the command, as a verb sees it.
type Host struct {
	Out io.Writer // standard output

	// Width returns how many columns lines shall fit, 0 for any; nil: any.
	Width func() int
	// Open opens what flags and arguments name, and fails where there is no trace.
	Open func(args []string) (*decoder.Session, error)
	// Vmlinux is the file that --vmlinux names, once flags are read: Open names code by it; nil: none.
	Vmlinux *string
	// Filters adds flow's filters to the flags of c. What it returns reads them.
	Filters func(c *cobra.Command) func(s *decoder.Session) (*Filter, error)
	// Deliver gives what q asks for to sink and closes it. What lies before all that can
	// be decoded comes first.
	Deliver func(ctx context.Context, s *decoder.Session, q decoder.Query, sink Sink) error
	// Share gives c the flags of a verb whose work can be shared out. What it returns is asked
	// before anything is written, with the arguments and what the verb would have delivered.
	// done is set where a shard is asked for: its part was written, and there is no more to do.
	Share func(c *cobra.Command) func(s *decoder.Session, q decoder.Query, args []string) (done bool, err error)
	// Nothing tells the user why a verb found nothing: the filters left none, or the trace
	// does not say what was executed. what names it, such as "nothing of the flow".
	Nothing func(s *decoder.Session, f *Filter, what string)
	// Whole returns the error that makes the exit code: not nil if there were gaps, so many,
	// or if the recording is damaged.
	Whole func(s *decoder.Session, gaps uint64) error
	// Say prints a message that is no error. Hint prints what to do about it.
	Say, Hint func(format string, args ...any)
}

// NoLines is what to do where no source line is known.
const NoLines = "build programs with -g; name debug files by --symfs or --buildid-dir, the kernel's by --vmlinux; a bundle may have been made without them (--anonymise, --debug-info)"

// MaxArgs refuses more than n arguments.
func MaxArgs(n int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return &decoder.CallError{What: fmt.Sprintf("argument %q is one too many: takes %d", args[n], n)}
		}
		return nil
	}
}

// Columns returns how many columns lines shall fit, 0 for any.
func (h *Host) Columns() int {
	if h.Width == nil {
		return 0
	}
	return h.Width()
}

// Sink takes flow until it is closed.
type Sink interface {
	decoder.Sink
	Close() error // ends it: nothing follows
}

// Filter is which part of a recording's flow is wanted.
type Filter struct {
	Query   decoder.Query // what of it the decoder leaves out, and how it decodes
	Options rows.Options  // what of the rest rows leave out
	Streams []rows.Stream // of the recording, as rows name them
	Only    *filter.Filter
	Given   string // the filters as they were given; "": none
}

// OpenPart opens what flags and arguments name, and reads which part of it the filters want.
func (h *Host) OpenPart(args []string, filters func(*decoder.Session) (*Filter, error)) (*decoder.Session, *Filter, error) {
	s, err := h.Open(args)
	if err != nil {
		return nil, nil, err
	}
	f, err := filters(s)
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, f, nil
}
