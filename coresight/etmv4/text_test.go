package etmv4

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// units are the trace units of testConfigs: a format of trace each.
var units = []string{"etmv4.0", "etmv4.6", "ete1.0", "ete1.3"}

// packets is the protocol for the tests that all protocols share.
var packets = packettest.Packets[Packet, *Packet]{
	Name: "etmv4", Formats: len(units), Sync: async, Find: findSync, Kind: func(p *Packet) int { return int(p.Kind) },
	Unit:  func(name string) int { return slices.Index(units, name) },
	Codec: func(format int) *packettext.Codec[Packet] { return codec(testConfigs[units[format]]) },
	Lex: func(format int, buf []byte, base int64) packettest.Lexer[Packet] {
		return NewLexer(testConfigs[units[format]], buf, base)
	},
	Refused: `
		atom.f1 x => 'x', need n or e
		atom.f1 => no packet holds that
		atom.f1 ee => no packet holds that
		atom.f6 eeeeeeeeeeeeeeeeeeeeeeeee => 25 letters, 24 at most
		atom.f6 eee => no packet holds that
		addr.short 3: 0x4 => need a size of 1 to 2
		addr.short 1: 0x200 => does not fit a size of 1
		addr.short 1: 0x2 => no packet holds that
		addr.short 0x2 => need a size
		addr.32 0x100000000 => no packet holds that
		addr.32 0x1000 is1 reserved 0x2 => no packet holds that
		addr.match 3 => no packet holds that
		addr.match 4 => does not fit
		addr.64 => address is missing
		addr.64 here => "here" is no number
		timestamp 1: 0x80 => no packet holds that
		timestamp 10: 0x80 => need a size of 1 to 9
		eret => no packet holds that
		context 0 vmid 1: 0x1 => no packet holds that
		cycle.f1 1 commit 2 => no packet holds that
		event 0x0 => no packet holds that
		on 1 => "1" is too much
	`,
	Dumped: [][2]string{
		{"\x9d\x22\x1a\x0c\x00\x00\x00\x00\x00", "Target Address 64-bit 0xc3488"},
		{"\xfe", "Atom format 3 nee"},
		{"\x07", "BAD 1 bytes: no packet of this trace unit starts so"},
		{"\x01\x80\x00", "BAD 3 bytes: Trace Info: reserved form"},
		{"\x9a\x00", "BAD 2 bytes: Target Address 32-bit: packet cut short: have 2 bytes, need 5"},
		{"\x00", "BAD 1 bytes: packet cut short"},
	},
	Heads: []string{"\x00", "\x00\x03", "\x01\x1f", "\x0e", "\x9d", "\x85", "\xa5", "\x68", "\x06"},
	Odd: func(kind int, v uint8) Packet {
		return Packet{Kind: Kind(kind), N: v, Len: v, Arg: v, Extra: uint32(v) * 0x1010101, Value: ^uint64(0), Value2: ^uint64(0)}
	},
	Rounds: [2]int{10_000, 60_000}, Most: 64,
	NoKind: NumKinds,
	Bytes: func(r *rand.Rand) byte {
		switch r.IntN(12) {
		case 0, 1, 2:
			return byte(r.Uint32())
		case 3:
			return byte(0x90 + r.IntN(16))
		}
		return byte(0xc0 + r.IntN(64))
	},
	Dirty: Packet{Kind: NumKinds, N: 0xff, Len: 0xff, Arg: 0xff, Extra: 1<<32 - 1, Value: 1<<64 - 1, Value2: 1<<64 - 1, Off: -1},
	Tidy: func(p *Packet) {
		switch p.Kind {
		case AtomF1, AtomF2, AtomF3, AtomF4, AtomF5, AtomF6:
			p.Value, p.Value2 = 0, 0
		case AddrMatch, AddrShort, Addr32, Addr64:
			p.Value2 = 0
		}
	},
}

// TestPackets is what the tests of all protocols ask.
func TestPackets(t *testing.T) { packets.Test(t) }

// FuzzLexer reads any bytes. The lexer ends, its offsets rise to the end without a
// hole, and many packets at a time are those one by one. Encoder and text form give
// the bytes back. The seeds are the lines of testdata/packets/etmv4.txt with what
// follows them, and those named in testdata/fuzz/FuzzLexer.
func FuzzLexer(f *testing.F) { packets.Fuzz(f) }
