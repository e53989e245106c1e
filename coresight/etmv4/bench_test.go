package etmv4

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// benchSnapshot returns the stream of a recording of a board that runs a user
// program and its kernel, and the frames that hold it, or skips.
func benchSnapshot(b *testing.B) (s realStream, frames []byte) {
	b.Helper()
	dir := os.Getenv("PTDECODE_DATA")
	if dir == "" {
		b.Skip("PTDECODE_DATA is not set: no recordings")
	}
	dir = filepath.Join(dir, "coresight/snapshots/bugfix-exact-match")
	for _, x := range snapshotStreams(b, dir) {
		if len(x.buf) > len(s.buf) {
			s = x
		}
	}
	frames, err := os.ReadFile(filepath.Join(dir, "cstrace.bin"))
	if err != nil {
		b.Fatal(err)
	}
	return s, frames
}

// BenchmarkLexer reads packets.
func BenchmarkLexer(b *testing.B) {
	s, _ := benchSnapshot(b)
	first, _ := FindSync(s.buf, 0)
	l := NewLexer(s.config, nil, 0)
	var q [256]Packet
	b.SetBytes(int64(len(s.buf)))
	b.ReportAllocs()
	for b.Loop() {
		l.Reset(s.buf[first:], int64(first))
		n := 0
		for k := len(q); k == len(q); n += k {
			k = l.Fill(q[:])
		}
		b.ReportMetric(float64(n), "packets/op")
	}
}

// BenchmarkFramesToPackets takes frames apart and reads packets; bytes are those
// of the frames. Memory is used again.
func BenchmarkFramesToPackets(b *testing.B) {
	s, frames := benchSnapshot(b)
	l := NewLexer(s.config, nil, 0)
	var q [256]Packet
	b.SetBytes(int64(len(frames)))
	b.ReportAllocs()
	d := coresight.NewDeframer(coresight.FormatMemory)
	for b.Loop() {
		d.Recycle()
		d.Write(frames)
		d.Close()
		l.Reset(d.Stream(s.config.ID).Data, 0)
		for l.Fill(q[:]) == len(q) {
		}
	}
}

// BenchmarkDecoder makes events of packets, as a walker asks for them.
func BenchmarkDecoder(b *testing.B) {
	s, _ := benchSnapshot(b)
	c := Config{Trace: s.config}
	segs, _ := Segments(s.buf, 0, c)
	d := NewDecoder(c, event.Segment{})
	var q [256]event.Event
	b.SetBytes(int64(len(s.buf)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, seg := range segs {
			d.Reset(seg)
			for k := len(q); k == len(q); n += k {
				k = d.Fill(q[:])
			}
		}
		b.ReportMetric(float64(n), "events/op")
	}
}
