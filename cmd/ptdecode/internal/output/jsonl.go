package output

import (
	"math"
	"slices"
	"strconv"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// jsonEncoder writes rows as JSON Lines, one object for each row. Addresses are
// strings of 16 hex digits, since not every reader of JSON keeps 64 bits. All
// other numbers are numbers, times in ns. Unknown values are left out.
type jsonEncoder struct{ rowFields }

// row appends r as a line.
func (j *jsonEncoder) row(dst []byte, r *rows.Row) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, r.Kind.String()...)
	dst = append(dst, '"')
	switch r.Kind {
	case rows.KindGap:
		dst = j.gapKeys(dst, r)
	case rows.KindEvent:
		dst = j.eventKeys(dst, r)
	case rows.KindElement:
		dst = j.elementKeys(dst, r)
	case rows.KindTrap:
		for _, f := range j.fields {
			if f != Flags && f != Addr {
				dst = j.fieldKeys(dst, r, f)
			}
		}
		dst = j.trapKeys(dst, r)
	default:
		for _, f := range j.fields {
			dst = j.fieldKeys(dst, r, f)
		}
		if r.Kind == rows.KindCall {
			dst = key(dst, "depth")
			dst = strconv.AppendInt(dst, int64(r.Depth), 10)
		}
		if r.Poke >= 0 {
			dst = key(dst, "poke")
			dst = strconv.AppendInt(dst, int64(r.Poke), 10)
		}
	}
	return append(dst, "}\n"...)
}

func newJSON(names *rows.Names, fields []Field, look *Look) encoder {
	return &jsonEncoder{rowFields{names, fields, look}}
}

// key appends a name and a colon.
func key(dst []byte, k string) []byte {
	dst = append(dst, `,"`...)
	dst = append(dst, k...)
	return append(dst, `":`...)
}

// word appends a string under a name, which needs no escape.
func word(dst []byte, k, v string) []byte {
	dst = append(key(dst, k), '"')
	return append(append(dst, v...), '"')
}

// hex appends an address under a name.
func hex(dst []byte, k string, v uint64) []byte {
	return append(appendHex16(append(key(dst, k), '"'), v), '"')
}

// number appends a number under a name.
func number(dst []byte, k string, v uint64) []byte {
	return strconv.AppendUint(key(dst, k), v, 10)
}

// name appends a string under a name, unless it is empty.
func name(dst []byte, k, v string) []byte {
	if v == "" {
		return dst
	}
	return appendJSON(key(dst, k), v)
}

// when appends the bounds of a moment.
func when(dst []byte, t event.Time) []byte {
	if t.Lo != 0 {
		dst = number(dst, "time", t.Lo)
	}
	if t.Hi != math.MaxUint64 && t.Hi != t.Lo {
		dst = number(dst, "until", t.Hi)
	}
	return dst
}

// source appends the process of a guest, the stream's trace ID, and its CPU or its thread, as far as they
// are known.
func source(dst []byte, st *rows.Stream) []byte {
	if st.Guest != 0 {
		dst = number(dst, "guest", uint64(st.Guest))
	}
	if st.ID != "" {
		dst = word(dst, "id", st.ID)
		if st.CPU < 0 && st.TID < 0 {
			return dst
		}
	}
	if st.CPU < 0 {
		return number(dst, "tid", uint64(st.TID))
	}
	return number(dst, "cpu", uint64(st.CPU))
}

// fileOff appends where in its file the byte at off of st stands. It appends
// nothing if off is that place.
func fileOff(dst []byte, st *rows.Stream, off int64) []byte {
	if file, at, ok := st.Place(off); ok {
		dst = number(name(dst, "file", file), "file_off", uint64(at))
	}
	return dst
}

// fieldKeys appends one field.
func (j *jsonEncoder) fieldKeys(dst []byte, r *rows.Row, f Field) []byte {
	switch f {
	case Time:
		return when(dst, r.Time)
	case CPU:
		if r.Stream.CPU < 0 && r.Stream.ID == "" {
			return dst
		}
		return source(dst, r.Stream)
	case TID:
		if tid, _ := j.names.Thread(r); tid >= 0 {
			return number(dst, "tid", uint64(tid))
		}
	case Comm:
		_, comm := j.names.Thread(r)
		return name(dst, "comm", comm)
	case IP:
		return hex(dst, "ip", r.IP)
	case Sym:
		return name(dst, "sym", j.names.At(r, r.IP).Sym)
	case Off:
		if p := j.names.At(r, r.IP); p.Known {
			return number(dst, "off", p.Off)
		}
	case DSO:
		return name(dst, "dso", j.names.At(r, r.IP).DSO)
	case Addr:
		return j.addrKeys(dst, r)
	}
	return j.codeKeys(dst, r, f)
}

// trapKeys appends a trap's facts.
func (j *jsonEncoder) trapKeys(dst []byte, r *rows.Row) []byte {
	dst = word(dst, "kind", r.Trap.String())
	if r.Poke >= 0 {
		dst = number(dst, "poke", uint64(r.Poke))
		dst = number(dst, "poke_time", j.names.Poke(r).Time)
	}
	if ns, ok := j.names.Delay(r); ok {
		dst = strconv.AppendInt(key(dst, "delta_ns"), ns, 10)
	}
	dst = name(dst, "emulated", j.names.Emulated(r))
	if !r.HasAddr {
		return append(key(dst, "end_seen"), "false"...)
	}
	dst = hex(dst, "resume", r.Addr)
	if p := j.names.At(r, r.Addr); p.Known && slices.Contains(j.fields, Sym) {
		dst = number(name(dst, "resume_sym", p.Sym), "resume_off", p.Off)
	}
	if r.Depth > 0 {
		dst = number(dst, "depth", uint64(r.Depth))
	}
	return dst
}

// addrKeys appends where a branch goes, with the names that the fields ask for.
func (j *jsonEncoder) addrKeys(dst []byte, r *rows.Row) []byte {
	if !r.HasAddr {
		return dst
	}
	dst = hex(dst, "addr", r.Addr)
	if r.Kind == rows.KindBlock {
		return dst
	}
	p := j.names.At(r, r.Addr)
	for _, f := range j.fields {
		switch {
		case f == Sym:
			dst = name(dst, "addr_sym", p.Sym)
		case f == Off && p.Known:
			dst = number(dst, "addr_off", p.Off)
		case f == DSO:
			dst = name(dst, "addr_dso", p.DSO)
		}
	}
	return dst
}

// codeKeys appends a field about the code.
func (j *jsonEncoder) codeKeys(dst []byte, r *rows.Row, f Field) []byte {
	switch f {
	case Insn:
		if c := classOf(r); c != "" {
			return word(dst, "insn", c)
		}
	case Disasm:
		return name(dst, "disasm", j.names.Disasm(r))
	case Bytes:
		if b := j.names.Bytes(r); len(b) > 0 {
			return append(appendBytes(append(key(dst, "bytes"), '"'), b), '"')
		}
	case Verdict:
		return word(dst, "verdict", r.Verdict.String())
	case Epoch:
		dst = key(dst, "epoch")
		span := j.names.Epochs(r)
		dst = strconv.AppendUint(append(dst, '['), uint64(span.From), 10)
		if span.Until == event.MaxEpoch {
			return append(dst, ",null]"...)
		}
		return append(strconv.AppendUint(append(dst, ','), uint64(span.Until), 10), ']')
	case Flags:
		return name(dst, "flags", r.Transfer.String())
	case Count:
		return number(dst, "count", uint64(r.N))
	case SrcLine, Inlines:
		return j.sourceKeys(dst, r, f)
	}
	return dst
}

// gapKeys appends a gap's facts.
func (j *jsonEncoder) gapKeys(dst []byte, r *rows.Row) []byte {
	g := &r.Note.Gap
	dst = when(source(dst, r.Stream), g.Time)
	dst = word(dst, "reason", g.Reason.String())
	if g.IP != 0 || g.Reason != event.NoSync {
		dst = hex(dst, "ip", g.IP)
	}
	dst = fileOff(number(dst, "trace_off", uint64(g.Off)), r.Stream, g.Off)
	dst = number(dst, "trace_end", uint64(g.End))
	return name(dst, "what", g.What)
}

// eventKeys appends a note's facts.
func (j *jsonEncoder) eventKeys(dst []byte, r *rows.Row) []byte {
	n := r.Note
	e := &n.Event
	dst = when(source(dst, r.Stream), r.Time)
	dst = word(dst, "kind", noteName(n))
	if e.Kind == event.Async || e.Kind == event.AsyncDisable {
		dst = hex(dst, "from", e.From)
	}
	if e.HasIP() || n.Kind == decoder.NoteTrap {
		dst = hex(dst, "ip", e.IP)
	}
	if e.Detail != event.DetailNone {
		dst = hex(dst, "value", e.Value)
		dst = hex(dst, "value2", e.Value2)
	}
	if n.Kind == decoder.NoteTrap {
		dst = word(dst, "trap", n.Trap.String())
	}
	if n.Kind == decoder.NoteCut || n.Kind == decoder.NoteTrap {
		dst = word(dst, "verdict", n.Verdict.String())
	}
	if n.Poke >= 0 {
		dst = key(dst, "poke")
		dst = strconv.AppendInt(dst, int64(n.Poke), 10)
	}
	if n.Kind == decoder.NoteCut {
		dst = others(hex(dst, "ip", n.IP), n.Others)
	}
	return number(dst, "trace_off", uint64(e.Off))
}

// others appends what may have been executed instead, if there is such code.
func others(dst []byte, list []decoder.Stretch) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(key(dst, "others"), '[')
	for i, x := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = append(appendHex16(append(dst, `"ip":"`...), x.IP), '"')
		dst = number(hex(dst, "end", x.End), "insns", uint64(x.N))
		dst = append(number(dst, "epoch", uint64(x.At)), '}')
	}
	return append(dst, ']')
}

// elementKeys appends what r says.
func (j *jsonEncoder) elementKeys(dst []byte, r *rows.Row) []byte {
	dst = word(when(source(dst, r.Stream), r.Time), "name", r.Element)
	var room [8]rows.Fact
	for _, f := range r.Facts(room[:0]) {
		switch {
		case f.Word != "":
			dst = word(dst, f.Key, f.Word)
		case f.Wide:
			dst = hex(dst, f.Key, f.Value)
		default:
			dst = number(dst, f.Key, f.Value)
		}
	}
	if r.Note != nil {
		off := r.Note.Event.Off
		if r.Note.Kind == decoder.NoteGap {
			off = r.Note.Gap.Off
		}
		dst = number(dst, "trace_off", uint64(off))
	}
	return dst
}
