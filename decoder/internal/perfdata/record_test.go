package perfdata

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// usual is the attribute that perf record gives the dummy event today.
var usual = tattr{typ: 1, config: 9, sampleType: SampleIP | SampleTID | SampleTime | SampleCPU | SampleIdentifier,
	flags: AttrSampleIDAll | AttrTextPoke, ids: []uint64{77}}

// who is a sample_id of that event.
var who = ident{pid: 10, tid: 11, time: 1000, id: 77, cpu: 3}

// recordCase is a record and what its method must read from it.
type recordCase struct {
	typ    Type
	misc   Misc
	fields []any
	read   func(*Record) (any, error)
	want   any
}

func kernelCases() []recordCase {
	buildID := []byte("0123456789abcdefghij")
	return []recordCase{
		{TypeMmap, MiscKernel, []any{int32(-1), uint32(0), uint64(0x1000), uint64(0x200), uint64(0x30), name("[kernel.kallsyms]_text")},
			func(r *Record) (any, error) { return r.Mmap() },
			Mmap{PID: -1, Addr: 0x1000, Len: 0x200, PgOff: 0x30, Executable: true, File: "[kernel.kallsyms]_text"}},
		{TypeMmap, MiscUser | MiscMmapData, []any{uint32(1), uint32(2), uint64(3), uint64(4), uint64(5), name("x")},
			func(r *Record) (any, error) { return r.Mmap() },
			Mmap{PID: 1, TID: 2, Addr: 3, Len: 4, PgOff: 5, File: "x"}},
		{TypeMmap2, MiscUser, []any{uint32(1), uint32(2), uint64(3), uint64(4), uint64(5), uint32(6), uint32(7), uint64(8), uint64(9), uint32(5), uint32(2), name("/usr/lib/libc.so")},
			func(r *Record) (any, error) { return r.Mmap() },
			Mmap{PID: 1, TID: 2, Addr: 3, Len: 4, PgOff: 5, Maj: 6, Min: 7, Inode: 8, InodeGen: 9, Prot: 5, Flags: 2, Executable: true, File: "/usr/lib/libc.so"}},
		{TypeMmap2, MiscUser | MiscMmapBuildID, []any{uint32(1), uint32(2), uint64(3), uint64(4), uint64(5), uint8(20), uint8(0), uint16(0), buildID, uint32(1), uint32(2), name("a")},
			func(r *Record) (any, error) { return r.Mmap() },
			Mmap{PID: 1, TID: 2, Addr: 3, Len: 4, PgOff: 5, BuildID: buildID, Prot: 1, Flags: 2, File: "a"}},
		{TypeLost, 0, []any{uint64(77), uint64(5)},
			func(r *Record) (any, error) { return r.Lost() }, Lost{ID: 77, Lost: 5, Time: 1000, CPU: 3}},
		{TypeLostSamples, 0, []any{uint64(6)},
			func(r *Record) (any, error) { return r.Lost() }, Lost{Lost: 6, Time: 1000, CPU: 3}},
		{TypeComm, MiscCommExec, []any{uint32(1), uint32(2), name("bash")},
			func(r *Record) (any, error) { return r.Comm() }, Comm{1, 2, "bash", true}},
		{TypeComm, 0, []any{uint32(1), uint32(2), name("eight ch")},
			func(r *Record) (any, error) { return r.Comm() }, Comm{1, 2, "eight ch", false}},
		{TypeExit, 0, []any{uint32(1), uint32(2), uint32(3), uint32(4), uint64(5)},
			func(r *Record) (any, error) { return r.Task() }, Task{1, 2, 3, 4, 5}},
		{TypeFork, 0, []any{uint32(1), uint32(2), uint32(3), uint32(4), uint64(5)},
			func(r *Record) (any, error) { return r.Task() }, Task{1, 2, 3, 4, 5}},
		{TypeThrottle, 0, []any{uint64(1), uint64(2), uint64(3)},
			func(r *Record) (any, error) { return r.Throttle() }, Throttle{1, 2, 3}},
		{TypeUnthrottle, 0, []any{uint64(1), uint64(2), uint64(3)},
			func(r *Record) (any, error) { return r.Throttle() }, Throttle{1, 2, 3}},
		{TypeRead, 0, []any{uint32(1), uint32(2), uint64(3), uint64(4)},
			func(r *Record) (any, error) { return r.Words(), nil }, []uint64{2<<32 | 1, 3, 4}},
		{TypeAux, 0, []any{uint64(0x100), uint64(0x20), uint64(AuxTruncated | AuxFormatCoreSightRaw)},
			func(r *Record) (any, error) { return r.Aux() }, Aux{0x100, 0x20, 0x101}},
		{TypeItraceStart, 0, []any{uint32(1), uint32(2)},
			func(r *Record) (any, error) { return r.ItraceStart() }, ThreadID{1, 2}},
		{TypeSwitch, MiscSwitchOut | MiscSwitchPreempt, nil,
			func(r *Record) (any, error) { o, p := r.SwitchOut(); return []bool{o, p}, nil }, []bool{true, true}},
		{TypeSwitch, 0, nil,
			func(r *Record) (any, error) { o, p := r.SwitchOut(); return []bool{o, p}, nil }, []bool{false, false}},
		{TypeSwitchCPUWide, MiscSwitchOut, []any{uint32(1), uint32(2)},
			func(r *Record) (any, error) { return r.SwitchCPUWide() }, ThreadID{1, 2}},
		{TypeNamespaces, 0, []any{uint32(1), uint32(2), uint64(2), uint64(3), uint64(4), uint64(5), uint64(6)},
			func(r *Record) (any, error) { return r.Namespaces() }, Namespaces{1, 2, []Namespace{{3, 4}, {5, 6}}}},
		{TypeKsymbol, 0, []any{uint64(0xffff), uint32(64), uint16(KsymbolOOL), uint16(1), name("kprobe_insn_page")},
			func(r *Record) (any, error) { return r.Ksymbol() }, Ksymbol{0xffff, 64, KsymbolOOL, true, "kprobe_insn_page"}},
		{TypeBPFEvent, 0, []any{uint16(1), uint16(0), uint32(9), "12345678"},
			func(r *Record) (any, error) { return r.BPFEvent() }, BPFEvent{1, 0, 9, [8]byte([]byte("12345678"))}},
		{TypeCgroup, 0, []any{uint64(5), name("/system.slice")},
			func(r *Record) (any, error) { return r.Cgroup() }, Cgroup{5, "/system.slice"}},
		{TypeTextPoke, 0, []any{uint64(0xffffffff81000000), uint16(5), uint16(5), "\x0f\x1f\x44\x00\x00", "\xe9\x01\x02\x03\x04", "\x00\x00"},
			func(r *Record) (any, error) { return r.TextPoke() },
			TextPoke{0xffffffff81000000, []byte("\x0f\x1f\x44\x00\x00"), []byte("\xe9\x01\x02\x03\x04")}},
		{TypeTextPoke, 0, []any{uint64(1), uint16(0), uint16(3), "abc", "\x00"},
			func(r *Record) (any, error) { return r.TextPoke() }, TextPoke{1, []byte{}, []byte("abc")}},
		{TypeAuxOutputHWID, 0, []any{uint64(2)},
			func(r *Record) (any, error) { return r.AuxOutputHWID() }, uint64(2)},
		{TypeCallchainDeferred, 0, []any{uint64(2), uint64(2), uint64(3), uint64(4)},
			func(r *Record) (any, error) { return r.CallchainDeferred() }, CallchainDeferred{2, []uint64{3, 4}}},
	}
}

func userCases() []recordCase {
	return []recordCase{
		{TypeHeaderBuildID, MiscKernel | MiscBuildIDSize, []any{int32(-1), "0123456789abcdefghij", uint8(16), uint8(0), uint16(0), name("[kernel.kallsyms]")},
			func(r *Record) (any, error) { return r.BuildID() },
			BuildID{-1, MiscKernel | MiscBuildIDSize, []byte("0123456789abcdef"), "[kernel.kallsyms]"}},
		{TypeIDIndex, 0, []any{2, []uint64{7, 0, 1, ^uint64(0), 8, 1, ^uint64(0), 5}},
			func(r *Record) (any, error) { return r.IDIndex() },
			[]IDEntry{{ID: 7, CPU: 1, TID: -1}, {ID: 8, Index: 1, CPU: -1, TID: 5}}},
		{TypeIDIndex, 0, []any{1, []uint64{7, 0, 1, ^uint64(0)}, []uint64{99, 2}},
			func(r *Record) (any, error) { return r.IDIndex() },
			[]IDEntry{{ID: 7, CPU: 1, TID: -1, MachinePID: 99, VCPU: 2}}},
		{TypeAuxtraceError, 0, []any{uint32(1), uint32(5), uint32(0), uint32(2), uint32(3), uint32(1), uint64(0x40), uint64(9), make([]byte, 64)},
			func(r *Record) (any, error) { return r.AuxtraceError() },
			AuxtraceError{Kind: 1, Code: 5, PID: 2, TID: 3, Format: 1, IP: 0x40, Time: 9}},
		{TypeAuxtraceError, 0, []any{uint32(1), uint32(5), uint32(0), uint32(2), uint32(3), uint32(0), uint64(0x40), "lost", make([]byte, 60)},
			func(r *Record) (any, error) { return r.AuxtraceError() },
			AuxtraceError{Kind: 1, Code: 5, PID: 2, TID: 3, IP: 0x40, Msg: "lost"}},
		{TypeAuxtraceError, 0, []any{uint32(1), uint32(5), uint32(0), uint32(2), uint32(3), uint32(2), uint64(0x40), uint64(9), "lost", make([]byte, 60), uint32(8), uint32(1)},
			func(r *Record) (any, error) { return r.AuxtraceError() },
			AuxtraceError{Kind: 1, Code: 5, PID: 2, TID: 3, Format: 2, IP: 0x40, Time: 9, Msg: "lost", MachinePID: 8, VCPU: 1}},
		{TypeEventUpdate, 0, []any{3, 77, uint16(0), uint16(2), uint16(0), uint16(3)},
			func(r *Record) (any, error) { return r.EventUpdate() }, EventUpdate{Kind: 3, ID: 77, CPUs: []int{0, 3}}},
		{TypeEventUpdate, 0, []any{3, 77, uint16(0), uint16(1), uint16(0xffff), uint16(0)},
			func(r *Record) (any, error) { return r.EventUpdate() }, EventUpdate{Kind: 3, ID: 77, CPUs: []int{-1}}},
		{TypeEventUpdate, 0, []any{3, 77, uint16(1), uint16(2), uint16(4), uint32(5), uint32(1)},
			func(r *Record) (any, error) { return r.EventUpdate() }, EventUpdate{Kind: 3, ID: 77, CPUs: []int{0, 2, 32}}},
		{TypeEventUpdate, 0, []any{3, 77, uint16(1), uint16(1), uint16(8), uint32(0), uint64(1<<40 | 2)},
			func(r *Record) (any, error) { return r.EventUpdate() }, EventUpdate{Kind: 3, ID: 77, CPUs: []int{1, 40}}},
		{TypeEventUpdate, 0, []any{3, 77, uint16(2), uint8(1), uint8(0), uint16(4), uint16(6)},
			func(r *Record) (any, error) { return r.EventUpdate() }, EventUpdate{Kind: 3, ID: 77, CPUs: []int{-1, 4, 5, 6}}},
		{TypeEventUpdate, 0, []any{2, 77, name("cycles:k")},
			func(r *Record) (any, error) { return r.EventUpdate() }, EventUpdate{Kind: 2, ID: 77, Text: "cycles:k"}},
		{TypeEventUpdate, 0, []any{1, 77, uint64(0x3fe0000000000000)},
			func(r *Record) (any, error) { return r.EventUpdate() }, EventUpdate{Kind: 1, ID: 77, Scale: 0.5}},
		{TypeStatConfig, 0, []any{1, 2, 3}, func(r *Record) (any, error) { return r.Words(), nil }, []uint64{1, 2, 3}},
		{TypeStat, 0, []any{1, 2, 3, 4, 5}, func(r *Record) (any, error) { return r.Words(), nil }, []uint64{1, 2, 3, 4, 5}},
		{TypeStatRound, 0, []any{1, 2}, func(r *Record) (any, error) { return r.Words(), nil }, []uint64{1, 2}},
		{TypeTimeConv, 0, []any{31, 3, 4}, func(r *Record) (any, error) { return r.TimeConv() },
			TimeConv{Shift: 31, Mult: 3, Zero: 4, CapZero: true}},
		{TypeTimeConv, 0, []any{31, 3, 4, 5, 6, uint8(1), uint8(1), uint16(0), uint32(0)}, func(r *Record) (any, error) { return r.TimeConv() },
			TimeConv{31, 3, 4, 5, 6, true, true, true}},
		{TypeFinishedRound, 0, nil, func(r *Record) (any, error) { return r.Type.String(), nil }, "FINISHED_ROUND"},
		{TypeFinishedInit, 0, nil, func(r *Record) (any, error) { return r.Type.String(), nil }, "FINISHED_INIT"},
		{Type(200), 0, []any{8}, func(r *Record) (any, error) { return r.Type.String(), nil }, "type 200"},
	}
}

// TestEveryRecord catches a field read at the wrong place, width or sign, and
// a sample_id taken for part of the body, for every record type.
func TestEveryRecord(t *testing.T) {
	for _, c := range append(kernelCases(), userCases()...) {
		var tail []byte
		if c.typ < firstUserType {
			tail = usual.trailer(who)
		}
		r := fromBytes(t, file{attrs: []tattr{usual}, data: record(c.typ, c.misc, append(slices.Clone(c.fields), tail)...)}.bytes())
		sound(t, r)
		list := all(r.Records())
		if len(list) != 1 || list[0].Type != c.typ {
			t.Errorf("%s: read %v", c.typ, list)
			continue
		}
		rec := &list[0]
		got, err := c.read(rec)
		if err != nil {
			t.Errorf("%s: %v", c.typ, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.typ, d)
		}
		if c.typ < firstUserType && (rec.Time != 1000 || rec.PID != 10 || rec.TID != 11 || rec.CPU != 3 || rec.ID != 77 || rec.Attr == nil) {
			t.Errorf("%s: sample_id %+v", c.typ, rec.Ident)
		}
		if c.typ >= firstUserType && (rec.HasTime() || rec.CPU != -1) {
			t.Errorf("%s: has a sample_id %+v, perf's own records have none", c.typ, rec.Ident)
		}
	}
}

// TestShortRecords would catch a read past the body, and a length field that is
// believed. Each record, cut to every length, must give its value or an error
// that names the record, and no more than the body has.
func TestShortRecords(t *testing.T) {
	for _, c := range append(kernelCases(), userCases()...) {
		body := enc(c.fields...)
		for n := range len(body) {
			rec := Record{Type: c.typ, Misc: c.misc, Size: headerSize + n, File: "f", Off: 0x40, Body: body[:n:n]}
			_, err := c.read(&rec)
			if err != nil && !strings.HasPrefix(err.Error(), "f+0x40: "+c.typ.String()+": ") {
				t.Errorf("%s of %d bytes: error %q", c.typ, n, err)
			}
		}
	}
	poke := Record{Type: TypeTextPoke, Size: 30, File: "f", Body: enc(uint64(1), uint16(9), uint16(9), "0123456789")}
	if _, err := poke.TextPoke(); err == nil || !strings.Contains(err.Error(), "old 9 and new 9 bytes, have 10") {
		t.Errorf("TEXT_POKE longer than its record: error %v", err)
	}
}

// TestLayouts catches a wrong sample_id for any set of its fields, for SAMPLE
// and other records, with one event and with two that differ and are told
// apart by id.
func TestLayouts(t *testing.T) {
	bits := []uint64{SampleTID, SampleTime, SampleID, SampleStreamID, SampleCPU, SampleIdentifier, SampleIP, SampleAddr}
	other := tattr{sampleType: SampleTID | SampleTime | SampleIdentifier, flags: AttrSampleIDAll, ids: []uint64{500}}
	for set := range 1 << len(bits) {
		a := tattr{flags: AttrSampleIDAll, ids: []uint64{41, 42}}
		for i, b := range bits {
			if set>>i&1 != 0 {
				a.sampleType |= b
			}
		}
		d := ident{pid: 1, tid: 2, time: 3, id: 42, stream: 5, cpu: 6}
		e := ident{pid: 11, tid: 12, time: 13, id: 500}
		data := slices.Concat(record(TypeComm, 0, uint32(1), uint32(2), name("abcdefg"), a.trailer(d)), record(TypeSample, 0, a.lead(d, 8, 9)))
		want := wantIdent(a, d)
		check := func(attrs []tattr, data []byte, want ...Ident) {
			t.Helper()
			list := all(fromBytes(t, file{attrs: attrs, data: data}.bytes()).fileOrder())
			if len(list) != len(want) {
				t.Fatalf("sample_type 0x%x: %d records, want %d", a.sampleType, len(list), len(want))
			}
			for i := range list {
				if list[i].Ident != want[i] {
					t.Errorf("sample_type 0x%x, %s: %+v, want %+v", a.sampleType, list[i].Type, list[i].Ident, want[i])
				}
				if c, err := list[i].Comm(); err == nil && c.Comm != "abcdefg" {
					t.Errorf("sample_type 0x%x: comm %q", a.sampleType, c.Comm)
				}
			}
		}
		check([]tattr{a}, data, want, want)
		if a.sampleType&(SampleID|SampleIdentifier) != 0 {
			data = slices.Concat(data, record(TypeComm, 0, uint32(1), uint32(2), name("abcdefg"), other.trailer(e)), record(TypeSample, 0, other.lead(e, 0, 0)))
			o := wantIdent(other, e)
			check([]tattr{a, other}, data, want, want, o, o)
			check([]tattr{other, a}, data, want, want, o, o)
		}
	}
}

func wantIdent(a tattr, d ident) Ident {
	w := noIdent
	st := a.sampleType
	w.Has = st & trailerBits
	if st&SampleTID != 0 {
		w.PID, w.TID = d.pid, d.tid
	}
	if st&SampleTime != 0 {
		w.Time = d.time
	}
	if st&(SampleID|SampleIdentifier) != 0 {
		w.ID = d.id
	}
	if st&SampleStreamID != 0 {
		w.StreamID = d.stream
	}
	if st&SampleCPU != 0 {
		w.CPU = d.cpu
	}
	return w
}

// TestIDElsewhere catches a record given to an event whose id stands where
// that event has none: a stream id is often another event's id.
func TestIDElsewhere(t *testing.T) {
	attrs := []tattr{
		{sampleType: SampleIdentifier, flags: AttrSampleIDAll, ids: []uint64{5}},
		{sampleType: SampleID | SampleStreamID, flags: AttrSampleIDAll, ids: []uint64{6}, config: 1},
		{sampleType: SampleID | SampleStreamID, flags: AttrSampleIDAll, ids: []uint64{7}, config: 2},
	}
	r := fromBytes(t, file{attrs: attrs, data: record(TypeSwitch, 0, attrs[1].trailer(ident{id: 6, stream: 7}))}.bytes())
	if rec := all(r.Records())[0]; rec.Attr.Config != 1 || rec.ID != 6 || rec.StreamID != 7 {
		t.Errorf("event %d, %+v", rec.Attr.Index, rec.Ident)
	}
}

// TestNoSampleIDAll catches a sample_id looked for where there is none.
func TestNoSampleIDAll(t *testing.T) {
	a := usual
	a.flags = 0
	r := fromBytes(t, file{attrs: []tattr{a}, data: record(TypeComm, 0, uint32(1), uint32(2), name("abcdefg"))}.bytes())
	rec := all(r.Records())[0]
	if c, err := rec.Comm(); err != nil || c.Comm != "abcdefg" || rec.HasTime() {
		t.Errorf("comm %+v, %v, ident %+v", c, err, rec.Ident)
	}
}

// TestSynthesized catches records that perf record makes itself, whose id is
// 0, being given to no event or the wrong one.
func TestSynthesized(t *testing.T) {
	other := tattr{sampleType: SampleTime | SampleIdentifier, flags: AttrSampleIDAll, ids: []uint64{500}}
	r := fromBytes(t, file{attrs: []tattr{usual, other}, data: record(TypeComm, 0, uint32(1), uint32(2), name("abcdefg"), usual.trailer(ident{}))}.bytes())
	rec := all(r.Records())[0]
	if rec.Attr == nil || rec.Attr.Index != 0 || len(rec.Body) != 16 {
		t.Errorf("event %v, body %d bytes; want the first, 16", rec.Attr, len(rec.Body))
	}
}

// TestSample catches any field of a SAMPLE that is skipped by the wrong
// length: the AUX data at its end must come out whole.
func TestSample(t *testing.T) {
	aux := "hardware trace!!"
	type part struct {
		bit    uint64
		fields []any
	}
	parts := []part{
		{SamplePeriod, []any{7}},
		{SampleRead, []any{2, 8, 9, 1, 2, 3, 4, 5, 6}},
		{SampleCallchain, []any{2, 0x111, 0x222}},
		{SampleRaw, []any{uint32(12), "raw data 12."}},
		{SampleBranchStack, []any{1, 5, 1, 2, 3, 0xbeef}},
		{SampleRegsUser, []any{2, 10, 11}},
		{SampleStackUser, []any{16, "stackstackstack.", 8}},
		{SampleWeightStruct, []any{99}},
		{SampleDataSrc, []any{98}},
		{SampleTransaction, []any{97}},
		{SampleRegsIntr, []any{0}},
		{SamplePhysAddr, []any{96}},
		{SampleCgroup, []any{95}},
		{SampleDataPageSize, []any{4096}},
		{SampleCodePageSize, []any{8192}},
		{SampleAux, []any{len(aux), aux}},
	}
	for skip := -1; skip < len(parts)-1; skip++ {
		a := usual
		a.readFormat = readGroup | readEnabled | readRunning | readID | readLost
		a.branch = branchHWIndex | branchCounters
		a.regsUser, a.regsIntr = 0x101, 7
		var body []byte
		for i, p := range parts {
			if i != skip {
				a.sampleType |= p.bit
				body = append(body, enc(p.fields...)...)
			}
		}
		r := fromBytes(t, file{attrs: []tattr{a}, data: record(TypeSample, MiscKernel, a.lead(who, 0xabc, 0), body)}.bytes())
		sound(t, r)
		rec := all(r.Records())[0]
		m, err := rec.Sample()
		if err != nil || string(m.Aux) != aux || m.IP != 0xabc || string(rec.Body[m.AuxOff:]) != aux {
			t.Errorf("without field 0x%x: aux %q, ip 0x%x, %v", parts[max(skip, 0)].bit, m.Aux, m.IP, err)
		}
		if skip == -1 && (string(m.StackUser) != "stacksta" || string(m.Raw) != "raw data 12." || m.DataPage != 4096 || m.CodePage != 8192 ||
			m.Weight != 99 || m.Cgroup != 95 || len(m.Branches) != 24 || len(m.BranchCounters) != 8 || len(m.RegsUser) != 16 || m.RegsIntr != nil) {
			t.Errorf("sample %+v", m)
		}
		if s := r.Streams(); len(s) != 1 || !s[0].Sampled || s[0].CPU != 3 || string(s[0].Bytes(0, 99)) != aux {
			t.Errorf("streams %+v", s)
		}
	}
}

// TestDocs catches a record type that the format's page does not list, or
// lists under another number or name.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile("../../../docs/formats/perf-data.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[Type]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \| ([A-Z_0-9]+) \| `).FindAllSubmatch(b, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		if Type(n).String() != string(m[2]) {
			t.Errorf("type %d is %s, the page has %s", n, Type(n), m[2])
		}
		listed[Type(n)] = true
	}
	for n, s := range typeNames {
		if s != "" && !listed[Type(n)] {
			t.Errorf("type %d %s is not on the page", n, s)
		}
	}
	for i, s := range simpleNames {
		if n := TypeSimpleKernelSymbol + Type(i); !listed[n] {
			t.Errorf("type %d %s is not on the page", n, s)
		}
	}
}
