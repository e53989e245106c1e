// Package profile is the verb that shows a profile of what ran on the pages of
// github.com/google/pprof, by its driver package.
package profile

import (
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/export"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/loopback"
)

// New returns the verb.
func New(h *host.Host) *cobra.Command {
	addr, noOpen, ambiguous := "", false, false
	c := &cobra.Command{
		Use:   "profile REC",
		Short: "show in a browser what took time: pprof's own pages",
		Long: `Show a profile of what was executed on the pages of pprof: a flame graph, functions
and their callers. Values are instructions, time and calls, by stack, CPU and thread;
export -o pprof:FILE has them by instruction. A server on this machine serves the pages.
Its URL is the first line of the output. It has a token: without it the server refuses
requests. No other machine can connect. The page Graph needs Graphviz.

Ambiguous instructions are left out; --with-ambiguous includes them. The filters are
those of flow. The server runs until you interrupt it. The exit code is then 3 if
there are gaps.`,
		Example: `  ptdecode profile perf.data
  ptdecode profile perf.data --http 127.0.0.1:8080 --no-open
  ptdecode profile perf.data --tid 118 --time 5.5,5.6`,
		Args: host.MaxArgs(1),
	}
	f := c.Flags()
	f.StringVar(&addr, "http", "127.0.0.1:0", "listen on `ADDR:PORT`, an address of this machine itself; port 0 is any that is free")
	f.BoolVar(&noOpen, "no-open", false, "open no browser")
	f.BoolVar(&ambiguous, "with-ambiguous", false, "also what the trace does not settle: the likeliest of several")
	filters := h.Filters(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		s, f, err := h.OpenPart(args, filters)
		if err != nil {
			return err
		}
		defer s.Close()
		p, left, err := export.Profile(c.Context(), h, s, f, ambiguous)
		if err != nil {
			return err
		}
		if err := pages(p, func(pages http.Handler) error {
			return loopback.Show(c.Context(), c.OutOrStdout(), addr, !noOpen, pages)
		}, h.Say); err != nil {
			return err
		}
		return left
	}
	return c
}

// policy is what the pages may do. Their scripts and styles stand in them.
const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pages has pprof make its pages of p, and gives them to serve.
func pages(p *profile.Profile, serve func(http.Handler) error, say func(string, ...any)) error {
	flags := &arguments{FlagSet: flag.NewFlagSet("profile", flag.ContinueOnError), args: []string{"-no_browser", "-http=127.0.0.1:1", "recording"}}
	flags.SetOutput(io.Discard)
	err := driver.PProf(&driver.Options{
		Flagset: flags, Fetch: made{p}, Sym: named{}, UI: &messages{say},
		HTTPServer: func(args *driver.HTTPServerArgs) error {
			return serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Security-Policy", policy)
				if page := args.Handlers[r.URL.Path]; page != nil {
					page.ServeHTTP(w, r)
					return
				}
				http.NotFound(w, r)
			}))
		},
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// made is the profile as pprof fetches it.
type made struct{ p *profile.Profile }

// Fetch returns it.
func (m made) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return m.p, "", nil
}

// named finds no names: the profile has all.
type named struct{}

// Symbolize does nothing.
func (named) Symbolize(string, driver.MappingSources, *profile.Profile) error { return nil }

// arguments is the command line that pprof reads.
type arguments struct {
	*flag.FlagSet
	args []string
}

// StringList is a flag that may be given several times. None is.
func (a *arguments) StringList(name, def, usage string) *[]*string {
	return &[]*string{a.String(name, def, usage)}
}

// ExtraUsage and AddExtraUsage are of pprof's help, which nobody sees.
func (a *arguments) ExtraUsage() string   { return "" }
func (a *arguments) AddExtraUsage(string) {}

// Parse reads the arguments.
func (a *arguments) Parse(usage func()) []string {
	if err := a.FlagSet.Parse(a.args); err != nil {
		usage()
		return nil
	}
	return a.Args()
}

// messages is what pprof says.
type messages struct{ say func(string, ...any) }

// Print leaves out what pprof says of itself, such as its own idea of the URL.
func (m *messages) Print(...any) {}

// PrintErr says what went wrong.
func (m *messages) PrintErr(args ...any) {
	if len(args) > 0 {
		m.say("pprof: %v", args)
	}
}

// ReadLine ends pprof's prompt, which is not used.
func (m *messages) ReadLine(string) (string, error)     { return "", io.EOF }
func (m *messages) IsTerminal() bool                    { return false }
func (m *messages) WantBrowser() bool                   { return false }
func (m *messages) SetAutoComplete(func(string) string) {}
