package ptm

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
		"Snowball/ETB_0/PTM_0":             {ASync: 4, ISync: 195, Atom: 513, Branch: 230, Waypoint: 4, Timestamp: 14},
		"Snowball/ETB_0/PTM_1":             {ASync: 3, ISync: 134, Atom: 428, Branch: 177, Timestamp: 7},
		"TC2/ETB_0/PTM_0":                  {ASync: 5, ISync: 140, Atom: 1283, Branch: 315, Timestamp: 42, ExceptionRet: 4},
		"tc2-ptm-rstk-t32/PTM_0_2/PTM_0_2": {ASync: 27, ISync: 28, Atom: 12001, Branch: 8016},
		"trace_cov_a15/PTM_0_2/PTM_0_2":    {ASync: 1, ISync: 2, Atom: 5, Branch: 3},
	}
	tracetest.Known(t, tracetest.Recorded(t, coresight.PTM), want, func(s tracetest.Stream) (n [NumKinds]int) {
		c := Config{Trace: s.Config}
		lex := func(buf []byte, base int64) packettest.Lexer[Packet] { return NewLexer(c.Format(), buf, base) }
		packets.Recorded(t, s.Buf, &codec, lex, func(p *Packet) { n[p.Kind]++ })
		return n
	})
}
