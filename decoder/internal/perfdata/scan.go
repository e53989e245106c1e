package perfdata

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// headerSize is the size of struct perf_event_header: u32 type, u16 misc, u16
// size (of header and body, bytes).
const headerSize = 8

// frame is a record's place: its header, and how many bytes it spans with
// the data that follows AUXTRACE and HEADER_TRACING_DATA records.
type frame struct {
	typ  Type
	misc Misc
	size int   // header and body, bytes
	span int64 // with what follows, as far as it is there
	want int64 // with what follows, as stated
}

// frameAt reads the header at off; the records end at end. ok is false when
// the record's header and body are not there whole; need is then how many
// bytes they take, or 0 for a size that no record has.
func frameAt(b []byte, off, end int64) (f frame, need int64, ok bool) {
	if end-off < headerSize {
		return f, headerSize, false
	}
	h := b[off : off+headerSize]
	f.typ = Type(binary.LittleEndian.Uint32(h))
	f.misc = Misc(binary.LittleEndian.Uint16(h[4:]))
	f.size = int(binary.LittleEndian.Uint16(h[6:]))
	f.span = int64(f.size)
	if f.typ == TypeCompressed2 {
		return compressed2Frame(f, b, off, end)
	}
	if f.typ > TypeSimpleStart {
		f.misc, f.size = 0, simpleSize(h)
		f.span = int64(f.size)
	}
	if f.size < headerSize {
		return f, 0, false
	}
	if f.span > end-off {
		return f, f.span, false
	}
	f.want = f.span
	body := b[off+headerSize : off+f.span]
	room := end - off - f.span
	var follow uint64
	switch {
	case f.typ == TypeAuxtrace && len(body) >= 8:
		follow = binary.LittleEndian.Uint64(body)
	case f.typ == TypeHeaderTracingData && len(body) >= 4 && len(body) <= 8: // simpleperf's holds the data
		follow = (uint64(binary.LittleEndian.Uint32(body)) + 7) &^ 7
	}
	if follow > 1<<62 {
		follow = 1 << 62
	}
	f.want += int64(follow)
	f.span += min(int64(follow), room)
	return f, 0, true
}

// compressed2Max is the most data that one COMPRESSED2 record holds: 65535
// less its 16 bytes of fields.
const compressed2Max = 65519

// compressed2Frame finds the size of a COMPRESSED2 record. perf v6.16 rounds
// its u16 size up to 8 after compressing, so that a size of 65536 and more
// wraps; data_size then says what is there, without padding.
func compressed2Frame(f frame, b []byte, off, end int64) (frame, int64, bool) {
	if end-off < 16 {
		return f, 16, false
	}
	data := binary.LittleEndian.Uint64(b[off+8:])
	if data > 65536-16-8 && uint64(f.size) < data+16 {
		f.size = 16 + int(min(data, compressed2Max))
	}
	if f.size < 16 {
		return f, 0, false
	}
	f.span, f.want = int64(f.size), int64(f.size)
	return f, f.span, f.span <= end-off
}

// prescan walks the headers of a part for what the records' meaning depends
// on: attributes of the pipe form, and COMPRESSED records.
func (r *Recording) prescan(p *part) {
	src := r.srcs[p.src]
	prev, prev2 := int64(-1), int64(-1)
	m := newMender(r, p)
	fixed := m.fixed          // of a pipe's records it says nothing
	tried := map[int64]bool{} // where it was mended, or could not be
	for off := p.start; off < p.end; {
		f, need, ok := frameAt(src.data, off, p.end)
		if f.typ == TypeTextPoke && m.pokeSize(off, &f) {
			continue
		}
		if (!ok || f.want > f.span || f.odd() && !followed(src.data, off+f.span, p.end) || !known(f.typ) && !r.stepped[steppedAt{p.src, off}]) && !tried[off] {
			from, did := m.mend(prev, off)
			if tried[off] = true; did {
				off = from
				if off == prev {
					prev, prev2 = prev2, -1
				}
				continue
			}
		}
		if !ok {
			r.badFrame(src, off, p.end, f, need)
			p.end, p.cut = off, true
			break
		}
		if f.typ != TypeTextPoke && m.wasPoke(off, &f) {
			continue
		}
		if n := fixed.size(src.data, off, p.end, &f); n != f.size && m.resize(off, off+int64(n)) {
			continue
		}
		if f.want > f.span {
			r.hints.CutShort, p.cut = true, true
			r.trouble(src.name, off, "record %s: needs 0x%x bytes, file has 0x%x: the file is cut short", f.typ, f.want, f.span)
		}
		r.held.passes(off, off+f.span)
		body := src.data[off+headerSize : off+int64(f.size)]
		switch f.typ {
		case TypeCompressed, TypeCompressed2:
			p.chunks = append(p.chunks, newChunk(f, off, body))
		case TypeHeaderAttr:
			r.pipeAttr(src, off, body)
			m.events()
		case TypeHeaderFeature:
			r.pipeFeature(src, off, body)
		case TypeTextPoke:
			m.poke(prev2, prev, off, &f)
		case TypeSimpleEventID:
			simpleIDs(r, body)
		}
		prev2, prev = prev, off
		off += f.span
	}
}

func (r *Recording) badFrame(src *source, off, end int64, f frame, need int64) {
	r.hints.CutShort = true
	if need == 0 {
		r.trouble(src.name, off, "record %s: size %d, need at least %d; what follows in this file is not read", f.typ, f.size, headerSize)
		return
	}
	name := "header"
	if end-off >= headerSize {
		name = f.typ.String()
	}
	r.trouble(src.name, off, "record %s: needs %d bytes, file has %d: the file is cut short", name, need, end-off)
}

// pipeAttr reads HEADER_ATTR: an attribute and its ids.
func (r *Recording) pipeAttr(src *source, off int64, body []byte) {
	a, err := parseAttr(body)
	if err != nil {
		r.trouble(src.name, off, "record ATTR: %v", err)
		return
	}
	ids := cursor{b: body[a.Size:]}
	a.IDs = ids.words(uint64(ids.left() / 8))
	r.addAttr(&a)
}

// run is a stretch of records, contiguous in one source, whose keys do not
// fall. The files are a merge of few such runs: one a CPU and round.
type run struct {
	key        uint64 // of its first record: ns, or that of the record before
	start, end int64  // in the source, bytes
	src        int32
}

// scanner builds the runs and collects what the recording says of itself.
type scanner struct {
	r     *Recording
	ev    events
	rec   Record
	key   uint64 // of the last record
	open  bool   // the last of r.runs may grow
	queue auxQueues
	seen  []uint64 // by CPU: the time of its last record
	round rounds
	split []byte // of SPLIT records: what they hold so far
	holes holes

	auxInfo, timeConv Record // the last ones
}

// scan walks all records in file order.
func (r *Recording) scan() {
	s := scanner{r: r, ev: *r.events}
	for i := range r.parts {
		p := &r.parts[i]
		s.key, s.open, s.round = 0, false, rounds{}
		if len(p.chunks) == 0 {
			s.walk(p.src, p.start, p.end)
		} else {
			s.inflated(p)
		}
		s.holes.finishPart(&s)
		if p.cut {
			s.incomplete()
		}
	}
	r.byTime = make([]uint32, len(r.runs))
	for i := range r.byTime {
		r.byTime[i] = uint32(i)
	}
	slices.SortFunc(r.byTime, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(r.runs[a].key, r.runs[b].key), cmp.Compare(a, b))
	})
	r.streams = s.queue.streams(r)
	for i := range r.streams {
		r.streams[i].held = r.held
	}
	mendClock(r, &s.timeConv, &s.auxInfo)
	r.finishHints()
}

// inflated walks a part whose COMPRESSED records stand for their contents,
// which were inflated to a source of their own.
func (s *scanner) inflated(p *part) {
	r := s.r
	var read int64
	at := p.start
	for i := range p.chunks {
		c := &p.chunks[i]
		s.walk(p.src, at, c.off)
		at = c.off + c.span
		r.counts[c.typ]++
		read = s.walk(p.inflated, read, c.cut)
	}
	s.walk(p.src, at, p.end)
	if n := int64(len(r.srcs[p.inflated].data)); read < n {
		src := r.srcs[p.inflated]
		f, need, _ := frameAt(src.data, read, n)
		r.badFrame(src, read, n, f, need)
		p.cut = true
	}
}

// walk visits the whole records in [off, end) of a source and returns where
// the first that is not whole starts.
func (s *scanner) walk(src int, off, end int64) int64 {
	r := s.r
	for off < end {
		next, ok := r.fill(&s.rec, &s.ev, src, off, end)
		if !ok {
			break
		}
		s.visit(src, off, next)
		off = next
	}
	return off
}

// visit adds a record to the runs and notes what it says of the recording.
func (s *scanner) visit(src int, off, next int64) {
	r := s.r
	key := s.key
	if s.rec.HasTime() {
		key = s.rec.Time
	}
	last := len(r.runs) - 1
	if s.open && key >= s.key && r.runs[last].src == int32(src) && r.runs[last].end == off {
		r.runs[last].end = next
	} else {
		r.runs = append(r.runs, run{key, off, next, int32(src)})
		s.open = true
	}
	s.key = key
	r.counts[s.rec.Type]++
	if s.rec.noIdent {
		r.trouble(s.rec.File, off, "record %s: size %d, need room for the %d bytes of its event's sample_id", s.rec.Type, s.rec.Size, s.rec.Attr.identLen(s.rec.Type))
	}
	s.note()
	if s.rec.Type == TypeDamaged {
		s.holes.begin(s)
	}
	if s.rec.HasTime() {
		s.holes.see(s)
		s.saw(s.rec.CPU, s.rec.Time)
		s.round.newest = max(s.round.newest, s.rec.Time)
	}
	if s.rec.Type == TypeFinishedRound {
		s.round.finish()
	}
}
