package pt

import (
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// readCases returns the cases of testdata/packets/pt.txt.
func readCases(tb testing.TB) []packettest.Case {
	tb.Helper()
	return packettest.Cases(tb, "../testdata/packets/pt.txt", codec.Table, false)
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
		{"tipp 1: 0x1", `"tipp": no packet has that name`},
		{"tip 1: 0x10000", "does not fit a size of 1"},
		{"tip 5: 0x1", "a size of 1, 2, 3, 4, 6"},
		{"tip 7: 0x1", "a size of 1, 2, 3, 4, 6"},
		{"tip 0x1", "a size of 1, 2, 3, 4, 6"},
		{"tip 2:", "need a size and a value"},
		{"tnt", "no packet holds that"},
		{"tnt ttttttt", "no packet holds that"},
		{"tnt tx", `results: 'x'`},
		{"tnt.long " + strings.Repeat("t", 48), "48 letters"},
		{"mtc", "ctc is missing"},
		{"mtc 0x100", "does not fit"},
		{"mtc 1 2", `"2" is too much`},
		{"mtc one", `"one" is no number`},
		{"vmcs 0x1001", "does not fit"},
		{"pip 0x10", "does not fit"},
		{"ptw 5 0x1", "need 4 or 8"},
		{"ptw 4 0x100000000", "no packet holds that"},
		{"bip 3 1 0x1", "size: 3, need 4 or 8"},
		{"mode 0 0x1", "no packet holds that"},
		{"cyc 1 length 1", "no packet holds that"},
		{"trig 0x1 icnt 5", "no packet holds that"},
		{"pad 8", "no packet holds that"},
		{"pad 0", "need 1 at least"},
		{"bad 0", "two hex digits"},
		{"bad zz", "two hex digits"},
	})
}

// Catches a dump that names kinds otherwise than the manual, or hides why
// bytes are bad.
func TestString(t *testing.T) {
	lex := func(code string) (p Packet) {
		NewLexer([]byte(code), 0).Next(&p)
		return p
	}
	packettest.Dumps(t, lex, [][2]string{
		{"\x71\x10\x00\x40\x00\x00\x00", "TIP.PGE 3: 0x400010"},
		{"\x01", "TIP.PGD"},
		{"\x99\x05", "MODE.Exec l if"},
		{"\x02\xe2", "EXSTOP ip"},
		{"\x16", "TNT ntt"},
		{"\x05", "BAD 1 bytes: no packet starts so"},
		{"\xad\x00", "BAD 2 bytes: TIP: reserved form"},
		{"\x41\x00", "BAD 2 bytes: TIP.PGD: packet cut short: have 2 bytes, need 5"},
		{"\x02", "BAD 1 bytes: packet cut short"},
	}, Packet{Kind: NumKinds}, NumKinds)
}
