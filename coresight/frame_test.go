package coresight

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// handFrame is bytes of frames, made by hand.
type handFrame struct {
	name   string
	format Format
	in     []byte
	want   string // id: bytes, in hex; then troubles
}

// A frame by hand, with every rule of the frame in it. It would catch a rule
// misread, which the twin could share with the Deframer.
func TestFrameByHand(t *testing.T) {
	for _, x := range []handFrame{
		{"data before the first ID has no source; aux gives bit 0 of even bytes", FormatMemory,
			[]byte{0x02, 0x11, 0x21, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0b10000100},
			"10: 3345556677" + "8899aabbccddef"},
		{"aux 1 on an ID: one more byte of the old source", FormatMemory,
			[]byte{0x21, 0x01, 0x23, 0x02, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0b00000010},
			"10: 0102; 11: 0405060708090a0b0c0d0e"},
		{"an ID in byte 14 holds from the next frame, whatever its aux bit", FormatMemory,
			slices.Concat([]byte{0x21, 0x01, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0x23, 0b10000000},
				[]byte{2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0}),
			"10: 0102030405060708090a0b0c0d; 11: 020102030405060708090a0b0c0d0e"},
		{"ID 0 is padding", FormatMemory,
			[]byte{0x21, 0x01, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "10: 01"},
		{"the same ID again with aux 1 changes nothing", FormatMemory,
			[]byte{0x21, 0x01, 0x21, 0x02, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0b10}, "10: 01020405060708090a0b0c0d0e"},
		{"a barrier ends the current source and breaks streams", FormatMemory,
			slices.Concat([]byte{0x21, 1, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x21, 0}, bytes.Repeat(slowFSync, 4),
				[]byte{2, 3, 0x21, 4, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
			"10: 01|04"},
		{"a trace port: what comes before FSYNC is skipped, HSYNCs are dropped", FormatPort,
			slices.Concat([]byte{1, 2, 3}, slowFSync, []byte{0xFF, 0x7F, 0x21, 0x01, 0xFF, 0x7F, 0xFF, 0x7F, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0}, slowFSync),
			"10: 0102030405060708090a0b0c0d0e; +0x0: frames: no FSYNC yet: cannot tell where frames start (3 bytes)"},
		{"an FSYNC inside a frame ends it", FormatMemory,
			slices.Concat([]byte{0x21, 0x01}, slowFSync, []byte{0x21, 0x01, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0}),
			"10: 0102030405060708090a0b0c0d0e; +0x0: frames: frame cut short (2 bytes); +0x2: frames: FSYNC words in memory that are no multiple of four (4 bytes)"},
		{"a reserved ID", FormatMemory,
			[]byte{0xE1, 1, 2, 3, 4, 5, 0xFB, 7, 8, 9, 10, 11, 12, 13, 14, 0}, "; +0x1: frames: data of a reserved trace ID (5 bytes)"},
		{"the end inside a frame", FormatMemory, []byte{0x21, 0x01, 2}, "; +0x0: frames: frame cut short (3 bytes)"},
	} {
		d := Deframe(x.format, x.in)
		if got := render(d); got != strings.TrimPrefix(x.want, "; ") {
			t.Errorf("%s:\ngot  %s\nwant %s", x.name, got, x.want)
		}
		if diff := slowDeframe(x.format, x.in).differ(d); diff != "" {
			t.Errorf("%s: the twin disagrees: %s", x.name, diff)
		}
	}
}

// render prints a result in a line.
func render(d *Deframer) string {
	var parts []string
	for _, s := range d.Streams() {
		hex := fmt.Sprintf("%x", s.Data)
		for _, b := range slices.Backward(s.Breaks) {
			hex = hex[:2*b.Off] + "|" + hex[2*b.Off:]
		}
		parts = append(parts, fmt.Sprintf("%02x: %s", s.ID, hex))
	}
	troubles, _ := d.Troubles()
	for _, tr := range troubles {
		parts = append(parts, tr.String())
	}
	return strings.Join(parts, "; ")
}

// pieces writes buf to d in pieces of random size.
func pieces(r *rand.Rand, d *Deframer, buf []byte) {
	for len(buf) > 0 {
		n := min(len(buf), 1+r.IntN(1<<r.IntN(8)))
		d.Write(buf[:n])
		buf = buf[n:]
	}
	d.Close()
}

// randomFrames formats random bytes of random sources. It returns what each
// source wrote.
func randomFrames(r *rand.Rand, f *Formatter) map[uint8][]byte {
	wrote := map[uint8][]byte{}
	ids := []uint8{uint8(1 + r.IntN(int(MaxID))), uint8(1 + r.IntN(int(MaxID))), 0x6F, 0x00, 0x7D}
	for range r.IntN(40) {
		id := ids[r.IntN(1+r.IntN(len(ids)))]
		p := make([]byte, r.IntN(1<<r.IntN(7)))
		for i := range p {
			if p[i] = byte(r.Uint32()); r.IntN(4) == 0 {
				p[i] = 0xFF
			}
		}
		// Formatters name the current source again at any even byte.
		k := r.IntN(len(p) + 1)
		f.Write(id, p[:k])
		f.named = f.named && r.IntN(3) > 0
		f.Write(id, p[k:])
		wrote[id] = append(wrote[id], p...)
		if r.IntN(20) == 0 && f.Format == FormatMemory {
			f.Barrier()
		}
	}
	f.Flush()
	return wrote
}

// What the Formatter writes, the Deframer and its twin read back, whole or in
// pieces; each byte's source offset is the twin's. It would catch any byte
// lost, moved between sources or misplaced in the source, in the fast path, the
// path around syncs, or at the seams between pieces.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := &Formatter{Format: Format(seed % 2), IDEvery: r.IntN(9), FSyncEvery: r.IntN(5), HSyncEvery: r.IntN(12)}
		wrote := randomFrames(r, f)
		d := NewDeframer(f.Format)
		pieces(r, d, f.Bytes())
		if troubles, _ := d.Troubles(); len(troubles) > 0 || d.Unowned() > 0 {
			t.Fatalf("seed %d: %v, %d bytes without a source", seed, troubles, d.Unowned())
		}
		for id, want := range wrote {
			var got []byte
			if s := d.Stream(id); s != nil {
				got = s.Data
			}
			if id >= MinID && id <= MaxID && !bytes.Equal(got, want) {
				t.Fatalf("seed %d: id %02x: %x, want %x", seed, id, got, want)
			}
		}
		if diff := slowDeframe(f.Format, f.Bytes()).differ(d); diff != "" {
			t.Fatalf("seed %d: the twin disagrees: %s", seed, diff)
		}
	}
}

// Damaged frames: bytes changed, cut out and doubled, syncs put anywhere. The
// twin must agree on what is lost and where it goes on. It would catch a fault
// that is handled differently by the fast path and near syncs.
func TestDamagedFrames(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		f := &Formatter{Format: Format(seed % 2), IDEvery: r.IntN(9), FSyncEvery: r.IntN(5), HSyncEvery: r.IntN(12)}
		randomFrames(r, f)
		buf := damage(r, f.Bytes())
		d := NewDeframer(f.Format)
		pieces(r, d, buf)
		if diff := slowDeframe(f.Format, buf).differ(d); diff != "" {
			t.Fatalf("seed %d: %s\n%x", seed, diff, buf)
		}
	}
}

func damage(r *rand.Rand, buf []byte) []byte {
	buf = slices.Clone(buf)
	for range r.IntN(6) {
		if len(buf) < 2 {
			break
		}
		i := r.IntN(len(buf))
		switch r.IntN(5) {
		case 0:
			buf[i] = byte(r.Uint32())
		case 1:
			buf = slices.Delete(buf, i, min(len(buf), i+1+r.IntN(40)))
		case 2:
			buf = slices.Insert(buf, i, slowFSync[:1+r.IntN(4)]...)
		case 3:
			buf = slices.Insert(buf, i, bytes.Repeat(slowFSync, 1+r.IntN(5))...)
		case 4:
			buf = slices.Insert(buf, i, 0xFF, 0x7F)
		}
	}
	return buf
}

// A DSTREAM's footers are dropped wherever they stand, and offsets count them.
// It would catch one taken for trace, and an offset that is off by footers.
func TestDStream(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		f := &Formatter{Format: FormatPort, FSyncEvery: 1 + r.IntN(3), HSyncEvery: r.IntN(12)}
		for range 3 {
			randomFrames(r, f)
		}
		bare := f.Bytes()
		if seed%2 == 1 {
			bare = damage(r, bare)
		}
		var buf []byte
		for i := 0; i < len(bare); i += 504 {
			buf = append(buf, bare[i:min(i+504, len(bare))]...)
			if len(buf)%512 == 504 {
				n := uint16(0x0FFE - i/504)
				buf = append(buf, 0xFF, 0xFF, 0xFF, 0x7F, 0x7E, 0x10, byte(n), byte(n>>8))
			}
		}
		if got := PortFormat(buf); len(buf) >= 1024 && got != FormatDStream || PortFormat(bare) != FormatPort {
			t.Fatalf("seed %d: taken as format %d, and %d without footers", seed, got, PortFormat(bare))
		}
		d := NewDeframer(FormatDStream)
		pieces(r, d, buf)
		want := slowDeframe(FormatPort, bare).moved()
		if diff := want.differ(d); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

// A second buffer after Reset or Recycle is read as the first one. It would catch
// state that they leave.
func TestDeframerReset(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		f := &Formatter{Format: Format(seed % 2), HSyncEvery: 3}
		randomFrames(r, f)
		d := NewDeframer(f.Format)
		d.Write(damage(r, f.Bytes()))
		kept := render(d)
		streams := d.Streams()
		d.Reset()
		d.Write(f.Bytes())
		d.Close()
		if got, want := render(d), render(Deframe(f.Format, f.Bytes())); got != want {
			t.Fatalf("seed %d: after Reset %s, want %s", seed, got, want)
		}
		for _, s := range streams {
			if !strings.Contains(kept, fmt.Sprintf("%02x: ", s.ID)) || len(s.Data) == 0 {
				t.Fatalf("seed %d: Reset touched a stream that was returned before", seed)
			}
		}
		for range 2 {
			d.Recycle()
			d.Write(f.Bytes())
			d.Close()
			if got, want := render(d), render(Deframe(f.Format, f.Bytes())); got != want {
				t.Fatalf("seed %d: after Recycle %s, want %s", seed, got, want)
			}
			fresh := Deframe(f.Format, f.Bytes())
			for _, s := range d.Streams() {
				for off := range int64(len(s.Data)) {
					if got, want := s.SourceOff(off), fresh.Stream(s.ID).SourceOff(off); got != want {
						t.Fatalf("seed %d: after Recycle byte %d of %02x stood at %d, want %d", seed, off, s.ID, got, want)
					}
				}
			}
		}
	}
}

// The map from streams to a large source is in blocks. It would catch an offset
// that is cut to 32 bits, and a search that ends in the wrong block.
func TestSourceOffBlocks(t *testing.T) {
	s := &Stream{ID: 1}
	var want []int64
	for i, src := range []int64{5, 1 << 28, 1<<28 + 40, 1 << 33, 1<<33 + 1<<27, 1 << 40} {
		s.addRun(len(s.Data), src, 1+i)
		for k := range int64(4) {
			s.Data = append(s.Data, 0)
			want = append(want, src+k)
		}
	}
	for i, src := range want {
		if got := s.SourceOff(int64(i)); got != src {
			t.Errorf("byte %d: 0x%x, want 0x%x", i, got, src)
		}
	}
	if s.SourceOff(-1) != 0 || s.SourceOff(99) != 1<<40+4 {
		t.Errorf("outside: 0x%x, 0x%x", s.SourceOff(-1), s.SourceOff(99))
	}
}

// Bytes in no frames stand where they stand. It would catch a mapping that
// takes them for framed.
func TestRawStream(t *testing.T) {
	s := RawStream(0x10, []byte{1, 2, 3})
	if s.ID != 0x10 || s.SourceOff(0) != 0 || s.SourceOff(2) != 2 || s.SourceOff(3) != 3 {
		t.Errorf("%+v: %d, %d", s, s.SourceOff(2), s.SourceOff(3))
	}
}

// The list of troubles is bounded. It would catch a list that grows with bad
// input.
func TestTroublesBounded(t *testing.T) {
	frame := []byte{0xE1, 1, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	quiet := bytes.Repeat([]byte{0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 2)
	d := Deframe(FormatMemory, bytes.Repeat(slices.Concat(frame, quiet), maxTroubles+10))
	if list, more := d.Troubles(); len(list) != maxTroubles || more != 10 {
		t.Errorf("%d troubles and %d more, want %d and 10", len(list), more, maxTroubles)
	}
}

// Real buffers: the twin agrees, and formatting the streams anew loses nothing.
// It would catch what random frames do not have.
func TestRealFrames(t *testing.T) {
	for file, buf := range testsize.Files(t, filepath.Join(testsize.Recordings(t), "coresight/snapshots/*/*.bin")) {
		buf = buf[:min(len(buf), 64<<10)]
		for _, format := range []Format{FormatMemory, FormatPort} {
			if diff := slowDeframe(format, buf).differ(Deframe(format, buf)); diff != "" {
				t.Errorf("%s, format %d: %s", file, format, diff)
			}
		}
	}
}

// FuzzFrame holds the Deframer to its twin over any bytes, in one piece and in
// two. The twin knows no footers: they are taken out for it.
func FuzzFrame(f *testing.F) {
	f.Fuzz(func(t *testing.T, buf []byte, format, cut uint8) {
		d := NewDeframer(Format(format % 3))
		k := min(int(cut), len(buf))
		d.Write(buf[:k])
		d.Write(buf[k:])
		d.Close()
		if d.format != FormatDStream {
			if diff := slowDeframe(d.format, buf).differ(d); diff != "" {
				t.Fatal(diff)
			}
			return
		}
		var bare []byte
		for i, c := range buf {
			if i%512 < 504 {
				bare = append(bare, c)
			}
		}
		if diff := slowDeframe(FormatPort, bare).moved().differ(d); diff != "" {
			t.Fatal(diff)
		}
	})
}
