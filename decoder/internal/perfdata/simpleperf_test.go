package perfdata

import (
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestSimpleperf would catch a record or a feature of simpleperf's that is misread, or
// that stops the reading of what follows. There is a record of over 64 KiB, and one
// that was split. There are tracing data inside of their record, ids in EVENT_ID,
// mappings in INIT_MAP, and AUX data that was packed.
func TestSimpleperf(t *testing.T) {
	kallsyms := "ffffffc008000000 T _text\n"
	symbols := record(TypeSimpleKernelSymbol, 0, uint32(len(kallsyms)), kallsyms, make([]byte, -len(kallsyms)&7))
	large := make([]byte, 0x12340-headerSize)
	a := tattr{sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll}
	comm := func(id uint64, name8 string) []byte {
		return record(TypeComm, 0, int32(7), int32(7), name8, a.trailer(ident{pid: 7, tid: 7, time: 5, id: id}))
	}
	enc1, _ := zstd.NewWriter(nil)
	trace := strings.Repeat("trace", 100)
	packed := enc1.EncodeAll([]byte(trace), nil)
	data := enc(
		record(TypeSimpleSplit, 0, symbols[:10]), record(TypeSimpleSplit, 0, symbols[10:]), record(TypeSimpleSplitEnd, 0),
		record(TypeHeaderTracingData, 0, uint32(100), make([]byte, 124)),
		enc(uint32(TypeSimpleDebug), uint16(1), uint16(0x2340), large),
		record(TypeSimpleEventID, 0, uint64(2), uint64(0), uint64(41), uint64(9), uint64(42)),
		record(TypeSimpleCallchain, 0, uint64(1)), record(TypeSimpleUnwindingResult, 0), record(TypeSimpleDSO, 0), record(TypeSimpleSymbol, 0),
		record(TypeSimpleTracingData, 0, uint32(4), "abcd"),
		record(TypeAux, 0, uint64(0), uint64(len(trace)), uint64(0), a.trailer(ident{cpu: 0, id: 41})),
		record(TypeAuxtrace, 0, uint64(len(packed)), uint64(0), uint64(1), uint32(0), int32(-1), int32(0), uint32(0)), packed,
		comm(41, "after\x00\x00\x00"),
	)
	file1 := enc("/lib/a.so\x00", uint32(2), uint64(0x1000), uint32(1), uint64(0x1010), uint32(8), "main\x00", uint64(0x400))
	file2 := "\x0a\x04/b.o\x10\x02\x18\x80\x20\x22\x0b\x08\x90\x20\x10\x08\x1a\x04func\x32\x03\x08\x80\x08"
	features := map[Feature][]byte{
		FeatureMetaInfo: []byte("simpleperf_version\x001.build\x00product_props\x00A:B:C\x00"),
		FeatureFile:     enc(uint32(len(file1)), file1), FeatureFile2: enc(uint32(len(file2)), file2),
		FeatureETMBranchList: []byte("x"), FeatureInitMap: comm(0, "first\x00\x00\x00"),
		FeatureDebugUnwind: []byte("\xff\xff"), FeatureDebugUnwindFile: []byte("\xff"),
	}
	r := fromBytes(t, file{attrs: []tattr{a}, data: data, features: features}.bytes())
	if found, more := r.Trouble(); len(found)+more > 0 {
		t.Errorf("%v and %d more", found, more)
	}
	m := r.Simpleperf()
	want := []SimpleFile{
		{"/lib/a.so", 2, 0x1000, 0x400, true, []SimpleSymbol{{0x1010, 8, "main"}}},
		{"/b.o", 2, 0x1000, 0x400, true, []SimpleSymbol{{0x1010, 8, "func"}}},
	}
	if !reflect.DeepEqual(m.Files, want) || m.Kallsyms != kallsyms || !m.BranchList || m.Meta["product_props"] != "A:B:C" {
		t.Errorf("%+v", m)
	}
	if ids := r.Attrs()[0].IDs; len(ids) != 1 || ids[0] != 41 {
		t.Errorf("ids of the event: %v, want 41", ids)
	}
	var names []string
	for rec := range r.Records().All() {
		if rec.Type == TypeComm {
			c, _ := rec.Comm()
			names = append(names, c.Comm)
		}
	}
	if strings.Join(names, " ") != "first after" {
		t.Errorf("COMM records: %v", names)
	}
	if s := r.Streams(); len(s) != 1 || string(s[0].Bytes(0, 1000)) != trace {
		t.Errorf("streams %+v", s)
	}
}

// TestSimpleperfBroken would catch a feature or record that is cut anywhere, and makes
// the reader fail or run on.
func TestSimpleperfBroken(t *testing.T) {
	file1 := enc("/lib/a.so\x00", uint32(3), uint64(0x1000), uint32(1), uint64(0x1010), uint32(8), "main\x00", uint32(1), uint64(0x400))
	whole := map[Feature][]byte{
		FeatureMetaInfo: []byte("k\x00v\x00"), FeatureFile: enc(uint32(len(file1)), file1),
		FeatureFile2: enc(uint32(8), "\x0a\x06/b.obj\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	}
	data := record(TypeComm, 0, int32(7), int32(7), "here\x00\x00\x00\x00")
	for bit, b := range whole {
		for n := range len(b) {
			r := fromBytes(t, file{attrs: []tattr{{}}, data: data, features: map[Feature][]byte{bit: b[:n]}}.bytes())
			if r.Counts()[TypeComm] != 1 {
				t.Errorf("%v of %d bytes: the records are not read", bit, n)
			}
		}
	}
}
