package perfdata

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// kernelRecordings are the recordings under kernel-pokes-x86.
func kernelRecordings(t testing.TB) []string {
	t.Helper()
	return testsize.Recorded(t, "kernel-pokes-x86/*/perf.data")
}

func open(t testing.TB, path string) *Recording {
	t.Helper()
	r, err := Open(nil, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// TestStreamsAreTheTrace catches padding left in or data cut off where pieces
// of an AUX area meet: each stream must be the raw trace beside the recording.
func TestStreamsAreTheTrace(t *testing.T) {
	for _, path := range kernelRecordings(t) {
		r := open(t, path)
		found, more := r.Trouble()
		if len(found)+more != 0 {
			t.Errorf("%s: trouble %v", path, found)
		}
		raw, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "cpu?.pt"))
		if len(raw) != len(r.Streams()) {
			t.Errorf("%s: %d streams, want %d", path, len(r.Streams()), len(raw))
			continue
		}
		for i := range r.Streams() {
			s := &r.Streams()[i]
			want, err := os.ReadFile(raw[i])
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Bytes(0, s.Size); int(s.CPU) != i || !bytes.Equal(got, want) {
				t.Errorf("%s: stream of CPU %d has %d bytes that differ from the %d of %s", path, s.CPU, len(got), len(want), raw[i])
			}
			if len(s.Losses) != 0 {
				t.Errorf("%s: CPU %d: losses %v", path, s.CPU, s.Losses)
			}
		}
	}
}

// TestTimeOrder catches records out of order, lost or doubled by the merge.
func TestTimeOrder(t *testing.T) {
	for _, path := range kernelRecordings(t) {
		r := open(t, path)
		want := uint64(0)
		for _, n := range r.Counts() {
			want += n
		}
		var rec Record
		var last, n uint64
		for rd := r.Records(); rd.Next(&rec); n++ {
			if rec.HasTime() {
				if rec.Time < last {
					t.Fatalf("%s: record %d at 0x%x: time %d after %d", path, n, rec.Off, rec.Time, last)
				}
				last = rec.Time
			}
		}
		if n != want {
			t.Errorf("%s: %d records in time order, %d in the files", path, n, want)
		}
		t.Logf("%s: %d records, %d runs, %v", filepath.Base(filepath.Dir(path)), n, len(r.runs), r.Counts())
	}
}

// TestRealDamage catches a panic, a hang or silence on a real recording cut
// short or changed; the records before the damage must be as they were.
func TestRealDamage(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "ftrace", "perf.data", "data"))
	if err != nil {
		t.Fatal(err)
	}
	want := all(fromBytes(t, whole).fileOrder())
	rng := rand.New(rand.NewPCG(9, 9))
	for range testsize.Of(t, 10, 200) {
		cut := rng.IntN(len(whole))
		r, err := openBytes("t.data", whole[:cut:cut])
		if err != nil {
			continue
		}
		got := all(r.fileOrder())
		if found, _ := r.Trouble(); len(found) == 0 || !r.Hints().CutShort {
			t.Errorf("cut to %d: no trouble", cut)
		}
		for i := range got {
			if i+1 < len(got) && (got[i].Type != want[i].Type || got[i].Time != want[i].Time || !bytes.Equal(got[i].Body, want[i].Body)) {
				t.Fatalf("cut to %d: record %d differs", cut, i)
			}
		}
		exercise(r)
		bad := slices.Clone(whole)
		for range 20 {
			bad[rng.IntN(len(bad))] = byte(rng.Uint32())
		}
		if r, err := openBytes("t.data", bad); err == nil {
			exercise(r)
		}
	}
}

// TestRealConfig catches the trace's configuration read wrongly from a real
// recording; what it is stands in the data's own description.
func TestRealConfig(t *testing.T) {
	path := filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "tracepoints", "perf.data")
	r := open(t, path)
	conv := TimeConv{Shift: 31, Mult: 1 << 31, Zero: 18446744069310359502, CapZero: true}
	got := *r.TimeConv()
	conv.Cycles, conv.Mask, conv.CapShort, conv.Full = got.Cycles, got.Mask, got.CapShort, got.Full
	if got != conv || !got.Full {
		t.Errorf("TIME_CONV %+v, want %+v", got, conv)
	}
	p := r.AuxInfo().PT
	want := IntelPT{Words: 17, PMUType: 8, TimeShift: 31, TimeMult: 1 << 31, TimeZero: conv.Zero, CapUserTimeZero: true,
		TSCBit: 0x400, NoRetCompBit: 0x800, HaveSchedSwitch: 3, PerCPU: true, MTCBit: 0x200, MTCFreqBits: 0x3c000,
		TSCCTCNum: 80, TSCCTCDen: 2, CYCBit: 2, MaxNonTurbo: 10, HasCapEventTrace: true}
	if *p != want {
		t.Errorf("Intel PT %+v, want %+v", *p, want)
	}
	if a := r.Attrs()[0]; a.Name != "intel_pt//k" || a.Type != p.PMUType || a.Config != 0x100e601 || r.Header().PMUs[a.Type] != "intel_pt" {
		t.Errorf("event %+v", a)
	}
	if f, m, s, ok := r.Header().Family(); f != 6 || m != 94 || s != 3 || !ok {
		t.Errorf("CPU %d/%d/%d", f, m, s)
	}
	k := r.KcoreDirs()
	if len(k) != 1 || k[0].Guest || k[0].Kcore == "" || k[0].Kallsyms == "" || k[0].Modules == "" {
		t.Errorf("kernel copies %+v", k)
	}
	h := r.Hints()
	if h.NoAux || h.NoAuxInfo || h.NoTime || h.NoTextPoke || h.NoSwitch || h.NoKcore || h.LostRecords != 0 || h.AuxLosses != 0 {
		t.Errorf("hints %+v", h)
	}
	if e := r.IDIndex(); len(e) != 6 || e[1].CPU != 1 {
		t.Errorf("ids %+v", e)
	}
}
