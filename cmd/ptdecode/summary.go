package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// hottest is how many functions summary prints.
const hottest = 10

// newSummaryCmd is the verb that says on one screen what a recording's flow comes to.
func newSummaryCmd(a *app) *cobra.Command {
	var where filter.Flags
	c := withObjects(&cobra.Command{
		Use:   "summary REC",
		Short: "say on one screen what ran: instructions, how sure, gaps, changes, hottest functions",
		Long: `Decode a recording and say on one screen what ran: the time that it covers,
instructions by verdict, breakpoint exceptions, and the functions that executed the
most instructions. Gaps are counted by reason, with what they cost and
what to do, and changes to the code by kind and by task. ptdecode help words
explains verdict and gap.

The exit code is 3 where there are gaps.`,
		Example: `  ptdecode summary perf.data
  ptdecode summary perf.data --cpu 1 --time 10%-20%
  ptdecode summary perf.data --comm 'sh,perf*' --dso '[kernel*'
  ptdecode summary perf.data -o jsonl | jq '{instructions, ambiguous, gaps}'`,
	}, func(c *cobra.Command, asJSON bool, args []string) error { return a.summary(c, &where, asJSON, args) })
	where.Add(c.Flags(), filter.All[:11]...)
	return c
}

// jsonSummary is a summary as an object.
type jsonSummary struct {
	Type         string            `json:"type"`
	From         uint64            `json:"from"`  // ns
	Until        uint64            `json:"until"` // ns
	Streams      int               `json:"streams"`
	Threads      int               `json:"threads"`
	TraceBytes   int64             `json:"trace_bytes"`
	Instructions uint64            `json:"instructions"`
	Ambiguous    uint64            `json:"ambiguous"`
	Verdicts     map[string]uint64 `json:"verdicts"` // instructions
	Gaps         uint64            `json:"gaps"`
	GapReasons   []jsonGapCount    `json:"gap_reasons"`
	Pokes        int               `json:"pokes"`
	PokeKinds    map[string]int    `json:"poke_kinds"`
	PokeTasks    map[string]int    `json:"poke_tasks"`
	Traps        uint64            `json:"traps"`
	Functions    []jsonFunction    `json:"functions"`
}

// jsonGapCount is the gaps of one reason.
type jsonGapCount struct {
	Reason string `json:"reason"`
	N      uint64 `json:"count"`
	Bytes  int64  `json:"trace_bytes"`
	Time   uint64 `json:"time_ns"` // at most
	Hint   string `json:"hint,omitempty"`
}

// jsonFunction is how much of a function was executed.
type jsonFunction struct {
	Sym          string `json:"sym,omitempty"`
	File         string `json:"file,omitempty"`
	Instructions uint64 `json:"instructions"`
	Entered      uint64 `json:"entered"`
}

// summary prints what the flow of a recording comes to.
func (a *app) summary(c *cobra.Command, where *filter.Flags, asJSON bool, args []string) error {
	if err := where.Wrong(); err != nil {
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
	a.ui.noEvents(s, &a.open, args)
	a.ui.unknownTIDs(s, where.TIDs)
	only, err := where.Resolve(s)
	if err != nil {
		return err
	}
	q := decoder.Query{Jobs: a.open.jobs, Progress: a.ui.progress}
	only.Query(&q)
	x, err := report.Summarise(c.Context(), s, q)
	a.ui.done()
	if err != nil {
		return err
	}
	j := summaryObject(s, x, only)
	if asJSON {
		err = printJSON(a.out, j)
	} else {
		w := bufio.NewWriter(a.out)
		j.print(w)
		err = w.Flush()
	}
	if err != nil {
		return err
	}
	if filters := flowFilters(c); j.Instructions == 0 && filters != "" {
		a.ui.noRows(s, only.Streams, "nothing of the flow", only.From, only.Until, filters)
	}
	return a.whole(s, j.Gaps)
}

// summaryObject makes an object of a summary of what only lets pass.
func summaryObject(s *decoder.Session, x *report.Summary, only *filter.Filter) *jsonSummary {
	j := &jsonSummary{
		Type: "summary", From: x.From, Until: x.Until, Streams: only.Count(), Threads: x.Threads, TraceBytes: x.Bytes,
		Instructions: x.Instructions, Ambiguous: x.ByVerdict[decoder.Ambiguous], Verdicts: map[string]uint64{}, Traps: x.Traps,
		GapReasons: []jsonGapCount{}, PokeKinds: map[string]int{}, PokeTasks: map[string]int{}, Functions: []jsonFunction{},
	}
	for v, n := range x.ByVerdict {
		if n > 0 {
			j.Verdicts[decoder.Verdict(v).String()] = n
		}
	}
	for i := range x.Gaps {
		g := &x.Gaps[i]
		j.Gaps += g.N
		j.GapReasons = append(j.GapReasons, jsonGapCount{g.Reason.String(), g.N, g.Bytes, g.Time, report.GapHint(s, &g.First)})
	}
	for k := range s.Pokes() {
		if !only.Change(k.Addr, k.Range().Len, k.Time, baseName(k.Symbol)) {
			continue
		}
		j.Pokes++
		j.PokeKinds[k.Kind.String()]++
		if k.Comm != "" {
			j.PokeTasks[k.Comm]++
		}
	}
	for i := range x.Functions[:min(len(x.Functions), hottest)] {
		f := &x.Functions[i]
		j.Functions = append(j.Functions, jsonFunction{f.Symbol, f.File, f.Instructions, f.Entered})
	}
	return j
}

// print prints j for people.
func (j *jsonSummary) print(w io.Writer) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-13s %s\n", name, fmt.Sprintf(format, args...))
	}
	if j.Until > 0 {
		line("time", "%s from %s to %s", event.Seconds(j.Until-j.From), event.Seconds(j.From), event.Seconds(j.Until))
	} else {
		line("time", "the trace has none")
	}
	line("trace", "%d bytes in %d stream%s, of %d thread%s", j.TraceBytes, j.Streams, pick(uint64(j.Streams), "", "s"), j.Threads, pick(uint64(j.Threads), "", "s"))
	line("instructions", "%d", j.Instructions)
	for v := decoder.Certain; v <= decoder.Ambiguous; v++ {
		if n := j.Verdicts[v.String()]; n > 0 {
			line("", "%-12s %12d  %6.3f %%", v, n, 100*float64(n)/float64(j.Instructions))
		}
	}
	line("gaps", "%d", j.Gaps)
	for _, g := range j.GapReasons {
		line("", "%-12s %12d  %d bytes of trace, %s", g.Reason, g.N, g.Bytes, event.Seconds(g.Time))
		if g.Hint != "" {
			line("", "  %s", g.Hint)
		}
	}
	line("changes", "%d%s", j.Pokes, counted(": ", j.PokeKinds))
	if len(j.PokeTasks) > 0 {
		line("", "by %s", counted("", j.PokeTasks))
	}
	line("traps", "%d", j.Traps)
	if len(j.Functions) > 0 {
		line("functions", "%12s %9s", "instructions", "entered")
	}
	for _, f := range j.Functions {
		name := f.Sym
		if name == "" {
			name = "[unknown]"
		}
		if f.File != "" && !strings.HasPrefix(f.File, "[kernel") {
			name += " (" + f.File + ")"
		}
		line("", "%12d %9d  %s", f.Instructions, f.Entered, name)
	}
}

// counted renders how often each name is counted, behind a prefix; "" where there is none.
func counted(prefix string, names map[string]int) string {
	var list []string
	for _, n := range slices.Sorted(maps.Keys(names)) {
		list = append(list, fmt.Sprintf("%s %d", n, names[n]))
	}
	if len(list) == 0 {
		return ""
	}
	return prefix + strings.Join(list, ", ")
}
