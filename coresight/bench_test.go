package coresight

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// benchFrames formats about 1 MB of random bytes of n sources that take turns:
// each writes up to most bytes, 0 being the end of a packet.
func benchFrames(format Format, n, most int) []byte {
	r := rand.New(rand.NewPCG(1, 5))
	f := &Formatter{Format: format, IDEvery: 8, FSyncEvery: 64}
	p := make([]byte, most)
	for len(f.Bytes()) < 1<<20 {
		q := p[:1+r.IntN(most)]
		for i := range q {
			q[i] = byte(r.Uint32())
		}
		f.Write(uint8(0x10+r.IntN(n)), q)
	}
	f.Flush()
	return f.Bytes()
}

// BenchmarkDeframe takes apart buffers of one source, of two that write long
// stretches, of six that write packets, and of a trace port. Where there are real
// recordings it takes one of these too.
func BenchmarkDeframe(b *testing.B) {
	type buffer struct {
		name string
		buf  []byte
		f    Format
	}
	list := []buffer{
		{"one", benchFrames(FormatMemory, 1, 64), FormatMemory},
		{"two-long", benchFrames(FormatMemory, 2, 512), FormatMemory},
		{"six-short", benchFrames(FormatMemory, 6, 16), FormatMemory},
		{"port", benchFrames(FormatPort, 2, 64), FormatPort},
	}
	list = append(list, buffer{"real", nil, FormatMemory})
	for _, x := range list {
		b.Run(x.name, func(b *testing.B) {
			if x.buf == nil {
				var err error
				if x.buf, err = os.ReadFile(filepath.Join(testsize.Recordings(b), "coresight/snapshots/bugfix-exact-match/cstrace.bin")); err != nil {
					b.Skip(err)
				}
			}
			b.SetBytes(int64(len(x.buf)))
			b.ReportAllocs()
			for b.Loop() {
				Deframe(x.f, x.buf)
			}
		})
	}
}
