// Package export is the verb that hands on what was executed, in the forms that other
// tools read (docs/exports.md). One decoding writes any number of them.
//
// Start reading in formats.go: a table with a row for each form, and each form has a file.
package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/tables"
	"github.com/ptdecode/ptdecode/cmd/internal/vmlinux"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// New returns the verb.
func New(h *host.Host) *cobra.Command {
	var outs []string
	j := &job{host: h}
	c := &cobra.Command{
		Use:   "export REC -o FORMAT:FILE",
		Short: "write profiles, coverage and tables for other tools",
		Long: `Write what was executed in formats that other tools read. You may give -o several times:
one decoding writes all. FILE - is standard output. A file appears under its name when
it is complete. docs/exports.md says what each format holds and leaves out, and which
commands read it.

Formats:
` + formatHelp() + `

Ambiguous instructions are left out, and counted on standard error; --with-ambiguous
includes them. The filters are those of flow. The exit code is 3 if there are gaps.`,
		Example: `  ptdecode export perf.data -o pprof:p.pb.gz && go tool pprof -http : p.pb.gz
  ptdecode export perf.data -o autofdo:kernel.txt -o pcs:pcs.txt
  ptdecode export perf.data -o pcs:- --cpu 0 --time 5.5,5.6`,
		Args: host.MaxArgs(1),
	}
	c.Flags().StringArrayVarP(&outs, "output", "o", nil, "write `FORMAT:FILE` (repeatable)")
	check := j.flags(c)
	filters, share := h.Filters(c), h.Share(c)
	completeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		targets, err := parseTargets(outs)
		if err != nil {
			return err
		}
		if err := errors.Join(check(), j.checkPer(targets, c.Flags().Changed("per")), unread(c, targets)); err != nil {
			return err
		}
		s, err := h.Open(args)
		if err != nil {
			return err
		}
		defer s.Close()
		j.session = s
		if j.filter, err = filters(s); err != nil {
			return err
		}
		if err := j.apart(targets); err != nil && c.Flags().Changed("shard") {
			return err
		}
		if done, err := share(s, j.query(targets), args); done || err != nil {
			return err
		}
		return j.run(c.Context(), targets)
	}
	return c
}

// completeFlags lets shells complete the values of the flags of c that are names of its own.
func completeFlags(c *cobra.Command) {
	_ = c.RegisterFlagCompletionFunc("output", completeOutput)
	_ = c.RegisterFlagCompletionFunc("per", cobra.FixedCompletions([]string{perCPU, perThread, perSyscall}, cobra.ShellCompDirectiveNoFileComp))
	for flag, names := range map[string][]string{"tables": append(tables.Names(), "all"), "perf-fields": perfFieldNames} {
		_ = c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			return filter.CompleteLast(begun, names), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		})
	}
}

// completeOutput completes -o.
func completeOutput(*cobra.Command, []string, string) (list []string, how cobra.ShellCompDirective) {
	for _, n := range formatNames() {
		list = append(list, n+":")
	}
	return list, cobra.ShellCompDirectiveNoSpace
}

// flags defines the flags that formats read. It returns what reads and checks them.
func (j *job) flags(c *cobra.Command) (check func() error) {
	f := c.Flags()
	f.BoolVar(&j.ambiguous, "with-ambiguous", false, "also what the trace does not settle: the likeliest of several")
	f.IntVar(&j.depth, "depth", 0, "in perfetto: leave out calls that lie in `N` others or more")
	f.DurationVar(&j.shortest, "min-duration", 0, "in perfetto: leave out calls that took less than `TIME`, such as 2us")
	f.StringVar(&j.object, "object", "", "of the file `NAME`, a path or its last part, [kernel.kallsyms] or [module]: in lcov, and in formats that hold one file (default: the one that executed most)")
	f.StringVar(&j.per, "per", "", "in drcov, lcov and pcs: FILE is a directory with a file for each `THING`: cpu, tid or syscall")
	only := f.String("tables", "", "in csv, parquet and sqlite: write the tables of `LIST`, or all; +x and -x add to the default and take away (default: all but branches)")
	f.StringVar(&j.perfFields, "perf-fields", "", "in formats of perf script: print `FIELDS`, by perf's names; +x and -x add to the defaults and take away")
	return func() (err error) {
		usage := func(format string, args ...any) error { return &decoder.CallError{What: fmt.Sprintf(format, args...)} }
		switch {
		case j.depth < 0:
			return usage("--depth %d: need 1 or more; 0 leaves nothing out", j.depth)
		case j.shortest < 0:
			return usage("--min-duration %s: need 0 or more", j.shortest)
		}
		if j.tables, err = tables.Choose(*only); err != nil {
			return usage("--tables %s: %s", *only, err)
		}
		if file := j.host.Vmlinux; file != nil {
			j.kernel, err = vmlinux.Read(*file)
		}
		return err
	}
}

// formatHelp lists the formats.
func formatHelp() string {
	var lines []string
	for i := range formats {
		lines = append(lines, fmt.Sprintf("  %-19s %s", formats[i].name, formats[i].help))
	}
	return strings.Join(lines, "\n")
}

// target is a format and where it goes.
type target struct {
	format *format
	path   string
}

// parseTargets reads the values of -o.
func parseTargets(outs []string) (list []target, err error) {
	usage := func(format string, args ...any) error { return &decoder.CallError{What: fmt.Sprintf(format, args...)} }
	if len(outs) == 0 {
		return nil, usage("-o FORMAT:FILE is missing: formats are %s", strings.Join(formatNames(), ", "))
	}
	for _, o := range outs {
		name, path, ok := strings.Cut(o, ":")
		f := formatNamed(name)
		switch {
		case f == nil:
			return nil, usage("-o %s: no format %q; formats are %s", o, name, strings.Join(formatNames(), ", "))
		case !ok || path == "":
			return nil, usage("-o %s: need %s:FILE; - is standard output", o, name)
		case path == "-" && f.files != nil:
			return nil, usage("-o %s: %s makes files of its own, and does not go to standard output", o, name)
		}
		for _, t := range list {
			if t.path == path {
				return nil, usage("-o %s: %s goes there already", o, t.format.name)
			}
		}
		list = append(list, target{f, path})
	}
	return list, nil
}

// query returns what the targets need of the flow.
func (j *job) query(targets []target) decoder.Query {
	q := j.filter.Query
	for _, t := range targets {
		q.Merged = q.Merged || t.format.merged
		q.Bounds = q.Bounds || t.format.bounds
		if t.format.stacks && j.filter.Query.From != 0 {
			q.From = filter.Lead(j.filter.Query.From)
		}
	}
	q.Merged = q.Merged || j.per == perSyscall
	return q
}

// together parts the targets into those that one decoding can write. Stacks of a window need
// the flow before it, and nothing else may see that.
func (j *job) together(targets []target) (groups [][]target) {
	if j.filter.Query.From == 0 {
		return [][]target{targets}
	}
	var stacks, others []target
	for _, t := range targets {
		if t.format.stacks {
			stacks = append(stacks, t)
		} else {
			others = append(others, t)
		}
	}
	for _, g := range [][]target{stacks, others} {
		if len(g) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// apart returns an error if some targets are stacks of a window, and others are calls. Parts of shards have
// the flow before the window then, and calls would begin there.
func (j *job) apart(targets []target) error {
	g := j.together(targets)
	if len(g) < 2 {
		return nil
	}
	for _, t := range g[1] {
		if f := t.format; f.name == "perfetto" || slices.Contains(f.reads, "tables") && j.tables.Calls() {
			return &decoder.CallError{What: fmt.Sprintf("--shard with --time: %s needs what ran before that time, and the calls of %s must not have it: write them with two commands", g[0][0].format.name, f.name)}
		}
	}
	return nil
}

// decode decodes what the targets need and writes them.
func (j *job) decode(ctx context.Context, targets []target) error {
	q := j.query(targets)
	all, err := j.sinks(targets)
	if err != nil {
		return err
	}
	err = all.end(j.host.Deliver(ctx, j.session, q, all))
	var empty error // of formats with nothing to write: the others are written
	for i, t := range targets {
		e := err
		if e == nil && t.format.counted != nil {
			e = j.write(&t, all.outs[i])
		}
		if all.outs[i] != nil {
			e = all.outs[i].finish(e)
		}
		if err == nil && j.nothing() {
			empty = e
		} else {
			err = e
		}
		j.empty = ""
	}
	return cmp.Or(err, empty)
}

// run decodes the recording and writes the targets.
func (j *job) run(ctx context.Context, targets []target) error {
	for _, g := range j.together(targets) {
		if err := j.decode(ctx, g); err != nil {
			return err
		}
	}
	return j.lacking()
}

// lacking says what is left out of what was written, and makes the exit code of it.
func (j *job) lacking() error {
	n := &j.counter.Instructions
	switch {
	case n.N+n.Ambiguous == 0:
		j.host.Nothing(j.session, j.filter, "nothing of the flow")
	case n.Ambiguous > 0 && j.ambiguous:
		j.host.Say("%d of %s %s ambiguous: the likeliest of several, or before a gap where trace and code differ", n.Ambiguous, plural.Count(n.N+n.Ambiguous, "instruction"), plural.Word(n.Ambiguous, "is", "are"))
	case n.Ambiguous > 0:
		j.host.Say("%d of %s %s ambiguous, and left out of profiles and coverage", n.Ambiguous, plural.Count(n.N+n.Ambiguous, "instruction"), plural.Word(n.Ambiguous, "is", "are"))
		j.host.Hint("--with-ambiguous takes them in")
	}
	return j.host.Whole(j.session, j.counter.Gaps)
}

// write writes a counted format.
func (j *job) write(t *target, o *output) (err error) {
	j.leftOut, j.hint, j.written, j.empty = map[string]uint64{}, "", false, ""
	switch err = j.checkObject(); {
	case err != nil:
	case j.per != "":
		err = j.divided(t.format, t.path)
	default:
		err = t.format.counted(j, o)
	}
	if err == nil {
		for _, why := range slices.Sorted(maps.Keys(j.leftOut)) {
			j.host.Say("%s: %s left out: %s", t.format.name, plural.Word(j.leftOut[why], "1 instruction is", fmt.Sprint(j.leftOut[why], " instructions are")), why)
		}
		if j.hint != "" {
			j.host.Hint("%s", j.hint)
		}
		if j.nothing() {
			err = &decoder.CallError{What: fmt.Sprintf("%s: nothing is written: %s", t.format.name, j.empty)}
		}
	}
	return err
}

// nothing reports whether a counted format has said why it wrote nothing.
func (j *job) nothing() bool { return j.empty != "" && !j.written }

// count returns how often what was counted as n counts: without ambiguous executions,
// unless these are asked for.
func (j *job) count(n counts.Count) uint64 {
	if j.ambiguous {
		return n.N + n.Ambiguous
	}
	return n.N
}

// ranges returns what the host executed, of what the trace settles, unless
// --with-ambiguous is given: N of each is how often it counts.
func (j *job) ranges() (list []counts.Range) {
	for _, r := range j.executed().Ranges() {
		if r.N = j.count(r.Count); r.N > 0 {
			list = append(list, r)
		}
	}
	return list
}

// leaveOut says that n instructions are left out, and why.
func (j *job) leaveOut(n uint64, why string) { j.leftOut[why] += n }

// fanOut gives flow to several sinks.
type fanOut struct {
	counter *counts.Counter
	tallied bool              // a sink counts this part's flow in the counter's place
	crossed *report.Crossings // nil: no sink asks for it
	told    bool              // as in job
	// syscalls comes before the counter; nil: nobody asks for it
	syscalls *syscalls
	sinks    []host.Sink
	outs     []*output // by target; nil: the format makes its files
}

// sinks begins the targets.
func (j *job) sinks(targets []target) (*fanOut, error) {
	o := counts.Options{Bare: true, Since: j.filter.Query.From} // parts of a shard may hold what lies before
	for _, t := range targets {
		g := t.format.groups
		o = counts.Options{Since: o.Since, CPUs: o.CPUs || g.CPUs, Threads: o.Threads || g.Threads, Time: o.Time || g.Time, Runs: o.Runs || g.Runs, Bare: o.Bare && t.format.counted == nil}
	}
	j.divide(&o)
	j.counter = counts.New(j.session, j.filter, o)
	all := &fanOut{counter: j.counter, syscalls: j.syscalls}
	j.tallied = !o.Bare // the counter counts more
	for _, t := range targets {
		if err := all.begin(j, t); err != nil {
			for _, out := range all.outs {
				if out != nil {
					err = out.finish(err)
				}
			}
			return nil, err
		}
	}
	all.crossed, all.told, all.tallied = j.crossed, j.told, j.tallied && o.Bare
	return all, nil
}

// begin begins one target.
func (a *fanOut) begin(j *job, t target) error {
	var sink host.Sink
	var out *output
	var err error
	if j.per != "" {
		// divided makes the files
	} else if t.format.files != nil {
		sink, err = t.format.files(j, t.path)
	} else if out, err = create(t.path, j.host.Out); err == nil && t.format.flow != nil {
		sink, err = t.format.flow(j, out)
	}
	a.outs = append(a.outs, out)
	if sink != nil {
		a.sinks = append(a.sinks, sink)
	}
	return err
}

// Flow gives b to all sinks. None of them may keep it.
func (a *fanOut) Flow(b *decoder.Batch) error {
	if a.syscalls != nil {
		if err := a.syscalls.Flow(b); err != nil {
			return err
		}
	}
	if !a.tallied || b.Part != 0 {
		if err := a.counter.Flow(b); err != nil {
			return err
		}
	}
	if a.told && b.Part == 0 {
		a.crossed.Between(b)
	} else if a.crossed != nil && b.Part == 0 {
		if err := a.crossed.Flow(b); err != nil {
			return err
		}
	}
	for _, s := range a.sinks {
		if err := s.Flow(b); err != nil {
			return err
		}
	}
	return nil
}

// Restart begins anew, if all sinks can (decoder.Restarter).
func (a *fanOut) Restart() bool {
	for _, s := range a.sinks {
		if r, ok := s.(decoder.Restarter); !ok || !r.Restart() {
			return false
		}
	}
	return (a.syscalls == nil || a.syscalls.Restart()) && a.counter.Restart()
}

// Close ends the counting. The sinks wait for end, which knows whether flow is missing.
func (a *fanOut) Close() error { return a.counter.Close() }

// end ends the sinks. err says why flow is missing, nil if it is whole.
func (a *fanOut) end(err error) error {
	for _, s := range a.sinks {
		if f, ok := s.(failer); ok && err != nil {
			f.Fail(err)
		}
		if e := s.Close(); err == nil {
			err = e
		}
	}
	return err
}

// failer is a sink whose files would look whole, though flow is missing.
type failer interface{ Fail(err error) }
