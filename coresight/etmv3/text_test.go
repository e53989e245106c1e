package etmv3

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
	{CycleAccurate: true}, {ContextBytes: 4, Alternative: true}, {CycleAccurate: true, ContextBytes: 2, TS64: true, Alternative: true, DataAddresses: true},
	{DataValues: true, DataAddresses: true, ContextBytes: 1}, {DataValues: true, Alternative: true}, {DataOnly: true, DataValues: true, DataAddresses: true}, {},
}

// packets is the protocol for the tests that all protocols share.
var packets = packettest.Packets[Packet, *Packet]{
	Name: "etmv3", Formats: len(formats), Sync: "\x00\x00\x00\x00\x00\x80", Find: wire.FindASync, Kind: func(p *Packet) int { return int(p.Kind) },
	Codec: func(int) *packettext.Codec[Packet] { return &codec }, Lex: tracetest.Lexers[Format, Packet](formats, NewLexer),
	Bytes: func(r *rand.Rand) byte { return tracetest.RandomByte(r, 3) },
	Heads: []string{"\x00\x00\x00", "\x08", "\x70", "\x42", "\x04", "\x6e", "\x2e", "\xff\xff", "\x81\x80\x80\x80\x48"},
	Refused: tracetest.V3Refused(`
		branch 5: 0x10 => no packet holds that
		branch 5: 0x480000000 exception 2: 0x2 => no packet holds that
		pheader => format is missing
		pheader 1 => need letters
		pheader 1 ne => no packet holds that
		pheader 2 e => no packet holds that
		pheader 3 ee cycles 1 => no packet holds that
		pheader 3 e cycles 9 => no packet holds that
		pheader 3 e => no packet holds that
		pheader 4 e cycles 1 => no packet holds that
		pheader 5 e => no packet holds that
		pheader 1 eeeeeeeeeeeeeeeee => 17 letters, 16 at most
		cyclecount => no packet holds that
		cyclecount cycles 1: 128 => does not fit a size of 1
		isync 0x0 0x0 second 1: 0x2 => no packet holds that
		data value 3: 0x1 => no packet holds that
		data address 1: 0x1 => no packet holds that
		ooo 0 value 1: 0x1 => no packet holds that
		placeholder 4 => does not fit 2 bits
	`),
	Dumped: tracetest.V3Dumped([][2]string{
		{"\x08\x61\x58\x05\x00\x80", "I-sync 0x80000558 0x61 (debug exit)"},
		{"\x08\x1e\xfd\x26\x05\xc0", "I-sync 0xc00526fc thumb 0x1e (periodic, ns, alt, hyp, jazelle)"},
		{"\x94", "P-header 1 eeeee"},
		{"\xd7\xba\x86\xdb\x0d", "Branch address 5: 0xdb619d56 (arm 0xb6c33aac)"},
		{"\x81\x80\x80\x80\x48\x22", "Branch address 5: 0x480000000 exception 1: 0x22 (arm 0x0, exception 1, cancel)"},
		{"\x8d\x80\x80\x80\x4f\x9d\x20", "Branch address 5: 0x4f000000c exception 2: 0x209d (arm 0xe0000018, exception 14, ns, hyp)"},
		{"\x81\x80\x80\x80\xc8", "Branch address 5: 0xc80000000 (arm 0x0, exception 14, cancel)"},
		{"\x02", "BAD 1 bytes: Normal data: reserved form"},
	}),
	Dirty: Packet{
		Kind: NumKinds, Len: 0xff, N: 0xff, Exc: 0xff, CC: 0xff, Pad: 0xff, Info: 0xffff,
		Cycles: 1<<32 - 1, Context: 1<<32 - 1, Value: 1<<64 - 1, Extra: 1<<64 - 1, Off: -1,
	},
	Odd: func(kind int, v uint8) Packet {
		return Packet{Kind: Kind(kind), N: v, Len: v, Exc: v, CC: v, Pad: v, Info: uint16(v) * 257, Cycles: uint32(v) << 24, Value: ^uint64(0), Extra: ^uint64(0)}
	},
	NoKind: NumKinds,
	Tidy: func(p *Packet) {
		if p.Kind == PHeader || p.Kind == Branch && p.Exc == 0 {
			p.Extra = 0
		}
	},
	Random: func(r *rand.Rand, format int) Packet { return randPacket(r, formats[format]) },
	Put:    func(p *Packet, off int64, size int) { p.Off, p.Len = off, uint8(size) },
	Rounds: [2]int{10_000, 100_000}, Most: 256,
}

// TestPackets is what the tests of all protocols ask.
func TestPackets(t *testing.T) { packets.Test(t) }

// Catches a search that misses an A-sync at either end, returns one cut short,
// or takes zeros before it for its own.
func TestFindSync(t *testing.T) { packets.FindSync(t, tracetest.ASyncs) }

// FuzzLexer reads any bytes in any format. The lexer ends, its offsets rise to the
// end without a hole, and many packets at a time are those one by one. Encoder and
// text form give the bytes back. The seeds are the lines of
// testdata/packets/etmv3.txt with what follows them.
func FuzzLexer(f *testing.F) { packets.Fuzz(f) }

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
