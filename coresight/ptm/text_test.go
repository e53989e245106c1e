package ptm

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// readCases returns the cases of testdata/packets/ptm.txt.
func readCases(tb testing.TB) []packettest.Case {
	tb.Helper()
	return packettest.Cases(tb, "../../testdata/packets/ptm.txt", codec.Table, false)
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
		{"bransh 1: 0x1", `"bransh": no packet has that name`},
		{"branch 6: 0x0", "a size of 1 to 5"},
		{"branch 0: 0x0", "a size of 1 to 5"},
		{"branch 0x10", "need a size of 1 to 5"},
		{"branch 1: 0x1", "no packet holds that"},
		{"branch 1: 0x100", "does not fit a size of 1"},
		{"branch 2: 0x2000", "no packet holds that"},
		{"branch 5: 0x1000000000", "does not fit a size of 5"},
		{"branch 2: 0x10 exception 1: 0x2", "no packet holds that"},
		{"branch 1: 0x10 cycles 1: 16", "no packet holds that"},
		{"branch 1: 0x10 cycles 1: 256", "does not fit a size of 1"},
		{"atom", "need letters"},
		{"atom -", "no packet holds that"},
		{"atom ennene", "6 letters, 5 at most"},
		{"atom ex", `'x'`},
		{"async 4", "no packet holds that"},
		{"async 256", "does not fit 8 bits"},
		{"isync 0x1 0x0", "does not fit 31 bits"},
		{"isync 0x0 0x0 cycles 1: 0x1", "no packet holds that"},
		{"isync 0x0", "info is missing"},
		{"contextid context 3: 0x1", "need 1, 2 or 4"},
		{"timestamp 1: 0x80", "no packet holds that"},
		{"timestamp 10: 0x80", "a size of 1 to 9"},
		{"vmid 0x100", "does not fit"},
		{"vmid one", `"one" is no number`},
		{"eret 1", `"1" is too much`},
		{"bad 0", "two hex digits"},
		{"bad", "two hex digits"},
	})
}

// Catches a dump that names kinds otherwise than the manual, means another
// address than was sent, or hides why bytes are bad.
func TestString(t *testing.T) {
	lex := func(code string) (p Packet) {
		NewLexer(Format{}, []byte(code), 0).Next(&p)
		return p
	}
	packettest.Dumps(t, lex, [][2]string{
		{"\x08\x58\x05\x00\x80\x61", "I-sync 0x80000558 0x61 (debug exit)"},
		{"\x08\xfd\x26\x05\xc0\x0f", "I-sync 0xc00526fc thumb 0xf (periodic, ns, alt, hyp)"},
		{"\xd0", "Atom eneee"},
		{"\x2f", "Branch address 1: 0x2e"},
		{"\xb7\xb0\x8f\xb2\x1b", "Branch address 5: 0x1b643d836 (thumb 0xb643d836)"},
		{"\x81\x80\x80\x80\x48\x02", "Branch address 5: 0x480000000 exception 1: 0x2 (arm 0x0, halt)"},
		{"\x8d\x80\x80\x80\x4f\x9d\x20", "Branch address 5: 0x4f000000c exception 2: 0x209d (arm 0xe0000018, IRQ, ns, hyp)"},
		{"\x81\x80\x80\x80\x60\x80\x01", "Branch address 5: 0x600000000 exception 2: 0x180 (jazelle 0x0, exception 16)"},
		{"\x10", "BAD 1 bytes: no packet starts so"},
		{"\x80", "BAD 1 bytes: Atom: reserved form"},
		{"\x00\x00", "BAD 2 bytes: zeros, cut short"},
		{"\x08\x00", "BAD 2 bytes: I-sync: packet cut short: have 2 bytes, need 6"},
	}, Packet{Kind: NumKinds}, NumKinds)
}
