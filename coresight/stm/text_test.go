package stm

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// packets is the protocol for the tests that all protocols share.
var packets = packettest.Packets[Packet, *Packet]{
	Name: "stm", Formats: 1, Kind: func(p *Packet) int { return int(p.Kind) }, Off: func(p *Packet) int64 { return p.Off },
	Codec: func(int) *packettext.Codec[Packet] { return &codec },
	Lex:   func(_ int, buf []byte, base int64) packettest.Lexer[Packet] { return NewLexer(buf, base) },
	Refused: `
		d8 => data is missing
		d8 x => "x" is no number
		d8 0x100 => does not fit 8 bits
		d8 1 2 => "2" is too much
		d4 0x10 => does not fit 4 bits
		null 1 => "1" is too much
		version 2 => no packet holds that
		freq 0x100000000 => does not fit 32 bits
		flag.ts => ts is missing
		flag.ts ts => need a size
		flag.ts ts x => "x", need a size
		flag.ts ts 1: => need a size and a value
		flag.ts ts 1: x => "x" is no number
		flag.ts ts 1: 0x10 => does not fit a size of 1
		flag.ts ts 1 => need a size and a value
		flag.ts ts 0: 0
		flag.ts ts 13: 1 => no packet holds that
		flag.ts ts 15: 1 => no packet holds that
		flag.ts ts 17: 1 => need a size
	`,
	Dumped: [][2]string{ // of each byte the lower half comes first
		{"\x1f\x32", "BAD 4 half bytes: no packet starts so"},
		{"\x0f", "BAD 2 half bytes: packet cut short"},
		{"\x16\x32", "BAD 4 half bytes: D32: packet cut short: have 4 half bytes, need 9"},
		{"\xfe", "BAD 2 half bytes: FLAG_TS: reserved form"},
		{"\xa8\x35", "BAD 4 half bytes: D8MTS: packet cut short: have 4 half bytes, need 7"},
	},
	NoKind: NumKinds,
	Odd: func(kind int, v uint8) Packet {
		return Packet{Kind: Kind(kind), Half: v & 1, Len: v, TSLen: v, Of: Kind(v), Why: v, Value: ^uint64(0), TS: ^uint64(0)}
	},
	Rounds: [2]int{10_000, 200_000}, Most: 32,
}

// TestPackets is what the tests of all protocols ask.
func TestPackets(t *testing.T) { packets.Test(t) }

// digits returns the half bytes that hex digits write.
func digits(s string) (halves []byte) {
	for _, d := range s {
		halves = append(halves, byte(strings.IndexRune("0123456789abcdef", d)))
	}
	return halves
}

// Catches, packet by packet and in either half of a byte, a wrong length and a
// wrong field. Catches a text that does not come back, and a kind that no case
// shows.
func TestCases(t *testing.T) {
	cases := packets.Cases(t)
	for i, c := range slices.Repeat(cases, 2) {
		half := i / len(cases)
		all := slices.Concat(make([]byte, half), c.Bytes, c.Rest)
		if len(all)%2 != 0 && len(c.Rest) == 0 && Kind(c.Kind) == Bad {
			half = 1 - half // a half byte behind it would be part of it
			all = slices.Concat(make([]byte, half), c.Bytes)
		}
		buf := pack(all)
		l := NewLexer(buf, 100)
		var p Packet
		for range 1 + half {
			l.Next(&p)
		}
		if p.Off != 100 || int(p.Half) != half || p.Size() != int64(len(c.Bytes)) {
			t.Errorf("%s: %v, %d half bytes at %d and %d, want %d", c.At, p, p.Size(), p.Off, p.Half, len(c.Bytes))
		}
		if text := string(p.AppendText(nil, buf[:p.End()-100])); text != c.Text {
			t.Errorf("%s: text %q, want %q", c.At, text, c.Text)
		}
		p.Off, p.Half = 0, 0
		packets.TextGives(t, &c, p)
	}
	packets.AllShown(t, cases)
}
