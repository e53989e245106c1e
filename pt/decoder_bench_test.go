package pt

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// BenchmarkDecoder measures the bytes decoded a second, lexer and decoder together,
// over real recordings. It runs with and without looking ahead, for segments as
// short as the sync points allow and for long ones.
func BenchmarkDecoder(b *testing.B) {
	dir := testsize.Recordings(b)
	for _, f := range []string{"pt-user/qemu/cpu0.pt", "pt-user/mruby/cpu0.pt", "kernel-pokes-x86/tracepoints/cpu1.pt"} {
		buf, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			b.Fatal(err)
		}
		for _, v := range []struct {
			name  string
			ahead bool
			size  int64
		}{{"short", false, 0}, {"long", false, 1 << 16}, {"ahead", true, 1 << 16}} {
			b.Run(filepath.Base(filepath.Dir(f))+"/"+v.name, func(b *testing.B) {
				c := realConfig()
				c.Ahead = v.ahead
				segs, _ := segments(buf, 0, c, v.size)
				d := NewDecoder(c, segs[0])
				var e event.Event
				n := 0
				b.SetBytes(int64(len(buf)))
				b.ReportAllocs()
				for b.Loop() {
					n = 0
					for _, s := range segs {
						for d.Reset(s); d.Next(&e); {
							n++
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
			})
		}
	}
}
