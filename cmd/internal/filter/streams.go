package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/machines"
	"github.com/ptdecode/ptdecode/decoder"
)

// streams returns the indices of the streams asked for, nil for all, and says which CPUs of a
// range are not there. Each flag takes what any of its values names, and several flags what all
// of them take.
func (f *Flags) streams(s *decoder.Session) (chosen []int, lacks string, err error) {
	c := &choice{s: s}
	err = c.numbered("cpu", "CPU", f.CPUs, 10, c.cpuOf)
	if err == nil {
		err = c.numbered("id", "trace ID", f.IDs, 16, traceID)
	}
	if err == nil {
		err = c.named("core", f.Cores, func(st *decoder.Stream) []string {
			name, _, _ := strings.Cut(st.Core, " (")
			return []string{name, st.Core}
		})
	}
	if err == nil {
		err = c.named("source", f.Sources, func(st *decoder.Stream) []string { return []string{st.Source, st.Name} })
	}
	if len(c.absent) > 0 {
		lacks = "--cpu " + f.CPUs + ": no trace of CPU " + strings.Join(c.absent, ", ")
	}
	return c.chosen, lacks, err
}

// choice is streams chosen of those of a session.
type choice struct {
	s      *decoder.Session
	chosen []int    // nil: no flag chose
	flags  []string // that chose
	absent []string // CPUs of ranges, and ranges, that are not there
}

// take adds a stream to those that a flag chooses.
func take(picked []int, st *decoder.Stream) []int {
	if slices.Contains(picked, st.Index) {
		return picked
	}
	return append(picked, st.Index)
}

// narrow leaves those of the streams that a flag picks, too. It is an error if none is left.
func (c *choice) narrow(flag string, picked []int) error {
	if c.flags = append(c.flags, "--"+flag); c.chosen == nil {
		c.chosen = picked
		return nil
	}
	left := slices.DeleteFunc(c.chosen, func(i int) bool { return !slices.Contains(picked, i) })
	if len(left) == 0 {
		return callf("no trace is of all that %s ask for: there is %s", strings.Join(c.flags, " and "), cores(c.s))
	}
	c.chosen = left
	return nil
}

// cpuOf returns the number of the CPU that st traces, -1 where there is none.
func (c *choice) cpuOf(st *decoder.Stream) int64 { return int64(machines.CPU(c.s, st)) }

// numbered chooses the streams whose numbers spec names: numbers and ranges with commas
// between them.
func (c *choice) numbered(flag, what, spec string, base int, number func(*decoder.Stream) int64) error {
	if spec == "" {
		return nil
	}
	picked := []int{}
	for w := range strings.SplitSeq(spec, ",") {
		r, err := parseNumbers(w, base)
		if err != nil {
			need := "numbers, as 0,2-3"
			if base == 16 {
				need = "hexadecimal numbers, as 10,12-14"
			}
			return callf("--%s %q: %q is no %s and no range of %[4]ss: need %s", flag, spec, w, what, need)
		}
		if err := c.single(flag, spec, r, number); err != nil {
			return err
		}
		found := false
		for _, st := range c.s.Streams() {
			if n := number(st); n >= 0 && r.has(n) {
				found = true
				picked = take(picked, st)
			}
		}
		if found && flag == "cpu" {
			c.lacks(r[0], number)
		}
		if !found {
			there := Names(c.s, nil)
			if base == 16 {
				there = traceIDs(c.s)
			} else if c.s.Meta().Kind == decoder.KindSnapshot {
				there = cores(c.s)
			}
			return callf("--%s %s: no trace of %s %s; there is %s", flag, spec, what, w, there)
		}
	}
	return c.narrow(flag, picked)
}

// lacks notes which numbers of r no stream has.
func (c *choice) lacks(r stretch, number func(*decoder.Stream) int64) {
	there := []int64{r.lo - 1, r.hi + 1}
	for _, st := range c.s.Streams() {
		if n := number(st); r.lo <= n && n <= r.hi {
			there = append(there, n)
		}
	}
	slices.Sort(there)
	for i, n := range there[1:] {
		switch from := there[i] + 1; {
		case from == n-1:
			c.absent = append(c.absent, strconv.FormatInt(from, 10))
		case from < n:
			c.absent = append(c.absent, fmt.Sprintf("%d-%d", from, n-1))
		}
	}
}

// single refuses a number that stands for cores of several names, as Cortex-A15_0 and
// Cortex-A7_0.
func (c *choice) single(flag, spec string, r numbers, number func(*decoder.Stream) int64) error {
	if flag != "cpu" || c.s.Meta().Kind != decoder.KindSnapshot {
		return nil
	}
	names := map[int64]string{}
	for _, st := range c.s.Streams() {
		n := number(st)
		if n < 0 || !r.has(n) {
			continue
		}
		if other := names[n]; other != "" && other != st.Core {
			return callf("--cpu %s: %d is both %s and %s: name the core with --core", spec, n, other, st.Core)
		}
		names[n] = st.Core
	}
	return nil
}

// parseNumbers reads a number or a range of numbers; a hexadecimal one with or without 0x.
func parseNumbers(w string, base int) (numbers, error) {
	from, to, isRange := strings.Cut(w, "-")
	parse := func(s string) (int64, error) {
		if base == 16 {
			s = strings.TrimPrefix(s, "0x")
		}
		return strconv.ParseInt(s, base, 32)
	}
	lo, err := parse(from)
	hi := lo
	if isRange && err == nil {
		hi, err = parse(to)
	}
	if err == nil && (lo > hi || lo < 0) {
		err = strconv.ErrRange
	}
	return numbers{{lo, hi}}, err
}

// named chooses the streams of which a name fits one of the patterns.
func (c *choice) named(flag string, list []string, names func(*decoder.Stream) []string) error {
	if list == nil {
		return nil
	}
	picked := []int{}
	if _, err := Globs(flag, list); err != nil {
		return err
	}
	for _, p := range list {
		found := false
		for _, st := range c.s.Streams() {
			if patterns([]string{p}).hasAny(names(st)) {
				found = true
				picked = take(picked, st)
			}
		}
		if !found {
			return callf("--%s %s: no trace of such a %[1]s; there is %[3]s", flag, p, there(c.s, names))
		}
	}
	return c.narrow(flag, picked)
}

// hasAny reports whether a pattern fits one of the names. A stream without a name has none.
func (l patterns) hasAny(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return n != "" && l.fit(n) })
}

// there lists the first names of all streams.
func there(s *decoder.Session, names func(*decoder.Stream) []string) string {
	var list []string
	for _, st := range s.Streams() {
		if n := names(st)[0]; n != "" && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		return Names(s, nil)
	}
	return strings.Join(list, ", ")
}

// cores lists the cores of a snapshot with their streams.
func cores(s *decoder.Session) string {
	var list []string
	for _, st := range s.Streams() {
		if st.Core == "" {
			list = append(list, st.Name)
			continue
		}
		list = append(list, fmt.Sprintf("%s (traces %s)", st.Name, st.Core))
	}
	if len(list) == 0 {
		return Names(s, nil)
	}
	return strings.Join(list, ", ")
}

// traceID returns the CoreSight trace ID of st, -1 without one.
func traceID(st *decoder.Stream) int64 {
	n, err := strconv.ParseInt(st.ID, 16, 32)
	if err != nil {
		return -1
	}
	return n
}

// traceIDs lists the trace IDs that there are, each with its stream's name if that
// differs. It lists the streams if there are no trace IDs.
func traceIDs(s *decoder.Session) string {
	var list []string
	for _, st := range s.Streams() {
		switch n := "id" + st.ID; {
		case st.ID == "":
		case st.Name == n:
			list = append(list, n)
		default:
			list = append(list, fmt.Sprintf("%s (%s)", n, st.Name))
		}
	}
	if len(list) == 0 {
		return Names(s, nil)
	}
	return strings.Join(list, ", ")
}

// Names lists the streams with the indices only, nil for all.
func Names(s *decoder.Session, only []int) string {
	var list []string
	for i, st := range s.Streams() {
		if only == nil || slices.Contains(only, i) {
			list = append(list, st.Name)
		}
	}
	if len(list) == 0 {
		return "no trace at all"
	}
	return strings.Join(list, ", ")
}
