// Package calls is the verb that says how often functions were called, and how long the
// calls took. What is a call is a matter of package decoder/calls.
//
// Start reading in this file; table.go has what is counted for each function.
package calls

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/shell"
	"github.com/ptdecode/ptdecode/decoder"
)

// options are the verb's flags.
type options struct {
	format  string
	slowest int
	each    bool
	first   int // lines of the table, or calls; 0: all
	width   int // columns; 0: any
	by      string
	splitAt int
	splits  bool // --split-at was given
	sort    string
	only    string // the function asked for; "": all

	addr    uint64 // the function asked for
	byAddr  bool   // by its address
	filters bool   // only some calls are asked for
	bounds  bool   // it is asked for how far off times may be

	flow   func(args []string) string // what to type for flow of what is read, with arguments
	filter *host.Filter
	split  uint64 // ns; 0: nowhere
	share  func(*decoder.Session, decoder.Query, []string) (done bool, err error)
}

// long is the help of the verb.
const long = `Decode a recording and print for each function how often it was called. Print how long
the calls took: all, without callees, the median, the 99th percentile, the longest. With
FUNC, a name or an 0xADDRESS in it, print only that function. FUNC without REC reads
./perf.data.

The time of a call is from its first to its last instruction. It includes callees,
interrupts and the time in which its thread did not run. The column self is without
these. The time is the last one in the trace before the end, minus the last one before
the beginning. So 0 is less than one step of the trace's clock. With FUNC, --slowest,
--split-at or --each the output also says how far off a time may be, as ±320ns.

So all time between two timestamps is in self of the call in which the later one comes.
One call may have too much, and the next too little. In sums that levels out, and waits
are mostly right. hot --sort time divides such a time evenly among the instructions: use
it for instructions, lines and blocks, and calls for functions and waits.

A call counts if its first instruction ran within the trace. A call that did not begin
and end within the trace has no time. -o jsonl counts these as open, and those that
began before the trace as unseen. It counts as elsewhere those that began within the
trace, but without their first instruction.

A jump to a function's first instruction is a call: it replaces the function that it
leaves. An interrupt's handler is a call, too. So is running on into a function's first
instruction, for which flow --level call has no line. Thunks, such as retpolines, belong
to the call that they serve. Calls inside a gap are not seen. ptdecode help words
explains gap.

The thread of a call is that on whose stack the kernel runs, also with --tid, --comm and
--by. The tid of flow goes by the records of switches, which are made just before or
behind the change of stacks. Between the record and the change, about a microsecond, the
two verbs name different threads.

If the trace counts cycles, there are the columns cycles and ipc. These traces do: CYC
of Intel PT, cycle counts of ETMv4 and ETE, cycle-accurate ETMv3 and PTM. The columns are
the core's cycles in the calls, with callees, and instructions per cycle. Interrupts and
what was not traced are left out. Calls with a gap in them, or without a beginning or an
end, have neither.

--by groups the calls by where they ran, or by caller. If no caller is known, --by caller
says how the call began: call, jump, interrupt, user (from user space), resumed or
unseen. A call is resumed if tracing came on at its start, and unseen if it began before
the trace shows it, or in a gap. --split-at groups calls by whether they ran before a
change to the code (poke), across it or after it. --slowest lists single calls, each with
the command that shows what ran in it.

--each prints no table, but every call as soon as it has ended. A line begins with the
earliest time at which the call can have begun. Then come how long it took, how far off
that may be, the time without callees, and the instructions with callees. In brackets it
says the verdict if not certain, whether a gap lies in it, and how it ended if not by a
return. Then come who called it, where it ran, and the cycles if counted. Callees stand
before their caller because they end first. -o jsonl has the bounds of both ends.`

// New returns the verb.
func New(h *host.Host) *cobra.Command {
	o := options{splitAt: -1}
	c := &cobra.Command{
		Use:   "calls REC [FUNC]",
		Short: "say how often functions were called, and how long the calls took",
		Long:  long,
		Example: `  ptdecode calls perf.data
  ptdecode calls perf.data vfs_read                 # with a histogram
  ptdecode calls perf.data vfs_read --slowest 5
  ptdecode calls perf.data vfs_read --each          # one line per call
  ptdecode calls perf.data --sort self --by comm
  ptdecode calls perf.data vfs_read --split-at 385  # before and after poke 385
  ptdecode calls perf.data -o jsonl | jq 'select(.count > 100) | .sym, .p99_ns'`,
		Args: host.MaxArgs(2),
	}
	f := c.Flags()
	f.StringVarP(&o.format, "output", "o", "text", "lines or JSON objects: `text|jsonl`")
	f.IntVar(&o.slowest, "slowest", 0, "list the `N` calls that took longest")
	f.BoolVar(&o.each, "each", false, "print every call, as it ends, in place of the table")
	f.IntVar(&o.first, "first", 0, "only the first `N` lines of the table, or of --each; it does not limit --slowest")
	f.StringVar(&o.by, "by", "", "tell calls apart by `cpu|tid|comm|caller`")
	f.IntVar(&o.splitAt, "split-at", -1, "tell calls apart by whether they ran before or after the change `POKE`, a number as pokes prints it")
	f.StringVar(&o.sort, "sort", "total", "what comes first: `total|self|count|max|name`")
	filters := h.Filters(c)
	o.share = h.Share(c)
	c.RunE = func(c *cobra.Command, args []string) error { return o.run(c, h, filters, both(c, args)) }
	for name, words := range map[string][]string{"output": {"text", "jsonl"}, "by": groupings, "sort": orders} {
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	return c
}

// both returns the arguments with REC, "" where FUNC stands alone.
func both(c *cobra.Command, args []string) []string {
	if len(args) == 1 && isFunction(c, args[0]) {
		return []string{"", args[0]}
	}
	return args
}

// isFunction reports whether the only argument is FUNC: there is no such file, and something to
// read without it.
func isFunction(c *cobra.Command, arg string) bool {
	if _, err := os.Stat(arg); err == nil || arg == "-" || strings.ContainsAny(arg, `/\`) {
		return false
	}
	for _, part := range []string{"pt", "etm", "text", "kcore", "events"} {
		if f := c.Flags().Lookup(part); f != nil && f.Changed {
			return true
		}
	}
	_, err := os.Stat("perf.data")
	return err == nil
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
func (o *options) check(c *cobra.Command) error {
	switch {
	case o.format != "text" && o.format != "jsonl":
		return wrong("--output %q: need text or jsonl", o.format)
	case o.by != "" && !slices.Contains(groupings, o.by):
		return wrong("--by %q: need one of %s", o.by, strings.Join(groupings, ", "))
	case !slices.Contains(orders, o.sort):
		return wrong("--sort %q: need one of %s", o.sort, strings.Join(orders, ", "))
	case c.Flags().Changed("first") && o.first < 1:
		return wrong("--first %d: need 1 or more", o.first)
	case o.slowest < 0 || c.Flags().Changed("slowest") && o.slowest == 0:
		return wrong("--slowest %d: need 1 or more", o.slowest)
	case o.each && slices.ContainsFunc([]string{"slowest", "split-at", "by", "sort"}, c.Flags().Changed):
		return wrong("--each prints calls as they end: it goes with none of --slowest, --split-at, --by and --sort")
	case o.splits && o.splitAt < 0:
		return wrong("--split-at %d: changes count from 0", o.splitAt)
	}
	return nil
}

// run is the verb.
func (o *options) run(c *cobra.Command, h *host.Host, filters func(*decoder.Session) (*host.Filter, error), args []string) error {
	o.splits = c.Flags().Changed("split-at")
	if err := o.check(c); err != nil {
		return err
	}
	if o.each {
		o.by, o.slowest, o.splitAt = "", 0, -1 // defaults, from a variable or a file
	}
	all := args
	args, err := o.named(args)
	if err != nil {
		return err
	}
	s, only, err := h.OpenPart(args, filters)
	if errors.Is(err, fs.ErrNotExist) && len(all) == 1 && !strings.ContainsAny(all[0], `/\`) {
		return fmt.Errorf("%w; if it is a function: there is no ./perf.data, so name the recording before it", err)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	o.filter, o.flow = only, func(more []string) string { return shell.Call(c, args, "flow", more) }
	o.filters = o.only != "" || o.filter.Given != ""
	if o.splitAt >= 0 {
		if n := s.Text().Journal().Len(); o.splitAt >= n {
			return wrong("--split-at %d: the recording has %s, counted from 0", o.splitAt, plural.Count(n, "change"))
		}
		o.split = s.Text().Poke(o.splitAt).Time
	}
	q := o.filter.Query
	q.Merged = true
	o.bounds = o.slowest > 0 || o.split != 0 || o.only != "" || o.each
	q.Bounds = q.Bounds || o.bounds
	if done, err := o.share(s, q, all); done || err != nil {
		return err
	}
	o.width = h.Columns()
	t := newTable(s, o)
	var sink host.Sink = t
	if o.each {
		sink = newList(t, h.Out)
	}
	if err := h.Deliver(c.Context(), s, q, sink); err != nil {
		return err
	}
	return o.end(h, s, t)
}

// end prints what is left behind all of the flow.
func (o *options) end(h *host.Host, s *decoder.Session, t *table) error {
	switch {
	case len(t.groups) > 0 || t.listed > 0:
	case o.only != "" && !t.known():
		return o.unknown(s)
	case o.only != "":
		h.Say("%s was not called", t.holder.asked(o.only))
	default:
		h.Nothing(s, o.filter, "no call")
	}
	if !o.each {
		if err := t.write(h.Out, o.format); err != nil {
			return err
		}
	}
	if n := t.tree.Unmatched; n > 0 {
		h.Say("%s fitted no call in progress", plural.Count(n, "return"))
	}
	if o.splitAt >= 0 {
		if n := filter.NextChange(s, o.splitAt, o.filter.Options.Until); n >= 0 {
			h.Say("change %d changes the same code again: --time ,poke:%d leaves out what ran after that", n, n)
		}
	}
	return h.Whole(s, t.gaps)
}

// write writes the table in a format.
func (t *table) write(to io.Writer, format string) (err error) {
	w := bufio.NewWriter(to)
	if format == "jsonl" {
		err = t.objects(w)
	} else {
		t.print(w)
	}
	if e := w.Flush(); err == nil {
		err = e
	}
	return err
}

// named takes what the arguments name, and returns those that are the recording's.
func (o *options) named(args []string) (rec []string, err error) {
	if len(args) == 2 {
		o.only, args = args[1], args[:1]
	}
	if len(args) > 0 && args[0] == "" {
		args = nil
	}
	if hex, ok := strings.CutPrefix(o.only, "0x"); ok {
		if o.addr, err = strconv.ParseUint(hex, 16, 64); err != nil {
			return nil, wrong("%q is no address", o.only)
		}
		o.byAddr = true
	}
	return args, nil
}

// unknown says that nothing in s is called as FUNC is.
func (o *options) unknown(s *decoder.Session) error {
	if strings.ContainsAny(o.only, "*?[") {
		return wrong("%s: FUNC is one function; --sym '%[1]s' takes all that are called so", o.only)
	}
	functions, _, _ := decoder.NamesIn(s)
	return wrong("no function %s is known, and none of that name ran%s", o.only, filter.Nearest(o.only, functions))
}
