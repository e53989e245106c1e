package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/cmd/internal/marks"
	"github.com/ptdecode/ptdecode/cmd/internal/spread"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// functionStats is how often a function was called, and how long that took.
type functionStats struct {
	calls      uint64        // of which the first instruction ran
	open       uint64        // calls whose begin or end is not known
	unseen     uint64        // of these, those of which the first instruction did not run in the trace
	off        spread.Spread // how far off a time may be; beyond math.MaxInt64: it has no bound
	total      spread.Spread
	self       spread.Spread
	file, name string
	callers    map[string]uint64
	longest    []longCall // the longest first, at most maxLongest
}

// longCall is one of the longest calls of a function.
type longCall struct {
	Begin  uint64 `json:"begin"` // ns behind the base
	Nth    int    `json:"nth,omitempty"`
	Stream int    `json:"stream"`
	TID    int32  `json:"tid"` // -1: not known
	Comm   string `json:"comm,omitempty"`
	Took   uint64 `json:"took"`  // ns
	Least  uint64 `json:"least"` // bounds of Took
	Most   uint64 `json:"most"`  // beyond math.MaxInt64: there is none
}

// maxLongest is how many of a function's calls are named.
const maxLongest = 10

// rank puts a call among the longest.
func (f *functionStats) rank(r *recording, c *calls.Call, took uint64, b event.Time) {
	if c.Begin.Lo == 0 || len(f.longest) == maxLongest && took <= f.longest[maxLongest-1].Took {
		return
	}
	i, _ := slices.BinarySearchFunc(f.longest, took, func(x longCall, took uint64) int {
		if x.Took >= took {
			return -1
		}
		return 1
	})
	x := longCall{Begin: r.rel(c.Begin.Lo), Nth: int(c.Tag), Stream: c.Stream.Index, TID: c.TID, Comm: clean(c.Comm), Took: took, Least: b.Lo, Most: b.Hi}
	f.longest = slices.Insert(f.longest, i, x)
	f.longest = f.longest[:min(len(f.longest), maxLongest)]
}

// add counts a call that has ended.
func (f *functionStats) add(r *recording, c *calls.Call) {
	if c.Ran {
		f.calls += c.Times
	} else {
		f.unseen++
	}
	f.name, f.file = callName(c), c.File
	if c.Caller != nil && f.callers != nil && (len(f.callers) < 200 || f.callers[callName(c.Caller)] > 0) {
		f.callers[callName(c.Caller)]++
	}
	total, self, ok := c.Took()
	if !ok {
		f.open++
		return
	}
	f.total.Take(total, 1)
	f.self.Take(self, 1)
	b, _ := c.Total()
	f.off.Take(max(max(b.Hi, total)-total, total-min(b.Lo, total)), 1)
	f.rank(r, c, total, b)
}

// answerFunction answers /api/function: the calls of the function at an address, all or
// those of a window.
func (v *server) answerFunction(r *request) (any, error) {
	addr, err := parseAddr(r.query.Get("addr"))
	if err != nil {
		return nil, err
	}
	q, from, until, err := r.calls(v)
	if err != nil {
		return nil, err
	}
	split, at, err := v.split(r)
	if err != nil {
		return nil, err
	}
	var f functionStats
	var parts [3]functionStats
	tree := &calls.Tree{Session: v.s}
	began := items.Numbering{}
	tree.OnBegin = func(c *calls.Call) {
		if c.Addr == addr {
			began.Tag(c)
		}
	}
	tree.OnRestart = func() bool {
		clear(began)
		f, parts = functionStats{callers: map[string]uint64{}}, [3]functionStats{}
		return true
	}
	tree.OnRestart()
	tree.OnEnd = func(c *calls.Call) {
		if c.Addr == addr && reaches(&q, c) {
			f.add(v.rec, c)
			if split >= 0 {
				parts[partOf(c, at)].add(v.rec, c)
			}
		}
	}
	if err := v.flow(r, q, tree); err != nil {
		return nil, err
	}
	tree.Close()
	out := f.answer(v, addr, from, until)
	if split >= 0 {
		for i := range parts {
			p := &parts[i]
			out.Parts = append(out.Parts, part{partNames[i], p.calls, p.open, tookOf(&p.total), tookOf(&p.self), p.total.Bars()})
		}
		if n := filter.NextChange(v.s, split, q.Until); n >= 0 {
			out.Again = &n
		}
		out.Split, out.Command = &split, out.Command+" --split-at "+fmt.Sprint(split)
	}
	return out, nil
}

// split reads the parameter split: the number of a change, and when it was made, ns. It is
// -1 where there is none.
func (v *server) split(r *request) (n int, at uint64, err error) {
	if r.query.Get("split") == "" {
		return -1, 0, nil
	}
	k, err := r.number("split", 0, math.MaxInt32)
	if i := marks.Find(v.pokes.list, int(k)); err == nil && i < 0 {
		err = badf("split=%d: there is no such change to the code", k)
	}
	if err != nil {
		return -1, 0, err
	}
	return int(k), v.s.Text().Poke(int(k)).Time, nil
}

// partNames are the parts of a function's calls: those that ended before a change to the
// code, those that it may lie in, and those that began behind it.
var partNames = [...]string{"before", "across", "after"}

// partOf returns the part that a call belongs to, as calls --split-at has it.
func partOf(c *calls.Call, at uint64) int {
	switch {
	case c.End.Hi < at:
		return 0
	case c.Begin.Lo > at:
		return 2
	}
	return 1
}

// function is what the page is told of a function.
type function struct {
	Sym     string      `json:"sym"`
	File    string      `json:"file,omitempty"`
	Src     string      `json:"src,omitempty"` // file:line where it begins
	Addr    string      `json:"addr"`
	Calls   uint64      `json:"calls"`
	Open    uint64      `json:"open"`          // whose begin or end is not known
	Unseen  uint64      `json:"unseen"`        // of these, those that began before the trace shows them: calls has them not
	Off     *took       `json:"off,omitempty"` // how far off the times may be
	Took    *took       `json:"took,omitempty"`
	Self    *took       `json:"self,omitempty"`
	Bars    [][3]uint64 `json:"bars"` // from and until, ns, and how many calls took as long
	Callers []caller1   `json:"callers"`
	Longest []longCall  `json:"longest"`
	Split   *int        `json:"split,omitempty"` // a change: the parts are before, across and after it
	Again   *int        `json:"again,omitempty"` // the next change of the same code
	Parts   []part      `json:"parts,omitempty"`
	Command string      `json:"command"`
}

// part is some of a function's calls.
type part struct {
	Part  string      `json:"part"`
	Calls uint64      `json:"calls"`
	Open  uint64      `json:"open"`
	Took  *took       `json:"took,omitempty"`
	Self  *took       `json:"self,omitempty"`
	Bars  [][3]uint64 `json:"bars"`
}

// caller1 is a function that called another, and how often.
type caller1 struct {
	Sym   string `json:"sym"`
	Calls uint64 `json:"calls"`
}

// took is how long calls took, ns.
type took struct {
	Min    uint64 `json:"min"`
	Median uint64 `json:"median"`
	Mean   uint64 `json:"mean"`
	P99    uint64 `json:"p99"`
	Max    uint64 `json:"max"`
	Sum    uint64 `json:"sum"`
}

func tookOf(s *spread.Spread) *took {
	if s.Settle(); s.N == 0 {
		return nil
	}
	return &took{s.Least, s.Quantile(0.5), s.Sum / s.N, s.Quantile(0.99), s.Most, s.Sum}
}

// answer makes f what the page is told; from and until are the window, until 0: all.
func (f *functionStats) answer(v *server, addr, from, until uint64) *function {
	name := f.name
	if name == "" {
		name = v.s.KernelSymbol(addr, v.rec.base)
	}
	out := &function{Sym: clean(cmp.Or(name, hex16(addr))), File: clean(f.file), Addr: hex16(addr), Src: sourceOf(v.s.Lines(0, addr, v.rec.base)), Calls: f.calls, Open: f.open, Unseen: f.unseen, Off: tookOf(&f.off), Took: tookOf(&f.total), Self: tookOf(&f.self), Bars: f.total.Bars(), Callers: []caller1{}, Longest: append([]longCall{}, f.longest...)}
	for s, n := range f.callers {
		out.Callers = append(out.Callers, caller1{clean(s), n})
	}
	slices.SortFunc(out.Callers, func(a, b caller1) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Sym, b.Sym))
	})
	out.Callers = out.Callers[:min(len(out.Callers), 20)]
	args := []string{fmt.Sprintf("0x%x", addr)}
	if v.rec.Timed && until != 0 {
		args = append(args, "--time", v.rec.span(from, until))
	}
	out.Command = v.call("calls", args...)
	return out
}
