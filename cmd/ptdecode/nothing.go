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
	var lo, hi uint64 // ns
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
