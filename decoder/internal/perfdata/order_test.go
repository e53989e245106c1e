package perfdata

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestOrder catches a merge that is not the stable sort by time: random
// records of several CPUs, records without a time among them.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		type item struct {
			key uint64
			s   string
		}
		var data []byte
		var want []item
		clock := [4]uint64{1, 1, 1, 1}
		cpu, last := 0, uint64(0)
		for i := range rng.IntN(300) {
			if rng.IntN(8) == 0 {
				cpu = rng.IntN(4)
			}
			if rng.IntN(10) == 0 {
				data = append(data, record(TypeFinishedRound, 0)...)
				want = append(want, item{last, "FINISHED_ROUND"})
				continue
			}
			clock[cpu] += uint64(rng.IntN(3))
			last = clock[cpu]
			if rng.IntN(50) == 0 {
				last = 0
			}
			s := fmt.Sprint("c", i)
			data = append(data, comm(s, last)...)
			want = append(want, item{last, s})
		}
		slices.SortStableFunc(want, func(a, b item) int { return int(int64(a.key - b.key)) })
		var w []string
		for _, it := range want {
			w = append(w, it.s)
		}
		r := fromBytes(t, file{attrs: []tattr{usual}, data: data}.bytes())
		if got := names(r.Records()); got != strings.Join(w, " ") {
			t.Fatalf("order\n%s\nwant\n%s", got, strings.Join(w, " "))
		}
	}
}

// TestCompressed catches records lost or doubled where they straddle
// COMPRESSED records, and records between those taken out of their place.
func TestCompressed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, typ := range []Type{TypeCompressed, TypeCompressed2} {
		for range testsize.Of(t, 15, 50) {
			var plain []byte
			var want []string
			for i := range 1 + rng.IntN(60) {
				s := fmt.Sprint("c", i)
				plain = append(plain, comm(s, uint64(i+1))...)
				want = append(want, s)
			}
			var chunks [][]byte
			for rest := plain; len(rest) > 0; {
				n := 1 + rng.IntN(len(rest))
				chunks = append(chunks, rest[:n])
				rest = rest[n:]
			}
			var data []byte
			packed := compress(t, typ, chunks...)
			for _, c := range packed {
				data = append(data, c...)
			}
			// The last record stands outside, as FINISHED_ROUND does.
			data = append(data, comm("end", 1000)...)
			want = append(want, "end")
			f := file{attrs: []tattr{usual}, data: data}
			for _, b := range [][]byte{f.bytes(), f.pipe()} {
				r := fromBytes(t, b)
				sound(t, r)
				got := strings.TrimPrefix(names(r.fileOrder()), "ATTR ")
				if got != strings.Join(want, " ") || r.Counts()[typ] != uint64(len(packed)) {
					t.Fatalf("%s in %d: %s", typ, len(packed), got)
				}
				if got := strings.TrimPrefix(names(r.Records()), "ATTR "); got != strings.Join(want, " ") {
					t.Fatalf("%s in %d by time: %s", typ, len(packed), got)
				}
			}
		}
	}
}

// TestCompressedPlace catches the contents of a COMPRESSED record being
// placed by when the whole stream was read, not by the record.
func TestCompressedPlace(t *testing.T) {
	p := compress(t, TypeCompressed, comm("a", 0), comm("b", 0))
	data := slices.Concat(p[0], comm("x", 0), record(TypeFinishedRound, 0), p[1], comm("y", 0))
	r := fromBytes(t, file{attrs: []tattr{usual}, data: data}.bytes())
	if got := names(r.Records()); got != "a x FINISHED_ROUND b y" {
		t.Errorf("order %s", got)
	}
}

// TestCompressed2Wrapped catches the size of a COMPRESSED2 record believed
// where perf v6.16 let it wrap.
func TestCompressed2Wrapped(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	noise := make([]byte, 70000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	// Noise does not compress, so the record's length can be met exactly.
	body := record(Type(150), 0, noise[:60000])
	var packed []byte
	for n := compressed2Max - len(body) - 60; len(packed) != compressed2Max; n++ {
		if n > compressed2Max-len(body) {
			t.Fatal("no length makes the record that is needed")
		}
		rec := compress(t, TypeCompressed2, slices.Concat(body, record(Type(151), 0, noise[60000:60000+n-headerSize])))[0]
		packed = rec[16 : 16+le.Uint64(rec[8:])]
	}
	rec := enc(uint32(TypeCompressed2), uint16(0), uint16(0), len(packed), packed)
	r := fromBytes(t, file{attrs: []tattr{usual}, data: append(rec, comm("a", 1)...)}.bytes())
	sound(t, r)
	if got := names(r.fileOrder()); got != "type 150 type 151 a" {
		t.Errorf("records %s", got)
	}
}

// TestCompressedDamage catches a damaged zstd stream taking the whole file
// with it, or passing silently; and one that inflates without bound.
func TestCompressedDamage(t *testing.T) {
	p := compress(t, TypeCompressed, comm("a", 1), comm("b", 2), comm("c", 3))
	p[1] = slices.Clone(p[1])
	for i := headerSize; i < len(p[1]); i++ {
		p[1][i] = 0xff
	}
	r := fromBytes(t, file{attrs: []tattr{usual}, data: slices.Concat(p[0], p[1], p[2], comm("d", 4))}.bytes())
	found, _ := r.Trouble()
	if got := names(r.Records()); got != "a d" || len(found) != 1 || !strings.Contains(found[0].Error(), "record COMPRESSED: zstd: ") {
		t.Errorf("records %s, trouble %v", got, found)
	}
	bomb := compress(t, TypeCompressed, make([]byte, 64<<20))
	if len(bomb[0]) > 65535 {
		t.Fatal("the bomb does not fit a record")
	}
	if _, err := openBytes("t.data", (file{attrs: []tattr{usual}, data: bomb[0]}).bytes()); err == nil || !strings.Contains(err.Error(), "inflates to more than") {
		t.Errorf("bomb: %v", err)
	}
}

// TestNoAllocation catches an allocation for each record.
func TestNoAllocation(t *testing.T) {
	var data []byte
	for i := range 5000 {
		data = append(data, comm("abc", uint64(i%7*1000+i))...)
	}
	r := fromBytes(t, file{attrs: []tattr{usual, {sampleType: SampleIdentifier, ids: []uint64{1}}}, data: data}.bytes())
	rd := r.Records()
	var rec Record
	for range 100 {
		rd.Next(&rec)
	}
	if n := testing.AllocsPerRun(4000, func() { rd.Next(&rec) }); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}

// TestConcurrent catches Readers that share state: under the race detector,
// and by what they read.
func TestConcurrent(t *testing.T) {
	r := fromBytes(t, everything(t).bytes())
	want := names(r.Records())
	got := make([]string, 4)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i] = names(r.Records()); exercise(r) })
	}
	wg.Wait()
	for _, g := range got {
		if g != want {
			t.Errorf("read %s, want %s", g, want)
		}
	}
}

// TestTruncated catches a panic, a hang, and a file cut short that is not
// said to be, at every length of a small file and of its pipe form.
func TestTruncated(t *testing.T) {
	packed := compress(t, TypeCompressed, comm("z", 3), comm("y", 2))
	f := file{attrs: []tattr{usual, {sampleType: SampleTime | SampleAux | SampleIdentifier, ids: []uint64{5, 6}}}, features: testFeatures(),
		data: slices.Concat(comm("a", 2), record(TypeSample, 0, 5, 100, 4, "tttt"), packed[0], auxtrace(0, 0, -1, 0, []byte("trace data")), packed[1], record(TypeFinishedRound, 0))}
	for _, whole := range [][]byte{f.bytes(), f.pipe()} {
		sound(t, fromBytes(t, whole))
		bounds := frames(t, whole)
		for n := range len(whole) {
			r, err := openBytes("t.data", whole[:n:n])
			if err != nil {
				continue
			}
			list := all(r.Records())
			found, _ := r.Trouble()
			if len(found) == 0 && !bounds[n] {
				t.Errorf("cut to %d of %d bytes: %d records, no trouble", n, len(whole), len(list))
			}
			if len(found) > 0 && !r.Hints().CutShort {
				t.Errorf("cut to %d of %d bytes: trouble %v, but not cut short", n, len(whole), found)
			}
			r.Close()
		}
	}
}

// frames are the lengths at which a pipe's records end: cut there, it is whole.
func frames(t *testing.T, b []byte) map[int]bool {
	ends := map[int]bool{}
	if le.Uint64(b[8:]) != pipeHeaderSize {
		return ends
	}
	for at := pipeHeaderSize; at < len(b); {
		ends[at] = true
		n := int(le.Uint16(b[at+6:]))
		if Type(le.Uint32(b[at:])) == TypeAuxtrace {
			n += int(le.Uint64(b[at+8:]))
		}
		at += n
	}
	return ends
}

// exercise reads all that a recording has, the way the layers above do.
func exercise(r *Recording) int {
	n := 0
	cases := append(kernelCases(), userCases()...)
	for _, rd := range []*Reader{r.Records(), r.fileOrder()} {
		for rec := range rd.All() {
			n++
			for _, c := range cases {
				if c.typ == rec.Type {
					c.read(rec)
				}
			}
			rec.Sample()
			rec.AuxtraceInfo()
		}
	}
	for i := range r.Streams() {
		s := &r.Streams()[i]
		var buf bytes.Buffer
		for off := int64(0); off < s.Size; off += 4096 {
			buf.Write(s.Bytes(off, 4096))
		}
		if int64(buf.Len()) != s.Size {
			panic("stream shorter than its size")
		}
	}
	return n
}

// TestDamaged catches a panic, a hang and memory driven by a length field:
// random changes to bytes of a file that has everything.
func TestDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	base := [][]byte{everything(t).bytes(), everything(t).pipe()}
	for i := range testsize.Of(t, 300, 3000) {
		b := slices.Clone(base[i%2])
		for range 1 + rng.IntN(8) {
			b[rng.IntN(len(b))] = [...]byte{0, 1, 0x7f, 0x80, 0xff, byte(rng.Uint32())}[rng.IntN(6)]
		}
		if r, err := openBytes("t.data", b); err == nil {
			exercise(r)
			r.Close()
		}
	}
}

// everything is a recording with a record of every type.
func everything(t testing.TB) file {
	var data []byte
	for _, c := range userCases() {
		data = append(data, record(c.typ, c.misc, c.fields...)...)
	}
	for _, c := range kernelCases() {
		data = append(data, record(c.typ, c.misc, append(slices.Clone(c.fields), usual.trailer(who))...)...)
	}
	data = append(data, record(TypeAuxtraceInfo, 0, uint32(1), uint32(0), make([]byte, 8*18))...)
	data = append(data, auxtrace(0, 0, -1, 3, []byte("some trace bytes"))...)
	data = append(data, auxtrace(16, 0, -1, 3, []byte("and more"))...)
	data = append(data, compress(t, TypeCompressed, comm("z", 3))[0]...)
	aux := tattr{sampleType: SampleTime | SampleAux | SampleIdentifier | SampleCallchain, ids: []uint64{5, 6}}
	data = append(data, record(TypeSample, 0, 5, 100, 1, 0xabc, 4, "tttt")...)
	return file{attrs: []tattr{usual, aux}, data: data, features: testFeatures()}
}

// FuzzOpen catches a panic or a hang on any file: seeds are whole recordings
// in both forms.
func FuzzOpen(f *testing.F) {
	f.Add(everything(f).bytes())
	f.Add(everything(f).pipe())
	f.Add((file{attrs: []tattr{usual}, data: comm("a", 1), dataSize: -1}).bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := openBytes("t.data", b)
		if err != nil {
			return
		}
		defer r.Close()
		exercise(r)
		var want uint64
		for typ, n := range r.Counts() {
			if typ != TypeCompressed && typ != TypeCompressed2 {
				want += n
			}
		}
		for _, rd := range []*Reader{r.Records(), r.fileOrder()} {
			n := uint64(0)
			for rec := range rd.All() {
				if rec.Type != TypeCompressed && rec.Type != TypeCompressed2 {
					n++
				}
			}
			if n != want {
				t.Errorf("%d records, counted %d", n, want)
			}
		}
	})
}
