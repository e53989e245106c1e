package output

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// textEncoder writes rows as lines for people, and for tools that split at blanks.
// The fields come in the order asked for.
type textEncoder struct{ rowFields }

// row appends r as a line.
func (t *textEncoder) row(dst []byte, r *rows.Row) []byte {
	switch r.Kind {
	case rows.KindGap:
		at := len(dst)
		dst = t.look.paint(dst, red, func(dst []byte) []byte { return AppendGap(append(dst, "# gap "...), r.Stream, &r.Note.Gap) })
		return append(t.look.fitComment(dst, at), '\n')
	case rows.KindEvent:
		return append(t.look.fitComment(t.event(dst, r), len(dst)), '\n')
	case rows.KindElement:
		return t.element(dst, r)
	}
	start := len(dst)
	indented := r.Kind != rows.KindCall && r.Kind != rows.KindTrap
	for i, f := range t.fields {
		if len(dst) > start && f != mark && !(f == Off && i > 0 && t.fields[i-1] == Sym) {
			dst = append(dst, ' ')
		}
		if !indented && (f == IP || f == Sym) {
			indented = true
			dst = append(dst, indent(r.Depth)...)
		}
		if f == Off && t.joined(i) && t.look.Width > 0 {
			continue // Sym has it
		}
		if !t.look.Colour {
			dst = t.aligned(dst, r, f, i)
			continue
		}
		dst = t.look.paint(dst, colourOf(r, f), func(dst []byte) []byte { return t.aligned(dst, r, f, i) })
	}
	dst = t.look.uncertain(dst, r.Time)
	switch {
	case r.Kind == rows.KindTrap:
		dst = t.trap(dst, r)
	case r.Poke >= 0:
		dst = t.poke(dst, r)
	}
	return append(t.look.fit(dst, start), '\n')
}

// joined reports whether the field at i is the offset in the symbol before it.
func (t *textEncoder) joined(i int) bool { return i > 0 && t.fields[i] == Off && t.fields[i-1] == Sym }

// aligned appends the field at i, as wide as the look wants it.
func (t *textEncoder) aligned(dst []byte, r *rows.Row, f Field, i int) []byte {
	at := len(dst)
	dst = t.field(dst, r, f, i)
	if t.look.Width == 0 {
		return dst
	}
	if f == Sym {
		if p := t.names.At(r, r.IP); p.Sym == "" && !slices.Contains(t.fields, IP) {
			dst = appendHex16(dst[:at], r.IP)
		} else if i+1 < len(t.fields) && t.joined(i+1) {
			dst = t.place(dst, r, r.IP, Off, i+1)
		}
	}
	if i+1 >= len(t.fields) || f == Sym && r.Kind == rows.KindCall {
		return dst
	}
	least, most := t.look.width(f, t.fields)
	return t.look.column(dst, at, least, most)
}

// field appends one field.
func (t *textEncoder) field(dst []byte, r *rows.Row, f Field, i int) []byte {
	switch f {
	case Time:
		if r.Time.Lo == 0 {
			return append(dst, '-')
		}
		return appendTime(dst, r.Time.Lo)
	case CPU:
		return append(dst, r.Stream.Short()...)
	case TID:
		if tid, _ := t.names.Thread(r); tid >= 0 {
			return strconv.AppendInt(dst, int64(tid), 10)
		}
		return append(dst, '-')
	case Comm:
		if _, comm := t.names.Thread(r); comm != "" {
			return terminal.AppendPlain(dst, comm)
		}
		return append(dst, '-')
	case IP:
		return appendHex16(dst, r.IP)
	case Sym, Off, DSO:
		return t.place(dst, r, r.IP, f, i)
	case Addr:
		return t.addr(dst, r)
	}
	return t.code(dst, r, f, i)
}

// code appends a field about the code.
func (t *textEncoder) code(dst []byte, r *rows.Row, f Field, i int) []byte {
	switch f {
	case Insn:
		return append(dst, r.Class.String()...)
	case Disasm:
		s := t.names.Disasm(r)
		if a, b, ok := strings.Cut(s, " 0x"); ok && t.look.Width > 0 {
			if i := strings.Index(b, " <"); i >= 0 && !strings.Contains(a, "#") {
				s = a + b[i:] // the name says it
			}
		}
		return orDash(dst, s)
	case Bytes:
		if b := t.names.Bytes(r); len(b) > 0 {
			return appendBytes(dst, b)
		}
		return append(dst, '-')
	case Verdict:
		return append(dst, r.Verdict.String()...)
	case Epoch:
		return appendEpochs(dst, t.names.Epochs(r))
	case Flags:
		start := len(dst)
		dst = orDash(dst, r.Transfer.String())
		for len(dst)-start < 8 && i+1 < len(t.fields) {
			dst = append(dst, ' ')
		}
		return dst
	case Count:
		dst = strconv.AppendInt(dst, int64(r.N), 10)
		if r.N == 1 {
			return append(dst, " insn"...)
		}
		return append(dst, " insns"...)
	case SrcLine, Inlines:
		return t.sourceField(dst, r, f)
	case mark:
		if r.Verdict != decoder.Certain && (r.Kind != rows.KindTrap || r.Verdict == decoder.Ambiguous) {
			dst = append(append(dst, "  # "...), r.Verdict.String()...)
		}
	}
	return dst
}

// orDash appends s, or a dash if s is empty, so that a column stays a column.
func orDash(dst []byte, s string) []byte {
	if s == "" {
		s = "-"
	}
	return terminal.AppendPlain(dst, s)
}

// place appends what addr is called: sym, +0xoff or (dso).
func (t *textEncoder) place(dst []byte, r *rows.Row, addr uint64, f Field, i int) []byte {
	p := t.names.At(r, addr)
	switch f {
	case Sym:
		if p.Sym == "" {
			if !slices.ContainsFunc(t.fields, func(x Field) bool { return x == IP || x == Addr }) {
				return strconv.AppendUint(append(dst, "0x"...), addr, 16) // nothing else says where it is
			}
			return append(dst, "[unknown]"...)
		}
		return terminal.AppendPlain(dst, p.Sym)
	case Off:
		joined := i > 0 && t.fields[i-1] == Sym
		switch {
		case !p.Known:
			if !joined {
				dst = append(dst, '-')
			}
			return dst
		case joined && p.Off == 0:
			return dst
		}
		return strconv.AppendUint(append(dst, "+0x"...), p.Off, 16)
	}
	if p.DSO == "" {
		return append(dst, "(-)"...)
	}
	return append(terminal.AppendPlain(append(dst, '('), p.DSO), ')')
}

// addr appends where a branch goes, with the names that the fields ask for.
func (t *textEncoder) addr(dst []byte, r *rows.Row) []byte {
	switch r.Kind {
	case rows.KindBlock:
		return appendHex16(append(dst, ".. "...), r.Addr)
	case rows.KindCall:
		dst = append(dst, "<= "...)
	default:
		dst = append(dst, "=> "...)
	}
	if !r.HasAddr {
		return append(dst, '?')
	}
	if t.look.Width > 0 && t.names.At(r, r.Addr).Sym != "" && slices.Contains(t.fields, Sym) && !slices.Contains(t.fields, IP) {
		at := len(dst)
		dst = t.place(dst, r, r.Addr, Sym, 0)
		if slices.Contains(t.fields, Off) {
			dst = t.place(dst, r, r.Addr, Off, slices.Index(t.fields, Off))
		}
		_, most := t.look.width(Sym, t.fields)
		return t.look.column(dst, at, 0, most)
	}
	dst = appendHex16(dst, r.Addr)
	for i, f := range t.fields {
		if f == Sym || f == Off || f == DSO {
			if f != Off || i == 0 || t.fields[i-1] != Sym {
				dst = append(dst, ' ')
			}
			dst = t.place(dst, r, r.Addr, f, i)
		}
	}
	return dst
}

// poke appends the poke that a trap was taken for.
func (t *textEncoder) poke(dst []byte, r *rows.Row) []byte {
	p := t.names.Poke(r)
	dst = append(dst, "  # poke "...)
	dst = strconv.AppendInt(dst, int64(r.Poke), 10)
	dst = append(dst, ": "...)
	return AppendSide(append(AppendSide(dst, p.Old), " -> "...), p.New)
}

// trap appends what a trap was taken for.
func (t *textEncoder) trap(dst []byte, r *rows.Row) []byte {
	dst = append(append(dst, "  # "...), r.Trap.String()...)
	if r.Poke >= 0 {
		p := t.names.Poke(r)
		dst = strconv.AppendInt(append(dst, ", poke "...), int64(r.Poke), 10)
		dst = AppendSide(append(dst, ": "...), p.Old)
		dst = AppendSide(append(dst, " -> "...), p.New)
	}
	if ns, ok := t.names.Delay(r); ok {
		dst = append(dst, ", "...)
		if ns >= 0 {
			dst = append(dst, '+')
		}
		dst = append(strconv.AppendInt(dst, ns, 10), " ns"...)
	}
	if s := t.names.Emulated(r); s != "" {
		dst = terminal.AppendPlain(append(dst, "; emulated "...), s)
	}
	if !r.HasAddr {
		dst = append(dst, "; its end is not seen"...)
	}
	return dst
}

// SideBytes is how many bytes of one side of a poke a line shows.
const SideBytes = 8

// AppendSide appends the old or the new code of a poke.
func AppendSide(dst, text []byte) []byte {
	switch {
	case len(text) == 0:
		return append(dst, "nothing"...)
	case len(text) > SideBytes:
		return append(appendBytes(dst, text[:SideBytes]), "..."...)
	}
	return appendBytes(dst, text)
}

// element appends r as "STREAM NAME KEY=VALUE ...".
func (t *textEncoder) element(dst []byte, r *rows.Row) []byte {
	dst = append(append(dst, r.Stream.Short()...), ' ')
	dst = append(dst, r.Element...)
	at := len(dst)
	if dst = appendFacts(append(dst, ' '), r); len(dst) == at+1 {
		dst = dst[:at]
	}
	return append(dst, '\n')
}

// appendFacts appends what an element says, as "KEY=VALUE ...".
func appendFacts(dst []byte, r *rows.Row) []byte {
	var room [8]rows.Fact
	for i, f := range r.Facts(room[:0]) {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(append(dst, f.Key...), '=')
		switch {
		case f.Word != "":
			dst = append(dst, f.Word...)
		case f.Wide:
			dst = appendHex16(dst, f.Value)
		default:
			dst = strconv.AppendUint(dst, f.Value, 10)
		}
	}
	return dst
}

// event appends a note: "# <kind> <stream> <time> ...".
func (t *textEncoder) event(dst []byte, r *rows.Row) []byte {
	n := r.Note
	e := &n.Event
	dst = append(dst, "# "...)
	dst = append(dst, noteName(n)...)
	dst = append(dst, ' ')
	dst = append(dst, r.Stream.Name...)
	dst = append(dst, "+0x"...)
	dst = strconv.AppendInt(dst, e.Off, 16)
	if r.Time.Lo != 0 {
		dst = appendTime(append(dst, ' '), r.Time.Lo)
	}
	if e.Kind == event.Async || e.Kind == event.AsyncDisable {
		dst = appendHex16(append(dst, " from "...), e.From)
	}
	if e.HasIP() || n.Kind == decoder.NoteTrap {
		dst = appendHex16(append(dst, " at "...), e.IP)
	}
	if e.Detail != event.DetailNone {
		dst = strconv.AppendUint(append(dst, " 0x"...), e.Value, 16)
		dst = strconv.AppendUint(append(dst, " 0x"...), e.Value2, 16)
	}
	if n.Kind == decoder.NoteTrap {
		dst = append(append(dst, ' '), n.Trap.String()...)
	}
	if n.Kind == decoder.NoteCut {
		dst = appendHex16(append(dst, " at "...), n.IP)
		dst = append(append(dst, ' '), n.Verdict.String()...)
	}
	if n.Poke >= 0 {
		dst = t.poke(dst, r)
	}
	for i, x := range n.Others {
		if i == 0 {
			dst = append(dst, "; or instead"...)
		}
		dst = append(appendHex16(append(dst, ' '), x.IP), '+')
		dst = strconv.AppendInt(dst, int64(x.N), 10)
	}
	return dst
}

// noteName returns the word for a note.
func noteName(n *decoder.Note) string {
	switch n.Kind {
	case decoder.NoteTrap:
		return "trap"
	case decoder.NoteCut:
		return "cut"
	case decoder.NoteTrackOff:
		return "off"
	case decoder.NoteTrackOn:
		return "on"
	}
	if n.Event.Detail != event.DetailNone {
		return n.Event.Detail.String()
	}
	return n.Event.Kind.String()
}

// appendEpochs appends "FROM..UNTIL", or "*" for all epochs.
func appendEpochs(dst []byte, s event.Span) []byte {
	if s == event.EveryEpoch {
		return append(dst, '*')
	}
	dst = strconv.AppendUint(dst, uint64(s.From), 10)
	dst = append(dst, ".."...)
	if s.Until != event.MaxEpoch {
		dst = strconv.AppendUint(dst, uint64(s.Until), 10)
	}
	return dst
}

func newText(names *rows.Names, fields []Field, look *Look) encoder {
	return &textEncoder{rowFields{names, fields, look}}
}

// indents is enough blanks for any depth that is shown.
var indents = strings.Repeat(" ", 2*64)

// indent returns the blanks in front of a call of a depth.
func indent(depth int) string {
	return indents[:2*min(max(depth, 0), len(indents)/2)]
}

// classOf returns the name of the class that objects have, "" for none.
func classOf(r *rows.Row) string {
	if r.Class == isa.Other && r.Kind == rows.KindBranch {
		return ""
	}
	return r.Class.String()
}
