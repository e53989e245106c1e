package pt

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// packets is the protocol for the tests that all protocols share.
var packets = packettest.Packets[Packet, *Packet]{
	Name: "pt", Doc: "intel-pt", Formats: 1, Sync: psb, Find: FindSync, Kind: func(p *Packet) int { return int(p.Kind) },
	Codec: func(int) *packettext.Codec[Packet] { return &codec },
	Lex:   func(_ int, buf []byte, base int64) packettest.Lexer[Packet] { return NewLexer(buf, base) },
	Refused: `
		tip 1: 0x10000 => does not fit a size of 1
		tip 5: 0x1 => a size of 1, 2, 3, 4, 6
		tip 7: 0x1 => a size of 1, 2, 3, 4, 6
		tip 0x1 => a size of 1, 2, 3, 4, 6
		tip 2: => need a size and a value
		tnt => no packet holds that
		tnt ttttttt => no packet holds that
		tnt tx => results: 'x'
		tnt.long tttttttttttttttttttttttttttttttttttttttttttttttt => 48 letters
		mtc => ctc is missing
		mtc 0x100 => does not fit
		mtc 1 2 => "2" is too much
		mtc one => "one" is no number
		vmcs 0x1001 => does not fit
		pip 0x10 => does not fit
		ptw 5 0x1 => need 4 or 8
		ptw 4 0x100000000 => no packet holds that
		bip 3 1 0x1 => size: 3, need 4 or 8
		mode 0 0x1 => no packet holds that
		cyc 1 length 1 => no packet holds that
		trig 0x1 icnt 5 => no packet holds that
		pad 8 => no packet holds that
		pad 0 => need 1 at least
	`,
	Dumped: [][2]string{
		{"\x71\x10\x00\x40\x00\x00\x00", "TIP.PGE 3: 0x400010"},
		{"\x01", "TIP.PGD"},
		{"\x99\x05", "MODE.Exec l if"},
		{"\x02\xe2", "EXSTOP ip"},
		{"\x16", "TNT ntt"},
		{"\x05", "BAD 1 bytes: no packet starts so"},
		{"\xad\x00", "BAD 2 bytes: TIP: reserved form"},
		{"\x41\x00", "BAD 2 bytes: TIP.PGD: packet cut short: have 2 bytes, need 5"},
		{"\x02", "BAD 1 bytes: packet cut short"},
	},
	NoKind: NumKinds,
	Odd: func(kind int, v uint8) Packet {
		return Packet{Kind: Kind(kind), N: v, Len: v, Arg: uint16(v) * 257, Extra: uint16(v) * 257, Value: ^uint64(0)}
	},
	Heads:  []string{"\x02", "\x02\x63\x80", "\x02\x63\x00", "\xff", "\x99", "\xd9", "\x00"},
	Rounds: [2]int{20_000, 300_000}, Most: 256,

	Dirty: Packet{Kind: 99, N: 1, Flag: true, Len: 2, Arg: 3, Extra: 4, Value: 5, Off: 6},
	Tidy:  func(*Packet) {}, // Fill leaves nothing open
	Bytes: func(r *rand.Rand) byte {
		// Starts of packets with a table, and what makes up their payloads and a PSB.
		const often = "\x00\x00\x00\x02\x02\x02\x82\x82\x23\x43\xc8\x03\x99\x2d\x4d\x71\x01\x1d\x59\x19\xf3\x63"
		if i := r.IntN(2 * len(often)); i < len(often) {
			return often[i]
		}
		return byte(r.Uint32())
	},
}

// TestPackets is what the tests of all protocols ask.
func TestPackets(t *testing.T) { packets.Test(t) }

// FuzzLexer reads any bytes. The lexer ends, its offsets rise to the end without a
// hole, and many packets at a time are those one by one. Encoder and text form give the
// bytes back. The seeds are the lines of
// testdata/packets/pt.txt with what follows them, and those named in
// testdata/fuzz/FuzzLexer.
func FuzzLexer(f *testing.F) { packets.Fuzz(f) }
