package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/decoder/stream"
)

// flowFlags are the flags of flow.
type flowFlags struct {
	level        string
	format       string
	fields       string
	cpus         string
	tids         []int
	time         string
	syms         []string
	reverse      bool
	last         int
	gaps         bool
	notes        bool
	digest       bool
	runs         bool
	ids          string
	rawTraps     bool
	segmentBytes int64
}

// newFlowCmd is the verb that prints what was executed.
func newFlowCmd(a *app) *cobra.Command {
	var o flowFlags
	c := &cobra.Command{
		Use:   "flow REC",
		Short: "print what each CPU executed",
		Long: `Print what each CPU executed, with the text as it was at that moment.

Levels: insn, a line an instruction; block, a line a run of instructions;
branch (the default), a line a taken branch, interrupt, trap, and where tracing
goes on and off; call, the tree of calls; element, a line a thing that the trace
states, by the names that Arm's tools have for it, in order with the flow.

At the levels branch and call a breakpoint exception is one event: where, why the
breakpoint was there, which poke that was, what its handler did in place of the
instruction, and where the flow goes on. --raw-traps shows the handler's flow.

What could not be followed is a gap: on standard error, the first 20 of each
reason, or with --gaps all of them in place as lines "# gap ...". So is what lies
before a stream's first sync point (no-sync): a buffer that wrapped around begins
anywhere, but one whose first sync point was damaged looks the same. As this is
trace that is not decoded, the exit code is 3. For it alone, check, to which a
trace that begins anywhere is sound, and packets, which lists it, exit with 0.

An instruction is as sure as its verdict says: certain, by time; trace, because
anything else contradicts the trace; exception, because of a trap taken at a
poked site; ambiguous, the likeliest of several.

Lines of all CPUs are in order of time. Two forms of the level insn are fixed,
fast, and in order of each CPU only: -F cpu,ip and -F cpu,ip,verdict.

Times are seconds with a decimal point, as they are printed, or whole
nanoseconds.

Fields:
` + strings.TrimRight(output.FieldHelp(), "\n"),
		Example: `  ptdecode flow perf.data | less
  ptdecode flow perf.data --level insn -F +bytes,+verdict --cpu 0 --sym schedule
  ptdecode flow perf.data --level call --tid 1234 --time 5.5,5.6
  ptdecode flow perf.data --last 50                 # how did it end?
  ptdecode flow perf.data -o jsonl | jq 'select(.type == "gap")'
  ptdecode flow perf.data -o none                   # can all of it be decoded?
  ptdecode flow perf.data --digest                  # one hash a CPU
  ptdecode flow snapshot/ --level element           # what an Arm trace states, in order with the flow
  ptdecode flow snapshot/ --level insn --id 10 --buffer ETB_1
  ptdecode flow snapshot/ --runs --all-buffers
  ptdecode flow --pt 0:cpu0.pt --pt 1:cpu1.pt --kcore kcore --events e.jsonl`,
		Args: maxArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.flow(c, &o, args) },
	}
	o.add(c)
	return c
}

// add gives c the flags.
func (o *flowFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.level, "level", "branch", "how fine: `insn|block|branch|call|element`")
	f.StringVarP(&o.format, "output", "o", "text", "lines, objects, or nothing but what is told of gaps: `text|jsonl|none`")
	f.StringVarP(&o.fields, "fields", "F", "", "`FIELDS` in the order to print; +x,-x: added to the defaults, taken away")
	f.StringVar(&o.cpus, "cpu", "", "only these CPUs: `0,2-3`")
	f.StringVar(&o.ids, "id", "", "only these trace IDs, hex: `10,12-14`")
	f.IntSliceVar(&o.tids, "tid", nil, "only these threads: `TID,...`")
	f.StringVar(&o.time, "time", "", "only from `FROM,TO`; either may be left out")
	f.StringArrayVar(&o.syms, "sym", nil, "only in the function `NAME`; branches also into it (repeatable)")
	f.BoolVar(&o.reverse, "reverse", false, "newest first")
	f.IntVar(&o.last, "last", 0, "only the last `N` lines; decodes no more than they need")
	f.BoolVar(&o.gaps, "gaps", false, "gaps in place, not on standard error")
	f.BoolVar(&o.notes, "notes", false, "also what lies between instructions, as lines \"# ...\"")
	f.BoolVar(&o.rawTraps, "raw-traps", false, "levels branch and call: breakpoint exceptions with their handlers' flow")
	f.BoolVar(&o.digest, "digest", false, "print CPU INSTRUCTIONS SHA256 a CPU: the hash over the addresses of retired instructions, 64-bit little-endian words")
	f.BoolVar(&o.runs, "runs", false, "print STREAM ISA START END INSTRUCTIONS a run of instructions one behind the other, END excluded; with --digest STREAM INSTRUCTIONS RUNS SHA256 a stream")
	f.Int64Var(&o.segmentBytes, "segment-bytes", 0, "trace a worker takes at once, `BYTES`")
	_ = f.MarkHidden("segment-bytes")
}

func (a *app) flow(c *cobra.Command, o *flowFlags, args []string) error {
	opts, err := o.options(c)
	if err != nil {
		return err
	}
	s, err := a.session(args)
	if err != nil {
		return err
	}
	defer s.Close()
	if noBytes(s) {
		return noTrace(s)
	}
	q := decoder.Query{
		Jobs: a.open.jobs, SegmentBytes: o.segmentBytes, Progress: a.ui.progress,
		From: opts.From, Until: opts.Until,
		Bounds: opts.Format.Bounds || opts.From != 0 || opts.Until != 0,
	}
	if q.Streams, err = streamsOf(s, o.cpus, o.ids); err != nil {
		return err
	}
	a.ui.silent(s, q.Streams)
	a.ui.noEvents(s, &a.open, args)
	a.ui.unknownSyms(s, opts.Syms)
	a.ui.unknownTIDs(s, opts.TIDs)
	opts.Say = func(l string) { a.ui.say("%s", l) }
	opts.Hint = s.GapHint
	sink, n, order := output.New(s, outputStreams(s), q.Streams, a.out, opts)
	q.Reverse = order.Reverse
	if err := deliver(c.Context(), s, q, sink, order.Merged); err != nil {
		return err
	}
	a.ui.done()
	n.TellMore()
	filters := flowFilters(c)
	none := n.Rows == 0 && filters != "" && !opts.Format.NoRows
	if opts.From != 0 || opts.Until != 0 {
		a.ui.untimed(s, q.Streams)
	}
	if f := opts.Format; !f.NoRows && !f.InPlace && opts.Level != rows.LevelElement && !executes(s, q.Streams) {
		a.ui.say("no flow of instructions is stated by %s", streamNames(s, q.Streams))
		a.ui.hint("--level element prints what it states")
	} else if none {
		a.ui.nothing(s, q.Streams, "nothing of the flow", opts.From, opts.Until, filters)
	}
	if n.Ambiguous > 0 && !none {
		a.ui.say("%d of %d instructions are ambiguous: the likeliest of several", n.Ambiguous, n.Insns)
		a.ui.hint("%s", o.which(&opts))
	}
	for _, h := range n.Hints {
		a.ui.hint("%s", h)
	}
	return a.whole(s, n.Gaps)
}

// flowFilters renders the filters of a call of flow that may leave nothing of
// what was executed to print.
func flowFilters(c *cobra.Command) string { return given(c, "tid", "time", "sym") }

// which is the hint on how to see which instructions are ambiguous.
func (o *flowFlags) which(p *output.Options) string {
	switch {
	case p.Format.NoRows, p.Level != rows.LevelInsn && p.Level != rows.LevelBlock:
		return "flow --level insn shows which"
	case output.Marked(p.Fields):
		return "their lines say \"ambiguous\""
	}
	return "-F " + o.fields + ",verdict marks them"
}

// noBytes reports whether not one byte of trace is there. A configured source of
// a snapshot that sent nothing is an answer, too.
func noBytes(s *decoder.Session) bool {
	return !slices.ContainsFunc(s.Streams(), func(st *decoder.Stream) bool { return st.Size > 0 || len(st.Losses) > 0 || st.Buffer != "" })
}

// noTrace is the error of a recording in which nothing was traced.
func noTrace(s *decoder.Session) error {
	hint := "give raw trace with --pt CPU:FILE, or record with perf record --kcore -e intel_pt//k"
	if s.Meta().Kind == decoder.KindSnapshot {
		hint = "mend what is told of the snapshot above"
		var names []string
		for _, b := range s.Buffers() {
			if !b.Read && !b.Missing {
				names = append(names, b.Name)
			}
		}
		if len(names) > 0 {
			hint = "name another buffer with --buffer NAME; there is " + strings.Join(names, ", ")
		}
	}
	return &hinted{errors.New("there is no trace to decode"), hint}
}

// tellLosses gives the sink, as gaps, what of the streams that q asks for lies
// before all that can be decoded: the bytes before the first sync point, and what
// the recorder dropped where there is none.
func tellLosses(s *decoder.Session, q *decoder.Query, sink flow.Sink) error {
	streams := s.Streams()
	for k := range streams {
		i := k
		if q.Reverse {
			i = len(streams) - 1 - k
		}
		st := streams[i]
		if q.Streams != nil && !slices.Contains(q.Streams, i) {
			continue
		}
		b := flow.Batch{Stream: i}
		gap := func(g event.Gap) {
			g.Stream = i
			b.Notes = append(b.Notes, flow.Note{Kind: flow.NoteGap, Poke: -1, Gap: g})
		}
		if st.Head > 0 {
			gap(event.Gap{Reason: event.NoSync, End: st.Head, Time: event.Always, What: "bytes before the first sync point"})
		}
		for _, l := range st.Losses {
			if st.Segments() > 0 {
				break // they come in their places
			}
			g := event.Gap{Reason: event.Lost, Off: l.Off, End: l.Off, Time: event.Always, What: l.Why}
			if l.Time != 0 {
				g.Time = event.Time{Lo: l.Time, Hi: l.Time}
			}
			gap(g)
		}
		if err := sink.Flow(&b); err != nil && err != rows.ErrEnough {
			return err
		}
	}
	return nil
}

// stopper ends the flow when the sink has enough.
type stopper struct {
	flow.Sink
	enough bool
}

// Flow passes b on.
func (s *stopper) Flow(b *flow.Batch) error {
	err := s.Sink.Flow(b)
	if err != rows.ErrEnough {
		return err
	}
	s.enough = true
	return decoder.ErrStop
}

// deliver decodes what q asks for into sink and closes that. What lies before all
// that can be decoded comes first, or last where the newest does: not at all where
// the sink has enough by then.
func deliver(ctx context.Context, s *decoder.Session, q decoder.Query, sink output.Sink, merged bool) error {
	if !q.Reverse {
		if err := tellLosses(s, &q, sink); err != nil {
			return err
		}
	}
	var err error
	to := &stopper{Sink: sink}
	if merged {
		m := s.Merge(to, q)
		if err = s.Flow(ctx, q, m); err == nil {
			err = m.Close()
		}
	} else {
		err = s.Flow(ctx, q, to)
	}
	if err == nil && q.Reverse && !to.enough {
		err = tellLosses(s, &q, sink)
	}
	if e := sink.Close(); err == nil {
		err = e
	}
	return err
}

// outputStreams names the streams of s as the sinks know them.
func outputStreams(s *decoder.Session) (out []rows.Stream) {
	for _, st := range s.Streams() {
		out = append(out, rows.Stream{
			Index: st.Index, CPU: st.CPU, TID: st.TID, ID: st.ID, Name: st.Name,
			SilentReturns: st.SilentReturns(), Software: software(st), FileOff: st.FileOff,
		})
	}
	return out
}

// software says what of software st carries.
func software(st *decoder.Stream) rows.Software {
	switch st.Protocol {
	case stream.STM:
		return rows.SoftwareSTM
	case stream.ITM:
		return rows.SoftwareITM
	}
	return rows.NoSoftware
}

// options makes what to print of the flags.
func (o *flowFlags) options(c *cobra.Command) (p output.Options, err error) {
	p.Options = rows.Options{
		Gaps: o.gaps, Events: o.notes, Syms: o.syms, RawTraps: o.rawTraps, Last: o.last, Reverse: o.reverse,
	}
	for _, tid := range o.tids {
		if tid < 0 || tid > math.MaxInt32 {
			return p, usagef("--tid %d: need a number from 0 to %d", tid, math.MaxInt32)
		}
		p.TIDs = append(p.TIDs, int32(tid))
	}
	if p.Format, err = output.ParseFormat(o.format); err != nil {
		return p, usagef("--%s", err)
	}
	if p.Level, err = rows.ParseLevel(o.level); err != nil {
		return p, usagef("--%s", err)
	}
	if p.Fields, err = output.ParseFields(o.fields, p.Format.Defaults(p.Level)); err != nil {
		return p, usagef("--fields: %s", err)
	}
	if o.last < 0 || o.last == 0 && c.Flags().Changed("last") {
		return p, usagef("--last %d: need 1 or more", o.last)
	}
	if o.segmentBytes < 0 {
		return p, usagef("--segment-bytes %d: need 0 or more", o.segmentBytes)
	}
	if p.From, p.Until, err = parseTimes(o.time); err != nil {
		return p, usagef("--time %s", err)
	}
	if p.Format.NoRows && (o.last > 0 || o.tids != nil || o.syms != nil) {
		return p, usagef("--output none prints nothing: --last, --tid and --sym do not go with it")
	}
	if p.Level == rows.LevelElement && o.fields != "" {
		return p, usagef("--level element prints all that an element says: --fields does not go with it")
	}
	return p, o.wholeFlow(c, &p)
}

// wholeFlow puts the format that a flag of its own asks for in place of
// --output's. Such a format is over all that was executed.
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
	for _, f := range []string{"level", "output", "fields", "tid", "time", "sym", "reverse", "last", "notes", "raw-traps"} {
		if c.Flags().Changed(f) {
			return usagef("--%s is over all that a CPU executed: --%s does not go with it", p.Format.Flag, f)
		}
	}
	return nil
}

// streamsOf returns the indices of the streams of the CPUs and trace IDs that
// are asked for: numbers and ranges between commas; nil for all.
func streamsOf(s *decoder.Session, cpus, ids string) ([]int, error) {
	var streams []int
	add := func(flag, what, spec string, base int, number func(*decoder.Stream) int64) error {
		if spec == "" {
			return nil
		}
		if streams == nil {
			streams = []int{}
		}
		there := streamNames(s, nil)
		if base == 16 {
			there = traceIDs(s)
		}
		for w := range strings.SplitSeq(spec, ",") {
			from, to, isRange := strings.Cut(w, "-")
			lo, err := parseNumber(from, base)
			hi := lo
			if isRange && err == nil {
				hi, err = parseNumber(to, base)
			}
			if err != nil || lo > hi || lo < 0 {
				need := "numbers, as 0,2-3"
				if base == 16 {
					need = "hexadecimal numbers, as 10,12-14"
				}
				return usagef("%s %q: %q is no %s and no range of %[4]ss: need %s", flag, spec, w, what, need)
			}
			found := false
			for _, st := range s.Streams() {
				if n := number(st); n >= lo && n <= hi {
					found = true
					if !slices.Contains(streams, st.Index) {
						streams = append(streams, st.Index)
					}
				}
			}
			if !found {
				return usagef("%s %s: no trace of %s %s; there is %s", flag, spec, what, w, there)
			}
		}
		return nil
	}
	if cpus != "" && s.Meta().Kind == decoder.KindSnapshot {
		return nil, usagef("--cpu %s: a snapshot's trace is of trace IDs: --id; there is %s", cpus, streamNames(s, nil))
	}
	err := add("--cpu", "CPU", cpus, 10, func(st *decoder.Stream) int64 { return int64(st.CPU) })
	if err == nil {
		err = add("--id", "trace ID", ids, 16, traceID)
	}
	return streams, err
}

// parseNumber reads a number; a hexadecimal one with or without 0x.
func parseNumber(s string, base int) (int64, error) {
	if base == 16 {
		s = strings.TrimPrefix(s, "0x")
	}
	return strconv.ParseInt(s, base, 32)
}

// traceID returns the CoreSight trace ID of st, -1 without one.
func traceID(st *decoder.Stream) int64 {
	n, err := strconv.ParseInt(st.ID, 16, 32)
	if err != nil {
		return -1
	}
	return n
}

// traceIDs lists the trace IDs that there are, with the stream's name where that
// is another; without any, the streams.
func traceIDs(s *decoder.Session) string {
	var names []string
	for _, st := range s.Streams() {
		switch n := "id" + st.ID; {
		case st.ID == "":
		case st.Name == n:
			names = append(names, n)
		default:
			names = append(names, fmt.Sprintf("%s (%s)", n, st.Name))
		}
	}
	if len(names) == 0 {
		return streamNames(s, nil)
	}
	return strings.Join(names, ", ")
}

// streamNames lists the streams only, nil for all that there are.
func streamNames(s *decoder.Session, only []int) string {
	var names []string
	for i, st := range s.Streams() {
		if only == nil || slices.Contains(only, i) {
			names = append(names, st.Name)
		}
	}
	if len(names) == 0 {
		return "no trace at all"
	}
	return strings.Join(names, ", ")
}
