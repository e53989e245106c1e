package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/calls"
	"github.com/ptdecode/ptdecode/cmd/internal/export"
	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/hot"
	"github.com/ptdecode/ptdecode/cmd/internal/shard"
	"github.com/ptdecode/ptdecode/decoder"
)

// newExportCmd is the verb that hands on what was executed to other tools.
func newExportCmd(a *app) *cobra.Command { return export.New(a.host()) }

// newHotCmd is the verb that says what was executed most.
func newHotCmd(a *app) *cobra.Command { return hot.New(a.host()) }

// newCallsCmd is the verb that counts and times calls.
func newCallsCmd(a *app) *cobra.Command { return calls.New(a.host()) }

// host returns what verbs in packages of their own need of a.
func (a *app) host() *host.Host {
	p := shard.Process{Joined: a.joined, Out: outNow{a}, Whole: a.whole, Contradicted: a.learnsNothing, Decode: func(ctx context.Context, s *decoder.Session, q decoder.Query, sink host.Sink) error {
		defer a.ui.done()
		return deliver(ctx, s, q, sink)
	}}
	return &host.Host{
		Out: outNow{a}, Say: a.ui.say, Hint: a.ui.hint, Whole: a.whole, Filters: a.filters,
		Width: func() int { return a.screen.width }, Vmlinux: &a.open.vmlinux,
		Open: func(args []string) (*decoder.Session, error) {
			s, err := tracedSession(a, args, everyWarning)
			if err != nil {
				return nil, err
			}
			a.ui.noEvents(s, &a.open, args)
			return s, nil
		},
		Deliver: p.Deliver, Share: p.Share,
		Nothing: func(s *decoder.Session, f *host.Filter, what string) {
			if !a.ui.noFlow(s, f.Query.Streams, "flow ") && f.Given != "" {
				a.ui.noRows(s, f.Query.Streams, what, f.Options.From, f.Options.Until, f.Given)
			}
		},
	}
}

// filters adds the filters of flow to c, for verbs that count (host.Host).
func (a *app) filters(c *cobra.Command) func(s *decoder.Session) (*host.Filter, error) {
	var o filter.Flags
	names := slices.Clone(filter.All[:10])
	if c.Name() == "calls" { // a call has no file
		names = slices.DeleteFunc(names, func(n string) bool { return n == "dso" })
	}
	o.Add(c.Flags(), names...)
	return func(s *decoder.Session) (*host.Filter, error) {
		if err := o.Wrong(); err != nil {
			return nil, err
		}
		only, err := o.Resolve(s)
		if err != nil {
			return nil, err
		}
		f := &host.Filter{Only: only, Streams: outputStreams(s), Given: flowFilters(c), Query: decoder.Query{
			Jobs: a.open.jobs, Progress: a.ui.progress, Streams: only.Streams, From: only.From, Until: only.Until,
			Bounds: only.From != 0 || only.Until != 0,
		}}
		only.Rows(&f.Options)
		a.ui.silent(s, f.Query.Streams)
		a.ui.doubtful(s, only, o.TIDs)
		return f, nil
	}
}

// outNow writes to where output goes by the time that it is written: the pager comes late.
type outNow struct{ *app }

// Write writes to the output.
func (o outNow) Write(b []byte) (int, error) { return o.out.Write(b) }
