package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/marks"
	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// found is one thing that a search found.
type found struct {
	Kind  string  `json:"kind"`  // poke, list, symbol, data, address, outside, time, window, thread
	Label string  `json:"label"` // for people
	Poke  *int    `json:"poke,omitempty"`
	Time  *uint64 `json:"time,omitempty"`  // ns behind the base
	Until *uint64 `json:"until,omitempty"` // the end of a window
	Addr  string  `json:"addr,omitempty"`
	Sym   string  `json:"sym,omitempty"`
	TID   *int32  `json:"tid,omitempty"`
	Of    string  `json:"of,omitempty"` // a list's: kind:KIND, tid:TID or sym:GLOB
}

// maxFound is how many of a kind are given. The finders find one more, which says that there are more.
const maxFound = 50

// finder finds what a word stands for.
type finder struct{ *server }

// answerSearch answers /api/search: symbols, addresses, times, changes and threads.
func (v *server) answerSearch(r *request) (any, error) {
	q := strings.TrimSpace(clean(r.query.Get("q")))
	out := struct {
		Query string  `json:"query"`
		Found []found `json:"found"`
		More  bool    `json:"more"`           // of a kind, not all are given
		Near  string  `json:"near,omitempty"` // where nothing is found: why, or what is like it
	}{Query: q, Found: []found{}}
	if q == "" {
		return &out, nil
	}
	f := finder{v}
	out.Found = append(out.Found, f.findTime(q)...)
	out.Found = append(out.Found, f.findAddress(q)...)
	kinds := [][]found{f.findSymbols(q), f.findPokes(q), f.findThreads(q)}
	for i, list := range kinds {
		kinds[i] = list[:min(len(list), maxFound)]
		out.More = out.More || len(kinds[i]) < len(list)
	}
	// A function has many changes: its name comes before them, other names behind.
	few := min(len(kinds[0]), 3)
	for _, list := range [][]found{kinds[0][:few], f.findLists(q), kinds[1], kinds[2], kinds[0][few:]} {
		out.Found = append(out.Found, list...)
	}
	if len(out.Found) == 0 {
		out.Near = f.near(q)
	}
	return &out, nil
}

// near says why nothing is found, or which functions have names like q.
func (v finder) near(q string) string {
	if word := pokeWord(q); word != q {
		if _, err := filter.Moment(v.s, "poke:"+word); err != nil {
			return clean(err.Error())
		}
	}
	functions, _, _ := decoder.NamesIn(v.s)
	return clean(strings.TrimPrefix(filter.Nearest(q, functions), "; "))
}

// beyond reports whether a moment lies before the trace or behind it. Some runs behind the last
// sync point.
func (v finder) beyond(t uint64) bool {
	return t < v.rec.From || t > v.rec.Until+v.rec.length()/10
}

// findTime reads q as a moment and as a stretch of time, as --time has them. A whole number
// is one only where it lies in the recording, or soon behind it.
func (v finder) findTime(q string) (list []found) {
	if !v.rec.Timed {
		return nil
	}
	if !strings.ContainsAny(q, ".,%±+-:") {
		const hour = 3_600_000_000_000 // ns
		ns, err := strconv.ParseUint(q, 10, 64)
		if err != nil || ns < v.rec.base || v.rec.rel(ns) > v.rec.Until+hour {
			return nil
		}
	}
	second := func(t uint64) string { return strings.Split(v.rec.span(t, t), ",")[0] }
	if ns, err := filter.Moment(v.s, q); err == nil {
		t := v.rec.rel(ns)
		x := found{Kind: "time", Label: fmt.Sprintf("the moment %s: %s s", q, second(t)), Time: &t}
		if v.beyond(t) {
			x = found{Kind: "outside", Label: fmt.Sprintf("%s s: the trace runs from %s to %s s", second(t), second(v.rec.From), second(v.rec.Until))}
		}
		list = append(list, x)
	}
	if from, until, err := filter.Times(v.s, q); err == nil && (from != 0 && until != 0 || strings.ContainsAny(q, ",%")) {
		lo, hi := max(v.rec.From, v.rec.rel(from)), v.rec.Until
		if until != 0 {
			hi = v.rec.rel(until)
		}
		list = append(list, found{Kind: "window", Label: fmt.Sprintf("the time %s: %s to %s s", q, second(lo), second(hi)), Time: &lo, Until: &hi})
	}
	return list
}

// findAddress reads q as an address, hexadecimal.
func (v finder) findAddress(q string) []found {
	addr, err := strconv.ParseUint(strings.TrimPrefix(q, "0x"), 16, 64)
	if err != nil || len(q) < 6 {
		return nil
	}
	sym := clean(v.s.KernelSymbol(addr, v.rec.base))
	return []found{{Kind: "address", Label: strings.TrimSpace(hex16(addr) + " " + sym), Addr: hex16(addr), Sym: sym}}
}

// pokeWord returns what names a change in q: its number, where q is poke:N, poke N or #N.
func pokeWord(q string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(q, "poke:"), "poke "), "#")
}

// findPokes finds changes by number, function, address, kind and thread. Where many are of one
// kind, of one thread or in functions of like names, the list of them comes first.
func (v finder) findPokes(q string) (list []found) {
	n, err := strconv.Atoi(pokeWord(q))
	for i := range v.pokes.list {
		p := &v.pokes.list[i]
		maker := p.Comm == q || p.TID != 0 && fmt.Sprintf("%s %d", p.Comm, p.TID) == q
		if err == nil && p.Index == n || strings.Contains(p.Symbol, q) || strings.TrimPrefix(q, "0x") == p.Addr || p.Kind == q || maker {
			label := fmt.Sprintf("poke %d: %s (%s)", p.Index, p.Symbol, p.Kind)
			list = append(list, found{Kind: "poke", Label: label, Poke: &p.Index, Time: &p.Time, Addr: p.Addr, Sym: p.Symbol})
		}
		if len(list) > maxFound {
			break
		}
	}
	return list
}

// all says how many changes a list has.
func all(n int) string {
	return plural.Word(n, "the poke", fmt.Sprintf("all %d pokes", n))
}

// findLists finds lists of changes: of a kind, of a thread, and in functions whose names have q
// in them.
func (v finder) findLists(q string) (list []found) {
	kinds, makers := marks.Counts(v.pokes.list)
	for _, k := range kinds {
		if k.Name == q {
			list = append(list, found{Kind: "list", Label: all(k.N) + " of the kind " + q, Of: "kind:" + q})
		}
	}
	for _, m := range makers {
		if *m.TID != 0 && (m.Name == q || fmt.Sprintf("%s %d", m.Name, *m.TID) == q || fmt.Sprint(*m.TID) == q) {
			list = append(list, found{Kind: "list", Label: fmt.Sprintf("%s that %s, thread %d, made", all(m.N), m.Name, *m.TID), Of: fmt.Sprintf("tid:%d", *m.TID)})
		}
	}
	glob := "*" + q + "*"
	if n := len((&marks.Wanted{Sym: glob}).Pick(v.pokes.list)); n > 1 && len(q) > 1 {
		list = append(list, found{Kind: "list", Label: fmt.Sprintf("all %d pokes in functions like %s", n, glob), Of: "sym:" + glob})
	}
	return list
}

// findSymbols finds symbols by a part of their names: functions first, and the shortest names.
func (v finder) findSymbols(q string) (list []found) {
	if _, err := strconv.Atoi(q); v.s.Symbols() == nil || len(q) < 2 || err == nil {
		return nil // digits are a number of a change or a thread
	}
	syms := v.s.Symbols().Named(func(name string) bool { return strings.Contains(name, q) })
	slices.SortStableFunc(syms, func(a, b symbols.Symbol) int { return cmp.Or(data(a)-data(b), len(a.Name)-len(b.Name)) })
	for _, y := range syms[:min(len(syms), maxFound+1)] {
		kind := [...]string{"symbol", "data"}[data(y)]
		list = append(list, found{Kind: kind, Label: clean(y.Format(0)), Addr: hex16(y.Addr), Sym: clean(y.Name)})
	}
	return list
}

// data is 1 for a symbol that names data, which is never executed.
func data(y symbols.Symbol) int {
	if y.Code {
		return 0
	}
	return 1
}

// findThreads finds threads by number, also as thread N or tid N, and by name: those of which the overview knows.
func (v finder) findThreads(q string) (list []found) {
	n, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimPrefix(q, "thread "), "tid "), 10, 32)
	v.whole.mu.Lock()
	defer v.whole.mu.Unlock()
	if v.whole.h == nil {
		return nil
	}
	for k, l := range v.whole.h.lanes {
		if k.stream < 0 && (err == nil && int64(k.tid) == n || strings.Contains(l.comm, q) || fmt.Sprintf("%s %d", l.comm, k.tid) == q) {
			list = append(list, found{Kind: "thread", Label: fmt.Sprintf("%s, thread %d", clean(l.comm), k.tid), TID: &k.tid})
		}
	}
	slices.SortFunc(list, func(a, b found) int { return cmp.Compare(*a.TID, *b.TID) })
	return list[:min(len(list), maxFound+1)]
}
