package etmv3

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// readCases returns the cases of testdata/packets/etmv3.txt.
func readCases(tb testing.TB) []packettest.Case {
	tb.Helper()
	return packettest.Cases(tb, "../../testdata/packets/etmv3.txt", codec.Table, false)
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
		{"branch 0x10", "need a size of 1 to 5"},
		{"branch 1: 0x1", "no packet holds that"},
		{"branch 5: 0x10", "no packet holds that"},
		{"branch 2: 0x10 exception 1: 0x2", "no packet holds that"},
		{"branch 5: 0x480000000 exception 2: 0x2", "no packet holds that"},
		{"pheader", "format is missing"},
		{"pheader 1", "need letters"},
		{"pheader 1 ne", "no packet holds that"},
		{"pheader 2 e", "no packet holds that"},
		{"pheader 3 ee cycles 1", "no packet holds that"},
		{"pheader 3 e cycles 9", "no packet holds that"},
		{"pheader 3 e", "no packet holds that"},
		{"pheader 4 e cycles 1", "no packet holds that"},
		{"pheader 5 e", "no packet holds that"},
		{"pheader 1 eeeeeeeeeeeeeeeee", "17 letters, 16 at most"},
		{"cyclecount", "no packet holds that"},
		{"cyclecount cycles 1: 128", "does not fit a size of 1"},
		{"isync 0x1 0x0", "does not fit 31 bits"},
		{"isync 0x0 0x0 cycles 1: 1", "no packet holds that"},
		{"isync 0x0 0x0 second 1: 0x2", "no packet holds that"},
		{"isync 0x0", "info is missing"},
		{"contextid context 3: 0x1", "need 1, 2 or 4"},
		{"timestamp 1: 0x80", "no packet holds that"},
		{"data value 3: 0x1", "no packet holds that"},
		{"data address 1: 0x1", "no packet holds that"},
		{"ooo 0 value 1: 0x1", "no packet holds that"},
		{"placeholder 4", "does not fit 2 bits"},
		{"eret 1", `"1" is too much`},
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
		{"\x08\x61\x58\x05\x00\x80", "I-sync 0x80000558 0x61 (debug exit)"},
		{"\x08\x1e\xfd\x26\x05\xc0", "I-sync 0xc00526fc thumb 0x1e (periodic, ns, alt, hyp, jazelle)"},
		{"\x94", "P-header 1 eeeee"},
		{"\x2f", "Branch address 1: 0x2e"},
		{"\xd7\xba\x86\xdb\x0d", "Branch address 5: 0xdb619d56 (arm 0xb6c33aac)"},
		{"\x81\x80\x80\x80\x48\x22", "Branch address 5: 0x480000000 exception 1: 0x22 (arm 0x0, exception 1, cancel)"},
		{"\x8d\x80\x80\x80\x4f\x9d\x20", "Branch address 5: 0x4f000000c exception 2: 0x209d (arm 0xe0000018, exception 14, ns, hyp)"},
		{"\x81\x80\x80\x80\xc8", "Branch address 5: 0xc80000000 (arm 0x0, exception 14, cancel)"},
		{"\x10", "BAD 1 bytes: no packet starts so"},
		{"\x02", "BAD 1 bytes: Normal data: reserved form"},
		{"\x00\x00", "BAD 2 bytes: zeros, cut short"},
		{"\x08\x00", "BAD 2 bytes: I-sync: packet cut short: have 2 bytes, need 6"},
	}, Packet{Kind: NumKinds}, NumKinds)
}
