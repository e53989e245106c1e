package main

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// madeBy is the flags of pokes that say which changes, made by whom.
type madeBy struct {
	pokes  []string
	kinds  []string
	who    filter.Makers
	traced bool
}

// flags adds the flags of b to f.
func (b *madeBy) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&b.pokes, "poke", nil, "all that is known of the changes with these numbers: `385,390-392`; with --traps, the traps of these")
	f.StringSliceVar(&b.kinds, "kind", nil, "only changes of these kinds: `jump-label,kprobe`")
	f.StringVar(&b.who.CPUs, "cpu", "", "only changes that these CPUs made: `0,2-3`")
	f.StringSliceVar(&b.who.TIDs, "tid", nil, "only changes that these threads made: `107,110-120`")
	f.StringSliceVar(&b.who.Comms, "comm", nil, "only changes that threads of these names made: `NAME,...`, or globs as \"sh,perf*\"")
	f.BoolVar(&b.traced, "traced", false, "only changes of code that a traced CPU executed")
}

// pokeFilter says which pokes and traps to print.
type pokeFilter struct {
	flags       filter.Flags   // time, addresses, functions
	only        *filter.Filter // what they name in the recording
	from, until uint64         // ns
	by          *madeBy
	pokes       []numberRange // nil: all
	numbers     map[int]bool  // of pokes that by lets pass; nil: all do
}

// numberRange is numbers from lo to hi.
type numberRange struct{ lo, hi int64 }

// filter turns the flags into a filter.
func (o *pokesFlags) filter() (p pokeFilter, err error) {
	p.flags, p.by = o.where, &o.by
	if err := p.flags.Wrong(); err != nil {
		return p, err
	}
	if err := o.by.who.Read(); err != nil {
		return p, err
	}
	if p.pokes, err = numberRanges("--poke", "number", o.by.pokes); err != nil {
		return p, err
	}
	return p, o.by.checkKinds()
}

// numberRanges reads numbers and ranges of them, the words of a flag; what names one.
func numberRanges(flag, what string, words []string) (out []numberRange, err error) {
	for _, w := range words {
		if w == "" {
			continue
		}
		from, to, isRange := strings.Cut(w, "-")
		lo, err := strconv.ParseInt(from, 10, 32)
		hi := lo
		if isRange && err == nil {
			hi, err = strconv.ParseInt(to, 10, 32)
		}
		if err != nil || lo > hi || lo < 0 {
			return nil, usagef("%s %q: %q is no %s and no range of %ss: need numbers, as 0,2-3", flag, strings.Join(words, ","), w, what, what)
		}
		out = append(out, numberRange{lo, hi})
	}
	return out, nil
}

// within reports whether some range of list holds n.
func within(list []numberRange, n int64) bool {
	return slices.ContainsFunc(list, func(r numberRange) bool { return r.lo <= n && n <= r.hi })
}

// checkKinds says which kind there is not.
func (b *madeBy) checkKinds() error {
	for _, k := range b.kinds {
		if _, err := kcore.ParseKind(k); err != nil {
			return usagef("--kind: %s", err)
		}
	}
	return nil
}

// wants reports whether the filter lets n bytes at addr of a machine, in the symbol sym, pass
// at a time.
func (p *pokeFilter) wants(s *decoder.Session, addr uint64, n int, t event.Time, sym string) bool {
	return p.only.Change(s, addr, uint64(n), t, baseName(sym))
}

// wantsPoke reports whether by lets k pass.
func (p *pokeFilter) wantsPoke(k *decoder.PokeInfo) bool {
	b := p.by
	switch {
	case p.pokes != nil && !within(p.pokes, int64(k.Index)),
		b.kinds != nil && !slices.Contains(b.kinds, k.Kind.String()),
		!b.who.Made(k):
		return false
	}
	return true
}

// resolve looks up what the flags name in s.
func (p *pokeFilter) resolve(s *decoder.Session) (err error) {
	if p.only, err = p.flags.Resolve(s); err == nil {
		p.from, p.until = p.only.From, p.only.Until
	}
	return err
}

// number finds the pokes of s that by lets pass, for wantsTrap.
func (p *pokeFilter) number(s *decoder.Session) {
	b := p.by
	p.numbers = nil
	if b.pokes == nil && b.kinds == nil && b.who.All() {
		return
	}
	p.numbers = map[int]bool{}
	for k := range s.Pokes() {
		if p.wantsPoke(&k) {
			p.numbers[k.Index] = true
		}
	}
}

// wantsTrap reports whether by lets the poke that a trap was taken for pass.
func (p *pokeFilter) wantsTrap(poke int) bool { return p.numbers == nil || p.numbers[poke] }

// passing gives the pokes of s that the filter lets pass.
func (p *pokeFilter) passing(s *decoder.Session) iter.Seq[decoder.PokeInfo] {
	all := s.Pokes()
	return func(yield func(decoder.PokeInfo) bool) {
		for k := range all {
			if p.wants(s, k.Addr, int(k.Range().Len), event.Time{Lo: k.Time, Hi: k.Time}, k.Symbol) && p.wantsPoke(&k) && !yield(k) {
				return
			}
		}
	}
}

// absent says which poke asked for by number there is not, and which maker.
func (p *pokeFilter) absent(s *decoder.Session) error {
	for _, r := range p.pokes {
		if err := filter.Absent(s, r.lo, r.hi); err != nil {
			return err
		}
	}
	return p.by.who.Check(s)
}

// pokeFilters renders the filters of a call of pokes.
func pokeFilters(c *cobra.Command) string {
	return given(c, "time", "addr", "sym", "poke", "kind", "cpu", "tid", "comm", "traced")
}

// baseName returns a symbol's name without offset and module.
func baseName(sym string) string {
	sym, _, _ = strings.Cut(sym, " ")
	sym, _, _ = strings.Cut(sym, "+0x")
	return sym
}
