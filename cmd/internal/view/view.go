// Package view is the verb that shows a recording in a browser: a server on the
// loopback address, and the page that it gives (docs/formats/view-api.md).
//
// The page decodes what is on screen and no more. Whoever can name the address must
// also know the token, which only the URL has.
//
// Start reading in server.go, for what can be asked for. The page itself is in the folder
// page, from main.js on.
package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/loopback"
	"github.com/ptdecode/ptdecode/cmd/internal/onepage"
	"github.com/ptdecode/ptdecode/cmd/internal/shell"
	"github.com/ptdecode/ptdecode/decoder"
)

// Host is what the verb needs of the command.
type Host struct {
	Open  func(args []string) (*decoder.Session, error)                         // what the flags and arguments name
	Times func(s *decoder.Session, flag string) (from, until uint64, err error) // reads --time, ns
	// Poke writes what pokes --poke N -o jsonl prints.
	Poke func(ctx context.Context, w io.Writer, s *decoder.Session, k *decoder.PokeInfo) error
	Say  func(format string, args ...any) // tells something that is no error
}

// caller renders the call of another verb on the same recording, with more arguments.
type caller func(verb string, more ...string) string

// flags are the flags of the verb.
type flags struct {
	http   string
	noOpen bool
	export string
	svg    string
	time   string
	poke   int
	jobs   int // segments decoded at once; 0: one for each CPU
}

// New returns the verb.
func New(h *Host) *cobra.Command {
	var o flags
	c := &cobra.Command{
		Use:   "view REC",
		Short: "show a recording in a browser: what ran while the code changed",
		Long: `Show a recording in a browser. A server on this machine serves the page and
decodes what is on screen. Its URL is the first line of the output. It has a token:
without it the server refuses requests. Nothing leaves the machine, and no other
machine can connect.

The page shows a lane for each CPU and each thread: how much ran, down to single
instructions. Changes to the code (pokes) are marks, with breakpoint exceptions, gaps
and what is ambiguous. A click on a poke shows old and new code, who made it, and how
each CPU crossed it. Every place has a URL, and every view says which command prints
the same. The key ? lists the keys.

The server runs until you interrupt it. --export writes one file instead, with
everything about a short time, for a bug report. It needs no server and no network.
--svg draws one change.`,
		Example: `  ptdecode view perf.data
  ptdecode view perf.data --no-open             # print the URL, open no browser
  ptdecode view perf.data --poke 385            # begin at that change
  ptdecode view snapshot/ --http 127.0.0.1:8080
  ptdecode view perf.data --export page.html --poke 385
  ptdecode view perf.data --svg poke.svg --poke 385
  ssh -L 8080:127.0.0.1:8080 host \
    ptdecode view perf.data --no-open --http 127.0.0.1:8080`,
		Args: host.MaxArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if o.poke < 0 && c.Flags().Changed("poke") {
				return &decoder.CallError{What: fmt.Sprintf("--poke %d: changes count from 0", o.poke)}
			}
			call := func(verb string, more ...string) string { return shell.Call(c, args, verb, more) }
			o.jobs, _ = c.Flags().GetInt("jobs")
			return h.run(c.Context(), c.OutOrStdout(), args, call, &o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.http, "http", "127.0.0.1:0", "listen on `ADDR:PORT`, an address of this machine itself; port 0 is any that is free")
	f.StringVar(&o.export, "export", "", "write a page without a server to `FILE`, of --time or --poke, and end; - is standard output")
	f.StringVar(&o.svg, "svg", "", "draw how each CPU crossed the change of --poke to `FILE`, and end; - is standard output")
	f.StringVar(&o.time, "time", "", "the time `FROM,TO` that the page begins with, or --export takes; either may be left out. Also +5ms, 10%-20%, poke:385±10us")
	f.IntVar(&o.poke, "poke", -1, "the change `N` that the page begins with, that --svg draws, or around which --export takes the time")
	f.BoolVar(&o.noOpen, "no-open", false, "open no browser")
	return c
}

// run does what the verb is asked for.
func (h *Host) run(ctx context.Context, out io.Writer, args []string, call caller, o *flags) error {
	if err := loopback.Check(o.http); err != nil {
		return err
	}
	if o.export == "-" && o.svg == "-" {
		return &decoder.CallError{What: "--export - --svg -: both would go to standard output"}
	}
	s, err := h.Open(args)
	if err != nil {
		return err
	}
	defer s.Close()
	v := newServer(h, s, call, o.jobs, loopback.NewToken())
	x := exporter{v, exportSteps}
	if o.export != "" || o.svg != "" {
		return x.write(ctx, out, o)
	}
	place, err := x.place(ctx, o)
	if err != nil {
		return err
	}
	l, err := loopback.Listen(o.http)
	if err != nil {
		return err
	}
	v.addr = l.Addr().String()
	url := v.url() + place
	if _, err := fmt.Fprintln(out, url); err != nil {
		return err
	}
	if !o.noOpen {
		if err := shell.Browse(url); err != nil {
			h.Say("no browser could be opened: %s; open the URL above", err)
		}
	}
	defer v.work.Wait() // the session is closed next
	return loopback.Serve(ctx, l, v)
}

// write writes the files that the flags ask for; - is stdout.
func (v exporter) write(ctx context.Context, stdout io.Writer, o *flags) error {
	defer v.work.Wait()
	told, err := v.told(ctx, o)
	if err != nil {
		return err
	}
	if o.svg != "" {
		if told == nil {
			return &decoder.CallError{What: "--svg: need --poke N, the change to draw"}
		}
		if err := toFile(o.svg, stdout, func(w io.Writer) error { return v.writeSVG(w, told) }); err != nil {
			return err
		}
	}
	if o.export == "" {
		return nil
	}
	for around := uint64(aroundPoke); ; around /= 2 {
		from, until, err := v.exported(o, told, around)
		if err != nil {
			return err
		}
		a, err := v.gatherAnswers(ctx, from, until)
		if much := (*decoder.CallError)(nil); errors.As(err, &much) && told != nil && o.time == "" && around > leastAround {
			continue // too much ran
		}
		if err != nil {
			return err
		}
		return toFile(o.export, stdout, func(w io.Writer) error { return onepage.Write(w, v.page, a) })
	}
}

// told returns the change of --poke, nil without it.
func (v exporter) told(ctx context.Context, o *flags) (*story, error) {
	if o.poke < 0 {
		return nil, nil
	}
	a, err := v.answerPoke(asked(ctx, "n", o.poke))
	if bad := (*badRequest)(nil); errors.As(err, &bad) {
		return nil, &decoder.CallError{What: fmt.Sprintf("--poke %d: there is no such change; ptdecode pokes lists them", o.poke)}
	}
	if err != nil {
		return nil, err
	}
	return a.(*story), nil
}

// place returns the end of the URL of what the flags ask for: "" where that is all of the recording.
func (v exporter) place(ctx context.Context, o *flags) (string, error) {
	defer v.work.Wait()
	if o.time == "" && o.poke < 0 {
		return "", nil
	}
	told, err := v.told(ctx, o)
	if err != nil {
		return "", err
	}
	if told != nil && !v.rec.Timed {
		return fmt.Sprintf("#poke=%d", o.poke), nil
	}
	from, until, err := v.exported(o, told, aroundPoke)
	if err != nil {
		return "", err
	}
	if from < v.rec.Until {
		until = min(until, v.rec.Until)
	}
	place := "#t=" + v.rec.span(from, until)
	if told != nil {
		place += fmt.Sprintf("&poke=%d", o.poke)
	}
	return place, nil
}

// How much before and behind a change is exported, ns: at most, and at least.
const (
	aroundPoke  = 20_000
	leastAround = 100
)

// exported returns the window that --export is to take, ns behind the base: without --time, so
// much before and behind the change of --poke.
func (v exporter) exported(o *flags, told *story, around uint64) (from, until uint64, err error) {
	if !v.rec.Timed {
		return 0, 0, &decoder.CallError{What: "--time and --export: the trace has no times, so there is no window to show"}
	}
	from, until = v.rec.From, v.rec.Until+1000
	if o.time != "" {
		f, u, err := v.h.Times(v.s, o.time)
		if err != nil {
			return 0, 0, &decoder.CallError{What: fmt.Sprintf("--time %s", err)}
		}
		if from = v.rec.rel(f); u != 0 {
			until = v.rec.rel(u)
		}
		if said, _ := filter.Outside(v.s, nil, f, u); said != "" {
			v.h.Say("%s", said)
		}
	} else if told != nil {
		m := &told.Mark
		from, until = m.Begin-min(around, m.Begin), m.End+around
	}
	return from, max(until, from+1), nil
}

// toFile writes a file; - is stdout.
func toFile(name string, stdout io.Writer, fill func(io.Writer) error) error {
	if name == "-" {
		return fill(stdout)
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}
