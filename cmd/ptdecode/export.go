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
	return &host.Host{
		Out: a.out, Say: a.ui.say, Hint: a.ui.hint, Whole: a.whole, Filters: a.filters,
		Open: func(args []string) (*decoder.Session, error) {
			s, err := a.session(args)
			if err != nil {
				return nil, err
			}
			if noBytes(s) {
				s.Close()
				return nil, noTrace(s)
			}
			a.ui.noEvents(s, &a.open, args)
			return s, nil
		},
		Deliver: func(ctx context.Context, s *decoder.Session, q decoder.Query, sink host.Sink) error {
			defer a.ui.done()
			return deliver(ctx, s, q, sink)
		},
		Nothing: func(s *decoder.Session, f *host.Filter, what string) {
			a.ui.noRows(s, f.Query.Streams, what, f.Options.From, f.Options.Until, f.Given)
		},
	}
}

// countingFilters is the flags of filters that verbs have which count: all but those of lines.
var countingFilters = filter.All[:slices.Index(filter.All, "flags")]

// filters adds the filters of flow to c, for verbs that count (host.Host).
func (a *app) filters(c *cobra.Command) func(s *decoder.Session) (*host.Filter, error) {
	var o filter.Flags
	o.Add(c.Flags(), countingFilters...)
	return func(s *decoder.Session) (*host.Filter, error) {
		only, err := o.Resolve(s)
		if err != nil {
			return nil, err
		}
		f := &host.Filter{Streams: outputStreams(s), Given: given(c, countingFilters...), Query: decoder.Query{
			Jobs: a.open.jobs, Progress: a.ui.progress, Streams: only.Streams, From: only.From, Until: only.Until,
			Bounds: only.From != 0 || only.Until != 0,
		}}
		only.Rows(&f.Options)
		a.ui.silent(s, f.Query.Streams)
		a.ui.unknownTIDs(s, o.TIDs)
		if only.From != 0 || only.Until != 0 {
			a.ui.untimed(s, f.Query.Streams)
		}
		return f, nil
	}
}
