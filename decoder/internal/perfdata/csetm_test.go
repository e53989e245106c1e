package perfdata

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// csInfo makes an AUXTRACE_INFO record of cs_etm from words.
func csInfo(words ...uint64) Record {
	body := enc(uint32(AuxCSETM), uint32(0), words)
	return Record{Type: TypeAuxtraceInfo, File: "f", Off: 0x40, Size: 8 + len(body), Body: body}
}

// TestCSETM would catch a parameter read as another, for each trace unit and
// version. It would also catch parameters of newer versions that the count does
// not skip. Each word has a value of its own.
func TestCSETM(t *testing.T) {
	v3 := []uint64{0x31, 0x32, 0x33, 0x34}
	v4 := []uint64{0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47}
	ete := []uint64{0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58}
	none := ^uint64(0)
	read3 := CSCPU{CPU: 7, Kind: CSETMv3, CR: 0x31, TRACEIDR: 0x32, CCER: 0x33, IDR: 0x34}
	read4 := CSCPU{CPU: 8, Kind: CSETMv4, CONFIGR: 0x41, TRACEIDR: 0x42, IDR0: 0x43, IDR1: 0x44, IDR2: 0x45, IDR8: 0x46, AUTHSTATUS: 0x47}
	readE := CSCPU{CPU: 9, Kind: CSETE, CONFIGR: 0x51, TRACEIDR: 0x52, IDR0: 0x53, IDR1: 0x54, IDR2: 0x55, IDR8: 0x56, AUTHSTATUS: 0x57, DEVARCH: 0x58}
	with := func(c CSCPU, source int64, params ...uint64) CSCPU {
		c.TSSource, c.Params = source, params
		return c
	}
	for _, x := range []struct {
		name  string
		words []uint64
		want  CSETM
	}{
		{"version 0", slices.Concat([]uint64{0, 5<<32 | 2, 1}, []uint64{csMagicETMv3, 7}, v3, []uint64{csMagicETMv4, 8}, v4),
			CSETM{Version: 0, PMUType: 5, Snapshot: true, CPUs: []CSCPU{with(read3, 0, v3...), with(read4, 0, v4...)}}},
		{"version 1", slices.Concat([]uint64{1, 6<<32 | 3, 0}, []uint64{csMagicETE, 9, 8}, ete, []uint64{csMagicETMv4, 8, 7}, v4, []uint64{csMagicETMv3, 7, 4}, v3),
			CSETM{Version: 1, PMUType: 6, CPUs: []CSCPU{with(readE, 0, ete...), with(read4, 0, v4...), with(read3, 0, v3...)}}},
		{"the source of timestamps", slices.Concat([]uint64{2, 6<<32 | 2, 0}, []uint64{csMagicETE, 9, 9}, ete, []uint64{1}, []uint64{csMagicETMv4, 8, 8}, v4, []uint64{none}),
			CSETM{Version: 2, PMUType: 6, CPUs: []CSCPU{with(readE, 1, append(slices.Clone(ete), 1)...), with(read4, -1, append(slices.Clone(v4), none)...)}}},
		{"more parameters than are known, and another trace unit", slices.Concat([]uint64{2, 3, 0}, []uint64{csMagicETMv3, 7, 6}, v3, []uint64{1, 2}, []uint64{0x60, 4, 1, 5}, []uint64{csMagicETMv4, 8, 10}, v4, []uint64{1, 2, 3}),
			CSETM{Version: 2, CPUs: []CSCPU{with(read3, 0, append(slices.Clone(v3), 1, 2)...), with(CSCPU{CPU: 4}, 0, 5), with(read4, 1, append(slices.Clone(v4), 1, 2, 3)...)}}},
		{"no CPU", []uint64{2, 6 << 32, 0}, CSETM{Version: 2, PMUType: 6}},
	} {
		rec := csInfo(x.words...)
		m, err := rec.AuxtraceInfo()
		if err != nil || m.Kind != AuxCSETM || m.CS == nil {
			t.Errorf("%s: %+v, %v", x.name, m, err)
			continue
		}
		if d := cmp.Diff(x.want, *m.CS); d != "" {
			t.Errorf("%s: %s", x.name, d)
		}
	}
}

// TestCSETMErrors catches an area that is short or wrong and read all the same,
// and one from which too much memory is asked for.
func TestCSETMErrors(t *testing.T) {
	for _, x := range []struct {
		want  string
		words []uint64
	}{
		{"cs_etm: 2 words, need 3", []uint64{2, 1}},
		{"cs_etm: version 3, known are 0 to 2", []uint64{3, 1, 0, 1, 2, 3}},
		{"cs_etm: block 0 of 4294967295: 0 words left, need 3", []uint64{2, 1<<32 - 1, 0}},
		{"cs_etm: block 0 of 1: 3 parameters, need 4 of etmv3", []uint64{1, 1, 0, csMagicETMv3, 0, 3, 1, 2, 3}},
		{"cs_etm: block 0 of 1: 7 parameters, need 8 of ete", []uint64{1, 1, 0, csMagicETE, 0, 7, 1, 2, 3, 4, 5, 6, 7}},
		{"cs_etm: block 0 of 1: 9 parameters, have 8 words", []uint64{1, 1, 0, csMagicETE, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8}},
		{"cs_etm: block 0 of 1: 18446744073709551615 parameters, have 1 words", []uint64{1, 1, 0, csMagicETE, 0, 1<<64 - 1, 1}},
		{"cs_etm: block 0 of 1: magic 0x5050505050505050, known in version 0", []uint64{0, 1, 0, csMagicETE, 0, 1, 2, 3, 4, 5, 6, 7, 8}},
		{"cs_etm: block 1 of 2: 1 words left, need 2", []uint64{0, 2, 0, csMagicETMv3, 0, 1, 2, 3, 4, 5}},
	} {
		rec := csInfo(x.words...)
		_, err := rec.AuxtraceInfo()
		if err == nil || !strings.HasPrefix(err.Error(), "f+0x40: AUXTRACE_INFO: ") || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}

// TestTraceIDs catches an ID that does not count and is taken, one that counts
// and is not, and a field of the HW_ID word read as another.
func TestTraceIDs(t *testing.T) {
	for _, x := range []struct {
		reg uint32
		id  uint8
		ok  bool
	}{{0x10, 0x10, true}, {0x8000_0010, 0x10, false}, {0, 0, false}, {0x70, 0x70, false}, {0x6F, 0x6F, true}, {0x8000_007F, 0x7F, false}} {
		c := CSCPU{TRACEIDR: x.reg}
		if id, ok := c.TraceID(); id != x.id || ok != x.ok {
			t.Errorf("register 0x%x: ID 0x%x, %v", x.reg, id, ok)
		}
	}
	for cpu, id := range map[uint64]uint8{0: 0x10, 1: 0x12, 47: 0x6E} {
		if got := LegacyTraceID(cpu); got != id {
			t.Errorf("CPU %d: legacy ID 0x%x, want 0x%x", cpu, got, id)
		}
	}
	for _, x := range []struct {
		word uint64
		want CSHWID
		ok   bool
	}{
		{0x0000_0000_0000_0010, CSHWID{TraceID: 0x10}, true},
		{0x0100_0089_abcd_ef12, CSHWID{TraceID: 0x12, Sink: 0x89abcdef, HasSink: true, Minor: 1}, true},
		{0x1000_0000_0000_0010, CSHWID{TraceID: 0x10, Major: 1}, false},
		{0, CSHWID{}, false},
		{0x7F, CSHWID{TraceID: 0x7F}, false},
	} {
		if got, ok := CSHWIDOf(x.word); got != x.want || ok != x.ok {
			t.Errorf("0x%x: %+v, %v", x.word, got, ok)
		}
	}
}
