package etmv4

import (
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// readCases returns the cases of testdata/packets/etmv4.txt.
func readCases(tb testing.TB) []packettest.Case {
	tb.Helper()
	return packettest.Cases(tb, "../../testdata/packets/etmv4.txt", table, false)
}

// Catches, packet by packet, a wrong length, a wrong field, a text that does
// not come back, and a kind that no case shows.
func TestCases(t *testing.T) {
	packettest.CheckCases(t, readCases(t), func(c *packettest.Case) *packettext.Codec[Packet] {
		unit, ok := testConfigs[c.Unit]
		if !ok {
			t.Fatalf("%s: no trace unit %q", c.At, c.Unit)
		}
		return codec(unit)
	})
}

// Catches text that is taken though no packet holds it.
func TestTextRefuses(t *testing.T) {
	packettest.Refuses(t, codec(testConfigs["ete1.3"]), [][2]string{
		{"", "empty line"},
		{"atoms e", `"atoms": no packet has that name`},
		{"atom.f1 x", `'x', need n or e`},
		{"atom.f1", "no packet holds that"},
		{"atom.f1 ee", "no packet holds that"},
		{"atom.f6 " + strings.Repeat("e", 25), "25 letters, 24 at most"},
		{"atom.f6 eee", "no packet holds that"},
		{"addr.short 3: 0x4", "need a size of 1 to 2"},
		{"addr.short 1: 0x200", "does not fit a size of 1"},
		{"addr.short 1: 0x2", "no packet holds that"},
		{"addr.short 0x2", "need a size"},
		{"addr.32 0x100000000", "no packet holds that"},
		{"addr.32 0x1000 is1 reserved 0x2", "no packet holds that"},
		{"addr.match 3", "no packet holds that"},
		{"addr.match 4", "does not fit"},
		{"addr.64", "address is missing"},
		{"addr.64 here", `"here" is no number`},
		{"timestamp 1: 0x80", "no packet holds that"},
		{"timestamp 10: 0x80", "need a size of 1 to 9"},
		{"eret", "no packet holds that"},
		{"context 0 vmid 1: 0x1", "no packet holds that"},
		{"cycle.f1 1 commit 2", "no packet holds that"},
		{"event 0x0", "no packet holds that"},
		{"on 1", `"1" is too much`},
		{"bad 0", "two hex digits"},
		{"bad zz", "two hex digits"},
	})
}

// Catches a dump that names kinds otherwise than the manual, or hides why
// bytes are bad.
func TestString(t *testing.T) {
	lex := func(code string) (p Packet) {
		NewLexer(testConfigs["ete1.3"], []byte(code), 0).Next(&p)
		return p
	}
	packettest.Dumps(t, lex, [][2]string{
		{"\x9d\x22\x1a\x0c\x00\x00\x00\x00\x00", "Target Address 64-bit 0xc3488"},
		{"\xfe", "Atom format 3 nee"},
		{"\x07", "BAD 1 bytes: no packet of this trace unit starts so"},
		{"\x01\x80\x00", "BAD 3 bytes: Trace Info: reserved form"},
		{"\x9a\x00", "BAD 2 bytes: Target Address 32-bit: packet cut short: have 2 bytes, need 5"},
		{"\x00", "BAD 1 bytes: packet cut short"},
	}, Packet{Kind: NumKinds}, NumKinds)
}
