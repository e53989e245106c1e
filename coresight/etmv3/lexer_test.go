package etmv3

import (
	"iter"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// reencode gives the bytes of buf back from its packets: Append's, and
// those of Bad packets as they stand.
func reencode(t testing.TB, f Format, buf []byte) []byte {
	t.Helper()
	return packettest.Reencode(t, buf, func(base int64) iter.Seq[Packet] { return NewLexer(f, buf, base).All() },
		func(p *Packet) bool { return p.Kind == Bad })
}

// Catches a search that misses an A-sync at either end, returns one cut short,
// or takes zeros before it for its own.
func TestFindSync(t *testing.T) { tracetest.FindSync(t, FindSync) }
