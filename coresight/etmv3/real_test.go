package etmv3

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// Catches a bit that the lexer drops or the encoder misplaces in streams of real
// processors, also before the first A-sync. Catches text that says less than a
// packet holds. Behind it no packet is bad, and there are as many of each kind as
// OpenCSD 1.8.0 lists.
func TestRecordingsComeBack(t *testing.T) {
	want := map[string][NumKinds]int{
		"TC2/ETB_0/ETM_0": {ASync: 10, ISync: 8, ISyncCycles: 135, Branch: 190, PHeader: 8323, Timestamp: 36, ExceptionRet: 5},
		"TC2/ETB_0/ETM_1": {ASync: 10, ISync: 9, ISyncCycles: 116, Branch: 180, PHeader: 8179, Timestamp: 20, ExceptionRet: 3},
		"TC2/ETB_0/ETM_2": {ASync: 3, ISync: 3, ISyncCycles: 21, Branch: 49, PHeader: 2181, Timestamp: 8, ExceptionRet: 1},
	}
	tracetest.Known(t, tracetest.Recorded(t, coresight.ETMv3), want, func(s tracetest.Stream) (n [NumKinds]int) {
		c := Config{Trace: s.Config}
		lex := func(buf []byte, base int64) packettest.Lexer[Packet] { return NewLexer(c.Format(), buf, base) }
		packets.Recorded(t, s.Buf, &codec, lex, func(p *Packet) { n[p.Kind]++ })
		return n
	})
}
