package main

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/calls"
	"github.com/ptdecode/ptdecode/cmd/internal/export"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/hot"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
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

// filters adds the filters of flow to c, for verbs that count (host.Host).
func (a *app) filters(c *cobra.Command) func(s *decoder.Session) (*host.Filter, error) {
	var o flowFlags
	o.addFilterFlags(c)
	return func(s *decoder.Session) (*host.Filter, error) {
		opts := rows.Options{Syms: o.syms}
		var err error
		if opts.TIDs, err = o.threads(); err != nil {
			return nil, err
		}
		if opts.From, opts.Until, err = parseTimes(o.time); err != nil {
			return nil, usagef("--time %s", err)
		}
		f := &host.Filter{Options: opts, Streams: outputStreams(s), Given: flowFilters(c), Query: decoder.Query{
			Jobs: a.open.jobs, Progress: a.ui.progress, From: opts.From, Until: opts.Until,
			Bounds: opts.From != 0 || opts.Until != 0,
		}}
		if f.Query.Streams, err = streamsOf(s, o.cpus, o.ids); err != nil {
			return nil, err
		}
		a.ui.silent(s, f.Query.Streams)
		a.ui.unknownSyms(s, opts.Syms)
		a.ui.unknownTIDs(s, opts.TIDs)
		if opts.From != 0 || opts.Until != 0 {
			a.ui.untimed(s, f.Query.Streams)
		}
		return f, nil
	}
}

// addFilterFlags gives c the flags that say which part of the flow is wanted.
func (o *flowFlags) addFilterFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.cpus, "cpu", "", "only these CPUs: `0,2-3`")
	f.StringVar(&o.ids, "id", "", "only these trace IDs, hex: `10,12-14`")
	f.IntSliceVar(&o.tids, "tid", nil, "only these threads: `TID,...`")
	f.StringVar(&o.time, "time", "", "only the time `FROM,TO`; either may be left out")
	f.StringArrayVar(&o.syms, "sym", nil, "only in the function `NAME` (repeatable)")
}

// threads returns the numbers of --tid.
func (o *flowFlags) threads() (list []int32, err error) {
	for _, tid := range o.tids {
		if tid < 0 || tid > math.MaxInt32 {
			return nil, usagef("--tid %d: need a number from 0 to %d", tid, math.MaxInt32)
		}
		list = append(list, int32(tid))
	}
	return list, nil
}
