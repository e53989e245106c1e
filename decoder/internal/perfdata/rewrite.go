package perfdata

import (
	"encoding/binary"
	"slices"
)

// Edit says how the files of a recording are written again. Records that were packed come
// out unpacked.
type Edit struct {
	// Path returns what stands in place of the path of a file, with as many bytes. Name
	// does so for the name of a program, a host, or an argument. nil: nothing is
	// replaced. Else samples that nobody reads are left out, as they may hold anything.
	Path, Name func(string) string

	// Cut says which bytes of AUX areas are kept, by Stream.Index; an area that is not
	// there is kept as it is.
	Cut map[int]AuxRange
}

// AuxRange is the bytes of an AUX area from From on, up to To.
type AuxRange struct{ From, To uint64 }

// Rewrite returns the files of the recording as e has them, by their names.
func (r *Recording) Rewrite(e *Edit) map[string][]byte {
	w := rewriter{r: r, e: e, ev: *r.events, streams: map[[2]int32]int{}}
	for i := range r.streams {
		if s := &r.streams[i]; !s.Sampled {
			w.streams[[2]int32{s.CPU, s.TID}] = s.Index
			if s.CPU >= 0 {
				w.streams[[2]int32{s.CPU, -1}] = s.Index
			}
		}
	}
	out := map[string][]byte{}
	for i := range r.parts {
		p := &r.parts[i]
		src := r.srcs[p.src]
		switch _, done := out[src.name]; {
		case done: // INIT_MAP, a feature
		case p.src == 0:
			out[src.name] = w.main(src.data, p, w.part(p))
		default:
			out[src.name] = w.part(p)
		}
	}
	return out
}

// rewriter writes a recording again.
type rewriter struct {
	r       *Recording
	e       *Edit
	ev      events
	rec     Record
	streams map[[2]int32]int // by CPU and TID: Stream.Index
	out     []byte           // of the part
}

// part returns the records of a part.
func (w *rewriter) part(p *part) []byte {
	w.out = make([]byte, 0, p.end-p.start)
	at, read := p.start, int64(0)
	for i := range p.chunks {
		c := &p.chunks[i]
		w.records(p.src, at, c.off)
		at = c.off + c.span
		read = w.records(p.inflated, read, c.cut)
	}
	w.records(p.src, at, p.end)
	return w.out
}

// records adds the records in [off, end) of a source. It returns where it ended.
func (w *rewriter) records(src int, off, end int64) int64 {
	for off < end {
		next, ok := w.r.fill(&w.rec, &w.ev, src, off, end)
		if !ok {
			break
		}
		w.record(w.r.srcs[src].data[off:next])
		off = next
	}
	return off
}

// record adds a record, w.rec.
func (w *rewriter) record(b []byte) {
	rec := &w.rec
	switch rec.Type {
	case TypeAuxtrace:
		if m, err := rec.Auxtrace(); err == nil {
			if keep, ok := w.e.Cut[int(m.Index)]; ok {
				w.keepTrace(b, keep, m)
				return
			}
		}
	case TypeAux:
		if m, err := rec.Aux(); err == nil && !w.overlaps(m) {
			return
		}
	case TypeSample:
		if w.e.Name != nil && !w.speaks() {
			return
		}
	case TypeBPFMetadata, TypeSimpleDSO, TypeSimpleSymbol, TypeSimpleUnwindingResult, TypeSimpleDebug:
		if w.e.Name != nil {
			return
		}
	}
	at := len(w.out)
	if w.out = append(w.out, b...); w.e.Name != nil {
		w.anonymise(rec.Type, w.out[at:], len(rec.Body))
	}
}

// keepTrace adds the part of an AUXTRACE record that is kept. What follows it is padded
// with zeros, which is no packet of Intel PT's (PAD), as perf pads it.
func (w *rewriter) keepTrace(b []byte, keep AuxRange, m Auxtrace) {
	size := w.rec.Size
	data := b[size:]
	from, to := max(keep.From, m.Off), min(keep.To, m.Off+uint64(len(data)))
	for i := range w.r.streams {
		for k := range w.r.streams[i].Pieces { // without the padding that it has already
			p := &w.r.streams[i].Pieces[k]
			if p.File == w.rec.File && p.FileOff == w.rec.Off+int64(size) {
				to = min(to, p.AuxOff+uint64(p.Len()))
			}
		}
	}
	if from >= to {
		return
	}
	data = data[from-m.Off : to-m.Off]
	pad := -len(data) & (auxAlign - 1)
	at := len(w.out)
	w.out = append(append(append(w.out, b[:size]...), data...), make([]byte, pad)...)
	binary.LittleEndian.PutUint64(w.out[at+headerSize:], uint64(len(data)+pad))
	binary.LittleEndian.PutUint64(w.out[at+headerSize+8:], from)
}

// overlaps reports whether an AUX record tells of bytes that are kept.
func (w *rewriter) overlaps(m Aux) bool {
	i, ok := w.streams[[2]int32{w.rec.CPU, -1}]
	if !ok {
		i, ok = w.streams[[2]int32{-1, w.rec.TID}]
	}
	keep, cut := w.e.Cut[i]
	return !ok || !cut || m.Off < keep.To && m.Off+m.Size > keep.From
}

// speaks reports whether a sample is one that is read: of a breakpoint or probe of the
// kernel's, or with trace in it.
func (w *rewriter) speaks() bool {
	const tracepoint, breakpoint = 2, 5 // PERF_TYPE_*
	a := w.rec.Attr
	switch {
	case a == nil:
		return false
	case a.SampleType&SampleAux != 0:
		return true
	case a.SampleType&SampleStackUser != 0:
		return false
	case a.Type == tracepoint:
		f := w.r.Format(a.Config)
		return f != nil && (f.Has("__probe_ip") || f.Has("__probe_func"))
	}
	return a.Type == breakpoint
}

// main returns the main file with other records.
func (w *rewriter) main(b []byte, p *part, records []byte) []byte {
	le := binary.LittleEndian
	if w.r.header.Pipe {
		return slices.Concat(b[:pipeHeaderSize], records)
	}
	data := readSection(b[40:])
	end, known := uint64(len(b)), data.size != 0
	if known {
		end = min(end, data.off+data.size)
	}
	out := slices.Concat(b[:data.off], records, b[end:])
	delta := uint64(len(records)) - (end - data.off) // modulo 2^64
	if known {
		le.PutUint64(out[48:], data.size+delta)
	}
	// moved sets a section behind the data to its new place.
	moved := func(at uint64) section {
		if at > uint64(len(out))-16 {
			return section{}
		}
		s := readSection(out[at:])
		if known && s.off >= end {
			s.off += delta
			le.PutUint64(out[at:], s.off)
		}
		return s
	}
	entry, attrs := le.Uint64(b[16:]), moved(24)
	moved(56)
	for at := attrs.off; entry > 16 && at < attrs.off+attrs.size && at+entry <= uint64(len(out)); at += entry {
		moved(at + entry - 16)
	}
	if le.Uint64(b[8:]) < fileHeaderSize || !known {
		return out
	}
	at := end + delta
	for bit := range Feature(256) {
		if b[72+bit/8]>>(bit%8)&1 == 0 {
			continue
		}
		s := moved(at)
		if bit == featureAuxtrace && (delta != 0 || len(w.e.Cut) > 0) && at <= uint64(len(out))-16 {
			le.PutUint64(out[at+8:], 0) // where AUXTRACE records lie: they lie elsewhere now
		}
		if body, _ := s.in(out); w.e.Name != nil {
			w.feature(bit, body)
		}
		at += 16
	}
	return out
}

// featureAuxtrace is the index of AUXTRACE records (tools/perf/util/auxtrace.c,
// auxtrace_index__write).
const featureAuxtrace Feature = 18
