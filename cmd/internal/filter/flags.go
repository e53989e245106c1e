package filter

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Flags are the flags of filters, as they were given.
type Flags struct {
	CPUs, IDs      string   // numbers and ranges with commas between them
	Cores, Sources []string // of a snapshot: names or globs
	TIDs           []string // numbers and ranges
	Comms          []string // of threads: names or globs
	Time           string   // Times reads it
	Syms           []string // of functions: names, globs, or FIRST-LAST
	DSOs           []string // of files and modules: names or globs
	Addrs          []string // ADDR or ADDR-END, hexadecimal, END excluded
	Verdicts       []string // verdicts, globs, or FIRST-LAST
	Transfers      []string // the field "flags" of rows: names or globs
	Pokes          []string // numbers and ranges of changes
	First          int      // rows
	Depth          string   // numbers and ranges: of calls
}

// All is the names of the flags, in the order of their help.
var All = []string{"cpu", "id", "core", "source", "tid", "comm", "time", "sym", "dso", "addr", "verdict", "flags", "poke", "first", "depth"}

// Add gives fs the flags called names.
func (f *Flags) Add(fs *pflag.FlagSet, names ...string) {
	for _, name := range names {
		switch name {
		case "cpu":
			fs.StringVar(&f.CPUs, name, "", "only these CPUs: `0,2-3`; of a snapshot by the numbers of its cores")
		case "id":
			fs.StringVar(&f.IDs, name, "", "only these trace IDs, hex: `10,12-14`")
		case "core":
			fs.StringSliceVar(&f.Cores, name, nil, "of a snapshot only these cores: `NAME,...`, or globs")
		case "source":
			fs.StringSliceVar(&f.Sources, name, nil, "of a snapshot only these trace sources: `NAME,...`, or globs")
		case "tid":
			fs.StringSliceVar(&f.TIDs, name, nil, "only these threads: `107,110-120`")
		case "comm":
			fs.StringSliceVar(&f.Comms, name, nil, "only threads of these names: `NAME,...`, or globs as \"sh,kworker*\"")
		case "time":
			fs.StringVar(&f.Time, name, "", "only what may have run in the time `FROM,TO`; either may be left out. Also +5ms, 10%-20%, poke:385±10us")
		case "sym":
			fs.StringArrayVar(&f.Syms, name, nil, "only in the function `NAME`, and branches into it; a glob, or FIRST-LAST by address (repeatable)")
		case "dso":
			fs.StringSliceVar(&f.DSOs, name, nil, "only in these files and modules: `NAME,...`, or globs; the last part of a path will do")
		case "addr":
			fs.StringSliceVar(&f.Addrs, name, nil, "only at `ADDR[-END]`, hexadecimal, END excluded, and branches there")
		case "verdict":
			fs.StringSliceVar(&f.Verdicts, name, nil, "only of these verdicts: `NAME,...`, or FIRST-LAST as unconfirmed-ambiguous")
		case "flags":
			fs.StringSliceVar(&f.Transfers, name, nil, "only branches of these kinds: `KIND,...`, or globs as \"call,tr*\"")
		case "poke":
			fs.StringSliceVar(&f.Pokes, name, nil, "only at the code that these changes changed, and traps taken for them: `385,390-394`")
		case "first":
			fs.IntVar(&f.First, name, 0, "only the first `N` lines; decodes no more than these need")
		case "depth":
			fs.StringVar(&f.Depth, name, "", "at the level call: only calls that lie so deep: `0-2,5`")
		default:
			panic("filter: no flag " + name)
		}
	}
}

// Resolve looks up what the flags name in s.
func (f *Flags) Resolve(s *decoder.Session) (*Filter, error) {
	x := &Filter{s: s, First: f.First}
	if f.First < 0 {
		return nil, callf("--first %d: need 1 or more", f.First)
	}
	var err error
	if x.Streams, x.Lacks, err = f.streams(s); err != nil {
		return nil, err
	}
	if x.From, x.Until, err = Times(s, f.Time); err != nil {
		return nil, callf("--time %s", err)
	}
	if isShare(f.Time) { // what ran beside the times that the trace states counts for it, but no change from then
		c := clockOf(s)
		x.changes = event.Time{Lo: c.first, Hi: c.last}
	}
	if x.tids, err = threads(s, f.TIDs); err != nil {
		return nil, err
	}
	if f.Depth != "" {
		if x.depths, err = numbersOf("depth", strings.Split(f.Depth, ","), "depths"); err != nil {
			return nil, err
		}
	}
	if x.flags, err = transfers(f.Transfers); err != nil {
		return nil, err
	}
	if x.settled, err = verdicts(f.Verdicts); err != nil {
		return nil, err
	}
	if x.addrs, err = addresses(f.Addrs); err != nil {
		return nil, err
	}
	x.starts = x.addrs.starts(s)
	if x.pokes, err = pokesOf(s, f.Pokes); err != nil {
		return nil, err
	}
	return x, f.names(s, x)
}

// Wrong says what is not written well in the flags, before a recording is open.
func (f *Flags) Wrong() error {
	_, err := numbersOf("tid", f.TIDs, "threads")
	for _, check := range []func() error{
		func() error {
			_, _, err := anyTime.span(f.Time)
			if err != nil {
				return callf("--time %s", err)
			}
			return nil
		},
		func() error { _, err := numbersOf("poke", f.Pokes, "changes"); return err },
		func() error { _, err := transfers(f.Transfers); return err },
		func() error { _, err := verdicts(f.Verdicts); return err },
		func() error { _, err := addresses(f.Addrs); return err },
		func() error { _, err := Globs("sym", f.Syms); return err },
		func() error { _, err := Globs("comm", f.Comms); return err },
		func() error { _, err := Globs("dso", f.DSOs); return err },
	} {
		if err == nil {
			err = check()
		}
	}
	return err
}

// numbersOf reads numbers and ranges of them.
func numbersOf(flag string, list []string, what string) (all numbers, err error) {
	for _, w := range list {
		r, err := parseNumbers(w, 10)
		if err != nil {
			return nil, callf("--%s %s: need numbers of %s, as 3,5-8", flag, w, what)
		}
		all = append(all, r...)
	}
	return all, nil
}

// verdicts reads verdicts, globs of their names, and ranges from one to another.
func verdicts(list []string) (map[decoder.Verdict]bool, error) {
	if list == nil {
		return nil, nil
	}
	set := map[decoder.Verdict]bool{}
	for _, w := range list {
		from, to, isRange := strings.Cut(w, "-")
		if !isRange {
			to = from
		}
		lo, hi := decoder.Verdict(0), decoder.Ambiguous
		found := false
		for v := lo; v <= decoder.Ambiguous; v++ {
			if Fits(from, v.String()) && !isRange {
				set[v], found = true, true
			}
			if v.String() == from {
				lo, found = v, true
			}
		}
		if isRange {
			toFound := false
			for v := lo; v <= decoder.Ambiguous; v++ {
				if v.String() == to {
					hi, toFound = v, true
				}
			}
			for v := lo; found && toFound && v <= hi; v++ {
				set[v] = true
			}
			found = found && toFound
		}
		if !found {
			return nil, callf("--verdict %s: need certain, trace, exception, unconfirmed or ambiguous, or FIRST-LAST in this order%s",
				w, Nearest(w, func(yield func(string) bool) {
					for v := decoder.Verdict(0); v <= decoder.Ambiguous && yield(v.String()); v++ {
					}
				}))
		}
	}
	return set, nil
}

// transfers reads the kinds of branches.
func transfers(list []string) (patterns, error) {
	l, err := Globs("flags", list)
	for _, p := range list {
		found := false
		for _, n := range Transfers() {
			found = found || Fits(p, n)
		}
		if !found && err == nil {
			err = callf("--flags %q: no such kind of branch: there are %s", p, strings.Join(Transfers(), ", "))
		}
	}
	return l, err
}

// Transfers returns the kinds of branches, as the field "flags" of rows has them.
func Transfers() (names []string) {
	for t := rows.TransferJump; t <= rows.TransferTraceStart; t++ {
		names = append(names, t.String())
	}
	for t := rows.NoTransfer; t < rows.TransferTraceStart; t++ {
		names = append(names, (t | rows.TransferTraceEnd).String())
	}
	return names
}
