package kcore

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// Symbol is a name for the addresses Addr <= a < Addr+Len.
type Symbol struct {
	Name   string
	Module string // "" for the kernel itself
	Addr   uint64
	Len    uint64 // bytes
	Code   bool   // it names code, not data
}

// Format renders name+0xoff, with the module in brackets.
func (s *Symbol) Format(off uint64) string {
	b := s.Name
	if off != 0 {
		b = fmt.Sprintf("%s+0x%x", b, off)
	}
	if s.Module != "" {
		b += " [" + s.Module + "]"
	}
	return b
}

// Ksymbol is a symbol that came or went while recording: what the records
// KSYMBOL (BPF programs, slot pages, trampolines) state.
type Ksymbol struct {
	Name string
	Addr uint64
	Len  uint64 // bytes
	// From and Until bound its life, ns; 0 and math.MaxUint64 where no record
	// states it.
	From, Until uint64
}

// KsymbolRecord is one KSYMBOL record.
type KsymbolRecord struct {
	Time uint64 // ns
	Name string
	Addr uint64
	Len  uint64 // bytes
	Gone bool   // PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER
}

// Ksymbols pairs the records that begin and end a symbol's life. One that ends
// without a beginning had lived before the recording.
func Ksymbols(recs []KsymbolRecord) []Ksymbol {
	recs = slices.Clone(recs)
	slices.SortStableFunc(recs, func(a, b KsymbolRecord) int { return cmp.Compare(a.Time, b.Time) })
	type key struct {
		addr uint64
		name string
	}
	live := map[key]int{}
	var out []Ksymbol
	for _, r := range recs {
		k := key{r.Addr, r.Name}
		i, ok := live[k]
		switch {
		case r.Gone && ok:
			out[i].Until = r.Time
			delete(live, k)
		case r.Gone:
			out = append(out, Ksymbol{r.Name, r.Addr, r.Len, 0, r.Time})
		default:
			if ok { // its end was not recorded
				out[i].Until = r.Time
			}
			live[k] = len(out)
			out = append(out, Ksymbol{r.Name, r.Addr, r.Len, r.Time, math.MaxUint64})
		}
	}
	return out
}

// Symbols finds the symbol at an address and a time. It does not change once
// built.
type Symbols struct {
	syms  []Symbol // by address, not overlapping
	ksyms []Ksymbol
	reach []uint64  // reach[i]: the last address of ksyms[0..i]
	names *Kallsyms // whose names Find knows
}

// NewSymbols brings the sources together; any may be nil. A symbol of
// kallsyms, which states no lengths, ends where the next begins (whatever its
// type), and a module's at the module's end. The markers of a region's end,
// such as _etext, end symbols and are none. A symbol without an end ends with
// its page: behind it an address has no name rather than a neighbour's.
func NewSymbols(k *Kallsyms, mods []Module, ksyms []Ksymbol) *Symbols {
	s := &Symbols{names: k}
	if k != nil {
		s.fromKallsyms(k, mods)
	}
	for _, ks := range ksyms {
		if ks.Len > 0 && ks.Addr+(ks.Len-1) >= ks.Addr {
			s.ksyms = append(s.ksyms, ks)
		}
	}
	slices.SortStableFunc(s.ksyms, func(a, b Ksymbol) int { return cmp.Compare(a.Addr, b.Addr) })
	var reach uint64
	for _, ks := range s.ksyms {
		reach = max(reach, ks.Addr+(ks.Len-1))
		s.reach = append(s.reach, reach)
	}
	return s
}

// fromKallsyms makes the symbols with lengths.
func (s *Symbols) fromKallsyms(k *Kallsyms, mods []Module) {
	list := make([]*Ksym, 0, len(k.Syms))
	for i := range k.Syms {
		if y := &k.Syms[i]; y.Type != 'a' && y.Type != 'A' && y.Addr != 0 {
			list = append(list, y)
		}
	}
	byAddr := func(a, b *Ksym) int { return cmp.Compare(a.Addr, b.Addr) }
	if !slices.IsSortedFunc(list, byAddr) { // the kernel's own come sorted
		slices.SortStableFunc(list, byAddr)
	}
	s.syms = make([]Symbol, 0, len(list))
	sizes := map[string]Module{}
	for _, m := range mods {
		sizes[m.Name] = m
	}
	for i := 0; i < len(list); {
		y, next := list[i], i+1
		for next < len(list) && list[next].Addr == y.Addr {
			if before(list[next], y) {
				y = list[next]
			}
			next++
		}
		end := uint64(math.MaxUint64)
		bounded := false
		if next < len(list) {
			end = list[next].Addr
			bounded = list[next].Module == y.Module
		}
		if m, ok := sizes[y.Module]; ok && y.Module != "" && y.Addr >= m.Addr && y.Addr-m.Addr < m.Size {
			end, bounded = min(end, m.Addr+m.Size), true
		}
		if !bounded {
			end = min(end, (y.Addr|(pageSize-1))+1)
		}
		if end > y.Addr && (y.Module != "" || !slices.Contains(endMarkers, y.Name)) {
			s.syms = append(s.syms, Symbol{y.Name, y.Module, y.Addr, end - y.Addr, y.text()})
		}
		i = next
	}
}

// before reports whether a names their common address rather than b.
func before(a, b *Ksym) bool {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name)) < 0
}

// endMarkers are symbols that end a region and name nothing behind it
// (include/asm-generic/sections.h, v6.1).
var endMarkers = []string{"_etext", "_einittext", "_end"}

// rank orders symbols of one address: code first, global before weak before
// local, markers of a region last.
func rank(y *Ksym) int {
	r := 0
	switch {
	case y.Type == 'T':
	case y.Type == 'W' || y.Type == 'w':
		r = 1
	case y.text():
		r = 2
	default:
		r = 4
	}
	switch y.Name {
	case "_text", "_stext", "_etext", "_sinittext", "_einittext", "startup_64":
		r += 8
	}
	if strings.HasSuffix(y.Name, "_start") || strings.HasSuffix(y.Name, "_end") {
		r += 8
	}
	return r
}

// Lookup returns the symbol that holds addr at a time (ns) and addr's offset
// in it. Symbols that records state, in their time, come before those of
// kallsyms. ok is false where no symbol is known to hold the address.
func (s *Symbols) Lookup(addr, time uint64) (sym Symbol, off uint64, ok bool) {
	i := sort.Search(len(s.ksyms), func(i int) bool { return s.ksyms[i].Addr > addr })
	for i--; i >= 0 && s.reach[i] >= addr; i-- {
		k := &s.ksyms[i]
		if addr-k.Addr < k.Len && k.From <= time && time < k.Until {
			return Symbol{Name: k.Name, Addr: k.Addr, Len: k.Len, Code: true}, addr - k.Addr, true
		}
	}
	i = sort.Search(len(s.syms), func(i int) bool { return s.syms[i].Addr > addr }) - 1
	if i < 0 || addr-s.syms[i].Addr >= s.syms[i].Len {
		return Symbol{}, 0, false
	}
	return s.syms[i], addr - s.syms[i].Addr, true
}

// Find returns the symbol of kallsyms with that name; an alias finds the symbol
// that has its address. The kernel's own come before modules'.
func (s *Symbols) Find(name string) (Symbol, bool) {
	var found Symbol
	ok := false
	for i := range s.names.all() {
		y := &s.names.Syms[i]
		if y.Name != name || (ok && (found.Module == "" || y.Module != "")) {
			continue
		}
		at, have := slices.BinarySearchFunc(s.syms, y.Addr, func(x Symbol, a uint64) int { return cmp.Compare(x.Addr, a) })
		if have && y.Type != 'a' && y.Type != 'A' {
			found, ok = s.syms[at], true
			found.Name = name
		}
	}
	return found, ok
}

// all returns the symbols; a nil k has none.
func (k *Kallsyms) all() []Ksym {
	if k == nil {
		return nil
	}
	return k.Syms
}

// Len returns how many addresses have symbols of kallsyms.
func (s *Symbols) Len() int { return len(s.syms) }
