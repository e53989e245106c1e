package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/decoder"
)

// given renders the flags that are set, of those called names.
func given(c *cobra.Command, names ...string) string {
	var out []string
	for _, n := range names {
		f := c.Flags().Lookup(n)
		if f == nil || !f.Changed {
			continue
		}
		value := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		out = append(out, "--"+n+" "+value)
	}
	return strings.Join(out, " ")
}

// silent says which streams sent nothing, of those that were asked for by name.
func (u *ui) silent(s *decoder.Session, only []int) {
	for _, i := range only {
		if st := s.Streams()[i]; st.Size == 0 && st.Buffer != "" {
			u.say("%s: %s sent no trace to buffer %s", st.Name, st.Source, st.Buffer)
			u.hint("info lists which sources did")
		}
	}
}

// noRows says that no row passed the filters, and what the trace spans, so that
// silence is not read as "it did not run". what names the rows. only are the
// streams asked for, nil for all; from and until, ns, are the filter --time.
func (u *ui) noRows(s *decoder.Session, only []int, what string, from, until uint64, filters string) {
	lo, hi := filter.Traced(s, only)
	if lo == 0 {
		u.say("%s of %s passes %s", what, filter.Names(s, only), filters)
		return
	}
	if !u.beside(filter.Outside(s, only, from, until)) {
		u.say("%s passes %s: the trace of %s runs from %s to %s s", what, filters, filter.Names(s, only), seconds(lo), seconds(hi))
	}
}

// noChange says that a snapshot, raw trace or a recording of programs has no changes to the code, so
// that silence is not read as "nothing changed". It says where they come from.
func (u *ui) noChange(s *decoder.Session, o *openFlags) {
	if s.Text().Len() == 0 && s.Meta().Programs {
		u.say("changes to the kernel's code are not known: the trace is of programs alone, and no event asks for TEXT_POKE records")
	}
	raw := o.anyTrace() && o.events == ""
	if s.Text().Len() == 0 && (raw || s.Meta().Kind == decoder.KindSnapshot) {
		what := "a snapshot"
		if raw {
			what = "raw trace"
		}
		u.say("changes to the code are not known: %s records none", what)
		u.hint("give them with --events FILE, in the form of docs/formats/events.md")
	}
}

// noPoke is noRows for the pokes of s.
func (u *ui) noPoke(p *pokeFilter, s *decoder.Session, filters string) {
	n, lo, hi := 0, uint64(0), uint64(0)
	for k := range s.Pokes() {
		if n++; n == 1 {
			lo = k.Time
		}
		hi = k.Time
	}
	if n > 0 && !u.beside(filter.Beside(p.from, p.until, lo, hi, "nothing", "the pokes lie")) {
		u.say("no poke passes %s: there are %d, from %s to %s s", filters, n, seconds(lo), seconds(hi))
	}
}

// beside reports whether said, of filter.Beside, says that a time lies beside what there is. It
// tells that once.
func (u *ui) beside(said, hint string) bool {
	if said == "" || said == u.besideSaid {
		return said != ""
	}
	u.besideSaid = said
	u.warn([]decoder.Warning{{What: said, Hint: hint}})
	return true
}

// untimed says which of the streams have no times for the filter --time, which is from and until,
// ns; only are the streams asked for, nil for all.
func (u *ui) untimed(s *decoder.Session, only []int, from, until uint64) {
	if from == 0 && until == 0 {
		return // when the trace runs need not be read
	}
	for i, st := range s.Streams() {
		if (only == nil || slices.Contains(only, i)) && (!st.Timed() || st.Size > 0 && st.Time().Lo == 0) {
			u.say("--time: the trace of %s has no timestamps: all of it passes", st.Name)
		}
	}
}

// executes reports whether any of the streams says what a CPU executes; software
// trace does not. only are the streams asked for, nil for all.
func executes(s *decoder.Session, only []int) bool {
	for i, st := range s.Streams() {
		if (only == nil || slices.Contains(only, i)) && st.Executes() {
			return true
		}
	}
	return false
}

// noFlow says that none of the streams says what a CPU executes, if so, and what prints what they
// do say: the call begins with verb.
func (u *ui) noFlow(s *decoder.Session, only []int, verb string) bool {
	if len(s.Streams()) == 0 || executes(s, only) {
		return false
	}
	u.say("the trace of %s does not say which instructions were executed", filter.Names(s, only))
	u.hint("%s--level element prints what it says", verb)
	return true
}

// noEvents says what is not known about raw trace without the events of its
// recording.
func (u *ui) noEvents(s *decoder.Session, o *openFlags, args []string) {
	if !o.anyTrace() || len(args) > 0 || o.events != "" {
		return
	}
	if lo, _ := filter.Traced(s, nil); lo != 0 {
		u.say("no events of the recording: times are ticks of the trace's clock, and changes to the code are not known")
		u.hint("write them with ptdecode events REC > FILE, and give --events FILE")
	}
}

// outside says that t, ns, the value of a flag, lies outside of the recording. The
// code is then as at the start or the end.
func (u *ui) outside(s *decoder.Session, said string, t uint64) {
	lo, hi := filter.Traced(s, nil)
	if n := s.Text().Len(); n > 0 {
		if first := s.Text().Poke(0).Time; lo == 0 || first < lo {
			lo = first
		}
		hi = max(hi, s.Text().Poke(n-1).Time)
	}
	if lo == 0 || lo <= t && t <= hi {
		return
	}
	where, as := "before", "start"
	if t > hi {
		where, as = "after", "end"
	}
	u.say("%s lies %s the recording, which runs from %s to %s s: the code is as at its %s", said, where, seconds(lo), seconds(hi), as)
	if !strings.Contains(said, ".") {
		u.hint("a time without a decimal point is nanoseconds")
	}
}

// doubtful says what of the streams, times and threads asked for is not there, or not known.
func (u *ui) doubtful(s *decoder.Session, only *filter.Filter, tids []string) {
	u.beside(filter.Outside(s, only.Streams, only.From, only.Until))
	u.untimed(s, only.Streams, only.From, only.Until)
	if only.Lacks != "" {
		u.say("%s", only.Lacks)
	}
	if _, any := s.Ran(0); len(tids) > 0 && !any {
		u.say("--tid %s: which threads ran is not known", strings.Join(tids, ","))
		u.hint("record with perf record, which asks for switches, or give --events")
	}
}

// seconds renders ns as seconds.
func seconds(ns uint64) string { return strings.TrimSpace(stamp(ns)) }

// noBytes reports whether there is no trace at all. A configured source of a
// snapshot counts as trace even if it sent nothing.
func noBytes(s *decoder.Session) bool {
	return !slices.ContainsFunc(s.Streams(), func(st *decoder.Stream) bool { return st.Size > 0 || len(st.Losses) > 0 || st.Buffer != "" })
}

var errNoTrace = errors.New("there is no trace to decode")

// spoiled reports whether one of the warnings says that something is damaged.
func spoiled(warns []decoder.Warning) bool {
	return slices.ContainsFunc(warns, func(w decoder.Warning) bool { return w.Damage })
}

// noTrace is the error of a recording in which nothing was traced. It says what a warning of that says,
// which is not told before it. What to do about damage was told already.
func noTrace(s *decoder.Session) error {
	for _, w := range s.Warnings() {
		if w.NoTrace {
			return &hinted{errors.New(w.What), w.Hint}
		}
	}
	if spoiled(s.Warnings()) && s.Meta().Kind != decoder.KindSnapshot {
		return errNoTrace
	}
	hint := "give raw trace with --pt CPU:FILE, or record with perf record --kcore -e intel_pt//k"
	if s.Meta().Kind == decoder.KindSnapshot {
		hint = "repair what the messages above say about the snapshot"
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
	return &hinted{errNoTrace, hint}
}
