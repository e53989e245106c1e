package perfdata

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/badfile"
)

// comm is a COMM record of the usual event at a time.
func comm(s string, time uint64) []byte {
	d := who
	d.time = time
	return record(TypeComm, 0, uint32(1), uint32(2), name(s), usual.trailer(d))
}

// names lists the comms of a reader's records, other types by name.
func names(rd *Reader) string {
	var list []string
	for rec := range rd.All() {
		if c, err := rec.Comm(); err == nil {
			list = append(list, c.Comm)
		} else {
			list = append(list, rec.Type.String())
		}
	}
	return strings.Join(list, " ")
}

// testFeatures are features with every layout that is parsed.
func testFeatures() map[Feature][]byte {
	info := make([]byte, 208)
	le.PutUint32(info[0:], 1)
	le.PutUint32(info[4:], 33)
	copy(info[8:], "tagtagta")
	le.PutUint32(info[bpfInfoJitedLen:], 5)
	le.PutUint64(info[bpfInfoJited:], 0)
	le.PutUint64(info[bpfInfoLoadTime:], 12345)
	copy(info[bpfInfoName:], "prog")
	le.PutUint32(info[bpfInfoNrKsyms:], 1)
	le.PutUint32(info[bpfInfoNrLens:], 1)
	le.PutUint64(info[bpfInfoKsyms:], 8)
	le.PutUint64(info[bpfInfoLens:], 16)
	le.PutUint32(info[bpfInfoBTF:], 44)
	data := enc("code!\x00\x00\x00", uint64(0xffffffffc0000000), uint32(5), uint32(0))
	return map[Feature][]byte{
		FeatureBuildID: append(record(0, MiscKernel, int32(-1), "0123456789abcdefghij", uint32(0), name("[kernel.kallsyms]")),
			record(0, MiscUser|MiscBuildIDSize, int32(7), "0123456789abcdefghij", uint8(16), uint8(0), uint16(0), name("/bin/ls"))...),
		FeatureHostname: hstr("host"), FeatureOSRelease: hstr("6.1.0"), FeatureVersion: hstr("6.1.187"),
		FeatureArch: hstr("x86_64"), FeatureNrCPUs: enc(uint32(4), uint32(2)), FeatureCPUDesc: hstr("Intel"),
		FeatureCPUID: hstr("GenuineIntel,6,94,3"), FeatureTotalMem: enc(1024),
		FeatureCmdline:     enc(uint32(2), hstr("perf"), hstr("record")),
		FeatureEventDesc:   enc(uint32(1), uint32(128), usual.bytes(), uint32(1), hstr("dummy:u"), 77),
		FeatureCPUTopology: enc(uint32(1), hstr("0-1"), uint32(2), hstr("0"), hstr("1"), uint32(0), uint32(0), uint32(1), uint32(0)),
		FeaturePMUMappings: enc(uint32(1), uint32(8), hstr("intel_pt")), FeatureSampleTime: enc(5, 6), FeatureClockID: enc(1),
		FeatureDirFormat: enc(1), FeatureCompressed: enc(uint32(1), uint32(1), uint32(3), uint32(4), uint32(528384)),
		FeatureCPUPMUCaps: enc(uint32(1), hstr("branches"), hstr("32")), FeatureClockData: enc(uint32(1), uint32(4), 100, 200),
		FeatureHybridTopology: enc(uint32(1), hstr("cpu_core"), hstr("0-3")),
		FeaturePMUCaps:        enc(uint32(1), uint32(1), hstr("max"), hstr("1"), hstr("cpu_atom")),
		FeatureBPFProgInfo:    enc(uint32(1), uint32(len(info)), uint32(len(data)), uint64(1<<bpfArrayJited|1<<bpfArrayKsyms|1<<bpfArrayFuncLens), info, data),
		FeatureBPFBTF:         enc(uint32(1), uint32(44), uint32(3), "btf"),
		Feature(32):           enc(uint32(1)), Feature(200): []byte("future"),
	}
}

// TestFeatures catches a feature's field read wrong, or a feature found at
// another's place, in the file form and in the pipe form; features of the
// future must not disturb.
func TestFeatures(t *testing.T) {
	f := file{attrs: []tattr{usual}, data: comm("a", 1), features: testFeatures()}
	want := Header{Hostname: "host", OSRelease: "6.1.0", Version: "6.1.187", Arch: "x86_64", CPUsAvail: 4, CPUsOnline: 2,
		CPUDesc: "Intel", CPUID: "GenuineIntel,6,94,3", TotalMem: 1024, Cmdline: []string{"perf", "record"},
		Cores: []string{"0-1"}, Threads: []string{"0", "1"}, Topology: []CPUPlace{{0, 0}, {1, 0}},
		PMUs: map[uint32]string{8: "intel_pt"}, FirstSample: 5, LastSample: 6, ClockRes: 1, DirVersion: 1,
		Compression: &Compression{1, 1, 3, 4, 528384}, Clock: &ClockData{1, 4, 100, 200},
		Hybrid:   []HybridPMU{{"cpu_core", "0-3"}},
		Caps:     []PMUCaps{{"cpu", map[string]string{"branches": "32"}}, {"cpu_atom", map[string]string{"max": "1"}}},
		BPFBTFs:  []BPFBTF{{44, []byte("btf")}},
		BPFProgs: []BPFProg{{Type: 1, ID: 33, Tag: [8]byte([]byte("tagtagta")), Name: "prog", LoadTime: 12345, BTF: 44, Jited: []byte("code!"), Ksyms: []uint64{0xffffffffc0000000}, FuncLens: []uint32{5}}},
		Sections: f.features}
	for _, b := range [][]byte{f.bytes(), f.pipe()} {
		r := fromBytes(t, b)
		sound(t, r)
		want.Pipe = r.header.Pipe
		if d := cmp.Diff(want, *r.Header()); d != "" {
			t.Errorf("pipe %t: %s", want.Pipe, d)
		}
		if r.Attrs()[0].Name != "dummy:u" {
			t.Errorf("pipe %t: event named %q", want.Pipe, r.Attrs()[0].Name)
		}
		ids := r.BuildIDs()
		if len(ids) != 2 || ids[0].Hex() != hex.EncodeToString([]byte("0123456789abcdefghij")) || len(ids[1].ID) != 16 || ids[1].File != "/bin/ls" {
			t.Errorf("pipe %t: build ids %+v", want.Pipe, ids)
		}
		if f, m, s, ok := r.Header().Family(); f != 6 || m != 94 || s != 3 || !ok {
			t.Errorf("family %d %d %d %t", f, m, s, ok)
		}
	}
}

// TestAttrSizes catches a structure of another age read at the wrong places:
// every size from the first to one beyond what is known.
func TestAttrSizes(t *testing.T) {
	for _, size := range []int{64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 200} {
		a := usual
		a.size, a.branch, a.config = size, 0x1234, 99
		f := file{attrs: []tattr{a}, data: comm("a", 5)}
		for _, b := range [][]byte{f.bytes(), f.pipe()} {
			r := fromBytes(t, b)
			sound(t, r)
			got := r.Attrs()[0]
			branch := uint64(0x1234)
			if size < 80 {
				branch = 0
			}
			if int(got.Size) != size || got.Config != 99 || got.BranchSampleType != branch || len(got.IDs) != 1 || got.IDs[0] != 77 {
				t.Errorf("size %d: %+v", size, got)
			}
			if rec := all(r.Records()); rec[len(rec)-1].Time != 5 {
				t.Errorf("size %d: records %+v", size, rec)
			}
		}
	}
}

// TestAttrSizeZero catches the size 0 of the first structure taken for a size.
func TestAttrSizeZero(t *testing.T) {
	a := usual
	a.size = attrSizeVer0
	b := a.bytes()
	le.PutUint32(b[4:], 0)
	r := fromBytes(t, enc(magic2, pipeHeaderSize, record(TypeHeaderAttr, 0, b, a.ids), comm("a", 5)))
	sound(t, r)
	if got := r.Attrs(); len(got) != 1 || got[0].Size != attrSizeVer0 || len(got[0].IDs) != 1 || got[0].IDs[0] != 77 {
		t.Errorf("events %+v", got)
	}
}

// TestRefused catches a file that cannot be read being taken for one, and an
// error that does not say where, what and what to do.
func TestRefused(t *testing.T) {
	whole := file{attrs: []tattr{usual}, data: comm("a", 1)}.bytes()
	for _, c := range []struct{ in, want string }{
		{"", "t.data+0x0: header: 0 bytes, need 16: not a perf.data file"},
		{"#!/bin/sh\nexit", "not a perf.data file; record one with perf record"},
		{"\x1f\x8b\x08\x00\x00\x00\x00\x00", `t.data+0x0: header: packed by gzip, need magic "PERFILE2"; unpack it`},
		{"\x28\xb5\x2f\xfd\x04\x58\x00\x00", "packed by zstd"},
		{strings.Repeat("\x02\x82", 8), "raw Intel PT"},
		{`{"type":"stream","version":1}`, "an event stream"},
		{"\x7fELF\x02\x01\x01\x00", "ELF file"},
		{"2ELIFREP" + strings.Repeat("\x00", 100), "big-endian perf.data, only little-endian is read; "},
		{"PERFFILE" + strings.Repeat("\x00", 100), "version 1 of the format"},
		{string(whole[:12]), "header: 12 bytes, need 16"},
		{string(whole[:80]), "t.data+0x8: header: needs 104 bytes, file has 80"},
		{string(whole[:130]), "file has 0x82 bytes: the file is cut short"},
		{"PERFILE2" + "\x20" + strings.Repeat("\x00", 100), "t.data+0x8: header: size 32, need 16, 72 or 104"},
	} {
		_, err := openBytes("t.data", []byte(c.in))
		var fe *badfile.Error
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.10q: error %v, want %q", c.in, err, c.want)
		}
	}
	if _, err := Open(nil, os.DevNull); err == nil || !strings.Contains(err.Error(), os.DevNull+"+0x0: header: 0 bytes") {
		t.Errorf("device: %v", err)
	}
	if _, err := Open(nil, t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a perf.data directory") {
		t.Errorf("empty directory: %v", err)
	}
}

// TestInterrupted catches records lost from a recording that perf record did
// not finish, and features read where there are none.
func TestInterrupted(t *testing.T) {
	r := fromBytes(t, file{attrs: []tattr{usual}, data: append(comm("a", 2), comm("b", 1)...), dataSize: -1, features: testFeatures()}.bytes())
	if got := names(r.Records()); got != "b a" {
		t.Errorf("records %q", got)
	}
	found, _ := r.Trouble()
	if !r.Hints().Interrupted || len(found) != 1 || !strings.Contains(found[0].Error(), "perf record was interrupted") {
		t.Errorf("hints %+v, trouble %v", r.Hints(), found)
	}
}

// TestCauseFirst catches a file that ends within its data being blamed on a feature first: all features
// lie behind the data.
func TestCauseFirst(t *testing.T) {
	b := file{attrs: []tattr{usual}, data: append(comm("a", 2), comm("b", 1)...), features: testFeatures()}.bytes()
	end := int(le.Uint64(b[40:]) + le.Uint64(b[48:]))
	found, _ := fromBytes(t, b[:end-10]).Trouble()
	if len(found) < 2 || !strings.Contains(found[0].Error(), "header: data [") || !strings.Contains(found[1].Error(), "feature ") {
		t.Errorf("trouble %v", found)
	}
}

// TestUnknownFeature catches a feature without a name that is not told by its number.
func TestUnknownFeature(t *testing.T) {
	b := file{attrs: []tattr{usual}, data: comm("a", 1), features: map[Feature][]byte{224: make([]byte, 9)}}.bytes()
	found, _ := fromBytes(t, b[:len(b)-4]).Trouble()
	if len(found) != 1 || !strings.Contains(found[0].Error(), ": feature 224: needs 0x9 bytes") {
		t.Errorf("trouble %v", found)
	}
}

// TestOldHeader catches the header without feature bits being refused.
func TestOldHeader(t *testing.T) {
	attr := enc(usual.bytes(), 0, 0)
	data := comm("a", 1)
	b := enc(magic2, oldHeaderSize, len(attr), oldHeaderSize, len(attr), oldHeaderSize+len(attr), len(data), 0, 0, attr, data)
	r := fromBytes(t, b)
	sound(t, r)
	if got := names(r.Records()); got != "a" {
		t.Errorf("records %q", got)
	}
}

// TestPipe catches a difference between the forms, and a reader that fails
// midway taking everything with it.
func TestPipe(t *testing.T) {
	formats := tracingData("kprobes", jumpFormat)
	tracing := append(record(TypeHeaderTracingData, 0, uint32(len(formats))), append(formats, make([]byte, -len(formats)&7)...)...)
	f := file{attrs: []tattr{usual}, data: append(append(tracing, comm("a", 2)...), comm("b", 1)...)}
	r, err := OpenPipe(iotest.OneByteReader(bytes.NewReader(f.pipe())))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sound(t, r)
	if got := names(r.Records()); got != "ATTR TRACING_DATA b a" || !r.Header().Pipe || r.Format(1543) == nil {
		t.Errorf("records %q", got)
	}
	cut := f.pipe()
	cut = cut[:len(cut)-4]
	r, err = OpenPipe(iotest.TimeoutReader(bytes.NewReader(cut)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	found, _ := r.Trouble()
	if got := names(r.fileOrder()); got != "ATTR TRACING_DATA a" || len(found) != 2 ||
		!strings.Contains(found[0].Error(), "stdin+0x") || !strings.Contains(found[1].Error(), "record COMM: needs") || !r.Hints().CutShort {
		t.Errorf("records %q, trouble %v", got, found)
	}
}

// TestDirectory catches files of a directory left out or in the wrong order,
// and kernel copies not found.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	write := func(path string, b []byte) {
		t.Helper()
		p := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("data", file{attrs: []tattr{usual}, data: append(comm("m", 5), record(TypeFinishedRound, 0)...)}.bytes())
	write("data.10", comm("k", 5))
	write("data.2", append(comm("b", 5), comm("z", 9)...))
	write("data.3", nil)
	write("kcore_dir/kcore", []byte("x"))
	write("kcore_dir/kallsyms", []byte("x"))
	write("kcore_dir__123/modules", []byte("x"))
	r := open(t, dir)
	sound(t, r)
	if got := names(r.Records()); got != "m FINISHED_ROUND b k z" {
		t.Errorf("records %q", got)
	}
	at := func(p string) string { return filepath.Join(dir, p) }
	want := []KcoreDir{{Name: "kcore_dir", Kcore: at("kcore_dir/kcore"), Kallsyms: at("kcore_dir/kallsyms")},
		{Name: "kcore_dir__123", Guest: true, PID: 123, Modules: at("kcore_dir__123/modules")}}
	if d := cmp.Diff(want, r.KcoreDirs()); d != "" || r.Hints().NoKcore {
		t.Errorf("%s%+v", d, r.Hints())
	}
}

// TestHints catches something missing that is not told, or told though there.
func TestHints(t *testing.T) {
	other := who
	other.cpu, other.time = 5, 990
	lost := slices.Concat(comm("a", 980), record(TypeSwitch, 0, usual.trailer(other)), record(TypeLost, 0, uint64(77), uint64(5), usual.trailer(who)))
	h := fromBytes(t, file{attrs: []tattr{usual}, data: lost}.bytes()).Hints()
	if d := cmp.Diff(Hints{NoAux: true, NoKcore: true, NoSwitch: true, LostRecords: 1, LostEvents: 5,
		LostIn: []Lost{{ID: 77, Lost: 5, Time: 1000, CPU: 3, Since: 980}}}, h); d != "" {
		t.Error(d)
	}
	untimed := tattr{sampleType: SampleTID, flags: AttrSampleIDAll | AttrContextSwitch}
	h = fromBytes(t, file{attrs: []tattr{untimed}, data: auxtrace(0, 0, -1, 0, []byte("trace"))}.bytes()).Hints()
	if d := cmp.Diff(Hints{NoAuxInfo: true, NoTime: true, NoTextPoke: true, NoKcore: true}, h); d != "" {
		t.Error(d)
	}
}

// TestOneFeature would catch records taken for incomplete, and so code for unknown to the end,
// since one number in the table of features is wrong. Where several features are missing, so
// may be records.
func TestOneFeature(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleTime | SampleCPU, flags: AttrSampleIDAll | AttrTextPoke}
	whole := file{
		attrs: []tattr{a}, data: record(TypeComm, 0, int32(7), int32(7), "some\x00\x00\x00\x00", a.trailer(ident{pid: 7, tid: 7, time: 5})),
		features: map[Feature][]byte{FeatureHostname: enc(uint32(8), "hostname"), FeatureArch: enc(uint32(8), "aarch64\x00"), FeatureNrCPUs: enc(uint32(2), uint32(2))},
	}.bytes()
	table := int(le.Uint64(whole[40:]) + le.Uint64(whole[48:]))
	for n := range 3 {
		bad := slices.Clone(whole)
		for i := range n {
			bad[table+16*i+15] = 0x6c // of the section's size
		}
		r := fromBytes(t, bad)
		if h := r.Hints(); h.Incomplete != (n > 1) || h.CutShort != (n > 0) || r.Counts()[TypeComm] != 1 {
			t.Errorf("%d sections of a wrong size: incomplete %v, cut short %v", n, h.Incomplete, h.CutShort)
		}
	}
}
