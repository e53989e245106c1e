package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/decoder"
)

// given renders those of the flags called names that are set.
func given(c *cobra.Command, names ...string) string {
	var out []string
	for _, n := range names {
		if f := c.Flags().Lookup(n); f != nil && f.Changed {
			out = append(out, "--"+n+" "+strings.Trim(f.Value.String(), "[]"))
		}
	}
	return strings.Join(out, " ")
}

// silent tells which of the streams that were asked for by name sent nothing.
func (u *ui) silent(s *decoder.Session, only []int) {
	for _, i := range only {
		if st := s.Streams()[i]; st.Size == 0 && st.Buffer != "" {
			u.say("%s: %s sent no trace to buffer %s", st.Name, st.Source, st.Buffer)
			u.hint("info lists which sources did")
		}
	}
}

// nothing tells that nothing of the flow of the streams only, nil for all, as what names it, passed the call's
// filters, of which from and until, ns, are one, and what there was: silence
// would be taken for "it did not run".
func (u *ui) nothing(s *decoder.Session, only []int, what string, from, until uint64, filters string) {
	lo, hi := traced(s)
	if lo == 0 {
		u.say("%s of %s passes %s", what, streamNames(s, only), filters)
		return
	}
	if !u.beside(from, until, lo, hi, "the trace runs") {
		u.say("%s passes %s: the trace of %s runs from %s to %s s", what, filters, streamNames(s, only), seconds(lo), seconds(hi))
	}
}

// noChange tells that a snapshot has no change to text, and where one comes from:
// silence would be taken for "nothing changed".
func (u *ui) noChange(s *decoder.Session) {
	if s.Text().Len() == 0 && s.Meta().Kind == decoder.KindSnapshot {
		u.say("changes to text are not known: a snapshot records none")
		u.hint("give them with --events FILE, as docs/formats/events.md describes them")
	}
}

// noPoke is nothing for the n pokes of a recording, of which the first and the
// last lie at lo and hi, ns.
func (u *ui) noPoke(p *pokeFilter, n int, lo, hi uint64, filters string) {
	if !u.beside(p.from, p.until, lo, hi, "the pokes lie") {
		u.say("no poke passes %s: there are %d, from %s to %s s", filters, n, seconds(lo), seconds(hi))
	}
}

// beside tells that the time asked for, from until (ns; 0: the end), has nothing
// of what lies from lo to hi, and reports whether it is so.
func (u *ui) beside(from, until, lo, hi uint64, what string) bool {
	if (from == 0 && until == 0) || (until == 0 || until >= lo) && from <= hi {
		return false
	}
	to := "the end"
	if until != 0 {
		to = seconds(until)
	}
	u.say("--time: nothing from %s to %s s: %s from %s to %s s", seconds(from), to, what, seconds(lo), seconds(hi))
	u.hint("a time without a decimal point is nanoseconds")
	return true
}

// untimed tells which of the streams, nil for all, --time cannot tell apart.
func (u *ui) untimed(s *decoder.Session, only []int) {
	for i, st := range s.Streams() {
		if (only == nil || slices.Contains(only, i)) && !st.Timed() {
			u.say("--time: the trace of %s has no timestamps: all of it passes", st.Name)
		}
	}
}

// executes reports whether any of the streams, nil for all, is of what a CPU
// executes: software trace is not.
func executes(s *decoder.Session, only []int) bool {
	for i, st := range s.Streams() {
		if (only == nil || slices.Contains(only, i)) && st.Executes() {
			return true
		}
	}
	return false
}

// noEvents tells what is not known of raw trace without the events of its
// recording.
func (u *ui) noEvents(s *decoder.Session, o *openFlags, args []string) {
	if len(o.pt) == 0 || len(args) > 0 || o.events != "" {
		return
	}
	if lo, _ := traced(s); lo != 0 {
		u.say("no events of the recording: times are ticks of the trace's clock, and changes to text are not known")
		u.hint("write them with ptdecode events REC > FILE, and give --events FILE")
	}
}

// traced returns from when to when the streams run, ns; 0, 0 if that is not known.
func traced(s *decoder.Session) (lo, hi uint64) {
	for _, st := range s.Streams() {
		t := st.Time()
		if t.Lo == 0 {
			continue
		}
		if lo == 0 || t.Lo < lo {
			lo = t.Lo
		}
		hi = max(hi, t.Hi)
	}
	return lo, hi
}

// outside tells that a moment, t ns, said in a flag, lies outside of all that was recorded: the
// text is as at the start or the end then.
func (u *ui) outside(s *decoder.Session, said string, t uint64) {
	lo, hi := traced(s)
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
		where, as = "behind", "end"
	}
	u.say("%s: %s all that was recorded, from %s to %s s: the text is as at the %s", said, where, seconds(lo), seconds(hi), as)
	if !strings.Contains(said, ".") {
		u.hint("a time without a decimal point is nanoseconds")
	}
}

// unknownTIDs tells which numbers are no thread's that ran.
func (u *ui) unknownTIDs(s *decoder.Session, tids []int32) {
	for _, tid := range tids {
		switch known, any := s.Ran(tid); {
		case known:
		case any:
			u.say("--tid %d: no such thread ran where it was recorded", tid)
			u.hint("-F +tid,+comm prints which threads did")
		default:
			u.say("--tid %d: which threads ran is not known", tid)
			u.hint("record with perf record, which asks for switches, or give --events")
			return
		}
	}
}

// unknownSyms tells which names are no symbol's of the kernel.
func (u *ui) unknownSyms(s *decoder.Session, names []string) {
	for _, n := range names {
		ok := false
		if y := s.Symbols(); y != nil {
			_, ok = y.Find(n)
		}
		if !ok {
			u.say("--sym %s: no such symbol of the kernel", n)
			u.hint("give symbols with --kallsyms FILE, names without +OFFSET; a module or program that came during the recording may be named so all the same")
		}
	}
}

// seconds renders ns as seconds.
func seconds(ns uint64) string { return strings.TrimSpace(stamp(ns)) }
