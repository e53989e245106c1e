// Package calls is the verb that says how often functions were called, and how long the
// calls took.
package calls

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/decoder"
)

// Host is what the verb needs of the command.
type Host struct {
	Session func(args []string) (*decoder.Session, error) // opens what the flags and arguments name
	Deliver func(context.Context, *decoder.Session, decoder.Query, Sink) error
	Times   func(flag string) (from, until uint64, err error) // reads FROM,TO, ns
	Streams func(s *decoder.Session, cpus string) ([]int, error)
	Ends    func(s *decoder.Session, gaps uint64) error // the exit code
	Say     func(format string, args ...any)            // tells something that is no error
}

// Sink takes flow, and is closed behind it.
type Sink interface {
	decoder.Sink
	Close() error // there is no more
}

// options are the verb's flags.
type options struct {
	format  string
	slowest int
	by      string
	splitAt int
	time    string
	cpus    string
	sort    string
	rec     string // what to type after flow
	only    string // the function asked for; "": all

	addr    uint64 // the function asked for
	byAddr  bool   // by its address
	filters bool   // only some calls are asked for

	from, until uint64 // ns
	split       uint64 // ns; 0: nowhere
}

// New returns the verb.
func New(h *Host) *cobra.Command {
	o := options{splitAt: -1}
	c := &cobra.Command{
		Use:   "calls REC [FUNC]",
		Short: "say how often functions were called, and how long the calls took",
		Long: `Decode a recording and say of each function how often it was called and how long
that took: all calls, without callees, the median, the 99th percentile, the longest.
With FUNC, a name or 0xADDRESS, only of that function, with a histogram.

The time of a call goes from its first to its last instruction. It has callees,
interrupts and the time that its thread did not run in it. The column self is
without these. Times are by the trace's clock: 0 is less than its step. What did not
begin or end within the trace has no time, but counts. -o jsonl counts these as open.

A jump to a function's first instruction is a call: it takes the place of the
function that it leaves. So is an interrupt's handler. Thunks, as retpolines are,
belong to the call that they serve. Calls inside of a gap are not seen.
ptdecode help words explains gap.

--by tells the calls apart by where they ran, or by who called. --split-at does so by
whether they ran before a change to the code (poke), across it or after it. --slowest
lists single calls, with what to type to see what ran in each.`,
		Example: `  ptdecode calls perf.data
  ptdecode calls perf.data vfs_read                 # with a histogram
  ptdecode calls perf.data vfs_read --slowest 5
  ptdecode calls perf.data --sort self --by comm
  ptdecode calls perf.data vfs_read --split-at 385  # before and after change 385, as pokes counts
  ptdecode calls perf.data -o jsonl | jq 'select(.count > 100) | {sym, count, p99_ns}'`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error { return h.run(c.Context(), c.OutOrStdout(), o, args) },
	}
	f := c.Flags()
	f.StringVarP(&o.format, "output", "o", "text", "lines or JSON objects: `text|jsonl`")
	f.IntVar(&o.slowest, "slowest", 0, "list the `N` calls that took longest")
	f.StringVar(&o.by, "by", "", "tell calls apart by `cpu|tid|comm|caller`")
	f.IntVar(&o.splitAt, "split-at", -1, "tell calls apart by whether they ran before or after the change `POKE`, a number as pokes prints it")
	f.StringVar(&o.time, "time", "", "only calls that ran in the time `FROM,TO`; either may be left out")
	f.StringVar(&o.cpus, "cpu", "", "only these CPUs: `0,2-3`")
	f.StringVar(&o.sort, "sort", "total", "what comes first: `total|self|count|max|name`")
	for name, words := range map[string][]string{"output": {"text", "jsonl"}, "by": groupings, "sort": orders} {
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	return c
}

// groupings are the values of --by, orders those of --sort.
var (
	groupings = []string{"cpu", "tid", "comm", "caller"}
	orders    = []string{"total", "self", "count", "max", "name"}
)

// wrong is a wrong call of the verb.
func wrong(format string, args ...any) error {
	return &decoder.CallError{What: fmt.Sprintf(format, args...)}
}

// check says what is wrong with the flags.
func (o *options) check() error {
	switch {
	case o.format != "text" && o.format != "jsonl":
		return wrong("--output %q: need text or jsonl", o.format)
	case o.by != "" && !slices.Contains(groupings, o.by):
		return wrong("--by %q: need one of %s", o.by, strings.Join(groupings, ", "))
	case !slices.Contains(orders, o.sort):
		return wrong("--sort %q: need one of %s", o.sort, strings.Join(orders, ", "))
	case o.slowest < 0:
		return wrong("--slowest %d: need 0 or more", o.slowest)
	}
	return nil
}

// run is the verb.
func (h *Host) run(ctx context.Context, out io.Writer, o options, args []string) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	if o.from, o.until, err = h.Times(o.time); err != nil {
		return wrong("--time %s", err)
	}
	if args, err = o.named(args); err != nil {
		return err
	}
	s, err := h.Session(args)
	if err != nil {
		return err
	}
	defer s.Close()
	if o.splitAt >= 0 {
		if n := s.Text().Journal().Len(); o.splitAt >= n {
			return wrong("--split-at %d: the recording has %d changes, counted from 0", o.splitAt, n)
		}
		o.split = s.Text().Poke(o.splitAt).Time
	}
	q := decoder.Query{Merged: true, Bounds: o.slowest > 0 || o.split != 0 || o.filters, From: o.from, Until: o.until}
	if q.Streams, err = h.Streams(s, o.cpus); err != nil {
		return err
	}
	t := newTable(s, &o)
	if err := h.Deliver(ctx, s, q, t); err != nil {
		return err
	}
	if o.only != "" && len(t.groups) == 0 {
		if !t.known() {
			return wrong("no function %s is known, and none of that name ran", o.only)
		}
		h.Say("%s was not called", o.only)
	}
	w := bufio.NewWriter(out)
	if o.format == "jsonl" {
		err = t.objects(w)
	} else {
		t.print(w)
	}
	if e := w.Flush(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if n := t.tree.Unmatched; n > 0 {
		h.Say("%d returns fitted no call in progress", n)
	}
	return h.Ends(s, t.gaps)
}

// named takes what the arguments name, and returns those that are the recording's.
func (o *options) named(args []string) (rec []string, err error) {
	if len(args) == 2 {
		o.only, args = args[1], args[:1]
	}
	if len(args) > 0 {
		o.rec = args[0]
	}
	if hex, ok := strings.CutPrefix(o.only, "0x"); ok {
		if o.addr, err = strconv.ParseUint(hex, 16, 64); err != nil {
			return nil, wrong("%q is no address", o.only)
		}
		o.byAddr = true
	}
	o.filters = o.only != "" || o.from != 0 || o.until != 0
	return args, nil
}
