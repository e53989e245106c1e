package guests

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/kcore"
)

// The clock of a guest. Its records state times of its own, and the trace those of the
// host. A breakpoint that a change of the guest's kernel put at an address stood there
// only while that change was made. That lies between the records of the changes before and
// behind it (kcore.Journal.InProgress). So each exception of such a breakpoint says of each
// change at its address which offsets put the one into the other. What most exceptions
// allow is found.

// clock is what the trace tells of the clock of a guest.
type clock struct {
	traps [][]span   // what each exception allows, by lo, apart from each other
	pokes event.Time // the guest's time of the first and of the last change
	trace event.Time // the host's of the trace
	best  span       // what most of them allow
	most  int        // how many that is
}

// span is offsets from lo to hi, ns: what a guest's time lacks of the host's.
type span struct{ lo, hi int64 }

// fewest is how many exceptions must agree on an offset.
const fewest = 3

// unknown is how far an offset may be off of which nothing is known, ns. So does one
// count that exceptions bound by no more than loose.
const (
	unknown = 1 << 62
	loose   = 1e9
)

// clock looks in guest i's part of the trace for exceptions that changes of its kernel
// raised. breaks are the entries of their handler. The pokes may change their order.
func (p *Parts) clock(i int, pokes []kcore.Poke, breaks []uint64) (*clock, error) {
	c := &clock{}
	j, err := kcore.NewJournal(slices.Clone(pokes))
	if err != nil {
		return nil, err
	}
	if n := j.Len(); n > 0 {
		c.pokes = event.Time{Lo: j.Poke(0).Time, Hi: j.Poke(n - 1).Time}
	}
	c.trace = event.Time{Lo: math.MaxUint64}
	for _, st := range p.hosts {
		t := st.Time()
		c.trace = event.Time{Lo: min(c.trace.Lo, t.Lo), Hi: max(c.trace.Hi, t.Hi)}
	}
	at := map[uint64][]event.Time{} // by address: when a breakpoint may have stood there, the guest's time
	for k := range j.Len() {
		if j.Poke(k).Scheme == kcore.SchemeBP {
			lo, hi := j.InProgress(k)
			at[j.Poke(k).Addr] = append(at[j.Poke(k).Addr], event.Time{Lo: lo, Hi: hi})
		}
	}
	if len(at) == 0 {
		return c, nil
	}
	for _, st := range p.Of(i) {
		st.Begin(0, 0)
		for e := range stream.Events(st, true) {
			if e.Kind == event.Async && at[e.From] != nil && (e.Flags&event.FlagBreak != 0 || slices.Contains(breaks, e.IP)) {
				c.traps = append(c.traps, allowed(e.Time, at[e.From]))
			}
		}
	}
	c.agree()
	return c, nil
}

// allowed returns the offsets with which an exception at time t, the host's, was taken
// while one of the changes was made, at a time of the guest's.
func allowed(t event.Time, changes []event.Time) (list []span) {
	for _, c := range changes {
		list = append(list, span{sub(t.Lo, c.Hi), sub(t.Hi, c.Lo)})
	}
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	apart := list[:0]
	for _, s := range list {
		if n := len(apart); n > 0 && s.lo <= apart[n-1].hi {
			apart[n-1].hi = max(apart[n-1].hi, s.hi)
			continue
		}
		apart = append(apart, s)
	}
	return apart
}

// sub returns a-b, as far as an int64 holds it.
func sub(a, b uint64) int64 {
	if a >= b {
		return int64(min(a-b, math.MaxInt64))
	}
	return -int64(min(b-a, math.MaxInt64))
}

// agree finds the offsets that most exceptions allow. Where these lie apart, all
// between them is kept.
func (c *clock) agree() {
	type edge struct {
		at   int64
		ends bool
	}
	var edges []edge
	for _, list := range c.traps {
		for _, s := range list {
			edges = append(edges, edge{s.lo, false}, edge{s.hi, true})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at == b.at && a.ends != b.ends {
			if b.ends {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.at, b.at)
	})
	n := 0
	for i, e := range edges {
		if e.ends {
			n--
			continue
		}
		switch n++; {
		case n > c.most:
			c.most, c.best = n, span{e.at, edges[i+1].at}
		case n == c.most:
			c.best.hi = edges[i+1].at
		}
	}
}

// offset returns the offset that is found, ns, and by how much it may be off either way.
func (c *clock) offset() (offset int64, slack uint64) {
	slack = uint64(c.best.hi-c.best.lo+1) / 2
	if c.most < fewest || slack > loose {
		return 0, unknown
	}
	return c.best.lo + int64(slack), slack
}

// fits returns how many exceptions allow an offset that may be off by slack.
func (c *clock) fits(offset int64, slack uint64) (n int) {
	lo, hi := offset-int64(slack), offset+int64(slack)
	for _, list := range c.traps {
		if slices.ContainsFunc(list, func(s span) bool { return s.lo <= hi && lo <= s.hi }) {
			n++
		}
	}
	return n
}

// apart reports whether, with an offset, no change lies in the time of the trace.
func (c *clock) apart(offset int64) bool {
	return c.pokes.Hi > 0 && (offset < sub(c.trace.Lo, c.pokes.Hi) || offset > sub(c.trace.Hi, c.pokes.Lo))
}

// doubt says what speaks against an offset, which the call gave or which was found, and
// what to do; "" if nothing does.
func (c *clock) doubt(offset int64, slack uint64, given bool) (what, hint string) {
	n, fit := len(c.traps), c.fits(offset, slack)
	found, off := c.offset()
	switch {
	case !given && slack == unknown:
		return fmt.Sprintf("its offset to the host's is not known: %d of %d breakpoint exceptions in the trace agree on one, need %d that bound it to %d s", c.most, n, fewest, 2*int(loose)/1e9),
			"give what its times lack of the host's, ns, behind the file: --guest PID=FILE,OFFSET; until then any of its changes to code may have been made at any time"
	case given && c.apart(offset):
		return fmt.Sprintf("offset %d: the trace has none of the times at which the guest's kernel changed its code", offset),
			"leave it out so that it is found, or see whether both were recorded at the same time"
	case fit == n:
		return "", ""
	case given && off != unknown:
		hint = fmt.Sprintf("%d exceptions fit %d, or up to %d less or more: give that, or leave the offset out so that it is found", c.most, found, off)
	case given:
		hint = "leave it out so that it is found, or see whether the recording is of that machine and that boot"
	default:
		hint = "see whether the recording is of that machine and that boot, and whether records of it were lost"
	}
	return fmt.Sprintf("offset %d: %d of %d breakpoint exceptions lie where no change of its kernel at that address was under way", offset, n-fit, n), hint
}
