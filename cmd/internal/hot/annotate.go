package hot

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/machines"
	"github.com/ptdecode/ptdecode/cmd/internal/source"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// insnKey is an instruction in one of its versions.
type insnKey struct {
	space uint32
	addr  uint64
	bytes string
}

// insn is what was counted of it.
type insn struct {
	counts.Count
	spans []event.Span // epochs of this version, as far as it was executed then
	mode  isa.Mode
	off   uint64 // from the function's start
	seen  uint64 // about when it was first executed, ns
	time  float64
	pads  bool // it did not run, and does nothing or cannot be executed
}

// annotated prints the instructions of the function that the options name.
func (l *list) annotated() error {
	found, all := false, map[insnKey]*insn{}
	for _, r := range l.counter.All(0).Ranges() {
		var pieces []counts.Piece
		for _, p := range l.names.Pieces(pieces, &r) {
			if l.wanted(&r, &p) {
				found = true
				l.executed(all, &r, &p)
			}
		}
	}
	if !found {
		return l.notThere()
	}
	for _, x := range all {
		x.spans = merged(x.spans)
	}
	l.notExecuted(all)
	keys := slices.SortedFunc(maps.Keys(all), func(a, b insnKey) int {
		return cmp.Or(cmp.Compare(a.space, b.space), cmp.Compare(a.addr, b.addr), cmp.Compare(all[a].spans[0].From, all[b].spans[0].From), cmp.Compare(a.bytes, b.bytes))
	})
	for n := len(keys); n > 0 && all[keys[n-1]].pads; n-- {
		keys = keys[:n-1]
	}
	var entries []*entry
	var files source.Files
	for i, k := range keys {
		x := all[k]
		if n := l.counter.Traps[k.addr]; n > 0 && (i == 0 || keys[i-1].addr != k.addr) {
			entries = append(entries, &entry{Type: "trap", Sym: l.o.annotate, Off: x.off, Addr: address(k.addr), Executions: n})
		}
		e := &entry{
			Type: "instruction", Sym: l.o.annotate, Off: x.off, Addr: address(k.addr), addr: k.addr, Bytes: hex.EncodeToString([]byte(k.bytes)),
			Disasm: l.disassembled(k, x), Executions: x.N, Instructions: x.N, Ambiguous: x.Ambiguous, AmbiguousI: x.Ambiguous,
			Epochs: epochs(x.spans), Time: x.time,
		}
		if frames := l.s.Lines(k.space, k.addr, x.seen); len(frames) > 0 {
			e.File, e.Line = frames[0].File, frames[0].Line
			e.Source = files.Line(e.File, e.Line)
		}
		entries = append(entries, e)
	}
	if l.o.format == "jsonl" {
		return l.objects(entries)
	}
	return l.listing(entries)
}

// wanted reports whether p of r is of the function that the options name. Where they have an address
// in it, the first such function gives the name.
func (l *list) wanted(r *counts.Range, p *counts.Piece) bool {
	if !l.o.byAddr {
		return p.Sym == l.o.annotate
	}
	at := l.names.At(r.Block.Space, l.o.addr, r.Seen)
	if p.Sym == "" || at.Sym != p.Sym || at.File != p.File || l.o.addr-at.Off != p.Addr-p.Off {
		return false
	}
	if !l.o.found {
		l.o.found, l.o.annotate = true, p.Sym
	}
	return p.Sym == l.o.annotate
}

// notThere says that the function that the options name did not run, or that a guest alone ran it.
func (l *list) notThere() error {
	name := l.o.annotate
	if l.o.byAddr {
		return &decoder.CallError{What: fmt.Sprintf("--annotate %s: no function that has this address was executed; hot without --annotate lists those that were", name)}
	}
	for _, g := range l.counter.Guests() {
		for _, r := range l.counter.All(g).Ranges() {
			if sym, _, _, ok := machines.Of(l.s, g).Symbol(r.Block.Space, r.Block.Addr, r.Seen); g != 0 && ok && sym == name {
				return &decoder.CallError{What: fmt.Sprintf("--annotate %s: guest%d alone executed a function of that name; --annotate lists those of the host", name, g)}
			}
		}
	}
	functions, _, _ := decoder.NamesIn(l.s)
	near, known := "", filter.Has(name, functions) // it may be there, and did not run
	if !known {
		near = filter.Nearest(name, functions)
	}
	if !known && strings.ContainsAny(name, "*?[") {
		return &decoder.CallError{What: fmt.Sprintf("--annotate %s: FUNC is one function; --sym '%[1]s' takes all that are called so", name)}
	}
	return &decoder.CallError{What: fmt.Sprintf("--annotate %s: no function of that name was executed%s; hot without --annotate lists those that were", name, near)}
}

// executed adds the instructions of piece p of r.
func (l *list) executed(all map[insnKey]*insn, r *counts.Range, p *counts.Piece) {
	b, a := r.Block, p.Addr
	var buf [16]byte
	for i := p.First; i < p.To; i++ {
		n := int(b.Lens[i])
		have := l.s.Code(buf[:n], b.Space, a, b.Span.From)
		k := insnKey{b.Space, a, string(buf[:have])}
		x := all[k]
		if x == nil {
			x = &insn{mode: b.Mode, off: p.Off + a - p.Addr, seen: r.Seen}
			all[k] = x
		}
		x.N, x.Ambiguous = x.N+r.N, x.Ambiguous+r.Ambiguous
		if s := l.held(b.Space, a, n, b.Span); len(x.spans) == 0 || x.spans[len(x.spans)-1] != s {
			x.spans = append(x.spans, s)
		}
		x.time += r.Time.Nanoseconds() / float64(r.Insns)
		a += uint64(n)
	}
}

// notExecuted adds the instructions of a function of the kernel that did not run, as they
// are at the end of the recording.
func (l *list) notExecuted(all map[insnKey]*insn) {
	y := l.s.Symbols()
	if y == nil {
		return
	}
	sym, ok := y.Find(l.o.annotate)
	if l.o.byAddr { // others may have that name
		sym, _, ok = y.Lookup(l.o.addr, math.MaxUint64)
	}
	if !ok || sym.Name != l.o.annotate {
		return
	}
	at := event.Epoch(l.s.Text().Len())
	ran := map[uint64]bool{}
	for k := range all {
		ran[k.addr] = true
	}
	dec, mode := l.s.ISA()
	buf := make([]byte, dec.MaxLen())
	for a := sym.Addr; a < sym.Addr+sym.Len; {
		have := l.s.Code(buf, 0, a, at)
		var in isa.Insn
		if dec.Decode(&in, buf[:have], a, mode) != isa.OK {
			return
		}
		if !ran[a] {
			held := l.held(0, a, int(in.Len), event.Span{From: at, Until: event.MaxEpoch})
			all[insnKey{0, a, string(buf[:in.Len])}] = &insn{mode: mode, spans: []event.Span{held}, off: a - sym.Addr,
				pads: in.Class == isa.Break || in.Flags&isa.FlagNop != 0}
		}
		a += uint64(in.Len)
	}
}

// disassembled returns the instruction as a line.
func (l *list) disassembled(k insnKey, x *insn) string {
	if k.bytes == "" {
		return ""
	}
	return l.s.Format([]byte(k.bytes), k.addr, x.mode, func(a uint64) (string, uint64) {
		p := l.names.At(k.space, a, 0)
		if p.Sym == "" {
			return "", 0
		}
		return p.Sym, a - p.Off
	})
}

// listing prints instructions for people.
func (l *list) listing(all []*entry) error {
	fmt.Fprintf(l.w, "%12s %9s", "executions", "ambiguous")
	if l.o.sort == sortTime {
		fmt.Fprintf(l.w, " %14s", "time s")
	}
	fmt.Fprintf(l.w, "  %s\n", terminal.Plain(l.o.annotate))
	at := sourceLine{}
	for i, e := range all {
		if of := (sourceLine{e.File, e.Line}); e.Type != "trap" && of != at {
			if at = of; e.File != "" {
				l.sourceOf(e)
			}
		}
		if e.Type == "trap" {
			fmt.Fprintf(l.w, "%12d %9s  %s +0x%-4x a breakpoint was taken\n", e.Executions, "-", e.Addr, e.Off)
			continue
		}
		n := fmt.Sprint(e.Executions + e.Ambiguous)
		if e.Executions+e.Ambiguous == 0 {
			n = "-"
		}
		fmt.Fprintf(l.w, "%12s %9d", n, e.Ambiguous)
		if l.o.sort == sortTime {
			fmt.Fprintf(l.w, " %14s", e.took())
		}
		what := ""
		if i > 0 && all[i-1].addr == e.addr || i+1 < len(all) && all[i+1].addr == e.addr {
			what = versions(e)
		}
		at := fmt.Sprintf("  %s +0x%-4x ", e.Addr, e.Off)
		col := 22 + len(at)
		if l.o.sort == sortTime {
			col += 15
		}
		l.fold(l.w, at, col, terminal.Plain(e.Disasm), what)
	}
	return nil
}
