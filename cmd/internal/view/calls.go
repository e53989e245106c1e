package view

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// slice is one call as it is drawn. From and Until lie inside of the bounds of its begin and
// end: what the trace puts into one moment is drawn in its order, evenly.
type slice struct {
	From   uint64  `json:"from"` // ns behind the base
	Until  uint64  `json:"until"`
	Depth  int     `json:"depth"` // in the lane
	Sym    string  `json:"sym"`
	Addr   string  `json:"addr"`
	Stream int     `json:"stream"`          // that it began on
	Nth    int     `json:"nth,omitempty"`   // among those of the function that begin at one moment of the stream, from 0
	Begin  *uint64 `json:"begin,omitempty"` // the lower bounds
	End    *uint64 `json:"end,omitempty"`
	Took   *uint64 `json:"took,omitempty"` // the likeliest time that it took, ns, as calls counts it
	Least  uint64  `json:"least"`          // bounds of Took
	Most   *uint64 `json:"most,omitempty"` // absent: there is none
	How    string  `json:"how"`            // it was entered
	Ended  string  `json:"ended"`          // and left
	Insns  uint64  `json:"instructions"`
	Unsure bool    `json:"unsure,omitempty"` // some of what ran in it is ambiguous or unconfirmed
	Gap    bool    `json:"gap,omitempty"`    // a gap lies in it
}

// callLane is the calls of a thread, or of a stream where no thread is known.
type callLane struct {
	Stream *int    `json:"stream,omitempty"`
	TID    *int32  `json:"tid,omitempty"`
	Comm   string  `json:"comm,omitempty"`
	Depth  int     `json:"depth"` // how many rows there are
	Calls  []slice `json:"calls"`

	ends  []endpoint
	users int // rows of the program's calls
}

// endpoint is where a call begins or ends, in the order of the lane.
type endpoint struct {
	call int
	end  bool
	time event.Time
}

// maxCalls is how many calls are collected, maxSlices how many of them are given.
const (
	maxCalls  = 60_000
	maxSlices = 4000
)

// errTooMany ends a flow that has more calls than are collected.
var errTooMany = errors.New("view: too many calls")

// callCollector makes lanes of calls: a decoder.Sink.
type callCollector struct {
	*calls.Tree
	v           *server
	from, until uint64 // ns behind the base, or bytes
	off         int64  // of the trace event that led to what comes, where the trace has no times
	lanes       map[laneKey]*callLane
	order       []laneKey
	n           int
	entered     items.Numbering
}

func newCallCollector(v *server, from, until uint64) *callCollector {
	c := &callCollector{Tree: &calls.Tree{Session: v.s}, v: v, from: from, until: until, lanes: map[laneKey]*callLane{}, entered: items.Numbering{}}
	c.OnBegin, c.OnEnd = c.begin, c.end
	c.OnRestart = func() bool {
		c.lanes, c.order, c.n = map[laneKey]*callLane{}, nil, 0
		clear(c.entered)
		return true
	}
	return c
}

// Flow follows calls, while they are not too many.
func (c *callCollector) Flow(b *decoder.Batch) error {
	if c.n > maxCalls {
		return errTooMany
	}
	if c.v.rec.Timed {
		return c.Tree.Flow(b)
	}
	// Where there are no times, the offset of each range is to be known as its calls begin.
	part := decoder.Batch{Stream: b.Stream, Stamps: b.Stamps}
	for i, n := 0, 0; i < len(b.Ranges) || n < len(b.Notes); {
		part.Ranges, part.Notes = nil, part.Notes[:0]
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			part.Notes = append(part.Notes, b.Notes[n])
			part.Notes[len(part.Notes)-1].At = 0
			c.off = max(c.off, items.NoteOff(&b.Notes[n]))
		}
		if i < len(b.Ranges) {
			part.Ranges = b.Ranges[i : i+1]
			c.off = b.Stamps[b.Ranges[i].Stamp].Off
			i++
		}
		if err := c.Tree.Flow(&part); err != nil {
			return err
		}
	}
	return nil
}

// placed is a moment of a call's; where the trace has no times, its offset.
func (c *callCollector) placed(t event.Time) event.Time {
	if c.v.rec.Timed {
		return t
	}
	return event.Time{Lo: uint64(max(c.off, 1)), Hi: uint64(c.off) + 16}
}

// laneOf returns the lane of a call.
func (c *callCollector) laneOf(x *calls.Call) *callLane {
	k := laneKey{-1, x.TID}
	if x.TID <= 0 || x.Stream.Guest != 0 { // a virtual machine's threads are not known
		k = laneKey{x.Stream.Index, 0}
	}
	l := c.lanes[k]
	if l == nil {
		l = &callLane{Comm: clean(x.Comm), Calls: []slice{}}
		if k.stream >= 0 {
			l.Stream, l.Comm = &k.stream, ""
		} else {
			l.TID = &k.tid
		}
		c.lanes[k] = l
		c.order = append(c.order, k)
	}
	return l
}

// before is what the tag of a call has besides its number, as a visit has it, where it began
// before the window.
const before = 1 << 63

// begin takes a call that begins. Its tag is its number in the lane, from 1.
func (c *callCollector) begin(x *calls.Call) {
	began := c.placed(x.Begin)
	if x.How == calls.Unseen && !c.v.rec.Timed {
		began = event.Time{}
	}
	nth := c.entered.Nth(items.Entry{Stream: x.Stream.Index, Addr: x.Addr}, began.Lo)
	switch t := began.Lo; {
	case t != 0 && c.v.rec.rel(t) > c.until:
		return
	case c.v.rec.Timed && c.v.rec.rel(began.Hi) < c.from:
		x.Tag = before | uint64(nth) // it may end before the window, too
		return
	}
	l := c.put(x, began, nth)
	x.Tag = uint64(len(l.Calls))
	l.ends = append(l.ends, endpoint{len(l.Calls) - 1, false, began})
}

// put puts a call into its lane.
func (c *callCollector) put(x *calls.Call, began event.Time, nth int) *callLane {
	l := c.laneOf(x)
	c.n++
	l.Calls = append(l.Calls, slice{
		Depth: x.Depth, Sym: clean(callName(x)), Addr: hex16(x.Addr), Stream: x.Stream.Index, How: x.How.String(), Nth: nth, Begin: c.known(began.Lo),
	})
	if !c.v.s.Kernel(x.Addr) {
		l.users = max(l.users, x.Depth+1)
	}
	return l
}

// end takes a call that ends.
func (c *callCollector) end(x *calls.Call) {
	ended := c.placed(x.End)
	if x.Tag&before != 0 {
		if ended.Hi != math.MaxUint64 && c.v.rec.rel(ended.Hi) < c.from {
			return
		}
		x.Tag = uint64(len(c.put(x, c.placed(x.Begin), int(x.Tag&^before)).Calls))
	}
	l := c.laneOf(x)
	if x.Tag == 0 || int(x.Tag) > len(l.Calls) {
		return
	}
	s := &l.Calls[x.Tag-1]
	s.Ended, s.Insns, s.Gap = x.Ended.String(), x.Insns, x.Gap
	s.Unsure = x.Verdict >= decoder.Unconfirmed
	if x.Ended != calls.AtEnd {
		s.End = c.known(ended.Lo)
	}
	if took, _, ok := x.Took(); ok {
		within, _ := x.Total()
		s.Took, s.Least = &took, within.Lo
		if within.Hi < math.MaxUint64/2 {
			s.Most = &within.Hi
		}
	}
	l.ends = append(l.ends, endpoint{int(x.Tag) - 1, true, ended})
}

// known is a time of the recording's clock behind the base, nil where it is 0: not known.
func (c *callCollector) known(ns uint64) *uint64 {
	if ns == 0 {
		return nil
	}
	t := c.v.rec.rel(ns)
	return &t
}

// callName returns what a call is called.
func callName(x *calls.Call) string {
	if x.Sym == "" {
		return hex16(x.Addr)
	}
	return x.Sym
}

// moves reports whether some call begins or ends in a window.
func (l *callLane) moves(r *recording, from, until uint64) bool {
	return slices.ContainsFunc(l.ends, func(e endpoint) bool {
		return e.time.Lo != 0 && r.rel(e.time.Lo) >= from && r.rel(e.time.Lo) <= until
	})
}

// place gives all calls of l their places, and returns those on screen.
func (l *callLane) place(v *server, from, until uint64) {
	for i := range l.Calls {
		l.Calls[i].From, l.Calls[i].Until = from, until
	}
	for i := 0; i < len(l.ends); {
		n := i
		for n < len(l.ends) && l.ends[n].time.Lo == l.ends[i].time.Lo {
			n++
		}
		lo := v.rec.rel(l.ends[i].time.Lo)
		hi := lo
		if t := l.ends[i].time.Hi; t != math.MaxUint64 {
			hi = max(lo, v.rec.rel(t))
		}
		if n < len(l.ends) {
			hi = min(hi, max(lo, v.rec.rel(l.ends[n].time.Lo)))
		}
		for k := i; k < n; k++ {
			e, at := &l.ends[k], lo+(hi-lo)*uint64(k-i+1)/uint64(n-i+1)
			s := &l.Calls[e.call]
			switch {
			case e.time.Lo == 0:
			case !e.end:
				s.From = at
			case s.Ended != calls.AtEnd.String():
				s.Until = at
			}
		}
		i = n
	}
	l.Calls = slices.DeleteFunc(l.Calls, func(s slice) bool { return s.Until < from || s.From > until || s.Until < s.From })
	for i := range l.Calls {
		s := &l.Calls[i]
		if l.users > 0 && s.Addr >= "8" { // the kernel's lie below the program's
			s.Depth += l.users
		}
		l.Depth = max(l.Depth, s.Depth+1)
	}
	l.ends = nil
}

// answerCalls answers /api/calls: the calls of a window, as nested slices.
func (v *server) answerCalls(r *request) (any, error) {
	from, until, err := r.window(v.rec)
	if err != nil {
		return nil, err
	}
	if until == 0 {
		until = v.rec.Until
	}
	c := newCallCollector(v, from, until)
	q := decoder.Query{Merged: true, Bounds: true, From: filter.Lead(v.rec.base + from), Until: v.rec.base + until}
	args := []string{"--level", "call", "--time", v.rec.span(from, until)}
	if !v.rec.Timed {
		q, args = decoder.Query{FromOff: int64(from), UntilOff: int64(max(until, 1))}, args[:2]
	}
	err = v.flow(r, q, c)
	if errors.Is(err, errTooMany) {
		return nil, badf("the window has more than %d calls: ask for a shorter one", maxCalls)
	}
	if err != nil {
		return nil, err
	}
	c.Close()
	out := struct {
		Lanes   []*callLane `json:"lanes"`
		Left    int         `json:"left_out"` // the shortest, where there are too many
		Command string      `json:"command"`
	}{Lanes: []*callLane{}, Command: v.call("flow", args...)}
	n := 0
	for _, k := range c.order {
		l := c.lanes[k]
		if l.Stream != nil && v.rec.Timed && !l.moves(v.rec, from, until) {
			continue // a CPU's idle calls, while a thread has the CPU
		}
		l.place(v, from, until)
		n += len(l.Calls)
		out.Lanes = append(out.Lanes, l)
	}
	if out.Left = max(0, n-maxSlices); out.Left > 0 {
		var lengths []uint64
		for _, l := range out.Lanes {
			for _, s := range l.Calls {
				lengths = append(lengths, s.Until-s.From)
			}
		}
		slices.SortFunc(lengths, func(a, b uint64) int { return cmp.Compare(b, a) })
		least := lengths[maxSlices-1]
		for _, l := range out.Lanes {
			l.Calls = slices.DeleteFunc(l.Calls, func(s slice) bool { return s.Until-s.From < least || least == 0 })
		}
	}
	return &out, nil
}
