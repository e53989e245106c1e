package filter

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
)

// clock is what moments that are no numbers are counted from.
type clock struct {
	first, last uint64                           // of the trace, ns; 0: not known
	poke        func(n int) (ns uint64, ok bool) // when a change was made
	lastPoke    int                              // the number of the last one; -1: there is none
}

// ParseTime reads a moment as the outputs print it: seconds with a decimal
// point (text) or whole nanoseconds (JSON). It returns nanoseconds.
func ParseTime(s string) (uint64, error) {
	sec, frac, ok := strings.Cut(s, ".")
	if !ok {
		ns, err := strconv.ParseUint(s, 10, 64)
		if errors.Is(err, strconv.ErrRange) {
			return 0, fmt.Errorf("%q is no time: it is too large for nanoseconds", s)
		}
		if err != nil {
			return 0, fmt.Errorf("%q is no time: need seconds with a decimal point, or nanoseconds", s)
		}
		return ns, nil
	}
	whole, err := strconv.ParseUint(sec, 10, 64)
	if sec == "" {
		whole, err = 0, nil
	}
	if err != nil || frac == "" || strings.Trim(frac, "0123456789") != "" || len(frac) > 9 || whole > math.MaxUint64/1_000_000_000-1 {
		return 0, fmt.Errorf("%q is no time: need seconds with a decimal point, or nanoseconds", s)
	}
	ns, _ := strconv.ParseUint(frac+strings.Repeat("0", 9-len(frac)), 10, 64)
	return whole*1_000_000_000 + ns, nil
}

// ParseTimes reads FROM,TO without a recording: moments as ParseTime reads them. Either
// may be missing and is 0 then; a single time is FROM.
func ParseTimes(s string) (from, to uint64, err error) {
	return (&clock{}).span(s)
}

// Times reads FROM,TO as --time has it, for the recording s. FROM and TO are 0 where they
// are missing.
func Times(s *decoder.Session, spec string) (from, to uint64, err error) {
	if spec == "" {
		return 0, 0, nil // the clock would read the trace, up to 16 MiB a stream
	}
	return clockOf(s).span(spec)
}

// Moment reads one moment, in all ways in which --time does, for the recording s.
func Moment(s *decoder.Session, spec string) (uint64, error) { return clockOf(s).moment(spec) }

// IsMoment reports whether spec is written as Moment reads it. There need be no such change.
func IsMoment(spec string) bool { _, err := anyTime.moment(spec); return err == nil }

// anyTime is the clock of a recording that is not open yet: it takes what is written well.
var anyTime = &clock{first: 1, last: 1, poke: func(int) (uint64, bool) { return 1, true }}

// Traced returns the first and the last time that the trace of some streams states, nil for
// all, ns; 0, 0 where it states none.
func Traced(s *decoder.Session, only []int) (first, last uint64) {
	for i, st := range s.Streams() {
		b := st.Time()
		if b.Lo == 0 || only != nil && !slices.Contains(only, i) {
			continue
		}
		if first == 0 || b.Lo < first {
			first = b.Lo
		}
		last = max(last, b.Hi)
	}
	return first, last
}

// Within is Traced without what lies before from or behind until, ns; until 0: the end. It
// is 0, 0, too, where nothing is left.
func Within(s *decoder.Session, only []int, from, until uint64) (first, last uint64) {
	first, last = Traced(s, only)
	if first = max(first, from); until != 0 {
		last = min(last, until)
	}
	if first > last {
		return 0, 0
	}
	return first, last
}

// clockOf returns the clock of a recording: it runs from the first time that its trace
// states to the last. Without trace it runs from the first change to the last.
func clockOf(s *decoder.Session) *clock {
	t := s.Text()
	c := &clock{lastPoke: lastPoke(s), poke: func(n int) (uint64, bool) {
		if !isPoke(s, n) {
			return 0, false
		}
		return t.Poke(n).Time, true
	}}
	c.first, c.last = Traced(s, nil)
	if n := t.Len(); c.first == 0 && n > 0 {
		c.first, c.last = t.Poke(0).Time, t.Poke(n-1).Time
	}
	return c
}

// span reads FROM,TO; A%-B%, A%, A%/N; or MOMENT±DURATION.
func (c *clock) span(s string) (from, to uint64, err error) {
	a, b, _ := strings.Cut(s, ",")
	switch around, by, ok := cutAround(s); {
	case s == "":
		return 0, 0, nil
	case ok:
		return c.around(s, around, by)
	case isShare(s):
		return c.slice(s)
	}
	if a != "" {
		if from, err = c.moment(a); err != nil {
			return 0, 0, err
		}
	}
	if b != "" {
		if to, err = c.moment(b); err != nil {
			return 0, 0, err
		}
		to = max(to, 1)
	}
	if to != 0 && to < from {
		return 0, 0, fmt.Errorf("%s: ends before it begins", s)
	}
	return from, to, nil
}

// isShare reports whether s is a part of the recording, as slice reads it.
func isShare(s string) bool {
	_, _, around := cutAround(s)
	return !around && strings.Contains(s, "%") && !strings.Contains(s, ",")
}

// cutAround takes MOMENT±DURATION apart; ± may be written +-.
func cutAround(s string) (moment, by string, ok bool) {
	if moment, by, ok = strings.Cut(s, "±"); ok {
		return moment, by, true
	}
	return strings.Cut(s, "+-")
}

// around is the time by before and behind a moment, as s has it.
func (c *clock) around(s, moment, by string) (from, to uint64, err error) {
	at, err := c.moment(moment)
	if err != nil {
		return 0, 0, err
	}
	d, err := duration(by)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", s, err)
	}
	return at - min(at, d), at + min(d, math.MaxUint64-at), nil
}

// slice is a part of the recording: A%-B%; A% alone is the first A %, and A%/N the Nth
// stretch of so many percent, as perf script has them.
func (c *clock) slice(s string) (from, to uint64, err error) {
	a, b, isRange := strings.Cut(s, "-")
	size, nth, isNth := strings.Cut(s, "/")
	lo, hi := 0.0, 0.0
	switch {
	case isRange:
		if lo, err = percent(a); err == nil {
			hi, err = percent(b)
		}
	default:
		n := 1
		if isNth {
			if n, err = strconv.Atoi(nth); err != nil || n < 1 {
				return 0, 0, fmt.Errorf("%q: %q is no number of a slice, from 1", s, nth)
			}
		}
		if hi, err = percent(size); err == nil {
			lo, hi = hi*float64(n-1), hi*float64(n)
		}
	}
	switch {
	case err != nil:
		return 0, 0, err
	case lo >= 100 && isNth:
		return 0, 0, fmt.Errorf("%q: the recording has no such slice", s)
	case lo > hi:
		return 0, 0, fmt.Errorf("%s: ends before it begins", s)
	case c.first == 0:
		return 0, 0, untimed(s)
	}
	if lo > 0 {
		from = c.part(lo)
	}
	if hi < 100 { // something may have run behind the last time that the trace states
		to = max(c.part(hi), 1)
	}
	return from, to, nil
}

// untimed is the error where a moment counts from times that nothing has.
func untimed(moment string) error {
	return fmt.Errorf("%s: neither the trace nor the changes have times: give what is wanted in another way", moment)
}

// part returns when so many percent of the recording have passed, ns.
func (c *clock) part(percent float64) uint64 {
	return c.first + uint64(math.Round(float64(c.last-c.first)*percent/100))
}

// percent reads a share of the recording.
func percent(s string) (float64, error) {
	n, ok := strings.CutSuffix(s, "%")
	p, err := strconv.ParseFloat(n, 64)
	if !ok || err != nil || !(0 <= p && p <= 100) {
		return 0, fmt.Errorf("%q is no share of the recording: need 0%% to 100%%", s)
	}
	return p, nil
}

// moment reads a moment: as ParseTime does, or +DURATION from the beginning, -DURATION from
// the end, PERCENT%, poke:N. A duration may be added to the last and to absolute times.
func (c *clock) moment(s string) (uint64, error) {
	switch {
	case strings.HasSuffix(s, "%"):
		p, err := percent(s)
		if err != nil {
			return 0, err
		}
		if c.first == 0 {
			return 0, untimed(s)
		}
		return c.part(p), nil
	case strings.HasPrefix(s, "poke:"):
		s = s[len("poke:"):]
		if strings.IndexAny(s, "+-") == 0 { // a number comes first
			return c.atPoke(s)
		}
		return c.shifted(s, c.atPoke)
	case strings.HasPrefix(s, "+"), strings.HasPrefix(s, "-"):
		if c.first == 0 {
			return 0, untimed(s)
		}
		return c.shifted(s, func(string) (uint64, error) {
			if s[0] == '+' {
				return c.first, nil
			}
			return c.last, nil
		})
	}
	return c.shifted(s, ParseTime)
}

// shifted reads BASE, BASE+DURATION or BASE-DURATION.
func (c *clock) shifted(s string, base func(string) (uint64, error)) (uint64, error) {
	at := strings.IndexAny(s, "+-")
	if at < 0 {
		return base(s)
	}
	t, err := base(s[:at])
	if err != nil {
		return 0, err
	}
	d, err := duration(s[at+1:])
	switch {
	case err != nil:
		return 0, err
	case s[at] == '-':
		return t - min(t, d), nil
	}
	return t + min(d, math.MaxUint64-t), nil
}

// atPoke returns when the change with a number was made.
func (c *clock) atPoke(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("poke:%s: %q is no number of a change", s, s)
	}
	if c.poke == nil {
		return 0, fmt.Errorf("poke:%s: only times can stand here", s)
	}
	t, ok := c.poke(int(n))
	switch {
	case ok:
		return t, nil
	case c.lastPoke < 0:
		return 0, fmt.Errorf("poke:%s: no change to the code is recorded", s)
	}
	return 0, fmt.Errorf("poke:%s: there is no such change: the last one is %d", s, c.lastPoke)
}

// units are those of durations, in ns.
var units = []struct {
	name string
	ns   float64
}{{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ms", 1e6}, {"s", 1e9}}

// duration reads a number with a unit, as 5ms.
func duration(s string) (uint64, error) {
	for _, u := range units {
		n, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(n, 64)
		if err == nil && v >= 0 && v*u.ns < 1<<63 {
			return uint64(math.Round(v * u.ns)), nil
		}
		if strings.Trim(n, "0123456789.") == "" {
			break
		}
	}
	return 0, fmt.Errorf("%q is no duration: need a number with ns, us, ms or s", s)
}
