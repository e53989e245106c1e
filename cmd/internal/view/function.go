package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// functionStats is how often a function was called, and how long that took.
type functionStats struct {
	calls      uint64
	open       uint64 // of them, those whose begin or end is not known
	total      calls.Stats
	self       calls.Stats
	file, name string
	callers    map[string]uint64
}

// add counts a call that has ended.
func (f *functionStats) add(c *calls.Call) {
	f.calls++
	f.name, f.file = callName(c), c.File
	if c.Caller != nil && (len(f.callers) < 200 || f.callers[callName(c.Caller)] > 0) {
		f.callers[callName(c.Caller)]++
	}
	total, self, ok := c.Took()
	if !ok {
		f.open++
		return
	}
	f.total.Add(total)
	f.self.Add(self)
}

// answerFunction answers /api/function: all calls of the function at an address.
func (v *server) answerFunction(r *request) (any, error) {
	addr, err := parseAddr(r.query.Get("addr"))
	if err != nil {
		return nil, err
	}
	var f functionStats
	tree := &calls.Tree{Session: v.s}
	tree.OnRestart = func() bool { f = functionStats{callers: map[string]uint64{}}; return true }
	tree.OnRestart()
	tree.OnEnd = func(c *calls.Call) {
		if c.Addr != addr {
			return
		}
		f.add(c)
	}
	if err := v.flow(r, decoder.Query{Merged: true}, tree); err != nil {
		return nil, err
	}
	tree.Close()
	return f.answer(v, addr), nil
}

// function is what the page is told of a function.
type function struct {
	Sym     string      `json:"sym"`
	File    string      `json:"file,omitempty"`
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

func tookOf(s *calls.Stats) *took {
	if s.N == 0 {
		return nil
	}
	return &took{s.Min, s.Quantile(0.5), s.Quantile(0.99), s.Max, s.Sum}
}

// answer makes f what the page is told.
func (f *functionStats) answer(v *server, addr uint64) *function {
	name := f.name
	if name == "" {
		name = v.s.KernelSymbol(addr, v.rec.base)
	}
	out := &function{Sym: clean(cmp.Or(name, hex16(addr))), File: clean(f.file), Addr: hex16(addr), Calls: f.calls, Open: f.open, Took: tookOf(&f.total), Self: tookOf(&f.self), Bars: [][3]uint64{}, Callers: []caller1{}}
	for n, k := range f.total.Each {
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
	out.Command = v.call("calls", cmp.Or(f.name, fmt.Sprintf("0x%x", addr)))
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
