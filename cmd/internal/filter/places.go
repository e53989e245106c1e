package filter

import (
	"iter"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// addresses reads ADDR and ADDR-END, hexadecimal, END excluded.
func addresses(list []string) (l spans, err error) {
	for _, w := range list {
		from, end, two := strings.Cut(w, "-")
		first, err := parseAddr(from)
		if err != nil {
			return nil, err
		}
		last := first
		if two {
			if last, err = parseAddr(end); err != nil {
				return nil, err
			}
			if last <= first {
				return nil, callf("--addr %s: ends before it begins", w)
			}
			last--
		}
		l = append(l, struct{ first, last uint64 }{first, last})
	}
	return l, nil
}

// starts returns where the functions of the kernel begin that have code at l.
func (l spans) starts(s *decoder.Session) spans {
	out := slices.Clone(l)
	for i := range out {
		if _, off, _, ok := s.Symbol(0, l[i].first, math.MaxUint64); ok && s.Kernel(l[i].first) {
			out[i].first -= off
		}
	}
	return out
}

// parseAddr reads an address, hexadecimal, with or without 0x.
func parseAddr(s string) (uint64, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		return 0, callf("--addr %q is no address: need 1 to 16 hexadecimal digits", s)
	}
	return v, nil
}

// pokeTest is changes to the code, by their numbers.
type pokeTest struct {
	numbers numbers
	sites   spans // the bytes that they change
}

// isPoke reports whether the recording has a change with the number n.
func isPoke(s *decoder.Session, n int) bool {
	return n >= 0 && n < s.Text().Len() && !s.Text().Poke(n).Mark() && !s.Text().Poke(n).Learned
}

// lastPoke returns the number of the last change, -1 if there is none.
func lastPoke(s *decoder.Session) int {
	n := s.Text().Len() - 1
	for n >= 0 && !isPoke(s, n) {
		n--
	}
	return n
}

// pokesOf reads numbers of changes. Both ends of a range must exist.
func pokesOf(s *decoder.Session, list []string) (*pokeTest, error) {
	if list == nil {
		return nil, nil
	}
	l, err := numbersOf("poke", list, "changes")
	if err != nil {
		return nil, err
	}
	t := &pokeTest{numbers: l}
	for i, r := range l {
		last := lastPoke(s)
		if last < 0 {
			return nil, callf("--poke %s: no change to the code of the kernel is recorded%s", list[i], butGuests(s))
		}
		if r.hi > int64(last) || r.lo == r.hi && !isPoke(s, int(r.lo)) {
			return nil, callf("--poke %s: there is no such change: the last one is %d", list[i], last)
		}
		for n := int(r.lo); n <= int(r.hi); n++ {
			if isPoke(s, n) {
				at := s.Text().Poke(n).Range()
				t.sites = append(t.sites, struct{ first, last uint64 }{at.Addr, at.Last()})
			}
		}
	}
	return t, nil
}

// butGuests is the end of a message that there is no change: which ones are not looked at.
func butGuests(s *decoder.Session) string {
	for _, g := range decoder.Guests(s) {
		if lastPoke(g) >= 0 {
			return "; ptdecode pokes lists those of virtual machines"
		}
	}
	return ""
}

// symbolTest is functions by globs and ranges.
type symbolTest struct {
	patterns patterns
	spans    spans // the addresses of those that the kernel's symbols hold
}

// names looks up what the flags name: functions, threads, files.
func (f *Flags) names(s *decoder.Session, x *Filter) (err error) {
	functions, files, threads := namesIn(s)
	if x.comms, err = Globs("comm", f.Comms); err == nil {
		err = lookUp("comm", "thread name", f.Comms, threads, Fits)
	}
	if err == nil {
		x.dsos, err = Globs("dso", f.DSOs)
	}
	if err == nil {
		err = lookUp("dso", "file or module", f.DSOs, files, fitsFile)
	}
	if err != nil || f.Syms == nil {
		return err
	}
	return f.functions(s, x, functions)
}

// namesIn gives the names in a recording, those of its virtual machines behind its own. Threads
// are the host's, which run them.
func namesIn(s *decoder.Session) (functions, files, threads iter.Seq[string]) {
	functions, files, threads = decoder.NamesIn(s)
	for _, g := range decoder.Guests(s) {
		more, from, _ := decoder.NamesIn(g)
		functions, files = both(functions, more), both(files, from)
	}
	return functions, files, threads
}

// both gives what a gives, then what b gives.
func both(a, b iter.Seq[string]) iter.Seq[string] {
	return func(yield func(string) bool) {
		more := true
		a(func(n string) bool { more = yield(n); return more })
		if more {
			b(yield)
		}
	}
}

// threads reads numbers of threads, and refuses those that did not run where that is known.
func threads(s *decoder.Session, list []string) (numbers, error) {
	all, err := numbersOf("tid", list, "threads")
	if _, any := s.Ran(0); err != nil || !any {
		return all, err
	}
	for i, r := range all {
		if r.hi-r.lo >= mostThreads {
			continue
		}
		found := false
		for n := r.lo; n <= r.hi && !found; n++ {
			found, _ = s.Ran(int32(n))
		}
		if !found {
			return nil, callf("--tid %s: no such thread ran where it was recorded%s", list[i], beside(s, r))
		}
	}
	return all, nil
}

// mostThreads is how many numbers of threads are looked up one by one.
const mostThreads = 1 << 16

// beside is the end of a message that no thread has a number of r: which ones are near.
func beside(s *decoder.Session, r stretch) string {
	var near []string
	for far := int64(1); far < mostThreads && len(near) < 3; far++ {
		for _, n := range []int64{r.lo - far, r.hi + far} {
			if ran, _ := s.Ran(int32(n)); ran && n >= 0 && n <= math.MaxInt32 {
				near = append(near, strconv.FormatInt(n, 10))
			}
		}
	}
	if len(near) == 0 {
		return ""
	}
	return "; near it are " + strings.Join(near, ", ")
}

// fitsFile reports whether a pattern fits a file's path, the last part of the path, or a
// module's name without its brackets.
func fitsFile(pattern, file string) bool {
	return Fits(pattern, file) || Fits(pattern, path.Base(file)) || Fits(pattern, strings.Trim(file, "[]"))
}

// lookUp refuses a pattern that fits none of the names.
func lookUp(flag, what string, list []string, names iter.Seq[string], fit func(pattern, name string) bool) error {
	for _, p := range list {
		found, some := false, false
		for n := range names {
			if some, found = true, fit(p, n); found {
				break
			}
		}
		switch {
		case found:
		case !some:
			return callf("--%s %s: the recording names no %s", flag, p, what)
		default:
			return callf("--%s %s: no such %s%s", flag, p, what, nearest(p, names))
		}
	}
	return nil
}

// functions reads names of functions, globs of them, and FIRST-LAST.
func (f *Flags) functions(s *decoder.Session, x *Filter, names iter.Seq[string]) error {
	if _, err := Globs("sym", f.Syms); err != nil {
		return err
	}
	x.syms, x.exact = &symbolTest{}, f.Syms
	for _, p := range f.Syms {
		y := s.Symbols()
		if y == nil {
			y = &symbols.Table{}
		}
		if sym, ok := y.Find(p); ok {
			x.syms.add(&sym)
			x.syms.patterns = append(x.syms.patterns, p)
			continue
		}
		x.exact = nil
		if r, ok := between(y, p); ok {
			x.syms.spans = append(x.syms.spans, r)
			continue
		}
		if err := noFunction(y, p, names); err != nil {
			return err
		}
		x.syms.patterns = append(x.syms.patterns, p)
		for _, sym := range y.Named(func(n string) bool { return Fits(p, n) }) {
			x.syms.add(&sym)
		}
	}
	return nil
}

// add adds the addresses of a symbol of the kernel.
func (t *symbolTest) add(y *symbols.Symbol) {
	t.spans = append(t.spans, struct{ first, last uint64 }{y.Addr, y.Addr + (max(y.Len, 1) - 1)})
}

// noFunction is the error where none of the names fits a pattern; nil where one does.
// y: the symbols that a range is looked up in.
func noFunction(y *symbols.Table, pattern string, names iter.Seq[string]) error {
	some := false
	for n := range names {
		if Fits(pattern, n) {
			return nil
		}
		some = true
	}
	if !some {
		return callf("--sym %s: no symbols are known: give them with --kallsyms FILE", pattern)
	}
	for i := range pattern {
		turned := ""
		if pattern[i] == '-' {
			turned = pattern[i+1:] + "-" + pattern[:i]
		}
		if _, ok := between(y, turned); ok {
			return callf("--sym %s: ends before it begins: %s is the range by address", pattern, turned)
		}
	}
	near := nearest(pattern, names)
	if near == "" {
		near = ", and none is like it; write names without +OFFSET, or as a glob"
	}
	return callf("--sym %s: no such function%s", pattern, near)
}

// between reads FIRST-LAST: all addresses from one symbol of the kernel to the end of another.
func between(y *symbols.Table, p string) (all struct{ first, last uint64 }, ok bool) {
	for i := range p {
		if p[i] != '-' {
			continue
		}
		a, aok := y.Find(p[:i])
		b, bok := y.Find(p[i+1:])
		if aok && bok && a.Addr <= b.Addr {
			all.first, all.last = a.Addr, b.Addr+(max(b.Len, 1)-1)
			return all, true
		}
	}
	return all, false
}

// holds reports whether addr, an address of the host's kernel or not, is in one of the
// functions. name gives the symbol there.
func (t *symbolTest) holds(kernel bool, addr uint64, name func() string) bool {
	return kernel && t.spans.touches(addr, 1) || t.patterns != nil && t.patterns.fit(name())
}
