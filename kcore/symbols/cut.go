package symbols

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// A copy of /proc/kallsyms can be cut down to the symbols that are used of it. What
// is asked for by name is kept in mind for that.

// ends is the name of lines in a copy that was cut. Such a line ends the symbol before it
// and is none itself: what stood there was left out. No symbol of the kernel has it.
const ends = "-"

// asked is which names were asked for since Watch.
type asked struct {
	mu    sync.Mutex
	names map[string]bool
}

// note keeps a name in mind, if somebody watches.
func (k *Kallsyms) note(name string) {
	if k.watch == nil {
		return
	}
	a := &k.asked
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.names == nil {
		a.names = map[string]bool{}
	}
	a.names[name] = true
}

// Watch has each address that a Table made of k from now on is asked for given to f, from
// any goroutine. It comes before Cut.
func (k *Kallsyms) Watch(f func(addr uint64)) { k.watch = f }

// Cut returns lines of the copy of /proc/kallsyms: of the symbols for which needs returns
// true, given their first and last address. Those asked for by name since Watch are among them. Where
// the symbol behind one is left out, a line without a name says where the one before it
// ends. What remains has names as before, everything else has none.
func (s *Table) Cut(needs func(addr, last uint64) bool) string {
	k := s.names
	if k == nil {
		return ""
	}
	order := make([]int32, 0, len(k.syms))
	for i := range k.syms {
		order = append(order, int32(i))
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(k.syms[a].addr, k.syms[b].addr) })
	keep := make([]bool, len(k.syms))
	var stops []string
	for i := 0; i < len(order); {
		addr, next := k.syms[order[i]].addr, i
		for next < len(order) && k.syms[order[next]].addr == addr {
			next++
		}
		if s.needed(order[i:next], addr, needs) {
			for _, l := range order[i:next] {
				keep[l] = true
			}
		}
		i = next
	}
	// Of a group that is kept the next one must be known to begin.
	for i := 0; i < len(order); i++ {
		here, y := order[i], k.syms[order[i]]
		if keep[here] || y.addr == 0 || k.absolute(int(here)) {
			continue
		}
		if j := k.groupBefore(order, i); j < 0 || !keep[order[j]] {
			continue
		}
		if end := k.stop(order, i); len(stops) == 0 || stops[len(stops)-1] != end {
			stops = append(stops, end)
		}
	}
	var b strings.Builder
	for i := range k.syms {
		if keep[i] {
			b.WriteString(k.line(i))
			b.WriteByte('\n')
		}
	}
	for _, x := range stops {
		b.WriteString(x)
	}
	return b.String()
}

// needed reports whether lines of one address are needed.
func (s *Table) needed(group []int32, addr uint64, needs func(addr, last uint64) bool) bool {
	k := s.names
	k.asked.mu.Lock()
	for _, l := range group {
		if k.asked.names[k.name(int(l))] {
			k.asked.mu.Unlock()
			return true
		}
	}
	k.asked.mu.Unlock()
	lines := s.byAddr()
	i, found := slices.BinarySearchFunc(lines, addr, func(x bounded, a uint64) int { return cmp.Compare(x.addr, a) })
	return found && needs(addr, addr+lines[i].length-1)
}

// groupBefore returns the last index before i in order of a line with a lower address,
// -1 if there is none. Numbers that are no addresses do not count.
func (k *Kallsyms) groupBefore(order []int32, i int) int {
	at := k.syms[order[i]].addr
	for i--; i >= 0 && (k.syms[order[i]].addr == at || k.absolute(int(order[i]))); i-- {
	}
	return i
}

// stop returns a line without a name for the address of line order[i], of the module of
// the symbol there.
func (k *Kallsyms) stop(order []int32, i int) string {
	best := order[i]
	for j := i; j < len(order) && k.syms[order[j]].addr == k.syms[best].addr; j++ {
		if !k.absolute(int(order[j])) && k.before(order[j], best) {
			best = order[j]
		}
	}
	line := k.line(int(best))
	at, _, _ := strings.Cut(line, " ")
	end := at + " t " + ends
	if m := k.module(int(best)); m != "" {
		end += "\t[" + m + "]"
	}
	return end + "\n"
}

// line returns line i as the file has it.
func (k *Kallsyms) line(i int) string {
	at := int(k.syms[i].name)
	from := strings.LastIndexByte(k.text[:at], '\n') + 1
	line := k.text[from:]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	return strings.TrimRight(line, "\r")
}
