package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/gist"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/shard"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// flowFlags are the flags of flow.
type flowFlags struct {
	level           string
	format          string
	fields          string
	filter          filter.Flags
	reverse         bool
	last            int
	gaps            bool
	notes           bool
	digest          bool
	runs, bounds    bool
	rawTraps        bool
	thunks, inlines bool
	segmentBytes    int64
	shards          shard.Flags
}

// flowHelp returns what flow's help says.
func flowHelp() string {
	return `Print what each CPU executed, with the machine code as it was at that time.

Levels:
  insn     one line per instruction
  block    one line per run of instructions that ends where the flow may branch
  branch   one line per taken branch, interrupt and trap, and where tracing goes
           on and off (the default)
  call     the tree of calls, as they begin; calls --each has how long each took
  element  one line per trace element, under OpenCSD's names, interleaved with
           the executed ranges; with -o tsv its columns are cpu, time, element and
           values, as "isa=A64 insns=5"

At the levels branch and call a breakpoint exception is one line. It says where
the breakpoint is, why it was there, and to which change to the code (poke) it
belongs. It also says what the handler did in place of the instruction, and where
the flow goes on. --raw-traps shows the handler's flow.

A part that cannot be followed is a gap. Standard error has the first 20 gaps
of each reason; --gaps prints all of them in place, as lines "# gap ...". The bytes
before a stream's first sync point are a gap, too (no-sync). A buffer that wrapped
around begins in the middle of the trace, but one whose first sync point was damaged
looks the same. flow exits with 3 for these bytes because it cannot decode them; check
and packets do not count them as an error.

The verdict says how sure an instruction is:

  certain      the time shows which version of the code ran
  trace        every other version contradicts the trace
  exception    the CPU took a trap at the changed code
  ambiguous    the likeliest of several versions, or a gap shows that the code is wrong
  unconfirmed  for very long, the trace stated no address that the flow must reach

ptdecode help words explains these words.

The lines of all CPUs are in order of time. Two forms of the level insn are fixed,
fast, and in order for each CPU only: -F cpu,ip and -F cpu,ip,verdict.

Times are seconds with a decimal point, as they are printed, or whole
nanoseconds. +5ms counts from the first time in the trace, -5ms from the last, and
10% is a tenth of the way between them. poke:385 is the time of that change, and
poke:385+2us is 2 us after it. poke:385±10us, or poke:385+-10us, is the time around
it. 5%-10% is a part of the trace, 10% alone the first tenth, 10%/3 the third tenth.
The first part has also what ran before the first time, the last part what ran after
the last. Of changes to the code, parts have only those from the first time to the last.

Names may be globs: * is any text, ? any character, [a-z] one of those in brackets. A
name fits itself, whatever signs it has, as operator[]. A name that the recording does
not have is an error (exit code 2). The message names similar ones.

Fields:
` + strings.TrimRight(output.FieldHelp(), "\n")
}

// newFlowCmd is the verb that prints what was executed.
func newFlowCmd(a *app) *cobra.Command {
	var o flowFlags
	c := &cobra.Command{
		Use:   "flow REC",
		Short: "print what each CPU executed",
		Long:  flowHelp(),
		Example: `  ptdecode flow perf.data | less
  ptdecode flow perf.data --level insn -F +bytes,+verdict --cpu 0 --sym schedule
  ptdecode flow perf.data --level call --tid 1234 --time 5.5,5.6
  ptdecode flow perf.data --sym 'vfs_*' --comm 'sh,perf*' --flags call --first 9
  ptdecode flow perf.data --time poke:385±10us --poke 385
  ptdecode flow perf.data --level insn --verdict ambiguous --time 5%-10%
  ptdecode flow perf.data --last 50                 # how did it end?
  ptdecode flow perf.data -o jsonl | jq 'select(.type == "gap")'
  ptdecode flow perf.data -o tsv -F sym,addr | cut -f1 | sort | uniq -c
  ptdecode flow perf.data -o none                   # can all of it be decoded?
  ptdecode flow perf.data --digest                  # one hash for each CPU
  ptdecode flow snapshot/ --level element  # and what was executed
  ptdecode flow snapshot/ --level insn --id 10 --buffer ETB_1
  ptdecode flow snapshot/ --runs --all-buffers
  ptdecode flow --pt 0:cpu0.pt --pt 1:cpu1.pt --kcore kcore --events e.jsonl`,
		Args: host.MaxArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.flow(c, &o, args) },
	}
	o.addFlowFlags(c)
	return c
}

// addFlowFlags gives c the flags.
func (o *flowFlags) addFlowFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.level, "level", "branch", "level of detail: `"+strings.Join(rows.LevelNames(), "|")+"`")
	f.StringVarP(&o.format, "output", "o", "text", "lines, JSON objects, fields with tabs between them, or only messages about gaps: `"+strings.Join(output.FormatNames(), "|")+"`")
	f.StringVarP(&o.fields, "fields", "F", "", "print `FIELD,...`, in this order; +x and -x add to the defaults and take away")
	o.filter.Add(f, filter.All...)
	f.BoolVar(&o.reverse, "reverse", false, "newest first")
	f.IntVar(&o.last, "last", 0, "only the last `N` lines; decodes no more than these need")
	f.BoolVar(&o.gaps, "gaps", false, "gaps in place, not on standard error")
	f.BoolVar(&o.notes, "notes", false, "also the trace events between instructions, as lines \"# ...\"")
	f.BoolVar(&o.bounds, "bounds", false, "say how far off a time may be, where that is more than 1 us, as ±27.2us (on a terminal the default)")
	f.BoolVar(&o.rawTraps, "raw-traps", false, "at the levels branch and call: print what the handlers of breakpoint exceptions executed")
	f.BoolVar(&o.thunks, "thunks", false, "at the level call: also what only leads on for a call: retpolines, return thunks, trampolines of static calls, ftrace and BPF, slots of probes, PLT stubs, veneers of Arm")
	f.BoolVar(&o.inlines, "inlines", false, "print the source line and the functions inlined there: the fields srcline and inlines")
	f.BoolVar(&o.digest, "digest", false, "print one line CPU INSTRUCTIONS SHA256 per CPU: a hash over the addresses of retired instructions, as 64-bit little-endian words")
	f.BoolVar(&o.runs, "runs", false, "print one line STREAM ISA START END INSTRUCTIONS per run of instructions in a row (END excluded); with --digest one line STREAM INSTRUCTIONS RUNS SHA256 per stream")
	o.shards.Give(c)
	f.Int64Var(&o.segmentBytes, "segment-bytes", 0, "how much trace a worker takes at once, `BYTES`")
	_ = f.MarkHidden("segment-bytes")
	complete(c, "level", rows.LevelNames()...)
	complete(c, "output", output.FormatNames()...)
	_ = c.RegisterFlagCompletionFunc("fields", completeFields)
}

func (a *app) flow(c *cobra.Command, o *flowFlags, args []string) error {
	opts, err := o.options(c)
	if err != nil {
		return err
	}
	return a.traced(args, everyWarning, &o.filter, func(s *decoder.Session, only *filter.Filter) error {
		return a.flowOf(c, o, args, s, only, opts)
	})
}

// flowOf prints the flow of what only lets pass of s, which args name.
func (a *app) flowOf(c *cobra.Command, o *flowFlags, args []string, s *decoder.Session, only *filter.Filter, opts output.Options) error {
	only.Rows(&opts.Options)
	o.look(a, &opts)
	q := decoder.Query{
		Jobs: a.open.jobs, SegmentBytes: o.segmentBytes, Progress: a.ui.progress, Streams: only.Streams, From: opts.From, Until: opts.Until,
		Bounds: opts.Format.Bounds || opts.Look.Bounds || opts.From != 0 || opts.Until != 0, Beyond: opts.Until != 0 && (opts.Level == rows.LevelBranch || opts.Level == rows.LevelCall),
	}
	a.ui.silent(s, q.Streams)
	a.ui.noEvents(s, &a.open, args)
	opts.Jobs = a.open.jobs
	part, err := o.part(c, s, &q, &opts, a.out)
	if err != nil {
		return err
	}
	opts.Say = func(l string) { a.ui.say("%s", l) }
	contradicted := false
	opts.Hint = func(g *event.Gap) string {
		contradicted = contradicted || g.Reason.Contradicts()
		return report.GapHint(s, g)
	}
	tell := o.watch(a, s, &q)
	n, err := o.write(c.Context(), s, q, part, a.out, opts)
	if err != nil {
		return err
	}
	n.TellMore()
	tell(n.Gaps)
	filters := flowFilters(c)
	none := n.Rows == 0 && filters != "" && !opts.Format.NoRows
	if f := opts.Format; (f.NoRows || f.InPlace || opts.Level == rows.LevelElement || !a.ui.noFlow(s, q.Streams, "")) && none {
		what := "nothing of the flow"
		if part != nil {
			what = "nothing of this shard's flow" // another's may
		}
		a.ui.noRows(s, q.Streams, what, opts.From, opts.Until, filters)
		hints, err := only.Unlisted(c.Context(), q, outputStreams(s), opts.Level)
		if n.Hints = append(n.Hints, hints...); err != nil {
			return err
		}
	}
	a.ui.done()
	if !none {
		o.doubts(a, n, &opts)
	}
	for _, h := range n.Hints {
		a.ui.hint("%s", h)
	}
	if part != nil && contradicted {
		a.learnsNothing()
	}
	return a.whole(s, n.Gaps)
}

// watch has what q asks for counted, where that is told on a terminal. What it returns tells it.
func (o *flowFlags) watch(a *app, s *decoder.Session, q *decoder.Query) (tell func(gaps uint64)) {
	if !a.screen.is || o.format != "none" {
		return func(uint64) {}
	}
	counted := gist.Watch(s, q)
	return func(gaps uint64) { counted(gaps).Begin(a.out) }
}

// doubts says how much of what ran is not certain.
func (o *flowFlags) doubts(a *app, n *output.Counter, p *output.Options) {
	if n.Unconfirmed > 0 {
		a.ui.say("%d of %s %s unconfirmed: the trace stated no address for long", n.Unconfirmed, plural.Count(n.Insns, "instruction"), plural.Word(n.Unconfirmed, "is", "are"))
	}
	if n.Ambiguous > 0 {
		a.ui.say("%d of %s %s ambiguous: the likeliest of several, or before a gap where trace and code differ", n.Ambiguous, plural.Count(n.Insns, "instruction"), plural.Word(n.Ambiguous, "is", "are"))
		a.ui.hint("%s", o.which(p))
	}
}

// flowFilters renders the filters of a call of flow. They may leave no row.
func flowFilters(c *cobra.Command) string {
	names := slices.DeleteFunc(slices.Clone(filter.All[4:]), func(name string) bool { return name == "first" })
	return given(c, names...)
}

// which returns the hint on how to see which instructions are ambiguous.
func (o *flowFlags) which(p *output.Options) string {
	switch {
	case p.Format.NoRows, p.Level != rows.LevelInsn && p.Level != rows.LevelBlock:
		return "flow --level insn shows which"
	case output.Marked(p.Fields):
		return "their lines say \"ambiguous\""
	}
	return "-F " + o.fields + ",verdict marks them"
}

// options turns the flags into what to print.
func (o *flowFlags) options(c *cobra.Command) (p output.Options, err error) {
	p.Options = rows.Options{
		Gaps: o.gaps, Events: o.notes, RawTraps: o.rawTraps, Thunks: o.thunks, Last: o.last, Reverse: o.reverse,
	}
	if err := o.filter.Wrong(); err != nil {
		return p, err
	}
	if p.Format, err = output.ParseFormat(o.format); err != nil {
		return p, usagef("--%s", err)
	}
	if p.Level, err = rows.ParseLevel(o.level); err != nil {
		return p, usagef("--%s", err)
	}
	if p.Fields, err = output.ParseFields(o.fields, p.Format.Defaults(p.Level)); err != nil {
		return p, usagef("-F, --fields: %s", err)
	}
	p.Fields = output.With(p.Fields, o.inlines)
	if o.last < 0 || o.last == 0 && c.Flags().Changed("last") {
		return p, usagef("--last %d: need 1 or more", o.last)
	}
	if o.segmentBytes < 0 {
		return p, usagef("--segment-bytes %d: need 0 or more", o.segmentBytes)
	}
	if err := o.together(c, &p); err != nil {
		return p, err
	}
	if p.Level == rows.LevelElement && o.fields != "" {
		return p, usagef("--level element prints all that an element says: --fields does not go with it")
	}
	return p, o.wholeFlow(c, &p)
}

// look says how lines look. Where the fields are not named and lines shall be short, a
// function's name stands for the address.
func (o *flowFlags) look(a *app, p *output.Options) {
	p.Look = output.Look{Colour: a.screen.colour, Width: a.screen.width, Bounds: o.bounds || a.screen.is && p.Format.Name == "text"}
	if p.Format.Name == "text" && o.fields == "" && p.Look.Width > 0 && p.Look.Width < 110 {
		p.Fields = slices.DeleteFunc(slices.Clone(p.Fields), func(f output.Field) bool { return f == output.IP })
	}
}

// together says which filters do not go with what else is asked for.
func (o *flowFlags) together(c *cobra.Command, p *output.Options) error {
	first := c.Flags().Changed("first")
	switch {
	case first && o.filter.First <= 0:
		return usagef("--first %d: need 1 or more", o.filter.First)
	case first && o.last > 0:
		return usagef("--first %d: --last does not go with it", o.filter.First)
	case len(o.filter.Transfers) > 0 && p.Level != rows.LevelBranch && p.Level != rows.LevelCall:
		return usagef("--flags %s is of branches: it goes with --level branch and call", strings.Join(o.filter.Transfers, ","))
	case c.Flags().Changed("thunks") && p.Level != rows.LevelCall:
		return usagef("--thunks chooses calls: it goes with --level call")
	case c.Flags().Changed("raw-traps") && p.Level != rows.LevelBranch && p.Level != rows.LevelCall:
		return usagef("--raw-traps goes with --level branch and call: --level %s prints what handlers executed anyway", p.Level)
	case o.filter.Depth != "" && p.Level != rows.LevelCall:
		return usagef("--depth %s is of calls: it goes with --level call", o.filter.Depth)
	case o.filter.Depth != "" && p.Backward():
		return usagef("--depth %s: how deep a call lies is known at the end when read backwards: --reverse and --last do not go with it", o.filter.Depth)
	case !p.Format.NoRows:
		return nil
	}
	for _, name := range append([]string{"last"}, filter.All[4:]...) {
		if name != "time" && c.Flags().Changed(name) {
			return usagef("--output none prints nothing: --%s does not go with it", name)
		}
	}
	return nil
}

// part begins the part of the flow that --shard asks for, and has q and p ask for it; nil
// without --shard.
func (o *flowFlags) part(c *cobra.Command, s *decoder.Session, q *decoder.Query, p *output.Options, w io.Writer) (*shard.Part, error) {
	kind := p.Format.Name
	part, err := o.shards.Begin(c, s, q, kind, w, "reverse", "first", "last", "runs")
	if part == nil {
		return nil, err
	}
	switch kind {
	case "digest":
		p.Format = output.FormatNamed("digest-part")
	case "none":
		return nil, usagef("--shard %d/%d: --output none does not go with it", q.Shard, q.Shards)
	}
	return part, nil
}

// write writes the flow that q asks for to w, or to part, if there is one.
func (o *flowFlags) write(ctx context.Context, s *decoder.Session, q decoder.Query, part *shard.Part, w io.Writer, opts output.Options) (n *output.Counter, err error) {
	if part != nil {
		w = part
	}
	err = shard.Rows(s, q, opts.Level, func(q decoder.Query, sh rows.Shard) error {
		opts.Shard = sh
		var sink output.Sink
		var order output.Order
		sink, n, order = output.New(s, outputStreams(s), q.Streams, w, opts)
		q.Reverse, q.Merged = order.Reverse, order.Merged
		return deliver(ctx, s, q, sink)
	})
	if part != nil {
		part.Incomplete = n != nil && n.Gaps > 0 || spoiled(s.Warnings())
		err = part.Close(err)
	}
	return n, err
}

// wholeFlow replaces the format of --output by that of --digest or --runs, if one
// of these is set. Such a format covers all that was executed.
func (o *flowFlags) wholeFlow(c *cobra.Command, p *output.Options) error {
	switch {
	case o.runs && o.digest:
		p.Format = output.FormatNamed("runs-digest")
	case o.runs:
		p.Format = output.FormatNamed("runs")
	case o.digest:
		p.Format = output.FormatNamed("digest")
	default:
		return nil
	}
	for _, f := range append([]string{"level", "output", "fields", "reverse", "last", "notes", "raw-traps", "thunks", "bounds", "inlines"}, filter.All[4:]...) {
		if c.Flags().Changed(f) {
			return usagef("--%s is over all that a CPU executed: --%s does not go with it", p.Format.Flag, f)
		}
	}
	return nil
}
