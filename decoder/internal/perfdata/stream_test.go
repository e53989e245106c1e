package perfdata

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// trace makes n random bytes, none of them zero, so that padding shows.
func trace(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(1 + rng.IntN(255))
	}
	return b
}

// aux makes an AUX record of the usual event.
func aux(off, size, flags, time uint64, cpu int32) []byte {
	d := who
	d.time, d.cpu = time, cpu
	return record(TypeAux, 0, off, size, flags, usual.trailer(d))
}

// TestSplit catches padding left in, or a byte lost, wherever AUX data is cut
// into AUXTRACE records and whatever the last one's length.
func TestSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		want := [2][]byte{trace(rng, 1+rng.IntN(200)), trace(rng, 1+rng.IntN(200))}
		base := [2]uint64{0, uint64(rng.IntN(1000))}
		var at [2]int
		var data []byte
		for at[0] < len(want[0]) || at[1] < len(want[1]) {
			i := rng.IntN(2)
			n := min(1+rng.IntN(60), len(want[i])-at[i])
			if n > 0 {
				data = append(data, auxtrace(base[i]+uint64(at[i]), uint32(i), -1, int32(i), want[i][at[i]:at[i]+n])...)
				data = append(data, aux(base[i]+uint64(at[i]), uint64(n), 0, 5, int32(i))...)
			}
			at[i] += max(n, 0)
		}
		whole := file{attrs: []tattr{usual}, data: data}.bytes()
		r := fromBytes(t, whole)
		sound(t, r)
		for i := range r.Streams() {
			s := &r.Streams()[i]
			placed(t, s, whole)
			if !bytes.Equal(s.Bytes(0, s.Size), want[i]) || int(s.CPU) != i || len(s.Losses) != 0 {
				t.Fatalf("CPU %d: %d bytes %x, want %d bytes %x; %v", i, s.Size, s.Bytes(0, s.Size), len(want[i]), want[i], s.Losses)
			}
			for range 20 {
				off := rng.IntN(len(want[i]))
				n := rng.IntN(len(want[i])+10) + 1
				if got := s.Bytes(int64(off), int64(n)); !bytes.Equal(got, want[i][off:min(off+n, len(want[i]))]) {
					t.Fatalf("bytes [%d, +%d) differ", off, n)
				}
			}
		}
	}
}

// placed checks that the bytes of a stream stand in the file where FileOff says,
// each behind the one before.
func placed(t *testing.T, s *Stream, file []byte) {
	t.Helper()
	last := int64(-1)
	for off, c := range s.Bytes(0, s.Size) {
		name, at, ok := s.FileOff(int64(off))
		if !ok || name != s.Pieces[0].File || at <= last || file[at] != c {
			t.Fatalf("byte %d: at %#x of %q, %v, behind %#x", off, at, name, ok, last)
		}
		last = at
	}
	for _, off := range []int64{s.Size, s.Size + 9} {
		if _, at, ok := s.FileOff(off); !ok || at != last+1 {
			t.Fatalf("the end, %d of %d: %#x, %v, want %#x", off, s.Size, at, ok, last+1)
		}
	}
}

// TestNoFileOff catches a place told of bytes that no file has as they are.
func TestNoFileOff(t *testing.T) {
	s := &Stream{Size: 5, Pieces: []Piece{{File: "data.1", FileOff: 40, data: []byte("ab")}, {Off: 2, File: "data.2:inflated", FileOff: 7, data: []byte("cde")}}}
	if name, at, ok := s.FileOff(1); !ok || name != "data.1" || at != 41 {
		t.Errorf("%q, %d, %v", name, at, ok)
	}
	for _, off := range []int64{-1, 2, 5} {
		if name, at, ok := s.FileOff(off); ok {
			t.Errorf("%d: %q, %d", off, name, at)
		}
	}
	if _, _, ok := (&Stream{}).FileOff(0); ok {
		t.Error("a stream without bytes has a place")
	}
}

// TestLosses catches a loss not told, told twice, or told at another place.
func TestLosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	a, b, c := trace(rng, 40), trace(rng, 24), trace(rng, 16)
	data := slices.Concat(
		auxtrace(100, 0, -1, 3, a), auxtrace(200, 0, -1, 3, b), auxtrace(224, 0, -1, 3, c), auxtrace(0, 1, -1, 4, a),
		aux(100, 40, AuxTruncated, 7, 3), aux(200, 10, 0, 8, 3), aux(210, 10, AuxPartial, 9, 3),
		aux(220, 20, AuxCollision, 10, 3), aux(500, 0, AuxTruncated, 11, 3), aux(0, 40, AuxFormatCoreSightRaw, 12, 4), aux(0, 1, AuxTruncated, 13, 9))
	r := fromBytes(t, file{attrs: []tattr{usual}, data: data}.bytes())
	sound(t, r)
	s := r.Streams()
	if len(s) != 2 {
		t.Fatalf("%d streams", len(s))
	}
	want := []Loss{{40, 40, LossGap, 0}, {40, 40, LossTruncated, 7}, {50, 60, LossPartial, 9}, {60, 80, LossCollision, 10}, {80, 80, LossTruncated, 11}}
	if d := cmp.Diff(want, s[0].Losses); d != "" {
		t.Error(d)
	}
	if s[0].Format != 0 || s[1].Format != AuxFormatCoreSightRaw {
		t.Errorf("formats 0x%x, 0x%x", s[0].Format, s[1].Format)
	}
	if len(s[1].Losses) != 0 || r.Hints().AuxLosses != 5 {
		t.Errorf("losses of the other CPU %v, hints %+v", s[1].Losses, r.Hints())
	}
}

// TestPerThread catches the AUX records of one thread counted for another,
// and streams of threads not told apart.
func TestPerThread(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleTime | SampleIdentifier, flags: AttrSampleIDAll, ids: []uint64{70, 71}}
	note := func(id uint64, tid int32, off, flags uint64) []byte {
		return record(TypeAux, 0, off, uint64(13), flags, a.trailer(ident{pid: 9, tid: tid, time: 5, id: id}))
	}
	index := record(TypeIDIndex, 0, 2, []uint64{70, 0, ^uint64(0), 20}, []uint64{71, 1, ^uint64(0), 21})
	data := slices.Concat(index, auxtrace(0, 0, 20, -1, []byte("thread twenty")), auxtrace(0, 1, 21, -1, []byte("thread 21 ...")),
		// The thread that ran is not always the thread that is traced.
		note(71, 99, 0, AuxTruncated), note(70, 20, 0, 0))
	r := fromBytes(t, file{attrs: []tattr{a}, data: data}.bytes())
	sound(t, r)
	var got []string
	for i := range r.Streams() {
		s := &r.Streams()[i]
		got = append(got, string(s.Bytes(0, 99)))
		if s.TID != int32(20+i) || s.CPU != -1 || len(s.Losses) != i {
			t.Errorf("stream %d: TID %d, CPU %d, losses %v", i, s.TID, s.CPU, s.Losses)
		}
	}
	if d := cmp.Diff([]string{"thread twenty", "thread 21 ..."}, got); d != "" {
		t.Error(d)
	}
}

// flat reports whether b is one byte repeated.
func flat(b []byte) bool { return len(bytes.Trim(b, string(b[:1]))) == 0 }

// TestSnapshots catches overlapping snapshots doubled, cut too far, or joined
// where they do not meet; and the same of PERF_SAMPLE_AUX.
func TestSnapshots(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	sampled := tattr{sampleType: SampleTime | SampleCPU | SampleIdentifier | SampleAux, flags: AttrSampleIDAll, ids: []uint64{8, 9}}
	for round := range 200 {
		whole := trace(rng, 4000)
		for i := 500; i < 700; i++ {
			whole[i] = 0 // a stretch of padding packets
		}
		const window = 1000
		var snaps, samples, want []byte
		var losses []Loss
		end, last := 0, 0
		for end < len(whole) {
			end = min(end+1+rng.IntN(1400), len(whole))
			b := whole[max(0, end-window):end]
			snaps = append(snaps, auxtrace(uint64(rng.IntN(99)), 0, -1, 3, b)...)
			snaps = append(snaps, aux(uint64(end), uint64(len(b)), AuxOverwrite, uint64(end), 3)...)
			pad := make([]byte, -len(b)&7)
			b = append(slices.Clone(b), pad...)
			samples = append(samples, record(TypeSample, 0, 8, end, int32(3), uint32(0), len(b)-len(pad), b[:len(b)-len(pad)])...)
			if start := max(0, end-window); last > 0 && (last-start < minOverlap || flat(whole[start:last])) {
				losses = append(losses, Loss{int64(len(want)), int64(len(want)), LossSnapshot, 0})
				want = append(want, whole[start:end]...)
			} else {
				want = append(want, whole[max(last, start):end]...)
			}
			last = end
		}
		// Snapshots have sizes of whole pages, so no padding: check the
		// samples, whose sizes are exact, and the snapshots up to padding.
		r := fromBytes(t, file{attrs: []tattr{sampled}, data: samples}.bytes())
		sound(t, r)
		s := &r.Streams()[0]
		for i := range s.Losses {
			s.Losses[i].Time = 0
		}
		if !bytes.Equal(s.Bytes(0, s.Size), want) || !s.Sampled || s.Snapshot {
			t.Fatalf("round %d: samples: %d bytes, want %d", round, s.Size, len(want))
		}
		if d := cmp.Diff(losses, s.Losses); d != "" {
			t.Errorf("round %d: %s", round, d)
		}
		if p := s.Pieces[len(s.Pieces)-1]; p.Time != uint64(len(whole)) {
			t.Errorf("time of the last piece %d, want %d", p.Time, len(whole))
		}
		r = fromBytes(t, file{attrs: []tattr{usual}, data: snaps}.bytes())
		if s := r.Streams(); len(s) != 1 || !s[0].Snapshot || s[0].Size == 0 {
			t.Fatalf("round %d: snapshots: %+v", round, s)
		}
	}
}

// TestSnapshotPages catches snapshots of whole pages joined wrongly: the
// buffer's content again and again, with a page more each time.
func TestSnapshotPages(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	whole := trace(rng, 10*4096)
	var data []byte
	for end := 4 * 4096; end <= len(whole); end += 4096 {
		data = append(data, auxtrace(uint64(end%(4*4096)), 0, -1, 3, whole[end-4*4096:end])...)
	}
	data = append(data, aux(0, 4*4096, AuxOverwrite, 5, 3)...)
	r := fromBytes(t, file{attrs: []tattr{usual}, data: data}.bytes())
	sound(t, r)
	if s := &r.Streams()[0]; !bytes.Equal(s.Bytes(0, s.Size), whole) || len(s.Losses) != 0 {
		t.Errorf("%d bytes, want %d; losses %v", s.Size, len(whole), s.Losses)
	}
}

// TestSnapshotPadding catches the padding after a snapshot of a buffer that is
// not yet full, or of a sample, hiding the overlap or staying in the stream.
func TestSnapshotPadding(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for n := 1000; n < 1016; n++ {
		whole := trace(rng, 2000)
		data := slices.Concat(auxtrace(0, 0, -1, 3, whole[:n]), auxtrace(0, 0, -1, 3, whole[200:2000]), aux(0, 2000, AuxOverwrite, 5, 3))
		r := fromBytes(t, file{attrs: []tattr{usual}, data: data}.bytes())
		if s := &r.Streams()[0]; !bytes.Equal(s.Bytes(0, s.Size), whole) || len(s.Losses) != 0 {
			t.Errorf("first of %d bytes: %d bytes, want %d; losses %v", n, s.Size, len(whole), s.Losses)
		}
	}
}

// TestJoinOverlap catches a full trace whose pieces overlap by their offsets
// being doubled, and pieces that contradict each other being joined.
func TestJoinOverlap(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	whole := trace(rng, 20000)
	data := slices.Concat(auxtrace(0, 0, -1, 3, whole[:8000]), auxtrace(8000, 0, -1, 3, whole[8000:9000]),
		auxtrace(1000, 0, -1, 3, whole[1000:15000]), auxtrace(14000, 0, -1, 3, whole[14000:14008]), auxtrace(15000, 0, -1, 3, whole[15000:]))
	r := fromBytes(t, file{attrs: []tattr{usual}, data: data}.bytes())
	s := &r.Streams()[0]
	if got := s.Bytes(0, s.Size); !bytes.Equal(got, whole) || len(s.Losses) != 0 {
		t.Errorf("%d bytes, want %d; losses %v", s.Size, len(whole), s.Losses)
	}
	other := trace(rng, 104)
	data = slices.Concat(auxtrace(0, 0, -1, 3, whole[:200]), auxtrace(100, 0, -1, 3, other))
	s = &fromBytes(t, file{attrs: []tattr{usual}, data: data}.bytes()).Streams()[0]
	if got := s.Bytes(0, s.Size); !bytes.Equal(got, slices.Concat(whole[:200], other)) || len(s.Losses) != 1 || s.Losses[0] != (Loss{200, 200, LossGap, 0}) {
		t.Errorf("%d bytes, losses %v", s.Size, s.Losses)
	}
}

// TestSampledThreads catches AUX samples of events without a CPU given to one
// stream, when ID_INDEX tells the threads apart.
func TestSampledThreads(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleIdentifier | SampleAux, flags: AttrSampleIDAll, ids: []uint64{70, 71}}
	index := record(TypeIDIndex, 0, 2, []uint64{70, 0, ^uint64(0), 20}, []uint64{71, 1, ^uint64(0), 21})
	data := slices.Concat(index, record(TypeSample, 0, 70, int32(9), int32(20), 8, "aaaaaaaa"), record(TypeSample, 0, 71, int32(9), int32(21), 8, "bbbbbbbb"))
	r := fromBytes(t, file{attrs: []tattr{a}, data: data}.bytes())
	sound(t, r)
	if s := r.Streams(); len(s) != 2 || s[0].TID != 20 || s[1].TID != 21 || string(s[1].Bytes(0, 8)) != "bbbbbbbb" {
		t.Errorf("streams %+v", s)
	}
}

// TestOverlap catches an overlap that is not the longest, against the plain
// search.
func TestOverlap(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for range 3000 {
		a, b := make([]byte, rng.IntN(300)), make([]byte, rng.IntN(300))
		for i := range a {
			a[i] = byte(rng.IntN(2) * rng.IntN(2) * rng.IntN(2))
		}
		if n := rng.IntN(min(len(a), len(b)) + 1); rng.IntN(3) > 0 {
			copy(b, a[len(a)-n:])
		}
		want := 0
		for n := minOverlap; n <= min(len(a), len(b)); n++ {
			if bytes.HasSuffix(a, b[:n]) {
				want = n
			}
		}
		if want > 0 && flat(b[:want]) {
			want = 0
		}
		if got := overlap(a, b); got != want {
			t.Fatalf("overlap %d, want %d", got, want)
		}
	}
}

// TestStreamCutShort catches a trace that the file's end cuts off being taken
// for whole, and its bytes that are there being dropped.
func TestStreamCutShort(t *testing.T) {
	b := file{attrs: []tattr{usual}, data: auxtrace(0, 0, -1, 3, []byte("sixteen bytes ok"))}.pipe()
	r := fromBytes(t, b[:len(b)-6])
	found, _ := r.Trouble()
	s := r.Streams()
	if len(s) != 1 || string(s[0].Bytes(0, 99)) != "sixteen by" || len(s[0].Losses) != 1 || s[0].Losses[0].Why != LossCutShort || !r.Hints().CutShort {
		t.Fatalf("streams %+v", s)
	}
	if len(found) != 1 || !strings.Contains(found[0].Error(), "record AUXTRACE: needs 0x40 bytes, file has 0x3a: the file is cut short") {
		t.Errorf("trouble %v", found)
	}
}

// TestIntelPTInfo catches a word of the private area read as another, for
// every length that perf has written: each word has a value of its own.
func TestIntelPTInfo(t *testing.T) {
	full := []uint64{8, 31, 3, 4, 1, 0x400, 0x800, 3, 1, 1, 0x200, 0x3c000, 80, 2, 2, 36}
	want := IntelPT{PMUType: 8, TimeShift: 31, TimeMult: 3, TimeZero: 4, CapUserTimeZero: true, TSCBit: 0x400,
		NoRetCompBit: 0x800, HaveSchedSwitch: 3, Snapshot: true, PerCPU: true, MTCBit: 0x200, MTCFreqBits: 0x3c000,
		TSCCTCNum: 80, TSCCTCDen: 2, CYCBit: 2, MaxNonTurbo: 36}
	read := func(priv ...any) (IntelPT, error) {
		rec := Record{Type: TypeAuxtraceInfo, File: "f", Size: 8 + 8 + len(enc(priv...)), Body: append(enc(uint32(1), uint32(0)), enc(priv...)...)}
		m, err := rec.AuxtraceInfo()
		if m.Kind != AuxIntelPT || m.PT == nil {
			t.Fatalf("kind %s, %+v, %v", m.Kind, m.PT, err)
		}
		return *m.PT, err
	}
	// The area grew by the MTC and CYC fields, the non-turbo ratio, the filter.
	for _, n := range []int{10, 15, 16} {
		w := want
		w.Words = n
		if n < 16 {
			w.MaxNonTurbo = 0
		}
		if n < 15 {
			w.MTCBit, w.MTCFreqBits, w.TSCCTCNum, w.TSCCTCDen, w.CYCBit = 0, 0, 0, 0, 0
		}
		got, err := read(full[:n])
		if d := cmp.Diff(w, got); d != "" || err != nil {
			t.Errorf("%d words: %v %s", n, err, d)
		}
	}
	want.Words = 17
	for _, c := range []struct {
		tail   []any
		filter string
		et, is bool
	}{
		{[]any{0}, "", false, false},
		{[]any{0, 1}, "", true, true},
		{[]any{0, 0}, "", false, true},
		{[]any{7, name("filter ")}, "filter ", false, false},
		{[]any{8, name("filter a"), 1}, "filter a", true, true},
	} {
		w := want
		w.Filter, w.CapEventTrace, w.HasCapEventTrace = c.filter, c.et, c.is
		got, err := read(append([]any{full}, c.tail...)...)
		if d := cmp.Diff(w, got); d != "" || err != nil {
			t.Errorf("%q: %v %s", c.filter, err, d)
		}
	}
	if _, err := read(full, 100, name("short")); err == nil || !strings.Contains(err.Error(), "filter string of 100 bytes, have 8") {
		t.Errorf("filter beyond the record: %v", err)
	}
	rec := Record{Type: TypeAuxtraceInfo, File: "f", Off: 0x1f40, Size: 12, Body: make([]byte, 4)}
	if _, err := rec.AuxtraceInfo(); err == nil || err.Error() != "f+0x1f40: AUXTRACE_INFO: size 12, need at least 16" {
		t.Errorf("short record: %v", err)
	}
	rec = Record{Type: TypeAuxtraceInfo, Body: enc(uint32(AuxArmSPE), uint32(0), 1, 2, 3)}
	if m, err := rec.AuxtraceInfo(); err != nil || !slices.Equal(m.Priv, []uint64{1, 2, 3}) || m.PT != nil || m.CS != nil || m.Kind.String() != "arm_spe" {
		t.Errorf("arm_spe: %+v %v", m, err)
	}
}

// TestStreamCPU would catch trace of a CPU that the machine has not, taken
// without a word, and one told of that it has.
func TestStreamCPU(t *testing.T) {
	for cpu, want := range map[int32]int{-1: 0, 3: 0, 4: 1, 0x0d000001: 1} {
		f := file{attrs: []tattr{usual}, data: auxtrace(0, 0, 20, cpu, make([]byte, 16)), features: testFeatures()}
		for _, b := range [][]byte{f.bytes(), f.pipe()} {
			r := fromBytes(t, b)
			found, _ := r.Trouble()
			if len(found) != want || want > 0 && !strings.Contains(found[0].Error(), fmt.Sprintf("AUXTRACE: CPU %d, the recording says that the machine has 4", cpu)) {
				t.Errorf("CPU %d: %v", cpu, found)
			}
		}
	}
}
