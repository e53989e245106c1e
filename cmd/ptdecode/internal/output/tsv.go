package output

import (
	"slices"
	"strconv"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// tsvEncoder writes rows as lines of fields with tabs between them, below a line with the
// fields' names. What is not known is empty. Gaps and trace events are lines that begin
// with #.
type tsvEncoder struct {
	rowFields
	text textEncoder // writes gaps and events
}

func newTSV(names *rows.Names, fields []Field, _ *Look) encoder {
	fields = slices.Clone(fields)
	if i := slices.Index(fields, element); i >= 0 {
		fields = fields[:i+1] // there is no code of which others could tell
	}
	for i, f := range fields {
		if f == mark {
			fields[i] = Verdict
		}
	}
	f := rowFields{names, slices.Compact(fields), &Look{}}
	return &tsvEncoder{f, textEncoder{f}}
}

// begin appends the names of the fields.
func (t *tsvEncoder) begin(dst []byte) []byte {
	for i, f := range t.fields {
		if i > 0 {
			dst = append(dst, '\t')
		}
		dst = append(dst, f.String()...)
		if f == Addr {
			for _, p := range t.places() {
				dst = append(append(dst, "\taddr_"...), p.String()...)
			}
		}
	}
	if t.fields[len(t.fields)-1] == element {
		return append(dst, "\tvalues\n"...)
	}
	return append(dst, "\tpoke\n"...)
}

// places returns the fields that name addresses, which the target of a branch has, too.
func (t *tsvEncoder) places() (list []Field) {
	for _, f := range t.fields {
		if f == Sym || f == Off || f == DSO {
			list = append(list, f)
		}
	}
	return list
}

// row appends r as a line.
func (t *tsvEncoder) row(dst []byte, r *rows.Row) []byte {
	switch r.Kind {
	case rows.KindGap, rows.KindEvent:
		return t.text.row(dst, r)
	}
	for i, f := range t.fields {
		if i > 0 {
			dst = append(dst, '\t')
		}
		dst = t.cell(dst, r, f)
	}
	if r.Kind == rows.KindElement {
		return append(dst, '\n')
	}
	dst = append(dst, '\t')
	if r.Poke >= 0 {
		dst = strconv.AppendInt(dst, int64(r.Poke), 10)
	}
	return append(dst, '\n')
}

// cell appends one field.
func (t *tsvEncoder) cell(dst []byte, r *rows.Row, f Field) []byte {
	switch f {
	case Sym, Off, DSO:
		return t.called(dst, r, r.IP, f)
	case Addr:
		if r.HasAddr {
			dst = appendHex16(dst, r.Addr)
		}
		for _, p := range t.places() {
			dst = append(dst, '\t')
			if r.HasAddr {
				dst = t.called(dst, r, r.Addr, p)
			}
		}
		return dst
	case element:
		return appendFacts(append(append(dst, r.Element...), '\t'), r)
	case Flags:
		return append(dst, r.Transfer.String()...)
	case Count:
		return strconv.AppendInt(dst, int64(r.N), 10)
	}
	at := len(dst)
	if dst = t.text.field(dst, r, f, 0); string(dst[at:]) == "-" {
		return dst[:at]
	}
	return dst
}

// called appends what addr, an address of r, is called: the field f of it.
func (t *tsvEncoder) called(dst []byte, r *rows.Row, addr uint64, f Field) []byte {
	p := t.names.At(r, addr)
	switch {
	case !p.Known:
		return dst
	case f == Sym:
		return terminal.AppendPlain(dst, p.Sym)
	case f == DSO:
		return terminal.AppendPlain(dst, p.DSO)
	}
	return strconv.AppendUint(dst, p.Off, 10)
}
