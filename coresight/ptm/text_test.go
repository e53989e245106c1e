package ptm

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// formats are those of the tests, the plain one last.
var formats = []Format{
	{CycleAccurate: true}, {ContextBytes: 4}, {CycleAccurate: true, ContextBytes: 2, TS64: true}, {TS64: true, ContextBytes: 1}, {},
}

// packets is the protocol for the tests that all protocols share.
var packets = packettest.Packets[Packet, *Packet]{
	Name: "ptm", Formats: len(formats), Sync: "\x00\x00\x00\x00\x00\x80", Find: wire.FindASync, Kind: func(p *Packet) int { return int(p.Kind) },
	Codec: func(int) *packettext.Codec[Packet] { return &codec }, Lex: tracetest.Lexers[Format, Packet](formats, NewLexer),
	Bytes: func(r *rand.Rand) byte { return tracetest.RandomByte(r, 1) },
	Heads: []string{"\x00\x00\x00", "\x08", "\x42", "\x72", "\x6e", "\xff\xff", "\x81\x80\x80\x80\x48"},
	Refused: tracetest.V3Refused(`
		branch 2: 0x2000 => no packet holds that
		branch 1: 0x10 cycles 1: 16 => no packet holds that
		branch 1: 0x10 cycles 1: 256 => does not fit a size of 1
		atom => need letters
		atom - => no packet holds that
		atom ennene => 6 letters, 5 at most
		atom ex => 'x'
		isync 0x0 0x0 cycles 1: 0x1 => no packet holds that
	`),
	Dumped: tracetest.V3Dumped([][2]string{
		{"\x08\x58\x05\x00\x80\x61", "I-sync 0x80000558 0x61 (debug exit)"},
		{"\x08\xfd\x26\x05\xc0\x0f", "I-sync 0xc00526fc thumb 0xf (periodic, ns, alt, hyp)"},
		{"\xd0", "Atom eneee"},
		{"\xb7\xb0\x8f\xb2\x1b", "Branch address 5: 0x1b643d836 (thumb 0xb643d836)"},
		{"\x81\x80\x80\x80\x48\x02", "Branch address 5: 0x480000000 exception 1: 0x2 (arm 0x0, halt)"},
		{"\x8d\x80\x80\x80\x4f\x9d\x20", "Branch address 5: 0x4f000000c exception 2: 0x209d (arm 0xe0000018, IRQ, ns, hyp)"},
		{"\x81\x80\x80\x80\x60\x80\x01", "Branch address 5: 0x600000000 exception 2: 0x180 (jazelle 0x0, exception 16)"},
		{"\x80", "BAD 1 bytes: Atom: reserved form"},
	}),
	Dirty: Packet{
		Kind: NumKinds, Len: 0xff, N: 0xff, Exc: 0xff, CC: 0xff, Pad: 0xff, Info: 0xffff,
		Cycles: 1<<32 - 1, Context: 1<<32 - 1, Value: 1<<64 - 1, Off: -1,
	},
	Odd: func(kind int, v uint8) Packet {
		return Packet{Kind: Kind(kind), N: v, Len: v, Exc: v, CC: v, Pad: v, Info: uint16(v) * 257, Cycles: uint32(v) << 24, Value: ^uint64(0)}
	},
	NoKind: NumKinds,
	Tidy: func(p *Packet) {
		if (p.Kind == Atom || p.Kind == Branch && p.Exc == 0) && p.CC == 0 {
			p.Cycles, p.Context = 0, 0
		}
	},
	Random: func(r *rand.Rand, format int) Packet { return randPacket(r, formats[format]) },
	Put:    func(p *Packet, off int64, size int) { p.Off, p.Len = off, uint8(size) },
	Rounds: [2]int{10_000, 100_000}, Most: 256,
}

// TestPackets is what the tests of all protocols ask.
func TestPackets(t *testing.T) { packets.Test(t) }

// FuzzLexer reads any bytes in any format. The lexer ends, its offsets rise to the
// end without a hole, and many packets at a time are those one by one. Encoder and
// text form give the bytes back. The seeds are the lines of
// testdata/packets/ptm.txt with what follows them.
func FuzzLexer(f *testing.F) { packets.Fuzz(f) }

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
