package pt

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// recording returns the trace of a program under pt-user, or skips the benchmark.
func recording(b *testing.B, name string) []byte {
	b.Helper()
	buf, err := os.ReadFile(filepath.Join(testsize.Recordings(b), "pt-user", name, "cpu0.pt"))
	if err != nil {
		b.Fatal(err)
	}
	return buf
}

// eachProgram runs a benchmark over the traces of three programs.
func eachProgram(b *testing.B, run func(b *testing.B, buf []byte)) {
	for _, name := range []string{"qemu", "mruby", "avscript_32"} {
		b.Run(name, func(b *testing.B) {
			buf := recording(b, name)
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			run(b, buf)
		})
	}
}

// BenchmarkBatch measures the same as BenchmarkLexer, many packets at a time.
func BenchmarkBatch(b *testing.B) {
	eachProgram(b, func(b *testing.B, buf []byte) {
		q := make([]Packet, 256)
		var l Lexer
		for b.Loop() {
			for l.Reset(buf, 0); l.Fill(q) == len(q); {
			}
		}
	})
}

// BenchmarkLexer measures the bytes lexed a second over real recordings.
func BenchmarkLexer(b *testing.B) {
	eachProgram(b, func(b *testing.B, buf []byte) {
		var l Lexer
		n := 0
		for b.Loop() {
			l.Reset(buf, 0)
			var p Packet
			for n = 0; l.Next(&p); n++ {
			}
		}
		b.ReportMetric(float64(len(buf))/float64(n), "B/packet")
	})
}

// BenchmarkFindSync measures the bytes searched a second, from sync point to
// sync point.
func BenchmarkFindSync(b *testing.B) {
	for _, name := range []string{"qemu", "mruby"} {
		b.Run(name, func(b *testing.B) {
			buf := recording(b, name)
			b.SetBytes(int64(len(buf)))
			n := 0
			for b.Loop() {
				n = 0
				for off, ok := FindSync(buf, 0); ok; off, ok = FindSync(buf, off+1) {
					n++
				}
			}
			b.ReportMetric(float64(len(buf))/float64(n), "B/sync")
		})
	}
}
