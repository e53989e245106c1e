package itm

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// readCases returns the cases of testdata/packets/itm.txt.
func readCases(tb testing.TB) []packettest.Case {
	tb.Helper()
	return packettest.Cases(tb, "../../testdata/packets/itm.txt", codec.Table, false)
}

// Catches, packet by packet, a wrong length, a wrong field, a text that does
// not come back, and a kind that no case shows.
func TestCases(t *testing.T) {
	packettest.CheckCases(t, readCases(t), func(*packettest.Case) *packettext.Codec[Packet] { return &codec })
}

// Catches text that is taken though no packet holds it.
func TestTextRefuses(t *testing.T) {
	packettest.Refuses(t, &codec, [][2]string{
		{"", "empty line"},
		{"swat 1 1 1", `"swat": no packet has that name`},
		{"swit 32 1 1", "does not fit"},
		{"swit 1", "bytes is missing"},
		{"swit 1 3 0", "no packet holds that"},
		{"swit 1 1 0x100", "no packet holds that"},
		{"dwt 1 4 0x100000000", "does not fit"},
		{"sync 4", "no packet holds that"},
		{"sync 1000000000", "at most"},
		{"overflow 1", `"1" is too much`},
		{"lts1 0x10000000", "does not fit"},
		{"lts1 300 length 1", "no packet holds that"},
		{"lts1 1 length 5", "no packet holds that"},
		{"lts1 1 length 0", "0 is left out"},
		{"lts2 0", "no packet holds that"},
		{"lts2 7", "no packet holds that"},
		{"gts1 0x4000000", "no packet holds that"},
		{"gts1 1 clkch length 3", "no packet holds that"},
		{"gts2 1 length 7", "no packet holds that"},
		{"ext 8 0", "does not fit"},
		{"ext 1 1 length 0", "0 is left out"},
		{"ext 1 x", `"x" is no number`},
		{"bad", "two hex digits"},
		{"bad 0", "two hex digits"},
	})
}

// Catches a reason for bad bytes that is not told apart from another.
func TestBadIsExplained(t *testing.T) {
	lex := func(code string) (p Packet) {
		NewLexer([]byte(code), 0).Next(&p)
		return p
	}
	packettest.Dumps(t, lex, [][2]string{
		{"\x80", "BAD 1 bytes: no packet starts so"},
		{"\x03\x01", "BAD 2 bytes: SWIT: packet cut short: have 2 bytes, need 5"},
		{"\x00\x01", "BAD 2 bytes: SYNC: reserved form"},
		{"\xc0\x80", "BAD 2 bytes: LTS1: packet cut short: have 2 bytes, need 3"},
	}, Packet{Kind: NumKinds}, NumKinds)
}
