package itm

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// packets is the protocol for the tests that all protocols share.
var packets = packettest.Packets[Packet, *Packet]{
	Name: "itm", Formats: 1, Sync: syncPattern, Find: findSync, Kind: func(p *Packet) int { return int(p.Kind) },
	Codec: func(int) *packettext.Codec[Packet] { return &codec },
	Lex:   func(_ int, buf []byte, base int64) packettest.Lexer[Packet] { return NewLexer(buf, base) },
	Refused: `
		swit 32 1 1 => does not fit
		swit 1 => bytes is missing
		swit 1 3 0 => no packet holds that
		swit 1 1 0x100 => no packet holds that
		dwt 1 4 0x100000000 => does not fit
		sync 4 => no packet holds that
		sync 1000000000 => at most
		overflow 1 => "1" is too much
		lts1 0x10000000 => does not fit
		lts1 300 length 1 => no packet holds that
		lts1 1 length 5 => no packet holds that
		lts1 1 length 0 => 0 is left out
		lts2 0 => no packet holds that
		lts2 7 => no packet holds that
		gts1 0x4000000 => no packet holds that
		gts1 1 clkch length 3 => no packet holds that
		gts2 1 length 7 => no packet holds that
		ext 8 0 => does not fit
		ext 1 1 length 0 => 0 is left out
		ext 1 x => "x" is no number
	`,
	Dumped: [][2]string{
		{"\x80", "BAD 1 bytes: no packet starts so"},
		{"\x03\x01", "BAD 2 bytes: SWIT: packet cut short: have 2 bytes, need 5"},
		{"\x00\x01", "BAD 2 bytes: SYNC: reserved form"},
		{"\xc0\x80", "BAD 2 bytes: LTS1: packet cut short: have 2 bytes, need 3"},
	},
	Odd: func(kind int, v uint8) Packet {
		p := Packet{Kind: Kind(kind), N: v, Arg: v, Of: Kind(v), Value: ^uint64(0)}
		if p.Kind == Sync {
			p.Value = 0 // as many bytes
		}
		return p
	},
	Heads:  []string{"\x00\x00\x00", "\x94\xff\xff", "\xb4\xff\xff\xff", "\xc0\x80", "\x88\x80", "\x00\x00\x00\x00\x00\x00\x00\x00\x00"},
	NoKind: NumKinds,
	Rounds: [2]int{10_000, 300_000}, Most: 300, Random: randPacket, Put: func(p *Packet, off int64, _ int) { p.Off = off },
}

// TestPackets is what the tests of all protocols ask.
func TestPackets(t *testing.T) { packets.Test(t) }

// FuzzLexer reads any bytes. The lexer ends, its offsets rise to the end without a
// hole, and encoder and text form give the bytes back. The seeds are the lines of
// testdata/packets/itm.txt with what follows them.
func FuzzLexer(f *testing.F) { packets.Fuzz(f) }
