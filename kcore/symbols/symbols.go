package symbols

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
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

// File returns what stands for the file that s is of: the module in brackets, or a name for the kernel itself.
func (s *Symbol) File() string {
	if s.Module == "" {
		return "[kernel.kallsyms]"
	}
	return "[" + s.Module + "]"
}

// Frame is a place in the source that code was made of: a Line, from 1, of the File, in
// the function Sym. "" and 0 stand for what is not known.
type Frame struct {
	Sym, File string
	Line      int
}

// Table finds the symbol at an address and a time. Sorting all of kallsyms takes long, so
// it is not done for the first few questions: those look through the lines instead, with
// the same answers. A Table may be used by many goroutines.
type Table struct {
	first sync.Once // makes what inOrder returns, and sizes
	lines []int32
	alike bool              // many of them have one address: order is asked
	sizes map[string]Module // by name
	once  sync.Once         // makes what byAddr returns
	order []bounded
	few   atomic.Int32 // addresses that were looked for without any of these
	ksyms []Ksymbol    // by address
	reach []uint64     // reach[i]: the last address of ksyms[0..i]
	names *Kallsyms    // whose lines these are
	watch func(addr uint64)
	known known

	modules []Module
}

// bounded is a line of kallsyms with the length that its symbol has.
type bounded struct {
	addr, length uint64
	line         int32
}

// pageSize bounds a symbol whose end nothing tells, bytes.
const pageSize = 4096

// New brings the sources together; any may be nil. A symbol of
// kallsyms, which states no lengths, ends where the next begins (whatever its
// type), and a module's at the module's end. The markers of a region's end,
// such as _etext, end symbols and are none. A symbol without an end ends with
// its page: behind it an address has no name rather than a neighbour's.
func New(k *Kallsyms, mods []Module, ksyms []Ksymbol) *Table {
	s := &Table{names: k, modules: mods}
	if k != nil {
		s.watch = k.watch
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

// byAddr returns the lines of kallsyms by address, not overlapping.
func (s *Table) byAddr() []bounded {
	s.once.Do(s.fromKallsyms)
	return s.order
}

// inOrder returns the lines that name addresses, by address.
func (s *Table) inOrder() []int32 {
	s.first.Do(s.putInOrder)
	return s.lines
}

// putInOrder makes what inOrder returns.
func (s *Table) putInOrder() {
	s.sizes = moduleSizes(s.modules)
	k := s.names
	if k == nil {
		return
	}
	list := make([]int32, 0, len(k.syms))
	for i := range k.syms {
		if y := &k.syms[i]; y.addr != 0 && !k.absolute(i) {
			list = append(list, int32(i))
		}
	}
	lower := func(a, b int32) int { return cmp.Compare(k.syms[a].addr, k.syms[b].addr) }
	if !slices.IsSortedFunc(list, lower) { // the kernel's own come sorted
		slices.SortStableFunc(list, lower)
	}
	for i := maxAlike; i < len(list); i++ {
		s.alike = s.alike || k.syms[list[i]].addr == k.syms[list[i-maxAlike]].addr
	}
	s.lines = list
}

// maxAlike is how many lines of one address are told apart at each look-up.
const maxAlike = 32

// fromKallsyms makes the symbols with lengths.
func (s *Table) fromKallsyms() {
	list := s.inOrder()
	s.order = make([]bounded, 0, len(list))
	for i := 0; i < len(list); {
		b, next, ok := s.boundAt(list, i)
		if ok {
			s.order = append(s.order, b)
		}
		i = next
	}
}

// boundAt returns the symbol at the address of list[i], of lines by address. That is the first line with
// this address. The next one begins at list[next]. ok is as of bound.
func (s *Table) boundAt(list []int32, i int) (b bounded, next int, ok bool) {
	k := s.names
	best, addr, behind := list[i], k.syms[list[i]].addr, int32(-1)
	for next = i + 1; next < len(list) && k.syms[list[next]].addr == addr; next++ {
		if k.before(list[next], best) {
			best = list[next]
		}
	}
	if next < len(list) {
		behind = list[next]
	}
	b, ok = s.bound(best, behind, s.sizes)
	return b, next, ok
}

// bound returns the symbol of a line with its length. At the next address is the line behind, -1
// for none. ok is false where the line names nothing.
func (s *Table) bound(line, behind int32, sizes map[string]Module) (b bounded, ok bool) {
	k, addr := s.names, s.names.syms[line].addr
	module := k.module(int(line))
	end, closed := uint64(math.MaxUint64), false
	if behind >= 0 {
		end = k.syms[behind].addr
		closed = k.module(int(behind)) == module
	}
	if module != "" {
		if m, ok := sizes[module]; ok && addr >= m.Addr && addr-m.Addr < m.Size {
			end, closed = min(end, m.Addr+m.Size), true
		}
	}
	if !closed {
		end = min(end, (addr|(pageSize-1))+1)
	}
	if name := k.name(int(line)); end <= addr || name == ends || module == "" && slices.Contains(endMarkers, name) {
		return b, false
	}
	return bounded{addr, end - addr, line}, true
}

// moduleSizes returns modules by name.
func moduleSizes(list []Module) map[string]Module {
	sizes := map[string]Module{}
	for _, m := range list {
		sizes[m.Name] = m
	}
	return sizes
}

// at returns the symbol that begins at addr or, of those before it, last. Where the last line of kallsyms
// up to there names nothing, ok may be false.
func (s *Table) at(addr uint64) (b bounded, ok bool) {
	if s.names.Len() == 0 {
		return b, false
	}
	if s.few.Load() < unsorted {
		s.few.Add(1)
		return s.amongLines(addr)
	}
	list, syms := s.inOrder(), s.names.syms
	if s.alike {
		all := s.byAddr()
		i := sort.Search(len(all), func(i int) bool { return all[i].addr > addr }) - 1
		if i < 0 {
			return b, false
		}
		return all[i], true
	}
	i := sort.Search(len(list), func(i int) bool { return syms[list[i]].addr > addr }) - 1
	if i < 0 {
		return b, false
	}
	for i > 0 && syms[list[i-1]].addr == syms[list[i]].addr {
		i--
	}
	b, _, ok = s.boundAt(list, i)
	return b, ok
}

// unsorted is how many addresses are looked for line by line, before the lines are put in order:
// that takes as long as six of them.
const unsorted = 4

// amongLines is at without any order.
func (s *Table) amongLines(addr uint64) (b bounded, ok bool) {
	k := s.names
	best, behind := int32(-1), int32(-1)
	lo, hi := uint64(1), uint64(math.MaxUint64) // symbols before lo and behind hi do not matter
	for i := range k.syms {
		y := &k.syms[i]
		switch {
		case y.addr < lo || y.addr > hi || y.number:
		case y.addr > addr:
			if y.addr < hi || behind < 0 {
				hi, behind = y.addr, int32(i)
			}
		case best < 0 || y.addr > lo || k.before(int32(i), best):
			lo, best = y.addr, int32(i)
		}
	}
	if best < 0 {
		return b, false
	}
	return s.bound(best, behind, moduleSizes(s.modules))
}

// absolute reports whether line i names a number and no address.
func (k *Kallsyms) absolute(i int) bool { return k.syms[i].number }

// before reports whether line a names the address that it shares with b.
func (k *Kallsyms) before(a, b int32) bool {
	x, y := k.Entry(int(a)), k.Entry(int(b))
	return cmp.Or(cmp.Compare(rank(&x), rank(&y)), cmp.Compare(len(x.Name), len(y.Name)), strings.Compare(x.Name, y.Name)) < 0
}

// endMarkers are symbols that end a region and name nothing behind it
// (include/asm-generic/sections.h, v6.1).
var endMarkers = []string{"_etext", "_einittext", "_end"}

// rank orders symbols of one address: code first, global before weak before
// local, markers of a region last.
func rank(y *Entry) int {
	r := 0
	switch {
	case y.Type == 'T':
	case y.Type == 'W' || y.Type == 'w':
		r = 1
	case y.Code():
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
func (s *Table) Lookup(addr, time uint64) (sym Symbol, off uint64, ok bool) {
	if s.watch != nil {
		s.watch(addr)
	}
	i := sort.Search(len(s.ksyms), func(i int) bool { return s.ksyms[i].Addr > addr })
	for i--; i >= 0 && s.reach[i] >= addr; i-- {
		k := &s.ksyms[i]
		if addr-k.Addr < k.Len && k.From <= time && time < k.Until {
			return Symbol{Name: k.Name, Addr: k.Addr, Len: k.Len, Code: true}, addr - k.Addr, true
		}
	}
	b, ok := s.at(addr)
	if !ok || addr-b.addr >= b.length {
		return Symbol{}, 0, false
	}
	return s.symbol(&b), addr - b.addr, true
}

// Steady reports whether Lookup of addr gives the same at any time.
func (s *Table) Steady(addr uint64) bool {
	i := sort.Search(len(s.ksyms), func(i int) bool { return s.ksyms[i].Addr > addr })
	return i == 0 || s.reach[i-1] < addr
}

// Find returns the symbol of kallsyms with that name; an alias finds the symbol
// that has its address. The kernel's own come before modules'.
func (s *Table) Find(name string) (Symbol, bool) {
	var found Symbol
	ok := false
	if s.names != nil {
		s.names.note(name)
	}
	for i := range s.names.Len() {
		if int(s.names.syms[i].length) != len(name) || s.names.name(i) != name {
			continue
		}
		y := s.names.Entry(i)
		if s.names.absolute(i) || ok && (found.Module == "" || y.Module != "") {
			continue
		}
		if b, have := s.at(y.Addr); have && b.addr == y.Addr {
			found, ok = s.symbol(&b), true
			found.Name = name
		}
	}
	return found, ok
}

// manyNamed is how many symbols of a name are room for when they are more than few.
const manyNamed = 1 << 10

// Named returns the symbols of kallsyms with names that is accepts, by address.
func (s *Table) Named(is func(name string) bool) (list []Symbol) {
	lines := s.byAddr()
	for i := range lines {
		if name := s.names.name(int(lines[i].line)); is(name) {
			s.names.note(name)
			if n := len(list); n == cap(list) && n >= manyNamed {
				list = slices.Grow(list, len(lines)-i) // it seems to be most of them
			}
			list = append(list, s.symbol(&lines[i]))
		}
	}
	return list
}

// Each gives the names of all symbols, until yield returns false; then it does, too.
func (s *Table) Each(yield func(name string) bool) bool {
	for _, b := range s.byAddr() {
		if !yield(s.names.name(int(b.line))) {
			return false
		}
	}
	for i := range s.ksyms {
		if !yield(s.ksyms[i].Name) {
			return false
		}
	}
	return true
}

// EachModule gives the modules that have symbols, "" for the kernel itself, as Each does.
func (s *Table) EachModule(yield func(module string) bool) bool {
	last, some := "", false
	for _, b := range s.byAddr() {
		m := s.names.module(int(b.line))
		if some && m == last {
			continue
		}
		if last, some = m, true; !yield(m) {
			return false
		}
	}
	return true
}

// Len returns how many addresses have symbols of kallsyms.
func (s *Table) Len() int { return len(s.byAddr()) }

// symbol returns the symbol of a line.
func (s *Table) symbol(b *bounded) Symbol {
	y := s.names.Entry(int(b.line))
	return Symbol{y.Name, y.Module, b.addr, b.length, y.Code()}
}
