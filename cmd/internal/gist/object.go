// Package gist prints a report.Summary: in few lines, or as an object, what a recording's
// flow comes to. The verb summary prints it, and on a terminal flow -o none does. What is
// counted is a matter of package report.
package gist

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// hottest is how many functions are told.
const hottest = 10

// Object is a summary as an object.
type Object struct {
	Type         string            `json:"type"`
	From         uint64            `json:"from"`  // ns: of the time asked for, what the trace covers; without trace, what the changes do
	Until        uint64            `json:"until"` // ns
	Streams      int               `json:"streams"`
	Threads      int               `json:"threads"`
	TraceBytes   int64             `json:"trace_bytes"`
	Instructions uint64            `json:"instructions"`
	Ambiguous    uint64            `json:"ambiguous"`
	Verdicts     map[string]uint64 `json:"verdicts"` // instructions
	Beside       uint64            `json:"beside"`   // instructions that may have run outside of the time asked for
	Gaps         uint64            `json:"gaps"`
	GapReasons   []gapCount        `json:"gap_reasons"`
	Pokes        int               `json:"pokes"`
	PokesWithin  int               `json:"pokes_within"` // of them, those between from and until
	PokeKinds    map[string]int    `json:"poke_kinds"`
	PokeTasks    map[string]int    `json:"poke_tasks"`
	KindsWithin  map[string]int    `json:"poke_kinds_within"`
	TasksWithin  map[string]int    `json:"poke_tasks_within"`
	Traps        uint64            `json:"traps"`
	Functions    []function        `json:"functions"`

	Width int `json:"-"` // columns that lines of functions shall fit, 0 for any

	untraced    bool   // there is no trace
	timed       bool   // the trace has times
	part        bool   // a time was asked for: TraceBytes is that of all times
	first, last uint64 // ns: of the changes
}

// gapCount is the gaps of one reason.
type gapCount struct {
	Reason string `json:"reason"`
	N      uint64 `json:"count"`
	Bytes  int64  `json:"trace_bytes"`
	Time   uint64 `json:"time_ns"` // at most
	Hint   string `json:"hint,omitempty"`
}

// function is how much of a function was executed.
type function struct {
	Sym          string `json:"sym,omitempty"`
	File         string `json:"file,omitempty"`
	Guest        int32  `json:"guest,omitempty"` // the virtual machine's process
	Instructions uint64 `json:"instructions"`
	Entered      uint64 `json:"entered"`
}

// New makes an object of a summary of what only lets pass.
func New(s *decoder.Session, x *report.Summary, only *filter.Filter) *Object {
	j := &Object{
		Type: "summary", Beside: x.Beside, Threads: x.Threads, TraceBytes: x.Bytes,
		Instructions: x.Instructions, Ambiguous: x.ByVerdict[decoder.Ambiguous], Verdicts: map[string]uint64{}, Traps: x.Traps,
		GapReasons: []gapCount{}, PokeKinds: map[string]int{}, PokeTasks: map[string]int{},
		KindsWithin: map[string]int{}, TasksWithin: map[string]int{}, Functions: []function{},
	}
	j.part = only.From != 0 || only.Until != 0
	lo, _ := filter.Traced(s, only.Streams)
	j.timed = lo != 0
	j.From, j.Until = filter.Within(s, only.Streams, only.From, only.Until)
	for v, n := range x.ByVerdict {
		if n > 0 {
			j.Verdicts[decoder.Verdict(v).String()] = n
		}
	}
	for _, st := range s.Streams() {
		if own(st, only.Streams) {
			j.Streams++
		}
	}
	for i := range x.Gaps {
		g := &x.Gaps[i]
		j.Gaps += g.N
		j.GapReasons = append(j.GapReasons, gapCount{g.Reason.String(), g.N, g.Bytes, g.Time, report.GapHint(s, &g.First)})
	}
	for _, machine := range append([]*decoder.Session{s}, decoder.Guests(s)...) {
		j.changes(machine, only)
	}
	for i := range x.Functions[:min(len(x.Functions), hottest)] {
		f := &x.Functions[i]
		j.Functions = append(j.Functions, function{f.Symbol, f.File, f.Guest, f.Instructions, f.Entered})
	}
	return j
}

// Untraced hands tell what is recorded without trace: the changes that only lets pass. Where there are none, it does not.
func Untraced(s *decoder.Session, only *filter.Filter, tell func(*Object) error) error {
	j := New(s, &report.Summary{}, only)
	if j.Pokes == 0 {
		return nil
	}
	j.untraced, j.From, j.Until = true, j.first, j.last
	return tell(j)
}

// own reports whether st is a stream of the host among those with the indices only, nil for all. The streams of a guest
// are the same bytes of trace.
func own(st *decoder.Stream, only []int) bool {
	return st.Guest == 0 && (only == nil || slices.Contains(only, st.Index))
}

// changes counts the changes to the code of a machine: s or its guest.
func (j *Object) changes(machine *decoder.Session, only *filter.Filter) {
	for k := range machine.Pokes() {
		if !only.Change(machine, k.Addr, k.Range().Len, event.Time{Lo: k.Time, Hi: k.Time}, base(k.Symbol)) {
			continue
		}
		within := j.Until == 0 || j.From <= k.Time && k.Time <= j.Until
		if j.Pokes++; j.Pokes == 1 || k.Time < j.first {
			j.first = k.Time
		}
		j.last = max(j.last, k.Time)
		j.PokeKinds[k.Kind.String()]++
		if k.Comm != "" {
			j.PokeTasks[k.Comm]++
		}
		if !within {
			continue
		}
		j.PokesWithin++
		j.KindsWithin[k.Kind.String()]++
		if k.Comm != "" {
			j.TasksWithin[k.Comm]++
		}
	}
}

// liner prints a line: a name, and what there is to say.
type liner func(name, format string, args ...any)

// to returns what prints lines to w.
func to(w io.Writer) liner {
	return func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-13s %s\n", name, terminal.Plain(fmt.Sprintf(format, args...)))
	}
}

// Begin prints the first lines of j for people: when it ran, how much, how sure.
func (j *Object) Begin(w io.Writer) {
	line := to(w)
	if j.Until > 0 {
		line("time", "%s from %s to %s", event.Seconds(j.Until-j.From), event.Seconds(j.From), event.Seconds(j.Until))
	} else if !j.timed {
		line("time", "the trace has none")
	} else if j.Instructions > 0 {
		line("time", "nothing is sure to have run in the time asked for")
	} else {
		line("time", "nothing ran in the time asked for")
	}
	trace := plural.Count(j.TraceBytes, "byte") + " in " + plural.Count(j.Streams, "stream")
	threads := plural.Count(j.Threads, "thread")
	switch {
	case j.part && j.Threads > 0:
		trace += ", also from before and after; " + threads + " ran"
	case j.part:
		trace += ", also from before and after"
	case j.Threads > 0:
		trace += ", of " + threads
	}
	line("trace", "%s", trace)
	line("instructions", "%d", j.Instructions)
	for v := decoder.Certain; v <= decoder.Ambiguous; v++ {
		if n := j.Verdicts[v.String()]; n > 0 || v == decoder.Certain || v == decoder.Ambiguous {
			line("", "%-12s %12d  %6.3f %%", v, n, 100*float64(n)/float64(max(j.Instructions, 1)))
		}
	}
	if j.Beside > 0 {
		line("", "%d may have run before that time or after it", j.Beside)
	}
	line("gaps", "%d", j.Gaps)
}

// Print prints j for people.
func (j *Object) Print(w io.Writer) {
	line := to(w)
	if j.untraced {
		j.printUntraced(line)
		return
	}
	j.Begin(w)
	for _, g := range j.GapReasons {
		took := ""
		if j.Until > 0 || j.part { // else the trace has no times
			took = ", " + event.Seconds(g.Time)
		}
		line("", "%-12s %12d  %s of trace%s", g.Reason, g.N, plural.Count(g.Bytes, "byte"), took)
		if g.Hint != "" {
			line("", "  %s", g.Hint)
		}
	}
	j.printChanges(line)
	line("traps", "%d", j.Traps)
	if len(j.Functions) > 0 {
		line("functions", "%12s %9s", "instructions", "entered")
	}
	for _, f := range j.Functions {
		name, entered := f.Sym, fmt.Sprint(f.Entered)
		if name == "" {
			name, entered = "[unknown]", "-" // where functions begin is not known
		}
		if f.File != "" && !strings.HasPrefix(f.File, "[kernel") {
			name += " (" + f.File + ")"
		}
		if f.Guest != 0 {
			name += fmt.Sprintf("  (guest%d)", f.Guest)
		}
		before := fmt.Sprintf("%12d %9s  ", f.Instructions, entered)
		line("", "%s%s", before, terminal.Fit(name, terminal.Rest(j.Width, "              "+before)))
	}
}

// printUntraced prints j where there is no trace.
func (j *Object) printUntraced(line liner) {
	switch {
	case j.Pokes == 1:
		line("time", "the only change was made at %s", event.Seconds(j.From))
	case j.From == j.Until:
		line("time", "all changes were made at %s", event.Seconds(j.From))
	default:
		line("time", "%s from the first change, at %s, to the last", event.Seconds(j.Until-j.From), event.Seconds(j.From))
	}
	line("trace", "none: what ran is not known")
	j.printChanges(line)
}

// printChanges prints how many changes to the code there are, of which kinds, and by whom.
func (j *Object) printChanges(line liner) {
	within := ""
	if j.PokesWithin != j.Pokes {
		within = " within that time"
	}
	line.list("changes", fmt.Sprintf("%d%s", j.PokesWithin, within), ": ", j.KindsWithin, nil)
	if len(j.TasksWithin) > 0 {
		line.list("", "by", " ", j.TasksWithin, nil)
	}
	if n := j.Pokes - j.PokesWithin; n > 0 {
		line.list("", fmt.Sprintf("%d before or after it", n), ": ", j.PokeKinds, j.KindsWithin)
	}
}

// list prints what is said of names, and behind sep how often each is counted, but as often
// as in less. It begins another line where one has 80 columns.
func (line liner) list(name, what, sep string, names, less map[string]int) {
	const most = 80 - 14
	for _, n := range slices.Sorted(maps.Keys(names)) {
		k := names[n] - less[n]
		if k == 0 {
			continue
		}
		next := fmt.Sprintf("%s %d", n, k)
		if len(what)+len(sep)+len(next) >= most {
			line(name, "%s%s", what, strings.TrimRight(sep, " "))
			name, what, sep = "", "", "  "
		}
		what, sep = what+sep+next, ", "
	}
	line(name, "%s", what)
}

// base is a symbol without the offset behind it.
func base(sym string) string {
	sym, _, _ = strings.Cut(sym, " ")
	sym, _, _ = strings.Cut(sym, "+0x")
	return sym
}
