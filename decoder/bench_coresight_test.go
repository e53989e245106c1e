package decoder

import (
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/snapshot"
)

// BenchmarkPackets measures a trace buffer taken apart into its sources' streams,
// and these into packets: bytes are bytes of the buffer. Memory is used again, as
// for a file that holds one buffer after another. best-MB/s is the quickest round:
// what the neighbours of a shared machine take is in the others.
func BenchmarkPackets(b *testing.B) {
	root := dataDir(b)
	for _, name := range []string{"bugfix-exact-match", "tc2-ptm-rstk-t32", "juno_r1_1", "TC2"} {
		b.Run(name, func(b *testing.B) {
			s, err := snapshot.Open(nil, filepath.Join(root, "coresight", "snapshots", name))
			if err != nil {
				b.Fatal(err)
			}
			buf, err := s.ReadBuffer(&s.Buffers[0])
			if err != nil {
				b.Fatal(err)
			}
			lexers := map[uint8]func([]byte) int{}
			raw := func([]byte) int { return 0 }
			for _, src := range s.Sources {
				raw = lexerOf(src.Config)
				lexers[src.Config.ID] = raw
			}
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			packets, best := 0, time.Duration(math.MaxInt64)
			d := coresight.NewDeframer(s.Buffers[0].Frames)
			for b.Loop() {
				from := time.Now()
				if !s.Buffers[0].Framed {
					packets += raw(buf)
				} else {
					d.Recycle()
					d.Write(buf)
					d.Close()
					for _, st := range d.Streams() {
						if lex := lexers[st.ID]; lex != nil {
							packets += lex(st.Data)
						}
					}
				}
				best = min(best, time.Since(from))
			}
			b.ReportMetric(float64(len(buf))/best.Seconds()/1e6, "best-MB/s")
			b.ReportMetric(float64(packets)/b.Elapsed().Seconds()/1e6, "Mpackets/s")
		})
	}
}

// lexerOf returns what counts the packets of a stream of the source that c
// describes.
func lexerOf(c coresight.Config) func([]byte) int {
	switch c.Protocol {
	case coresight.ETMv4, coresight.ETE:
		return counter(etmv4.NewLexer(c, nil, 0))
	case coresight.PTM:
		return counter(ptm.NewLexer((&ptm.Config{Trace: c}).Format(), nil, 0))
	case coresight.ETMv3:
		return counter(etmv3.NewLexer((&etmv3.Config{Trace: c}).Format(), nil, 0))
	}
	return func([]byte) int { return 0 }
}

// counter returns what counts the packets that lx reads.
func counter[P any](lx interface {
	Reset(buf []byte, base int64)
	Fill([]P) int
}) func([]byte) int {
	q := make([]P, 1024)
	return func(buf []byte) (n int) {
		lx.Reset(buf, 0)
		for got := len(q); got == len(q); n += got {
			got = lx.Fill(q)
		}
		return n
	}
}
