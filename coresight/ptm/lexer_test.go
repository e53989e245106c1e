package ptm

import (
	"iter"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
)

// reencode gives the bytes of buf back from its packets: AppendPacket's, and
// those of Bad packets as they stand.
func reencode(t testing.TB, f Format, buf []byte) []byte {
	t.Helper()
	return tracetest.Reencode(t, buf, func(base int64) iter.Seq[Packet] { return NewLexer(f, buf, base).All() },
		func(p Packet) bool { return p.Kind == Bad }, AppendPacket)
}

// Catches a search that misses an A-sync at either end, returns one cut short,
// or takes zeros before it for its own.
func TestFindSync(t *testing.T) {
	const async = "\x00\x00\x00\x00\x00\x80"
	for _, c := range []struct {
		name string
		buf  string
		from int
		want int // -1: none
	}{
		{"empty", "", 0, -1},
		{"alone", async, 0, 0},
		{"cut", async[:5], 0, -1},
		{"behind-from", async, 1, -1},
		{"before-end", "\x01\x02" + async, 0, 2},
		{"from-below", async, -5, 0},
		{"from-beyond", async, 17, -1},
		{"four-zeros", "\x01" + async[1:], 0, -1},
		{"payload-ends-alike", "\x6e\x00\x00\x00\x00" + async, 0, 5},
		{"80-before", "\x80\x80" + async, 0, 2},
		{"two", async + async, 1, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			off, ok := FindSync([]byte(c.buf), c.from)
			if ok != (c.want >= 0) || ok && off != c.want {
				t.Errorf("FindSync(%x, %d) = %d, %v, want %d", c.buf, c.from, off, ok, c.want)
			}
		})
	}
}

// Catches an allocation in Reset or Next.
func TestLexerAllocatesNothing(t *testing.T) {
	buf := tracetest.File(t, "snapshots", "tc2-ptm-rstk-t32", "PTM_0_2.bin")
	l := NewLexer(Format{}, nil, 0)
	var p Packet
	if n := testing.AllocsPerRun(3, func() {
		for l.Reset(buf, 0); l.Next(&p); {
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkLexer reads the packets of a real stream.
func BenchmarkLexer(b *testing.B) {
	buf := tracetest.File(b, "snapshots", "tc2-ptm-rstk-t32", "PTM_0_2.bin")
	b.SetBytes(int64(len(buf)))
	l := NewLexer(Format{}, nil, 0)
	var q [256]Packet
	for b.Loop() {
		for l.Reset(buf, 0); l.Fill(q[:]) == len(q); {
		}
	}
}
