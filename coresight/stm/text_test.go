package stm

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// readCases returns the cases of testdata/packets/stm.txt.
func readCases(tb testing.TB) []packettest.Case {
	tb.Helper()
	return packettest.Cases(tb, "../../testdata/packets/stm.txt", codec.Table, true)
}

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
	seen := map[uint8]bool{}
	cases := readCases(t)
	for i, c := range slices.Repeat(cases, 2) {
		seen[c.Kind] = true
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
		packettest.CheckText(t, &c, p, &codec)
	}
	packettest.AllSeen(t, codec.Table, seen)
}

// Catches text that is taken though no packet holds it.
func TestTextRefuses(t *testing.T) {
	packettest.Refuses(t, &codec, [][2]string{
		{"", "empty line"},
		{"d128 1", `"d128": no packet has that name`},
		{"d8", "data is missing"},
		{"d8 x", `"x" is no number`},
		{"d8 0x100", "does not fit 8 bits"},
		{"d8 1 2", `"2" is too much`},
		{"d4 0x10", "does not fit 4 bits"},
		{"null 1", `"1" is too much`},
		{"version 2", "no packet holds that"},
		{"freq 0x100000000", "does not fit 32 bits"},
		{"flag.ts", "ts is missing"},
		{"flag.ts ts", "need a size"},
		{"flag.ts ts x", `"x", need a size`},
		{"flag.ts ts 1:", "need a size and a value"},
		{"flag.ts ts 1: x", `"x" is no number`},
		{"flag.ts ts 1: 0x10", "does not fit a size of 1"},
		{"flag.ts ts 1", "need a size and a value"},
		{"flag.ts ts 0: 0", ""},
		{"flag.ts ts 13: 1", "no packet holds that"},
		{"flag.ts ts 15: 1", "no packet holds that"},
		{"flag.ts ts 17: 1", "need a size"},
		{"bad", "need half bytes"},
		{"bad zz", "need half bytes"},
	})
}

// Catches a reason for bad bytes that is not told apart from another.
func TestBadIsExplained(t *testing.T) {
	lex := func(code string) (p Packet) {
		NewLexer(pack(digits(code)), 0).Next(&p)
		return p
	}
	packettest.Dumps(t, lex, [][2]string{
		{"f123", "BAD 4 half bytes: no packet starts so"},
		{"f0", "BAD 2 half bytes: packet cut short"},
		{"6123", "BAD 4 half bytes: D32: packet cut short: have 4 half bytes, need 9"},
		{"ef", "BAD 2 half bytes: FLAG_TS: reserved form"},
		{"8a53", "BAD 4 half bytes: D8MTS: packet cut short: have 4 half bytes, need 7"},
	}, Packet{Kind: NumKinds}, NumKinds)
}
