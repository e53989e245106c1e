package perfdata

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
)

// The file header (tools/perf/util/header.h, struct perf_file_header and
// struct perf_pipe_file_header):
//
//	0   magic "PERFILE2"     16  attr_size (with its ids section)
//	8   size of the header   24  attrs  {offset, size}
//	                         40  data   {offset, size}
//	                         56  event_types {offset, size}
//	                         72  256 feature bits
//
// The pipe form ends after size, which is 16.
const (
	magic2         = "PERFILE2"
	magic2Swapped  = "2ELIFREP"
	magic1         = "PERFFILE"
	pipeHeaderSize = 16
	oldHeaderSize  = 72 // without feature bits
	fileHeaderSize = 104
)

// section is a perf_file_section.
type section struct{ off, size uint64 }

// fileHeader is what stands before the data.
type fileHeader struct {
	pipe     bool
	data     section
	features []featureSection
}

type featureSection struct {
	bit Feature
	section
}

func readSection(b []byte) section {
	return section{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

// in gives the section's bytes that the file holds, and whether that is all.
func (s section) in(b []byte) ([]byte, bool) {
	if s.off > uint64(len(b)) {
		return nil, s.size == 0
	}
	b = b[s.off:]
	if s.size > uint64(len(b)) {
		return b, false
	}
	return b[:s.size], true
}

// checkMagic says what a file that is no little-endian perf.data is.
func checkMagic(name string, b []byte) error {
	fail := func(what string) error { return &badfile.Error{File: name, What: what} }
	if len(b) < 8 {
		return fail(fmt.Sprintf("header: %s, need %d: not a perf.data file; record one with perf record", plural.Count(len(b), "byte"), pipeHeaderSize))
	}
	switch string(b[:8]) {
	case magic2:
		return nil
	case magic2Swapped:
		return fail("header: big-endian perf.data, only little-endian is read; " +
			"trace data of the machines decoded here is little-endian: record on one, or convert there with perf inject")
	case magic1:
		return fail(`header: magic "PERFFILE" is version 1 of the format, need "PERFILE2"; record with perf of Linux 3.3 or later`)
	}
	for _, o := range otherFiles {
		if bytes.HasPrefix(b, []byte(o.magic)) {
			return fail(`header: ` + o.is + `, need magic "PERFILE2"; ` + o.do)
		}
	}
	return fail(fmt.Sprintf(`header: magic %q, need "PERFILE2": not a perf.data file; record one with perf record`, b[:8]))
}

// otherFiles are files that are likely to be named in place of a perf.data:
// how they begin, what they are, what to do with them.
var otherFiles = [...]struct{ magic, is, do string }{
	{"\x7fELF", "an ELF file", "name the perf.data, and give kernel text with --kcore"},
	{"\x1f\x8b", "packed by gzip", "unpack it, or name - and pipe it through gzip -dc"},
	{"\x28\xb5\x2f\xfd", "packed by zstd", "unpack it, or name - and pipe it through zstd -dc; a bundle of which so little is there was cut short: copy it again"},
	{"\x02\x82\x02\x82", "raw Intel PT", "give it with --pt CPU:FILE"},
	{"[snapshot]", "an ini file of a snapshot", "name the snapshot's directory"},
	{"[device", "an ini file of a snapshot", "name the snapshot's directory"},
	{`{"type":`, "an event stream", "give it with --events, and the trace with --pt CPU:FILE"},
}

// readHeader reads the file header, the attributes with their ids and the
// table of features.
func (r *Recording) readHeader(src *source) (*fileHeader, error) {
	b := src.data
	mendHeader(r, src)
	if err := checkMagic(src.name, b); err != nil {
		return nil, err
	}
	if len(b) < pipeHeaderSize {
		return nil, &badfile.Error{File: src.name, What: fmt.Sprintf("header: %d bytes, need %d: the file is cut short", len(b), pipeHeaderSize)}
	}
	size := binary.LittleEndian.Uint64(b[8:])
	if size == pipeHeaderSize {
		return &fileHeader{pipe: true, data: section{pipeHeaderSize, uint64(len(b) - pipeHeaderSize)}}, nil
	}
	if size < oldHeaderSize || size > 1<<16 {
		return nil, &badfile.Error{File: src.name, Off: 8, What: fmt.Sprintf("header: size %d, need %d, %d or %d", size, pipeHeaderSize, oldHeaderSize, fileHeaderSize)}
	}
	if uint64(len(b)) < size {
		return nil, &badfile.Error{File: src.name, Off: 8, What: fmt.Sprintf("header: needs %d bytes, file has %d: the file is cut short", size, len(b))}
	}
	h := &fileHeader{data: readSection(b[40:])}
	if h.data.off > uint64(len(b)) {
		return nil, &badfile.Error{File: src.name, Off: 40, What: fmt.Sprintf("header: data at 0x%x, file has 0x%x bytes: the file is cut short", h.data.off, len(b))}
	}
	if err := r.readAttrs(src, binary.LittleEndian.Uint64(b[16:]), readSection(b[24:])); err != nil {
		return nil, err
	}
	if h.data.size == 0 {
		// perf writes the size when it ends (tools/perf/util/header.c,
		// perf_session__read_header warns of it); the features come after.
		r.hints.Interrupted = true
		h.data.size = uint64(len(b)) - h.data.off
		r.trouble(src.name, 48, "header: data size 0, file has 0x%x bytes of data: perf record was interrupted; reading to the end, without the header's features", h.data.size)
		return h, nil
	}
	if h.data.beyond(src) { // this comes first, as all else that is missing follows from it
		r.trouble(src.name, 48, "header: data [0x%x, +0x%x), file has 0x%x bytes: the file is cut short", h.data.off, h.data.size, len(b))
		r.hints.CutShort = true
	}
	if size >= fileHeaderSize {
		h.features = r.featureTable(src, b[72:104], h.data)
	}
	return h, nil
}

// beyond reports whether s ends behind the file's end.
func (s section) beyond(src *source) bool {
	return s.off+s.size < s.off || s.off+s.size > uint64(len(src.data))
}

// featureTable reads the sections that follow the data: one for each feature
// bit set, in the order of the bits.
func (r *Recording) featureTable(src *source, flags []byte, data section) []featureSection {
	var table []featureSection
	at := data.off + data.size
	for w := 0; w < 4; w++ {
		set := binary.LittleEndian.Uint64(flags[8*w:])
		for ; set != 0; set &= set - 1 {
			bit := Feature(64*w + bits.TrailingZeros64(set))
			if at < data.off || at+16 < at || at+16 > uint64(len(src.data)) {
				r.trouble(src.name, int64(min(at, uint64(len(src.data)))), "feature %s: section table needs 0x%x bytes, file has 0x%x: the file is cut short", bit, at+16, len(src.data))
				r.hints.CutShort = true
				return table
			}
			table = append(table, featureSection{bit, readSection(src.data[at:])})
			at += 16
		}
	}
	return table
}

// readAttrs reads the attributes and their ids.
func (r *Recording) readAttrs(src *source, entry uint64, attrs section) error {
	const sec = 16
	if entry < attrSizeVer0+sec || entry > 1<<16 {
		if attrs.size == 0 {
			return nil
		}
		return &badfile.Error{File: src.name, Off: 16, What: fmt.Sprintf("header: attr_size %d, need at least %d", entry, attrSizeVer0+sec)}
	}
	b, whole := attrs.in(src.data)
	if !whole {
		return &badfile.Error{File: src.name, Off: 24, What: fmt.Sprintf("header: attributes [0x%x, +0x%x), file has 0x%x bytes: the file is cut short", attrs.off, attrs.size, len(src.data))}
	}
	for i := 0; uint64(len(b)) >= entry; i, b = i+1, b[entry:] {
		at := int64(attrs.off) + int64(i)*int64(entry)
		a, err := parseAttr(b[:entry-sec])
		if err != nil {
			return &badfile.Error{File: src.name, Off: at, What: fmt.Sprintf("attribute %d", i), Err: err}
		}
		idsec := readSection(b[entry-sec:])
		ids, whole := idsec.in(src.data)
		if !whole {
			r.trouble(src.name, at+int64(entry-sec), "attribute %d: ids [0x%x, +0x%x), file has 0x%x bytes", i, idsec.off, idsec.size, len(src.data))
		}
		for ; len(ids) >= 8 && r.idRoom > 0; ids = ids[8:] {
			r.idRoom--
			a.IDs = append(a.IDs, binary.LittleEndian.Uint64(ids))
		}
		r.addAttr(&a)
	}
	return nil
}

// maxAttrs bounds the events of a recording: each costs memory.
const maxAttrs = 1 << 16

func (r *Recording) addAttr(a *Attr) {
	if len(r.attrs) < maxAttrs {
		a.Index = len(r.attrs)
		r.attrs = append(r.attrs, a)
	}
}
