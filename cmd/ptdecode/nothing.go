package main

import (
	"strings"

	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/decoder"
)

// nothing tells why nothing was printed, where the call's filters are the
// cause: silence would be taken for "it did not run".
func (u *ui) nothing(s *decoder.Session, o *output.Options) {
	if o.From == 0 && o.Until == 0 {
		return
	}
	lo, hi := traced(s)
	if lo == 0 || (o.Until == 0 || o.Until >= lo) && o.From <= hi {
		return
	}
	until := "the end"
	if o.Until != 0 {
		until = seconds(o.Until)
	}
	u.say("--time: nothing from %s to %s s: the trace runs from %s to %s s", seconds(o.From), until, seconds(lo), seconds(hi))
	u.hint("a time without a decimal point is nanoseconds")
}

// traced returns from when to when the streams run, ns; 0, 0 if that is not known.
func traced(s *decoder.Session) (lo, hi uint64) {
	for _, st := range s.Streams() {
		t := st.Time()
		if st.Segments() == 0 || t.Lo == 0 {
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
