package hot

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/cmd/internal/machines"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// address renders an address as objects have it.
func address(a uint64) string { return fmt.Sprintf("0x%x", a) }

// functionKey names a function. Static functions of several source files may have one name, so
// it also says where a function lies. What has no name is one function for each file.
type functionKey struct {
	sym, file string
	space     uint32 // of code that no file holds
	at        uint64 // in a program's file, or the kernel's address
}

// keyOf returns the key of the function that p is of, at a time, ns. Processes may map a file at
// different addresses.
func keyOf(s *decoder.Session, space uint32, p *counts.Piece, time uint64) functionKey {
	k := functionKey{sym: p.Sym, file: p.File}
	if p.Sym == "" {
		return k
	}
	k.at = p.Addr - p.Off
	if s.Kernel(p.Addr) {
		return k
	}
	if o, ok := s.Object(space, p.Addr, time); ok {
		k.at -= o.Start
	} else {
		k.space = space
	}
	return k
}

// functions returns an entry for each function.
func (l *list) functions() (all []*entry) {
	for _, g := range l.counter.Guests() {
		all = l.functionsOf(all, l.counter.All(g), counts.Group{Guest: g, Stream: -1})
	}
	return all
}

// functionsByCPU returns an entry for each function on each CPU.
func (l *list) functionsByCPU() (all []*entry) {
	for _, g := range l.counter.Groups() {
		all = l.functionsOf(all, l.counter.Table(g), g)
	}
	return all
}

// functionsOf adds the functions of t, which is g's.
func (l *list) functionsOf(all []*entry, t *counts.Table, g counts.Group) []*entry {
	by := map[functionKey]*entry{}
	var pieces []counts.Piece
	s := machines.Of(l.s, g.Guest)
	names := l.namesOf(s)
	for _, r := range t.Ranges() {
		pieces = names.Pieces(pieces[:0], &r)
		for i := range pieces {
			p := &pieces[i]
			k := keyOf(s, r.Block.Space, p, r.Seen)
			e := by[k]
			if e == nil {
				e = &entry{Type: "function", Guest: g.Guest, Sym: p.Sym, File: p.File, addr: p.Addr - p.Off}
				if p.Sym == "" {
					e.addr = p.Addr
				}
				if g.Stream >= 0 {
					e.By = l.s.Streams()[g.Stream].Name
				}
				e.Addr = address(e.addr)
				by[k], all = e, append(all, e)
			}
			n := uint64(p.To - p.First)
			e.Instructions += r.N * n
			e.AmbiguousI += r.Ambiguous * n
			e.Time += r.Time.Nanoseconds() * float64(n) / float64(r.Insns)
			if p.Sym == "" {
				l.unnamed += (r.N + r.Ambiguous) * n
			}
			if p.Off == 0 && p.Sym != "" {
				e.Executions += r.N
				e.Ambiguous += r.Ambiguous
			}
		}
	}
	return all
}

// namesOf returns the names of the code of a machine.
func (l *list) namesOf(s *decoder.Session) *counts.Names {
	if s == l.s {
		return l.names
	}
	return counts.NewNames(s)
}

// blocks returns an entry for each block, and for each that ran in part.
func (l *list) blocks() (all []*entry) {
	for _, g := range l.counter.Guests() {
		names := l.namesOf(machines.Of(l.s, g))
		for _, r := range l.counter.All(g).Ranges() {
			p := names.At(r.Block.Space, r.Block.Addr, r.Seen)
			n := uint64(r.Insns)
			e := &entry{
				Type: "block", Guest: g, Sym: p.Sym, Off: p.Off, File: p.File, addr: r.Block.Addr, Addr: address(r.Block.Addr), End: address(r.End()),
				Executions: r.N, Ambiguous: r.Ambiguous, Instructions: r.N * n, AmbiguousI: r.Ambiguous * n, Time: r.Time.Nanoseconds(), Epochs: epochs([]event.Span{r.Block.Span}),
			}
			if r.Whole() {
				e.Class = r.Block.Class.String()
			}
			all = append(all, e)
		}
	}
	return all
}

// edges returns an entry for each edge.
func (l *list) edges() (all []*entry) {
	for _, g := range l.counter.Guests() {
		names := l.namesOf(machines.Of(l.s, g))
		for _, x := range l.counter.All(g).Edges() {
			from := names.At(x.From.Space, x.From.LastIP(), x.Seen)
			to := names.At(x.From.Space, x.To, x.Seen)
			taken := x.Taken()
			all = append(all, &entry{
				Type: "edge", Guest: g, Sym: from.Sym, Off: from.Off, File: from.File, Addr: address(x.From.LastIP()),
				To: address(x.To), ToSym: to.Sym, ToOff: to.Off, ToFile: to.File, Class: x.From.Class.String(), Taken: &taken,
				Executions: x.N, Ambiguous: x.Ambiguous,
			})
		}
	}
	return all
}

// narrow reports whether lines shall fit a screen and have two names. These need the room of a column
// that says nothing.
func (l *list) narrow() bool { return l.o.width > 0 && l.o.by == "edge" }

// heading prints the names of the columns.
func (l *list) heading() {
	fmt.Fprintf(l.w, "%7s %12s", "share", "executions")
	if !l.narrow() {
		fmt.Fprintf(l.w, " %12s", "instructions")
	}
	if l.o.sort == sortTime {
		fmt.Fprintf(l.w, " %14s", "time s")
	}
	what := l.o.by
	if what == byCPU {
		what = "function  (CPU)"
	}
	fmt.Fprintf(l.w, " %9s  %s\n", "ambiguous", what)
}

// line prints e for people; sum is of all weights.
func (l *list) line(e *entry, sum float64) {
	share := "     - "
	if sum > 0 {
		share = fmt.Sprintf("%6.2f%%", 100*e.weight(l.o.sort)/sum)
	}
	insns := fmt.Sprint(e.Instructions + e.AmbiguousI)
	if e.Type == "edge" {
		insns = "-"
	}
	doubt := e.Ambiguous
	if e.Type == "function" || e.Type == "line" {
		doubt = e.AmbiguousI
	}
	executions := fmt.Sprint(e.Executions + e.Ambiguous)
	if e.Type == "function" && e.Sym == "" {
		executions = "-" // where functions begin is not known
	}
	line := fmt.Sprintf("%s %12s", share, executions)
	if !l.narrow() {
		line += fmt.Sprintf(" %12s", insns)
	}
	if l.o.sort == sortTime {
		line += fmt.Sprintf(" %14s", e.took())
	}
	fmt.Fprintln(l.w, l.called(fmt.Sprintf("%s %9d  ", line, doubt), e))
}

// called renders e behind line, with names that fit what is left of the screen.
func (l *list) called(line string, e *entry) string {
	name, behind := named(e.Sym, e.Off, e.File), ""
	switch e.Type {
	case "function":
		if name, behind = named(e.Sym, 0, e.File), guestOf(e); e.By != "" {
			behind = "  (" + e.By + ")"
		}
	case "line":
		name = lineName(e)
	case "block":
		return l.block(line, name, e)
	default:
		from, to := e.Addr+" "+name, e.To+" "+named(e.ToSym, e.ToOff, e.ToFile)
		if l.o.width > 0 && e.Sym+e.File != "" && e.ToSym+e.ToFile != "" { // there is no room for addresses
			from, to = name, named(e.ToSym, e.ToOff, e.ToFile)
		}
		way := way(e) + guestOf(e)
		left := terminal.Rest(l.o.width, line+" =>   "+way)
		to = terminal.Fit(to, max(left/2, left-utf8.RuneCountInString(from)))
		return line + terminal.Fit(from, max(left-utf8.RuneCountInString(to), min(left, 1))) + " => " + to + "  " + way
	}
	return line + terminal.Fit(name, terminal.Rest(l.o.width, line+behind)) + behind
}

// leastName is how many columns a block's name keeps, if it is that long. What leaves it less stands below.
const leastName = 16

// block renders a block behind line.
func (l *list) block(line, name string, e *entry) string {
	col := utf8.RuneCountInString(line)
	line += fmt.Sprintf("%s-%s ", e.Addr, e.End[max(0, len(e.End)-4):])
	tail := appendVersions(nil, versions(e))
	tail = append(tail, part{"  ", strings.TrimLeft(guestOf(e), " ")})
	behind := ""
	for _, p := range tail {
		if p.text != "" {
			behind += p.gap + p.text
		}
	}
	if n := utf8.RuneCountInString(line+behind) + min(utf8.RuneCountInString(name), leastName); behind == "" || l.o.width == 0 || n <= l.o.width {
		return line + terminal.Fit(name, terminal.Rest(l.o.width, line+behind)) + behind
	}
	return line + terminal.Fit(name, terminal.Rest(l.o.width, line)) + "\n" + strings.Repeat(" ", col) + l.laid(tail, col, col)
}

// guestOf says which virtual machine an entry is of.
func guestOf(e *entry) string {
	if e.Guest == 0 {
		return ""
	}
	return fmt.Sprintf("  (guest%d)", e.Guest)
}

// lineName names a source line.
func lineName(e *entry) string {
	if e.File == "" {
		return "[no line is known]"
	}
	return terminal.Plain(fmt.Sprintf("%s:%d %s", e.File, e.Line, e.Sym))
}

// way says how an edge leads on.
func way(e *entry) string {
	if !*e.Taken {
		return "straight on"
	}
	return e.Class
}

// named renders a name for people.
func named(sym string, off uint64, file string) string {
	if sym == "" && file == "" {
		return "[unknown]"
	}
	sym, file = terminal.Plain(sym), terminal.Plain(file)
	name := sym
	switch {
	case sym == "":
		return fmt.Sprintf("%s+0x%x", file, off)
	case off != 0:
		name = fmt.Sprintf("%s+0x%x", sym, off)
	}
	if file != "" && !strings.HasPrefix(file, "[kernel") {
		name += " (" + file + ")"
	}
	return name
}
