package perfdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// The encoder of the tests: it makes perf.data bytes field by field, so that
// no test needs a fixture. It shares no code with the reader.

var le = binary.LittleEndian

// enc joins fields: integers in their own width, strings and bytes as they
// are.
func enc(fields ...any) []byte {
	var b []byte
	for _, f := range fields {
		switch v := f.(type) {
		case uint8:
			b = append(b, v)
		case uint16:
			b = le.AppendUint16(b, v)
		case uint32:
			b = le.AppendUint32(b, v)
		case int32:
			b = le.AppendUint32(b, uint32(v))
		case int:
			b = le.AppendUint64(b, uint64(v))
		case uint64:
			b = le.AppendUint64(b, v)
		case []uint64:
			for _, w := range v {
				b = le.AppendUint64(b, w)
			}
		case string:
			b = append(b, v...)
		case []byte:
			b = append(b, v...)
		default:
			panic("perfdata test: enc of another type")
		}
	}
	return b
}

// name is a string as records end with: zeros up to a multiple of 8.
func name(s string) []byte {
	b := append([]byte(s), 0)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

// hstr is a perf_header_string.
func hstr(s string) []byte {
	b := name(s)
	return enc(uint32(len(b)), b)
}

// record makes a record of a header and body fields.
func record(t Type, misc Misc, fields ...any) []byte {
	body := enc(fields...)
	return enc(uint32(t), uint16(misc), uint16(headerSize+len(body)), body)
}

// tattr is an attribute to encode.
type tattr struct {
	typ        uint32
	sampleType uint64
	readFormat uint64
	flags      AttrFlags
	config     uint64
	size       int // 0: 128
	ids        []uint64
	branch     uint64
	regsUser   uint64
	regsIntr   uint64
}

func (a tattr) bytes() []byte {
	size := a.size
	if size == 0 {
		size = 128
	}
	b := make([]byte, max(size, 136))
	le.PutUint32(b[0:], a.typ)
	le.PutUint32(b[4:], uint32(size))
	le.PutUint64(b[8:], a.config)
	le.PutUint64(b[16:], 4000)
	le.PutUint64(b[24:], a.sampleType)
	le.PutUint64(b[32:], a.readFormat)
	le.PutUint64(b[40:], uint64(a.flags))
	le.PutUint64(b[72:], a.branch)
	le.PutUint64(b[80:], a.regsUser)
	le.PutUint64(b[96:], a.regsIntr)
	return b[:size]
}

// ident are the values of a sample_id.
type ident struct {
	pid, tid         int32
	time, id, stream uint64
	cpu              int32
}

// trailer lays out a sample_id for a kernel record that is not a SAMPLE.
func (a tattr) trailer(d ident) []byte {
	var b []byte
	if a.flags&AttrSampleIDAll == 0 {
		return nil
	}
	if a.sampleType&SampleTID != 0 {
		b = append(b, enc(d.pid, d.tid)...)
	}
	if a.sampleType&SampleTime != 0 {
		b = append(b, enc(d.time)...)
	}
	if a.sampleType&SampleID != 0 {
		b = append(b, enc(d.id)...)
	}
	if a.sampleType&SampleStreamID != 0 {
		b = append(b, enc(d.stream)...)
	}
	if a.sampleType&SampleCPU != 0 {
		b = append(b, enc(d.cpu, uint32(0))...)
	}
	if a.sampleType&SampleIdentifier != 0 {
		b = append(b, enc(d.id)...)
	}
	return b
}

// lead lays out the fields that a SAMPLE starts with, up to the CPU.
func (a tattr) lead(d ident, ip, addr uint64) []byte {
	var b []byte
	add := func(bit uint64, fields ...any) {
		if a.sampleType&bit != 0 {
			b = append(b, enc(fields...)...)
		}
	}
	add(SampleIdentifier, d.id)
	add(SampleIP, ip)
	add(SampleTID, d.pid, d.tid)
	add(SampleTime, d.time)
	add(SampleAddr, addr)
	add(SampleID, d.id)
	add(SampleStreamID, d.stream)
	add(SampleCPU, d.cpu, uint32(0))
	return b
}

// file is a perf.data to encode.
type file struct {
	attrs    []tattr
	data     []byte
	features map[Feature][]byte
	dataSize int // 0: that of data; -1: 0, as an interrupted recording has
}

// bytes lays the file out as perf record does: header, ids, attributes,
// data, feature table, features.
func (f file) bytes() []byte {
	entry := attrSizeVer0 + 16
	if len(f.attrs) > 0 {
		entry = len(f.attrs[0].bytes()) + 16
	}
	var ids []byte
	var secs [][2]int
	at := fileHeaderSize
	for _, a := range f.attrs {
		secs = append(secs, [2]int{at + len(ids), 8 * len(a.ids)})
		ids = append(ids, enc(a.ids)...)
	}
	at += len(ids)
	var attrs []byte
	for i, a := range f.attrs {
		attrs = append(attrs, a.bytes()...)
		attrs = append(attrs, enc(secs[i][0], secs[i][1])...)
	}
	dataOff := at + len(attrs)
	size := len(f.data)
	if f.dataSize < 0 {
		size = 0
	}
	var flags [4]uint64
	bits := slices.Sorted(maps.Keys(f.features))
	for _, b := range bits {
		flags[b/64] |= 1 << (b % 64)
	}
	out := enc(magic2, fileHeaderSize, entry, at, len(attrs), dataOff, size, 0, 0, flags[:], ids, attrs, f.data)
	if f.dataSize < 0 {
		return out
	}
	off := len(out) + 16*len(bits)
	var body []byte
	for _, b := range bits {
		out = append(out, enc(off+len(body), len(f.features[b]))...)
		body = append(body, f.features[b]...)
	}
	return append(out, body...)
}

// pipe lays the same out as perf record -o - does.
func (f file) pipe() []byte {
	out := enc(magic2, pipeHeaderSize)
	for _, a := range f.attrs {
		out = append(out, record(TypeHeaderAttr, 0, a.bytes(), a.ids)...)
	}
	for _, b := range slices.Sorted(maps.Keys(f.features)) {
		out = append(out, record(TypeHeaderFeature, 0, int(b), f.features[b])...)
	}
	return append(out, f.data...)
}

// auxtrace makes an AUXTRACE record with its data, padded as perf pads it.
func auxtrace(off uint64, index uint32, tid, cpu int32, data []byte) []byte {
	pad := append(slices.Clone(data), make([]byte, -len(data)&7)...)
	return append(record(TypeAuxtrace, 0, uint64(len(pad)), off, uint64(1), index, tid, cpu, uint32(0)), pad...)
}

// compress packs records into COMPRESSED or COMPRESSED2 records: one zstd
// stream, cut into chunks of the given sizes before compressing, each chunk
// flushed.
func compress(t testing.TB, typ Type, chunks ...[]byte) [][]byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := zstd.NewWriter(&buf, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(64<<10))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, c := range chunks {
		w.Write(c)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		z := slices.Clone(buf.Bytes())
		buf.Reset()
		if typ == TypeCompressed2 {
			pad := make([]byte, -len(z)&7)
			out = append(out, record(typ, 0, len(z), z, pad))
		} else {
			out = append(out, record(typ, 0, z))
		}
	}
	return out
}

// fromBytes opens an encoded recording and closes it with the test.
func fromBytes(t testing.TB, b []byte) *Recording {
	t.Helper()
	r, err := openBytes("t.data", b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// all copies what a Reader hands out.
func all(rd *Reader) []Record {
	var list []Record
	var rec Record
	for rd.Next(&rec) {
		list = append(list, rec)
	}
	return list
}

// sound fails the test when a recording has findings.
func sound(t testing.TB, r *Recording) {
	t.Helper()
	if found, more := r.Trouble(); len(found)+more > 0 {
		t.Errorf("trouble: %v and %d more", found, more)
	}
}

// openBytes reads a perf.data that is in memory; name is what errors call it.
func openBytes(name string, b []byte) (*Recording, error) {
	r := &Recording{name: name, srcs: []*source{{name: name, data: slices.Clone(b)}}} // which is written to where it is damaged
	if err := r.load(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// fileOrder returns a reader of all records as they stand in the files.
func (r *Recording) fileOrder() *Reader {
	return &Reader{r: r, ev: *r.events}
}
