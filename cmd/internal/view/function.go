package view

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/calls"
)

// functionStats is how often a function was called, and how long that took.
type functionStats struct {
	calls      uint64 // of which the first instruction ran
	open       uint64 // of them, those whose begin or end is not known
	total      spread
	self       spread
	file, name string
	callers    map[string]uint64
}

// add counts a call that has ended.
func (f *functionStats) add(c *calls.Call) {
	if c.Ran {
		f.calls += c.Times
	}
	f.name, f.file = callName(c), c.File
	if c.Caller != nil && (len(f.callers) < 200 || f.callers[callName(c.Caller)] > 0) {
		f.callers[callName(c.Caller)]++
	}
	total, self, ok := c.Took()
	if !ok {
		f.open++
		return
	}
	f.total.count(total)
	f.self.count(self)
}

// answerFunction answers /api/function: the calls of the function at an address, all or
// those of a window.
func (v *server) answerFunction(r *request) (any, error) {
	addr, err := parseAddr(r.query.Get("addr"))
	if err != nil {
		return nil, err
	}
	from, until, err := r.window(v.rec)
	if err != nil {
		return nil, err
	}
	q, err := v.withinCalls(from, until)
	if err != nil {
		return nil, err
	}
	var f functionStats
	tree := &calls.Tree{Session: v.s}
	tree.OnRestart = func() bool { f = functionStats{callers: map[string]uint64{}}; return true }
	tree.OnRestart()
	tree.OnEnd = func(c *calls.Call) {
		if c.Addr == addr && reaches(&q, c) {
			f.add(c)
		}
	}
	if err := v.flow(r, q, tree); err != nil {
		return nil, err
	}
	tree.Close()
	return f.answer(v, addr, from, until), nil
}

// function is what the page is told of a function.
type function struct {
	Sym     string      `json:"sym"`
	File    string      `json:"file,omitempty"`
	Src     string      `json:"src,omitempty"` // file:line where it begins
	Addr    string      `json:"addr"`
	Calls   uint64      `json:"calls"`
	Open    uint64      `json:"open"` // whose begin or end is not known
	Took    *took       `json:"took,omitempty"`
	Self    *took       `json:"self,omitempty"`
	Bars    [][3]uint64 `json:"bars"` // from and until, ns, and how many calls took as long
	Callers []caller1   `json:"callers"`
	Command string      `json:"command"`
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
	P99    uint64 `json:"p99"`
	Max    uint64 `json:"max"`
	Sum    uint64 `json:"sum"`
}

func tookOf(s *spread) *took {
	if s.n == 0 {
		return nil
	}
	return &took{s.least, s.quantile(50), s.quantile(99), s.most, s.sum}
}

// answer makes f what the page is told; from and until are the window, until 0: all.
func (f *functionStats) answer(v *server, addr, from, until uint64) *function {
	name := f.name
	if name == "" {
		name = v.s.KernelSymbol(addr, v.rec.base)
	}
	out := &function{Sym: clean(cmp.Or(name, hex16(addr))), File: clean(f.file), Addr: hex16(addr), Src: sourceOf(v.s.Lines(0, addr, v.rec.base)), Calls: f.calls, Open: f.open, Took: tookOf(&f.total), Self: tookOf(&f.self), Bars: [][3]uint64{}, Callers: []caller1{}}
	for n, k := range f.total.each {
		lo, hi := bar(n)
		if last := len(out.Bars) - 1; last >= 0 && out.Bars[last][0] == lo {
			out.Bars[last][2] += k
		} else {
			out.Bars = append(out.Bars, [3]uint64{lo, hi, k})
		}
	}
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

// bar returns the bar of a histogram that n belongs to: 1, 2 and 5, by powers of ten.
func bar(n uint64) (lo, hi uint64) {
	for unit := uint64(1); ; unit *= 10 {
		for _, k := range [][2]uint64{{1, 2}, {2, 5}, {5, 10}} {
			if n < k[1]*unit {
				if n < unit {
					return 0, 1
				}
				return k[0] * unit, k[1] * unit
			}
		}
		if unit > math.MaxUint64/100 {
			return n, math.MaxUint64
		}
	}
}

// spread is how long calls took, ns, and how many took as long. What is more than 2,048 ns
// is kept to 0.1 %, rounded down; sum and the extremes are exact.
type spread struct {
	n, sum, least, most uint64
	by                  map[uint64]uint64
}

// count counts a call that took ns.
func (s *spread) count(ns uint64) {
	if s.n == 0 {
		s.least, s.by = ns, map[uint64]uint64{}
	}
	s.n, s.sum, s.least, s.most = s.n+1, s.sum+ns, min(s.least, ns), max(s.most, ns)
	s.by[ns&^(1<<max(0, bits.Len64(ns)-11)-1)]++
}

// each gives the times, the least first, and how many calls took as long.
func (s *spread) each(yield func(ns, calls uint64) bool) {
	for _, ns := range slices.Sorted(maps.Keys(s.by)) {
		if !yield(ns, s.by[ns]) {
			return
		}
	}
}

// quantile returns the least time that q percent of the calls do not exceed.
func (s *spread) quantile(q uint64) uint64 {
	want, n := (s.n*q+99)/100, uint64(0)
	for ns, k := range s.each {
		if n += k; n >= want {
			return ns
		}
	}
	return s.most
}
