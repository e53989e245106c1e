package pt

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// counted is a stream that counts the bytes that are asked for.
type counted struct {
	wholeBytes
	read int64
}

func (c *counted) Bytes(off, n int64) []byte {
	b := c.wholeBytes.Bytes(off, n)
	c.read += int64(len(b))
	return b
}

// checkPoints compares the segments of buf with the sync points that a Points
// gives piece by piece, from the last piece to the first.
func checkPoints(t *testing.T, buf []byte, piece int64) {
	t.Helper()
	size := int64(len(buf))
	segs, first := Plan(wholeBytes(buf), size, 0, Config{})
	p := NewPoints(wholeBytes(buf), size, Config{})
	if p.First() != first {
		t.Fatalf("the first sync point lies at %d, want %d", p.First(), first)
	}
	got := packets.SyncPoints(p, size, piece)
	if len(got) != len(segs) {
		t.Fatalf("pieces of %d bytes: %d sync points, want %d", piece, len(got), len(segs))
	}
	for i, s := range got {
		g := &segs[i]
		if s.Off != g.Off || s.Host != g.Host || s.First != (i == 0) || s.Timed && s.Time.Lo != g.Time.Lo {
			t.Fatalf("pieces of %d bytes: sync point %d: %+v, want that of %+v", piece, i, s, g)
		}
	}
}

// TestPointsAnywhere would catch sync points that depend on where the search
// begins or ends: among runs of PSBs, PSBs behind overflows, and such that only
// look like either.
func TestPointsAnywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	parts := []string{psb, psb, psb[:2], psb[:6], "\x02", "\x82", "\x02\x23", ovf, "\x59\x01", "\x19\x01\x02\x03\x04\x05\x06\x07", "\x03", "\x00", "\x06",
		"\x02\x43\x00\x10\x00\x00\x00\x00"}
	for range 300 {
		var buf []byte
		for range 1 + r.IntN(60) {
			buf = append(buf, parts[r.IntN(len(parts))]...)
		}
		for _, piece := range []int64{1, 7, 16, 100, 1 << 20} {
			checkPoints(t, buf, piece)
		}
	}
	for _, file := range recordedTraces(t) {
		buf, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		buf = buf[:min(len(buf), 200_000)]
		for _, piece := range []int64{1000, 1 << 14} {
			checkPoints(t, buf, piece)
		}
	}
}

// TestPointsReadLittle would catch a search that reads on behind what it was asked
// for, or reads a stretch many times. It looks where PSBs are many, where there is
// none, and in a run without an end.
func TestPointsReadLittle(t *testing.T) {
	for name, buf := range map[string][]byte{
		"many": bytes.Repeat([]byte(psb+"\x02\x23"), 20_000),
		"none": slices.Concat([]byte(psb), make([]byte, 400_000)),
		"run":  bytes.Repeat([]byte("\x02\x82"), 200_000),
	} {
		size := int64(len(buf))
		src := &counted{wholeBytes: buf}
		p := NewPoints(src, size, Config{})
		src.read = 0
		p.Next(size/2, size/2+1000)
		if src.read > 16<<10 {
			t.Errorf("%s: a search in 1000 bytes read %d", name, src.read)
		}
		src.read = 0
		n := int64(0)
		for s, ok := p.Next(0, size); ok; s, ok = p.Next(s.Off+1, size) {
			n++
		}
		if most := 3*size + n*(Margin+2*firstPiece); src.read > most {
			t.Errorf("%s: %d sync points in %d bytes: read %d, want %d at most", name, n, size, src.read, most)
		}
	}
}
