package etmv4

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// benchSnapshot returns the stream of a recording of a board that runs a user
// program and its kernel, and the frames that hold it, or skips.
func benchSnapshot(b *testing.B) (s tracetest.Stream, frames []byte) {
	b.Helper()
	for _, x := range tracetest.Snapshot(b, "bugfix-exact-match", coresight.ETMv4) {
		if len(x.Buf) > len(s.Buf) {
			s = x
		}
	}
	return s, tracetest.File(b, "snapshots", "bugfix-exact-match", "cstrace.bin")
}

// BenchmarkLexer reads packets.
func BenchmarkLexer(b *testing.B) {
	s, _ := benchSnapshot(b)
	first, _ := findSync(s.Buf, 0)
	l := NewLexer(s.Config, nil, 0)
	var q [256]Packet
	b.SetBytes(int64(len(s.Buf)))
	b.ReportAllocs()
	for b.Loop() {
		l.Reset(s.Buf[first:], int64(first))
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
	l := NewLexer(s.Config, nil, 0)
	var q [256]Packet
	b.SetBytes(int64(len(frames)))
	b.ReportAllocs()
	d := coresight.NewDeframer(coresight.FormatMemory)
	for b.Loop() {
		d.Recycle()
		d.Write(frames)
		d.Close()
		l.Reset(d.Stream(s.Config.ID).Data, 0)
		for l.Fill(q[:]) == len(q) {
		}
	}
}

// BenchmarkDecoder makes events of packets, as a walker asks for them.
func BenchmarkDecoder(b *testing.B) {
	s, _ := benchSnapshot(b)
	c := Config{Trace: s.Config}
	segs, _ := Segments(s.Buf, 0, c)
	d := NewDecoder(c, event.Segment{})
	var q [256]event.Event
	b.SetBytes(int64(len(s.Buf)))
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
