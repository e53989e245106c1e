package ptm

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
)

// Catches a search that misses an A-sync at either end, returns one cut short,
// or takes zeros before it for its own.
func TestFindSync(t *testing.T) { packets.FindSync(t, tracetest.ASyncs) }

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
